"""Declared output files are looked at, not believed; criteria that name a check need no model."""

import asyncio
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from blockbuster import blockbuster_ctx
from helpers import APPROVED, both_ways, plan_json, planner_of
from langgraph.errors import GraphInterrupt
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from planloop import RunContext, StepBrief, create_planning_graph
from planloop.models import aperform, perform
from planloop.state import PlanningInput, PlanStep
from planloop.testing import ScriptedModel
from planloop.tools import CheckedStep, checks_of, command_check

checks_module: Any = import_module("planloop.nodes._checks")
by_code, declared_texts = checks_module.by_code, checks_module.declared_texts


def test_a_step_whose_file_is_missing_is_sent_back(tmp_path: Path) -> None:
    attempts: list[str] = []

    def writer(brief: StepBrief) -> str:
        attempts.append(brief["prompt"])
        if len(attempts) == 2:
            (tmp_path / "poem.txt").write_text("rivers")
        return "I wrote poem.txt."

    model = ScriptedModel([plan_json("a", expected_outputs=["poem.txt", "joy"]), APPROVED, "sum"])
    graph = create_planning_graph(model, writer)
    result = graph.invoke({"request": "x"}, context=RunContext(workspace=str(tmp_path)))
    assert len(attempts) == 2
    assert "poem.txt is missing or empty" in attempts[1]
    assert result["report"]["outcome"] == "completed"
    assert result["plan"].steps[0].verdicts[0]["evidence"] == "poem.txt: 6 bytes"


def test_prose_about_files_is_no_file(tmp_path: Path) -> None:
    prose = ["A file named poem.txt", "Report saved in report.md", "uses Python 3.x", "v1.0"]
    text = plan_json("a", expected_outputs=prose)
    graph = create_planning_graph(ScriptedModel([text, APPROVED, "sum"]), lambda brief: "ok")
    result = graph.invoke({"request": "x"}, context=RunContext(workspace=str(tmp_path)))
    assert result["report"]["outcome"] == "completed_unverified"
    assert result["plan"].steps[0].verdicts == []


def test_a_file_outside_the_workspace_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("x")
    inside = tmp_path / "ws"
    inside.mkdir()
    text = plan_json("a", expected_outputs=["../out.txt"])
    graph = create_planning_graph(ScriptedModel([text, APPROVED, "sum"]), lambda brief: "ok")
    result = graph.invoke({"request": "x"}, context=RunContext(workspace=str(inside)))
    assert result["report"]["outcome"] == "completed_unverified"


def test_without_a_workspace_nothing_is_looked_at() -> None:
    text = plan_json("a", expected_outputs=["poem.txt"])
    graph = create_planning_graph(ScriptedModel([text, APPROVED, "sum"]), lambda brief: "ok")
    report = graph.invoke({"request": "x"})["report"]
    assert report["outcome"] == "completed_unverified"
    assert report["steps"][0]["attempts"] == 1


