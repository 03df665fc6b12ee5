"""A step that is done by a plan of its own."""

from collections.abc import Callable
from typing import Any

import pytest
from helpers import APPROVED, both_ways, ended, plan_json

from planloop import Budget, Executor, Price, StepBrief, create_planning_graph, create_react_graph
from planloop.testing import ScriptedModel, call


def done(brief: StepBrief) -> str:
    return f"did {brief.step.name}"


def inner_graph(worker: Any = done, *, model: Any = None, **options: Any) -> Any:
    script = model or ScriptedModel([plan_json("X", "Y"), APPROVED, "inner sum"])
    return create_planning_graph(script, worker, **options)


def outer_graph(inner: Any, **options: Any) -> Any:
    model = ScriptedModel([plan_json("A", "B"), APPROVED, "sum"])
    executors: Any = {"simple": done, "big": Executor(inner, description="For what needs a plan.")}
    steps = {"steps": [{"name": "A"}, {"name": "B", "executor": "big"}]}
    graph = create_planning_graph(model, executors, **options)
    return graph, {"request": "x", "plan": steps}


@both_ways
async def test_a_sub_plan_shows_nested_in_the_plan_and_in_the_report(awaited: bool) -> None:
    graph, given = outer_graph(inner_graph())
    run = graph.ainvoke(given) if awaited else None
    result = await run if run is not None else graph.invoke(given)
    step = result["plan"].step("s2")
    assert step.status == "completed"
    assert [s.name for s in step.sub_plan.steps] == ["X", "Y"]
    drawn = result["plan"].render()
    assert drawn.index("1. [✓] B") < drawn.index("0. [✓] X") < drawn.index("1. [✓] Y")
    (_, big) = result["report"]["steps"]
    assert [s["result"] for s in big["sub_plan"]["steps"]] == ["did X", "did Y"]
    assert big["usage"]["steps"] == 3  # plan, review, summary
    assert result["plan"].step("s1").sub_plan is None


def test_a_sub_plan_that_is_not_completed_completes_no_step() -> None:
    def fails(brief: StepBrief) -> str:
        if brief.step.name == "Y":
            raise RuntimeError("no Y")
        return "ok"

    inner = inner_graph(fails, max_attempts=1, max_replans=0)
    graph, given = outer_graph(inner, max_attempts=1, max_replans=0)
    report = graph.invoke(given)["report"]
    big = report["steps"][1]
    assert big["status"] == "blocked"
    assert "1 of 2 steps completed" in big["notes"]
    assert big["sub_plan"]["outcome"] == "partial"
    assert "no Y" in big["sub_plan"]["steps"][1]["notes"]
    assert report["outcome"] == "partial"


def test_a_sub_plan_may_spend_no_more_than_the_plan_around_it_has_left() -> None:
    def talk(n: int) -> str:
        """Talk."""
        return "."

    worker = create_react_graph(ScriptedModel([call("talk", n=1), "done"]), [talk])
    inner = inner_graph(worker)
    graph, given = outer_graph(inner, budget=Budget(steps=4), max_attempts=1, max_replans=0)
    report = graph.invoke(given)["report"]
    inner_report = report["steps"][1]["sub_plan"]
    # Plan and review of the inner plan, two turns of its first step: four turns in all.
    assert [s["status"] for s in inner_report["steps"]] == ["completed", "not_started"]
    assert "budget of 4 steps" in report["steps"][1]["notes"]


def test_a_sub_plan_with_prices_may_cost_no_more_than_the_plan_around_it_has_left() -> None:
    def talk(n: int) -> str:
        """Talk."""
        return "."

    prices = {"scripted": Price(input=1_000_000.0, output=0.0)}  # a dollar a token
    worker = create_react_graph(ScriptedModel([call("talk", n=1), "done"]), [talk])
    inner = inner_graph(worker, budget=Budget(prices=prices))
    graph, given = outer_graph(
        inner, budget=Budget(cost=1.0, prices=prices), max_attempts=1, max_replans=0
    )
    report = graph.invoke(given)["report"]
    assert [s["status"] for s in report["steps"][1]["sub_plan"]["steps"]] == ["not_started"] * 2
    assert "cost" in report["steps"][1]["notes"]


def test_a_sub_plan_without_prices_is_not_held_to_a_cost() -> None:
    prices = {"scripted": Price(input=1.0, output=1.0)}
    graph, given = outer_graph(inner_graph(), budget=Budget(cost=1.0, prices=prices))
    assert graph.invoke(given)["report"]["counts"]["completed"] == 2


def test_plans_within_plans_are_bounded_in_depth() -> None:
    depths: list[str] = []
    graphs: list[Any] = []

    def deeper(brief: StepBrief) -> str:
        """Does it by yet another plan."""
        depths.append(brief.step.name)
        report = graphs[0].invoke({"request": "deeper", "plan": ["again"]})["report"]
        step = report["steps"][0]
        return str(step["result"] or step["notes"])

    graphs.append(
        create_planning_graph(
            ScriptedModel(repeat="sum"), deeper, max_attempts=1, max_replans=0, verify=False
        )
    )
    report = graphs[0].invoke({"request": "x", "plan": ["first"]})["report"]
    assert len(depths) == 5
    assert "plans deep" in report["steps"][0]["result"]


@pytest.mark.parametrize("make", [lambda inner: inner, lambda inner: {"big": inner, "b": done}])
def test_events_of_a_sub_plan_say_whose_they_are(make: Callable[[Any], Any]) -> None:
    graph = create_planning_graph(ScriptedModel(["sum"]), make(inner_graph()))
    given: Any = {"request": "x", "plan": ["A"]}
    stream: Any = graph.stream(given, stream_mode="custom", subgraphs=True)
    events = [event for _, event in stream]
    inner = [e for e in events if e.get("within")]
    assert {e["within"] for e in inner} == {"s1"}
    assert [e["step"] for e in inner if e.get("phase") == "COMPLETED"] == ["s1", "s2"]
    assert [e["step"] for e in events if e.get("phase") == "COMPLETED" and e not in inner] == ["s1"]


@both_ways
async def test_an_agent_may_plan_in_a_tool_and_is_bounded_too(awaited: bool) -> None:
    inner = inner_graph()

    def plan_it(task: str) -> str:
        """Plan it."""
        return str(inner.invoke({"request": task, "plan": ["X"]})["report"]["outcome"])

    agent = create_react_graph(ScriptedModel([call("plan_it", task="t"), "done"]), [plan_it])
    model = ScriptedModel([plan_json("A"), APPROVED, "sum"])
    result = await ended(create_planning_graph(model, agent), awaited)
    assert result["report"]["counts"]["completed"] == 1
