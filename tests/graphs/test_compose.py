"""Composition: our graphs in other graphs, other graphs in ours; sync and async; side by side."""

import asyncio
import json
import threading
import time
from typing import Any

import pytest
from helpers import APPROVED, plan_json, planner_of
from langchain_core.messages import AIMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph

from planloop import (
    Executor,
    Outcome,
    StepBrief,
    create_planner_graph,
    create_planning_graph,
    create_react_graph,
)
from planloop.errors import WrongUse
from planloop.state import make_outcome
from planloop.testing import ScriptedModel, call, calls


def done(brief: StepBrief) -> str:
    return f"did {brief['step'].name}"


def test_a_react_graph_is_a_node_of_a_host_graph_and_inherits_its_saver() -> None:
    def look() -> str:
        """Look."""
        return "seen"

    react = create_react_graph(ScriptedModel([call("look"), "done"]), [look])
    host: Any = (
        StateGraph(MessagesState)
        .add_node("agent", react)
        .add_edge(START, "agent")
        .add_edge("agent", END)
        .compile(checkpointer=InMemorySaver())
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    result = host.invoke({"messages": [("user", "go")]}, config)
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]
    assert set(result) == {"messages"}


def test_c134_a_parents_own_keys_stay_as_they_are() -> None:
    class Host(MessagesState):
        steps: list[str]
        extra: int

    planning = create_planning_graph(planner_of("A"), done)
    host: Any = (
        StateGraph(Host)
        .add_node("plan", planning)
        .add_edge(START, "plan")
        .add_edge("plan", END)
        .compile()
    )
    result = host.invoke({"messages": [("user", "go")], "steps": ["mine"], "extra": 7})
    assert (result["steps"], result["extra"]) == (["mine"], 7)
    assert "1 of 1 steps completed" in result["messages"][-1].text


def test_a_brief_is_read_by_field_or_by_key() -> None:
    seen: list[StepBrief] = []

    def look(brief: StepBrief) -> str:
        seen.append(brief)
        return "ok"

    create_planning_graph(planner_of("A", "B"), look).invoke({"request": "x"})
    first, second = seen
    assert first.step.id == first["step"].id == "s1"
    assert second.results == {"s1": "ok"}
    assert second.prompt == second["prompt"] and "Your step (s2)" in second.prompt
    assert first.idempotency_key != second.idempotency_key
    with pytest.raises(KeyError):
        first["nothing"]


def test_any_compiled_graph_with_messages_is_an_executor() -> None:
    def speak(state: MessagesState) -> dict[str, Any]:
        return {"messages": [AIMessage("spoken")]}

    foreign = (
        StateGraph(MessagesState)
        .add_node("speak", speak)
        .add_edge(START, "speak")
        .add_edge("speak", END)
        .compile()
    )
    result = create_planning_graph(planner_of("A"), foreign).invoke({"request": "x"})
    assert result["report"]["steps"][0]["result"] == "spoken"


def test_a_planning_graph_is_an_executor_of_another() -> None:
    def fails(brief: StepBrief) -> str:
        raise RuntimeError("no")

    inner = create_planning_graph(planner_of("a", "b"), done)
    result = create_planning_graph(planner_of("A"), inner).invoke({"request": "x"})
    assert result["report"]["counts"]["completed"] == 1
    assert "2 of 2 steps completed" in result["plan"].steps[0].result
    inner = create_planning_graph(planner_of("a"), fails, max_attempts=1, max_replans=0)
    outer = create_planning_graph(planner_of("A"), inner, max_attempts=1, max_replans=0)
    assert outer.invoke({"request": "x"})["report"]["outcome"] == "failed"


async def test_async_functions_and_outcomes_are_executors() -> None:
    async def later(brief: StepBrief) -> Outcome:
        await asyncio.sleep(0)
        return make_outcome("terminated", "said so", success=True, answer=brief["step"].name)

    graph = create_planning_graph(planner_of("A"), Executor(later, description="later"))
    result = await graph.ainvoke({"request": "x"})
    assert result["report"]["steps"][0]["result"] == "A"


def test_an_async_executor_run_in_sync_says_what_to_do() -> None:
    async def later(brief: StepBrief) -> str:
        return "x"

    with pytest.raises(WrongUse, match="ainvoke"):
        create_planning_graph(planner_of("A"), later).invoke({"request": "x"})


@pytest.mark.parametrize(
    "gave",
    [
        None,
        3,
        ["x"],
        {"no": "messages"},
        {"reason": "because", "answer": "x"},
        {"reason": "final_answer", "answer": ["x"]},
        {"reason": "final_answer", "answer": "x", "usage": {"steps": "many"}},
        {"messages": [], "outcome": {"reason": "because"}},
    ],
)
def test_an_executor_that_gives_nothing_usable_completes_nothing(gave: Any) -> None:
    graph = create_planning_graph(
        planner_of("A"), lambda brief: gave, max_attempts=1, max_replans=0
    )
    report = graph.invoke({"request": "x"})["report"]
    assert report["outcome"] == "failed"
    assert report["steps"][0]["reason"] in ("error", "empty_response")


@pytest.mark.parametrize("usage", [None, {}, {"steps": 3}, "much"])
def test_what_an_outcome_leaves_out_is_filled_in(usage: Any) -> None:
    gave: Any = {"reason": "final_answer", "answer": "yes", "usage": usage}
    report = create_planning_graph(planner_of("A"), lambda brief: gave).invoke({"request": "x"})[
        "report"
    ]
    assert report["steps"][0]["result"] == "yes"
    assert report["usage"]["steps"] >= 3  # plan, review, summary


