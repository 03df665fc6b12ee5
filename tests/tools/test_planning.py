"""The planning tool in agents: ours, LangChain's, and with plans in a store."""

from pathlib import Path
from typing import Any

import pytest
from helpers import both_ways, valid
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, ToolMessage

from planloop import create_react_graph, open_saver, open_store
from planloop.state import PlansState, plan_of
from planloop.testing import ScriptedModel, call, calls
from planloop.tools import planning_tool, planning_tool_for

CREATE = {"command": "create", "plan_id": "p", "title": "T", "steps": ["A", "B"]}


def mark(place: int, status: str) -> tuple[str, dict[str, Any]]:
    return "planning", {"command": "mark_step", "step_index": place, "step_status": status}


def marking(place: int) -> AIMessage:
    """A turn that marks one step as done."""
    return calls(mark(place, "done"))


class State(AgentState[Any], PlansState):
    """A foreign agent's state with a place for plans."""


def agent_of(kind: str, model: ScriptedModel, **options: Any) -> Any:
    if kind == "ours":
        return create_react_graph(model, [planning_tool], **options)
    return create_agent(model, [planning_tool], state_schema=State, **options)


async def answers(
    agent: Any, awaited: bool, config: Any = None
) -> tuple[dict[str, Any], list[str]]:
    given: Any = {"messages": [("user", "plan it")]}
    result = await agent.ainvoke(given, config) if awaited else agent.invoke(given, config)
    valid(result["messages"])
    return result, [m.text for m in result["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("kind", ["ours", "langchain"])
@both_ways
async def test_c53_calls_of_one_turn_are_applied_in_order_and_each_is_answered(
    kind: str, awaited: bool
) -> None:
    marks = calls(mark(0, "done"), mark(1, "in_progress"))
    model = ScriptedModel([call("planning", **CREATE), marks, "done"])
    result, told = await answers(agent_of(kind, model), awaited)
    plan = plan_of(result["plans"])
    assert [s.status for s in plan.steps] == ["completed", "in_progress"]
    assert len(told) == 3 and "Plan: T (ID: p)" in told[0] and "1. [→] B" in told[2]


@pytest.mark.parametrize("kind", ["ours", "langchain"])
@pytest.mark.parametrize("plan_id", ["p", None])
async def test_c53_one_turn_replaces_one_plan_once(kind: str, plan_id: str | None) -> None:
    again = {**CREATE, "plan_id": plan_id, "steps": ["C"]}
    first = {**CREATE, "plan_id": plan_id}
    model = ScriptedModel([calls(("planning", first), ("planning", again)), "done"])
    result, told = await answers(agent_of(kind, model), True)
    assert [s.name for s in plan_of(result["plans"]).steps] == ["A", "B"]
    assert "An earlier call of this turn" in told[1]


@pytest.mark.parametrize("kind", ["ours", "langchain"])
async def test_a_refusal_is_an_answer_and_changes_nothing(kind: str) -> None:
    wrong = [
        call("planning", command="get"),
        call("planning", command="mark_step", step_index=7, step_status="done"),
        call("planning", **{**CREATE, "steps": []}),
    ]
    model = ScriptedModel([call("planning", **CREATE), *wrong, "done"])
    agent = agent_of(kind, model)
    result, told = await answers(agent, False)
    assert "0. [ ] A" in told[1]
    assert "indices 0 to 1" in told[2] and "There is a plan 'p' already" in told[3]
    assert list(result["plans"]["plans"]) == ["p"]


async def test_plans_stay_on_the_thread_and_cost_a_straight_line(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    config: Any = {"configurable": {"thread_id": "t"}}
    steps = [f"n{n}" for n in range(50)]
    with open_saver(url) as saver:
        model = ScriptedModel([call("planning", **{**CREATE, "steps": steps}), "done"])
        await answers(agent_of("ours", model, checkpointer=saver), False, config)
    sizes = []
    for n in range(3):
        with open_saver(url) as saver:
            script = [marking(10 * n + i) for i in range(10)]
            model = ScriptedModel([*script, "done"])
            result, _ = await answers(agent_of("ours", model, checkpointer=saver), False, config)
        sizes.append((tmp_path / "runs.db").stat().st_size)
    assert plan_of(result["plans"]).counts()["completed"] == 30
    assert sizes[2] - sizes[1] <= 1.5 * (sizes[1] - sizes[0])


async def test_an_agent_without_a_place_for_plans_is_told_so() -> None:
    model = ScriptedModel([call("planning", **CREATE), "I cannot plan."])
    _, told = await answers(create_agent(model, [planning_tool]), False)
    assert "PlansState" in told[0]


def test_an_agent_without_the_tool_has_no_plans_in_its_state() -> None:
    properties = create_react_graph(ScriptedModel()).get_output_jsonschema()["properties"]
    assert "plans" not in properties
    with_tool = create_react_graph(ScriptedModel(), [planning_tool])
    assert "plans" in with_tool.get_output_jsonschema()["properties"]


@both_ways
async def test_plans_in_a_store_outlive_the_thread(awaited: bool) -> None:
    store = open_store("memory:")
    tool = planning_tool_for("plans", "me")
    first = ScriptedModel(
        [call("planning", **CREATE), call(mark(0, "done")[0], **mark(0, "done")[1]), "x"]
    )
    await answers(create_react_graph(first, [tool], store=store), awaited)
    second = ScriptedModel([call("planning", command="get"), call("planning", command="list"), "x"])
    _, told = await answers(create_react_graph(second, [tool], store=store), awaited)
    assert "0. [✓] A" in told[0] and "- p (active): T, 1/2" in told[1]
    other = ScriptedModel([call("planning", command="list"), "x"])
    _, told = await answers(
        create_react_graph(other, [planning_tool_for("plans", "you")], store=store), awaited
    )
    assert "There are no plans" in told[0]
    gone = ScriptedModel([call("planning", command="delete", plan_id="p"), "x"])
    await answers(create_react_graph(gone, [tool], store=store), awaited)
    assert store.search(("plans", "me", "planning")) == []


async def test_without_a_store_the_tool_that_needs_one_says_so() -> None:
    agent = create_react_graph(
        ScriptedModel([call("planning", **CREATE), "x"]), [planning_tool_for()]
    )
    _, told = await answers(agent, False)
    assert "no store to keep plans in" in told[0]
