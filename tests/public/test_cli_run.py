"""`planloop run` and `planloop plan`: what they print, and what their exit code says."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cast import Cast
from helpers import plan_json, verdicts
from typer.testing import Result

from planloop.testing import call

Cli = Callable[..., Result]


def test_a_completed_plan_ends_with_0_and_its_report_on_stdout(cli: Cli, cast: Cast) -> None:
    result = cli("run", "do both", "--thread", "t")
    assert result.exit_code == 0
    assert "2 of 2 steps completed" in result.stdout
    assert "That was all." in result.stdout


def test_it_says_where_the_report_is(cli: Cli, cast: Cast, tmp_path: Path) -> None:
    result = cli("run", "do both", "--workspace", str(tmp_path / "desk"))
    (page,) = tmp_path.glob("desk.*.report.md")
    assert f"Files are in {tmp_path / 'desk'}. The report is {page}." in result.stderr


def test_progress_goes_to_stderr_one_line_an_event(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = [call("write_file", path="a.txt", content="a"), "done"]
    lines = cli("run", "do both", "--thread", "t").stderr.splitlines()
    assert lines[0].startswith("Model scripted:cast, thread t, workspace ")
    assert lines[5] == "[→] s1 one"
    assert lines[6].strip() == "write_file(path=a.txt, content=a)"
    assert lines[7] == "[✓] s1 one (not verified)"


def test_a_verified_plan_says_completed(cli: Cli, cast: Cast) -> None:
    cast.plan = plan_json("one", success_criteria=["it is done"])
    cast.judged = verdicts(("it is done", "met", "done"))
    result = cli("run", "do it", "--json")
    assert json.loads(result.stdout)["report"]["outcome"] == "completed"


def test_without_verifying_the_report_says_so(cli: Cli, cast: Cast) -> None:
    cast.plan = plan_json("one", success_criteria=["it is done"])
    result = cli("run", "do it", "--no-verify")
    assert result.exit_code == 0
    assert "Verification was switched off" in result.stdout


def test_a_plan_with_a_blocked_step_ends_with_1(cli: Cli, cast: Cast) -> None:
    cast.steps["s2"] = [call("terminate", status="failure", summary="no way")]
    result = cli("run", "do both", "--max-attempts", "1", "--max-replans", "0")
    assert result.exit_code == 1
    assert "Plan partly completed: 1 of 2" in result.stdout
    assert "it is blocked" in result.stderr


def test_a_failed_step_is_tried_again(cli: Cli, cast: Cast) -> None:
    cast.steps["s2"] = [call("terminate", status="failure", summary="no way")]
    result = cli("run", "do both", "--max-attempts", "3", "--max-replans", "0")
    assert "(attempt 3)" in result.stderr
    assert "it will be tried again" in result.stderr


def test_a_plan_longer_than_max_steps_is_not_taken(cli: Cli, cast: Cast) -> None:
    result = cli("run", "do both", "--max-steps", "1", "--json")
    assert json.loads(result.stdout)["report"]["plan_origin"] == "fallback"


def test_with_json_stdout_is_one_document_and_nothing_else(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = ["做完了 ✓"]
    result = cli("run", "做两件事", "--thread", "t", "--json", charset="ascii")
    found = json.loads(result.stdout_bytes)
    assert list(found) == [
        "thread",
        "status",
        "phase",
        "plan",
        "report",
        "summary",
        "pending",
        "workspace",
        "model",
    ]
    assert "做完了 ✓".encode() in result.stdout_bytes
    assert (found["thread"], found["status"], found["phase"]) == ("t", "finished", "DONE")
    assert found["model"] == "scripted:cast"


def test_the_default_workspace_is_a_folder_of_the_thread(cli: Cli, cast: Cast, data: Path) -> None:
    cast.steps["s1"] = [call("write_file", path="a.txt", content="a"), "done"]
    cli("run", "do both", "--thread", "t")
    assert (data / "workspaces" / "t" / "a.txt").read_text() == "a"


def test_a_thread_keeps_its_workspace_for_the_next_request(
    cli: Cli, cast: Cast, tmp_path: Path
) -> None:
    cast.steps["s1"] = [call("write_file", path="a.txt", content="a"), "done"]
    cli("run", "do both", "--thread", "t", "--workspace", str(tmp_path / "w"))
    again = cli("run", "do more", "--thread", "t", "--json")
    assert json.loads(again.stdout)["workspace"] == str(tmp_path / "w")


def test_code_waits_for_a_person_and_yes_allows_it(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = [call("python", code="print(6 * 7)"), "done"]
    waiting = cli("run", "do both", "--json")
    assert waiting.exit_code == 3
    asked = json.loads(waiting.stdout)["pending"][0]
    assert (asked["type"], asked["calls"][0]["args"]) == (
        "tool_approval",
        {"code": "print(6 * 7)"},
    )
    assert cli("run", "do both", "--yes").exit_code == 0


def test_without_a_terminal_a_question_is_printed_with_how_to_answer(
    cli: Cli, cast: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cast.steps["s1"] = [call("ask_human", question="Which?", options=["red", "blue"]), "done"]
    result = cli("run", "do both", "--thread", "t", "--db", "my runs.db")
    assert result.exit_code == 3
    assert "Which?" in result.stdout
    assert "planloop answer t --db 'my runs.db' \"your answer\"" in result.stdout


def test_yes_accepts_the_plan_too(cli: Cli, cast: Cast) -> None:
    assert cli("run", "do both", "--approve-plan").exit_code == 3
    assert cli("run", "do both", "--approve-plan", "--yes").exit_code == 0


def test_a_console_without_the_marks_gets_ascii_ones(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = [call("terminate", status="failure", summary="没有 → nothing")]
    result = cli("run", "做两件事", "--max-replans", "0", charset="ascii")
    assert "0. [!] one" in result.stdout
    assert "1. [x] two" in result.stdout
    assert "[>] s2" in result.stderr


def test_text_of_a_model_cannot_steer_the_terminal(cli: Cli, cast: Cast) -> None:
    cast.steps["s1"] = ["done\x1b[2J\x1b]0;title\x07\r\x08all fine"]
    result = cli("run", "do both")
    assert not set("\x1b\x07\r\x08") & set(result.stdout)


def test_plan_prints_the_plan_and_ends_with_0(cli: Cli, cast: Cast) -> None:
    result = cli("plan", "do both")
    assert result.exit_code == 0
    assert "0. [ ] one" in result.stdout
    assert "approved" in result.stdout


def test_plan_as_json_is_one_document(cli: Cli, cast: Cast) -> None:
    found = json.loads(cli("plan", "do both", "--json").stdout)
    assert [step["id"] for step in found["plan"]["steps"]] == ["s1", "s2"]
    assert found["approved"] is True


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_plan_ends_with_1_when_only_the_fallback_is_left(
    cli: Cli, cast: Cast, options: list[str]
) -> None:
    cast.plan = "I would rather not."
    result = cli("plan", "do both", *options)
    assert result.exit_code == 1
    assert "no JSON object" in result.stderr
    assert "fallback" in result.stdout
