"""What the README says is so: its code runs, its commands are those of the program and of CI."""

import json
import os
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph import START, MessagesState, StateGraph

from planloop import Plan
from planloop.state import lifecycle_mermaid
from planloop.testing import ScriptedModel, call

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
CI = ROOT / ".ci" / "run"


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def command_with(part: str) -> str:
    """The one shell block that holds `part`; it must be a single line."""
    (found,) = [block for block in blocks("sh") if part in block]
    (line,) = found.splitlines()
    return line


def test_the_lifecycle_picture_is_the_table() -> None:
    assert blocks("mermaid") == [lifecycle_mermaid() + "\n"]


@pytest.mark.parametrize("part", ["[cli,local]", "[dev]"])
def test_a_command_is_one_line_that_needs_only_python_and_git(part: str) -> None:
    first, *rest = command_with(part).split(" && ")
    assert first == "python3 -m venv .venv"
    assert all(step.startswith(".venv/bin/") for step in rest)


def test_the_run_command_gives_a_task_and_needs_nobody() -> None:
    run = command_with("[cli,local]").split(" && ")[-1]
    assert re.fullmatch(r'\.venv/bin/planloop run "[^"]+"', run)


def test_ci_takes_the_test_command_from_here() -> None:
    script = CI.read_text("utf-8")
    assert os.access(CI, os.X_OK)
    assert "README.md" in script and ".[dev]" in script
    assert "pytest" not in re.sub(r"#.*", "", script), "a second test command would drift"
    assert {"tests", "notebooks", "--nbmake"} <= set(command_with("[dev]").split())


def test_the_commands_are_those_of_the_program() -> None:
    pytest.importorskip("typer")
    from typer.main import get_command

    from planloop.cli.app import app

    told = set(re.findall(r"^\| `planloop ([\w-]+)", README, re.MULTILINE))
    assert told == set(vars(get_command(app))["commands"])


def test_the_exit_codes_are_told() -> None:
    told = re.findall(r"^\| (\d+) \| ", README, re.MULTILINE)
    assert told == ["0", "1", "2", "3", "130"]


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_folders_are_those_that_exist() -> None:
    told = re.findall(r"`(\w+)/`", README.split("## Where things are")[1])
    assert [folder for folder in told if not (ROOT / folder).is_dir()] == []


def reply(messages: list[BaseMessage]) -> AIMessage | str:
    """Play every role of the README: planner, reviewer, worker, judge."""
    system, last = str(messages[0].text), messages[-1]
    if "success criteri" in system.lower() and "plan" not in system.lower():
        return json.dumps({"verdicts": []})
    if last.text.startswith("Task:"):
        step = {"name": "Write the poem", "description": "Write it to poem.txt."}
        return json.dumps({"title": "A poem", "steps": [step]})
    if "Write the poem" in last.text and last.type == "human" and len(messages) <= 3:
        return call("write_file", path="poem.txt", content="Rivers run.\n")
    if last.type == "tool" and last.name == "write_file":
        return call("ask_human", question="Is it short enough?")
    return "Done. [APPROVED]"


def stand_in_agent(*_: Any, **__: Any) -> Any:
    """As LangChain's `create_agent` gives it: a compiled graph with `messages`."""
    builder = StateGraph(MessagesState)
    builder.add_node("model", lambda state: {"messages": [AIMessage("Found.")]})
    return builder.add_edge(START, "model").compile()


def test_the_python_code_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agents = types.ModuleType("langchain.agents")
    vars(agents)["create_agent"] = stand_in_agent
    monkeypatch.setitem(sys.modules, "langchain", types.ModuleType("langchain"))
    monkeypatch.setitem(sys.modules, "langchain.agents", agents)
    model = ScriptedModel(repeat=reply)
    monkeypatch.setattr("planloop.models.source.load_model", lambda _: model)
    monkeypatch.setattr("builtins.input", lambda _: "yes")
    monkeypatch.chdir(tmp_path)

    names: dict[str, Any] = {"__name__": "readme"}
    first, *others = blocks("python")
    exec(compile(first, "README.md", "exec"), names)
    assert (tmp_path / "work" / "poem.txt").read_text() == "Rivers run.\n"
    assert isinstance(names["run"].values["plan"], Plan)
    assert names["run"].values["report"]["outcome"] == "completed_unverified"
    assert "1 of 1 steps completed" in capsys.readouterr().out

    for number, block in enumerate(others, 2):
        exec(compile(block, f"README.md, block {number}", "exec"), names)
    assert names["answer"].text == "Done. [APPROVED]"
    assert f"{names['run'].thread} finished []" in capsys.readouterr().out
    given = {"request": "x", "plan": [{"name": "Look it up", "executor": "researcher"}, "Keep it"]}
    paused = names["graph"].invoke(given)
    assert paused["__interrupt__"]


def test_ten_lines_are_ten() -> None:
    lines = [line for line in blocks("python")[0].splitlines() if line.strip()]
    assert len(lines) <= 10
