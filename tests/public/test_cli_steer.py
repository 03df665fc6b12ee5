"""`planloop note`, `pause`, `cancel` and `follow-up`."""

import json
from collections.abc import Callable

import pytest
from cli_cast import Cast
from helpers import plan_json
from typer.testing import Result

from planloop.testing import call

Cli = Callable[..., Result]


@pytest.fixture
def asked(cli: Cli, cast: Cast) -> Cast:
    """A run on thread t that waits for an answer in its first step."""
    cast.steps["s1"] = [call("ask_human", question="Which?"), "done"]
    assert cli("run", "do both", "--thread", "t").exit_code == 3
    return cast


def test_a_note_is_read_before_the_next_step(cli: Cli, asked: Cast) -> None:
    assert cli("note", "t", "Use blue.").exit_code == 0
    asked.plan = plan_json("two", "three")
    result = cli("answer", "t", "red")
    assert result.exit_code == 0
    assert "Use blue." in result.stderr
    shown = cli("show", "t", "--changes").stdout
    assert "the person says: Use blue." in shown and "three" in shown
    assert "3 of 3 steps completed" in result.stdout


def test_a_paused_run_waits_and_says_how_it_goes_on(cli: Cli, asked: Cast) -> None:
    told = cli("pause", "t")
    assert told.exit_code == 0 and "planloop resume t" in told.stderr
    result = cli("answer", "t", "red")
    assert result.exit_code == 3
    assert "Paused, as you asked. Go on with: planloop resume t" in result.stdout
    assert "Status:    waiting" in cli("show", "t").stdout
    assert cli("resume", "t").exit_code == 0


def test_a_waiting_run_is_cancelled_at_once_with_its_report(cli: Cli, asked: Cast) -> None:
    result = cli("cancel", "t", "No time.")
    assert result.exit_code == 1
    assert result.stdout.startswith("Plan cancelled: 0 of 2 steps completed, 1 blocked.")
    assert "Warning: A person cancelled the plan. No time." in result.stdout
    again = cli("cancel", "t")
    assert again.exit_code == 2 and "has ended" in again.stderr


def test_a_finished_run_is_followed_up(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t")
    result = cli("follow-up", "t", "and a third", "--extend", "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert [step["id"] for step in document["plan"]["steps"]] == ["s1", "s2", "s3", "s4"]
    result = cli("follow-up", "t", "and again", "--json")
    assert len(json.loads(result.stdout)["plan"]["steps"]) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("note", "u", "x"), "unknown"),
        (("note", "t", " "), "empty"),
        (("pause", "u"), "unknown"),
        (("follow-up", "t", "x"), "has not ended"),
        (("follow-up", "t", " "), "empty"),
    ],
)
def test_what_cannot_be_said_is_refused_in_a_sentence(
    cli: Cli, asked: Cast, words: tuple[str, ...], said: str
) -> None:
    result = cli(*words)
    assert result.exit_code == 2
    assert said in result.stderr and "Traceback" not in result.stderr


def test_questions_before_planning_are_asked_on_demand(cli: Cli, cast: Cast) -> None:
    asks = json.dumps({"questions": ["How many?"]})
    cast.clarify = asks
    result = cli("run", "do both", "--thread", "t", "--clarify", "2")
    assert result.exit_code == 3 and "How many?" in result.stdout
    told = cli("answer", "t", "seven")
    assert told.exit_code == 0, told.stderr
    assert "do both Asked and answered: - How many? seven" in cli("show", "t").stdout


def test_results_that_do_not_answer_the_request_end_with_1(cli: Cli, cast: Cast) -> None:
    cast.answered = '{"verdict": "not_met", "evidence": "The price is missing."}'
    result = cli("run", "do both", "--verify-task", "--max-replans", "0")
    assert result.exit_code == 1
    assert "Plan partly completed: 2 of 2 steps completed" in result.stdout
    assert "do not answer the request: The price is missing." in result.stdout


def test_a_step_that_cannot_succeed_is_tried_again_planned_anew_and_reported(
    cli: Cli, cast: Cast
) -> None:
    fails = call("terminate", status="failure", summary="No such host.")
    cast.steps["s2"], cast.steps["s3"] = [fails], [fails]
    result = cli("run", "do both", "--thread", "t")
    assert result.exit_code == 1
    assert "s2 two (attempt 2)" in result.stderr and "New plan after a failure" in result.stderr
    assert result.stdout.startswith("Plan partly completed: 1 of 2 steps completed, 1 blocked.")
    assert "No such host." in result.stdout
    report = json.loads(cli("show", "t", "--json").stdout)["report"]
    assert report["replans"] == 1
    assert report["counts"]["blocked"] == 1
