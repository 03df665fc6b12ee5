"""`planloop runs`, `show`, `resume` and `answer`: what becomes of saved runs."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from cli_cast import Cast
from helpers import plan_json
from typer.testing import Result

from planloop.testing import call

Cli = Callable[..., Result]


@pytest.fixture
def asked(cli: Cli, cast: Cast) -> Cast:
    """A run on thread t that waits for an answer in its first step."""
    cast.steps["s1"] = [call("ask_human", question="Which?", options=["red", "blue"]), "done"]
    assert cli("run", "do both", "--thread", "t").exit_code == 3
    return cast


def model_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planloop.cli.model.load_model", pytest.fail)


def test_runs_lists_what_is_saved_without_a_model(
    cli: Cli, asked: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("run", "another", "--thread", "u")
    model_is_gone(monkeypatch)
    head, _, *rows = cli("runs").stdout.splitlines()
    assert head.split() == ["thread", "status", "phase", "progress", "request", "updated"]
    assert rows[0].split()[:2] == ["u", "waiting"]
    assert rows[1].split()[:6] == ["t", "waiting", "IN_PROGRESS", "0/2", "do", "both"]


def test_runs_of_a_new_data_folder_are_none(cli: Cli) -> None:
    result = cli("runs")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No runs are saved" in result.stderr


def test_show_tells_a_waiting_run_without_a_model(
    cli: Cli, asked: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_is_gone(monkeypatch)
    result = cli("show", "t")
    assert result.exit_code == 0
    for words in ("Status:    waiting", "do both", "0. [→] one", "Which?", "planloop answer t"):
        assert words in result.stdout


def test_show_tells_a_finished_run_with_its_report(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t")
    result = cli("show", "t")
    assert "Status:    finished (completed, unverified)" in result.stdout
    assert "2 of 2 steps completed" in result.stdout


def test_show_as_json_is_the_document_of_run(cli: Cli, cast: Cast) -> None:
    ran = cli("run", "do both", "--thread", "t", "--json")
    assert json.loads(cli("show", "t", "--json").stdout) == json.loads(ran.stdout)


def test_an_answer_goes_on_to_the_end(cli: Cli, asked: Cast) -> None:
    asked.steps["s1"] = [*asked.steps["s1"][:1], "It is blue then."]
    result = cli("answer", "t", "blue")
    assert result.exit_code == 0
    assert "It is blue then." in result.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["42"], "42"),
        (['{"answer": "blue"}'], "blue"),
        (["--yes"], "yes"),
        (["--no", "never"], "no: never"),
    ],
)
def test_an_answer_is_told_to_the_model_as_text(
    cli: Cli, asked: Cast, words: list[str], told: str
) -> None:
    seen: list[Any] = []
    reply = asked.reply

    def spy(messages: list[Any]) -> Any:
        seen.extend(m.text for m in messages if m.type == "tool")
        return reply(messages)

    asked.reply = spy  # type: ignore[method-assign]  # spied on
    assert cli("answer", "t", *words).exit_code == 0
    assert told in seen


def test_resume_of_a_waiting_run_prints_the_question_again(
    cli: Cli, asked: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    model_is_gone(monkeypatch)
    result = cli("resume", "t")
    assert result.exit_code == 3
    assert "Which?" in result.stdout


def test_a_refused_call_is_told_to_the_model_with_the_reason(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = [call("python", code="print(1)"), "I was refused."]
    cli("run", "do both", "--thread", "t")
    result = cli("answer", "t", "--no", "not today", "--json")
    steps = json.loads(result.stdout)["plan"]["steps"]
    assert "not today" in steps[0]["observations"]


def test_an_approved_call_is_run(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = [call("python", code="print(6 * 7)"), "done"]
    cli("run", "do both", "--thread", "t")
    result = cli("answer", "t", "--yes", "--json")
    assert result.exit_code == 0
    assert "42" in json.loads(result.stdout)["plan"]["steps"][0]["observations"]


def test_a_plan_is_sent_back_with_a_comment_and_accepted(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t", "--approve-plan")
    cast.plan = plan_json("only one")
    again = cli("answer", "t", "--no", "one step is enough")
    assert again.exit_code == 3
    assert "0. [ ] only one" in again.stdout
    assert cli("answer", "t", "--yes").exit_code == 0


def test_a_plan_that_is_refused_cancels_the_run(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t", "--approve-plan")
    result = cli("answer", "t", "--no")
    assert result.exit_code == 1
    assert "Plan cancelled" in result.stdout


def test_a_plan_is_edited_by_json(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t", "--approve-plan")
    edit = json.dumps({"action": "edit", "steps": ["mine"]})
    found = json.loads(cli("answer", "t", edit, "--json").stdout)
    assert [step["name"] for step in found["plan"]["steps"]] == ["mine"]
    assert found["report"]["plan_origin"] == "user"


def test_two_questions_are_answered_by_id(cli: Cli, cast: Cast) -> None:
    both = call("ask_human", question="First?")
    both.tool_calls += call("ask_human", question="Second?").tool_calls
    cast.steps["s1"] = [both, "unused", "done"]
    first = cli("run", "do both", "--thread", "t", "--json")
    ids = {item["question"]: item["id"] for item in json.loads(first.stdout)["pending"]}
    unnamed = cli("answer", "t", "red")
    assert (unnamed.exit_code, "name one of" in unnamed.stderr) == (2, True)
    left = json.loads(cli("answer", "t", "red", "--id", ids["Second?"], "--json").stdout)
    assert [item["question"] for item in left["pending"]] == ["First?"]
    assert cli("answer", "t", "blue", "--id", ids["First?"]).exit_code == 0


def test_the_choices_of_run_hold_when_it_goes_on(cli: Cli, cast: Cast) -> None:
    cast.plan = plan_json("one", success_criteria=["it is done"])
    cast.steps["s1"] = [
        call("ask_human", question="Which?"),
        call("python", code="print(1)"),
        "done",
    ]
    cli("run", "do it", "--thread", "t", "--yes", "--no-verify")
    result = cli("answer", "t", "red")
    assert result.exit_code == 0
    assert "Verification was switched off" in result.stdout