def test_a_file_that_the_request_names_and_nobody_wrote_is_reported(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1")
    request = "Read there.csv, see example.com e.g. https://a.b/c.txt, write out/poem.txt"
    graph = create_planning_graph(
        ScriptedModel([plan_json("a"), APPROVED, "sum"]), lambda brief: "I wrote it."
    )
    context = RunContext(workspace=str(tmp_path))
    warnings = graph.invoke({"request": request}, context=context)["report"]["warnings"]
    assert "Named in the request, not in the workspace: out/poem.txt." in warnings


def step_of(criteria: list[str], outputs: list[str] | None = None, result: str = "") -> PlanStep:
    return PlanStep(
        id="s1", name="a", success_criteria=criteria, expected_outputs=outputs or [], result=result
    )


def test_criteria_that_name_a_check_are_decided_by_code() -> None:
    checks = checks_of({"balanced": lambda given: given.result == "Total: 3"})
    prose = "it reads well"
    criteria = [r"regex: Total: \d", prose, "Balanced", "regex: none", "file: a.txt", "[x]: y"]
    checked = perform(by_code(step_of(criteria, result="Total: 3"), checks))
    assert checked.outputs == []
    assert {place: verdict["verdict"] for place, verdict in checked.criteria.items()} == {
        0: "met",
        2: "met",
        3: "not_met",
        4: "unknown",
    }
    assert checked.criteria[0] == {
        "criterion": r"regex: Total: \d",
        "verdict": "met",
        "evidence": "the result: Total: 3",
    }


async def test_the_same_is_decided_on_an_event_loop() -> None:
    async def balanced(given: CheckedStep) -> bool:
        return given.argument == "3"

    step = step_of(["balanced: 3", "balanced: 4"])
    checked = await aperform(by_code(step, checks_of({"balanced": balanced})))
    assert [verdict["verdict"] for verdict in checked.criteria.values()] == ["met", "not_met"]


def test_an_interrupt_of_a_check_reaches_the_graph() -> None:
    def asks(given: CheckedStep) -> bool:
        raise GraphInterrupt

    with pytest.raises(GraphInterrupt):
        perform(by_code(step_of(["asks"]), checks_of({"asks": asks})))


def test_a_step_has_a_bounded_number_of_checks() -> None:
    made: list[str] = []

    def counted(given: CheckedStep) -> bool:
        made.append(given.argument)
        return True

    checked = perform(by_code(step_of(["counted: x"] * 25), checks_of({"counted": counted})))
    assert len(made) == 20 and len(checked.criteria) == 25
    assert checked.criteria[24]["verdict"] == "unknown"
    assert "20 checks at most" in checked.criteria[24]["evidence"]


@both_ways
async def test_a_plan_is_verified_by_checks_alone_off_the_loop(
    tmp_path: Path, awaited: bool
) -> None:
    def slow(given: CheckedStep) -> bool:
        time.sleep(0.001)  # as a check that reads a file does
        return given.workspace == tmp_path

    criteria = ["file: a.txt", "regex a.txt: ^riv", "slow", "command: sh -c 'grep rivers a.txt'"]
    model = planner_of("a", success_criteria=criteria, expected_outputs=["a.txt"])
    checks = {"slow": slow, "command": command_check("sh")}
    (tmp_path / "a.txt").write_text("rivers")
    graph = create_planning_graph(model, lambda brief: "ok", checks=checks)
    given, context = PlanningInput(request="x"), RunContext(workspace=str(tmp_path))
    if awaited:
        with blockbuster_ctx():
            result = await graph.ainvoke(given, context=context)
    else:
        result = await asyncio.to_thread(graph.invoke, given, context=context)
    assert [v["verdict"] for v in result["plan"].steps[0].verdicts] == ["met"] * 5
    assert result["report"]["outcome"] == "completed"


def test_a_check_that_is_not_met_sends_the_step_back(tmp_path: Path) -> None:
    prompts: list[str] = []

    def worker(brief: StepBrief) -> str:
        prompts.append(brief["prompt"])
        return f"Total: {'?' if len(prompts) == 1 else 3}"

    model = planner_of("a", success_criteria=[r"regex: Total: \d"])
    result = create_planning_graph(model, worker).invoke({"request": "x"})
    assert "nothing in the result matches the pattern" in prompts[1]
    assert result["report"]["outcome"] == "completed"


class Found(TypedDict, total=False):
    texts: dict[str, str]


def texts(workspace: Path, *outputs: str) -> dict[str, str]:
    """The declared texts as they are read within a run."""

    def look(state: Found) -> Found:
        return {"texts": declared_texts(step_of([], list(outputs)))}

    graph = StateGraph(Found, context_schema=RunContext).add_node("look", look)
    compiled = graph.add_edge(START, "look").compile()
    return dict(compiled.invoke({}, context=RunContext(workspace=str(workspace)))["texts"])


def test_declared_texts_are_those_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("secret")
    inside = tmp_path / "ws"
    inside.mkdir()
    (inside / "a.txt").write_bytes(b"caf\xc3\xa9 \xff")
    (inside / "b.bin").write_bytes(b"\x00\x01")
    (inside / "link.txt").symlink_to("../out.txt")
    (inside / "undeclared.txt").write_text("x")
    found = texts(inside, "a.txt", "b.bin", "gone.txt", "link.txt", "../out.txt", "a poem")
    assert found == {"a.txt": "café \N{REPLACEMENT CHARACTER}"}


def test_declared_texts_are_bounded(tmp_path: Path) -> None:
    names = [f"{number}.txt" for number in range(8)]
    for name in names:
        (tmp_path / name).write_text("first" + "x" * 100_000 + "last")
    found = texts(tmp_path, *names)
    assert list(found) == names[:5]
    for text in found.values():
        assert len(text) <= 4_000 and text.startswith("first") and text.endswith("last")


def test_without_a_workspace_there_are_no_texts() -> None:
    assert declared_texts(step_of([], ["a.txt"])) == {}