async def test_sync_and_async_give_the_same() -> None:
    def look(n: int) -> str:
        """Look."""
        return str(n)

    def build() -> Any:
        worker = ScriptedModel([calls(("look", {"n": 1}), ("look", {"n": 2}), ids=["1", "2"]), "d"])
        return create_planning_graph(planner_of("A"), create_react_graph(worker, [look]))

    sync, later = build().invoke({"request": "x"}), await build().ainvoke({"request": "x"})
    for result in (sync, later):
        usage = result["report"]["usage"]
        for varying in ("seconds", "input_tokens", "models"):  # the plan's id is told to the model
            del usage[varying]
        for step in result["report"]["steps"]:
            del step["started"], step["ended"], step["usage"]
    assert sync["report"] == later["report"]


async def test_c106_a_blocking_tool_or_executor_does_not_stop_the_loop() -> None:
    gate = threading.Event()

    def wait() -> str:
        """Wait until the loop has ticked."""
        return "ticked" if gate.wait(20) else "the loop stood still"

    react = create_react_graph(ScriptedModel([call("wait"), "done"]), [wait])
    run = asyncio.create_task(react.ainvoke({"request": "x"}))
    while not run.done():
        await asyncio.sleep(0.01)
        gate.set()
    assert (await run)["messages"][2].text == "ticked"


async def test_independent_steps_run_side_by_side_and_one_failure_takes_no_sibling() -> None:
    together = asyncio.Barrier(2)

    async def worker(brief: StepBrief) -> str:
        if brief["step"].id in ("s1", "s2"):
            async with asyncio.timeout(20):
                await together.wait()  # only passes if both run at once
        if brief["step"].id == "s2":
            raise RuntimeError("no")
        return f"did {brief['step'].name}"

    steps = [{"name": "A"}, {"name": "B"}, {"name": "C", "depends_on": ["s1"]}]
    model = ScriptedModel([json.dumps({"steps": steps}), APPROVED, "sum"])
    graph = create_planning_graph(
        model, worker, max_parallel_steps=2, max_attempts=1, max_replans=0
    )
    report = (await graph.ainvoke({"request": "x"}))["report"]
    assert [s["status"] for s in report["steps"]] == ["completed", "blocked", "completed"]
    assert report["outcome"] == "partial"


def test_side_by_side_failures_are_replanned_once() -> None:
    def worker(brief: StepBrief) -> str:
        if brief["step"].name in ("A", "B"):
            raise RuntimeError(f"{brief['step'].name} cannot be")
        return "ok"

    model = ScriptedModel([plan_json("A", "B"), APPROVED, plan_json("A2", "B2"), "sum"])
    graph = create_planning_graph(model, worker, max_parallel_steps=2, max_attempts=1)
    result = graph.invoke({"request": "x"})
    assert [s["status"] for s in result["report"]["steps"]] == ["completed", "completed"]
    told = model.requests[2].messages[-1].text
    assert "A cannot be" in told and "B cannot be" in told


def test_models_by_role_are_each_asked_for_their_part() -> None:
    planner = ScriptedModel([plan_json("A", success_criteria=["is A"])])
    reviewer, summary = ScriptedModel([APPROVED]), ScriptedModel(["prose"])
    judge = ScriptedModel(['{"verdicts": [{"verdict": "met", "evidence": "did A"}]}'])
    roles = {"planner": planner, "reviewer": reviewer, "judge": judge, "summary": summary}
    result = create_planning_graph(
        {**roles, "default": ScriptedModel()}, done
    ).invoke({"request": "x"})  # fmt: skip
    assert result["report"]["outcome"] == "completed"
    assert [len(m.requests) for m in roles.values()] == [1, 1, 1, 1]
    two = {"planner": ScriptedModel([plan_json("A")]), "reviewer": ScriptedModel([APPROVED])}
    assert create_planner_graph(two).invoke({"request": "x"})["approved"]
    with pytest.raises(WrongUse, match="summary"):
        create_planning_graph({"planner": planner, "reviewer": reviewer, "judge": judge}, done)
    with pytest.raises(WrongUse, match="Unknown roles"):
        create_planner_graph({"boss": planner, "default": planner})


def test_the_plans_budget_ends_the_plan_and_is_said() -> None:
    from planloop import Budget

    model = ScriptedModel([plan_json("A", "B", "C"), APPROVED, "sum"])

    def worker(brief: StepBrief) -> Outcome:
        usage: Any = {**make_outcome("error", "")["usage"], "steps": 5}
        return make_outcome("final_answer", "", answer="ok", usage=usage)

    graph = create_planning_graph(model, worker, budget=Budget(steps=10))
    report = graph.invoke({"request": "x"})["report"]
    assert [s["status"] for s in report["steps"]] == ["completed", "completed", "not_started"]
    assert report["outcome"] == "partial"
    assert any("10 steps" in w for w in report["warnings"])


def test_c114_many_runs_of_one_graph_do_not_mix() -> None:
    def worker(brief: StepBrief) -> str:
        time.sleep(0)
        return f"{brief['request']} {brief['step'].name}"

    graph = create_planning_graph(ScriptedModel(repeat="fine"), worker, verify=False)
    results: dict[int, Any] = {}

    def one(n: int) -> None:
        plan = [f"a{n}", f"b{n}"]
        results[n] = graph.invoke({"request": f"r{n}", "plan": plan})

    threads = [threading.Thread(target=one, args=(n,)) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    for n, result in results.items():
        assert [s["result"] for s in result["report"]["steps"]] == [f"r{n} a{n}", f"r{n} b{n}"]
    assert len({r["plan"].id for r in results.values()}) == 12
