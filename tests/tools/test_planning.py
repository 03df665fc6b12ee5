"""The planning tool in agents: ours, and LangChain's."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from helpers import both_ways, valid
from langchain.agents import AgentState, create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.graph import MessagesState, StateGraph

from planloop import PlansState, create_react_graph, open_saver, planning_tool
from planloop.state import plan_of
from planloop.testing import ScriptedModel, call, calls
from planloop.tools import ToolPolicy

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
async def test_a_plan_is_made_and_marked_in_one_turn(kind: str) -> None:
    turn = calls(("planning", CREATE), mark(0, "done"), ("planning", {"command": "get"}))
    result, told = await answers(agent_of(kind, ScriptedModel([turn, "x"])), True)
    assert plan_of(result["plans"]).steps[0].status == "completed"
    assert "0. [✓] A" in told[2]


@pytest.mark.parametrize("kind", ["ours", "langchain"])
async def test_the_active_plan_by_name_and_without_is_one_plan(kind: str) -> None:
    updates = [
        ("planning", {"command": "update", "steps": ["A", "C"]}),
        ("planning", {"command": "update", "plan_id": "p", "steps": ["D"]}),
    ]
    model = ScriptedModel([call("planning", **CREATE), calls(*updates), "x"])
    result, told = await answers(agent_of(kind, model), False)
    assert [s.name for s in plan_of(result["plans"]).steps] == ["A", "C"]
    assert "An earlier call of this turn" in told[2]


@pytest.mark.parametrize("kind", ["ours", "langchain"])
async def test_a_refused_replacement_leaves_room_for_one_that_fits(kind: str) -> None:
    turn = calls(("planning", {**CREATE, "steps": []}), ("planning", CREATE))
    result, told = await answers(agent_of(kind, ScriptedModel([turn, "x"])), False)
    assert "no steps" in told[0] and "Created." in told[1]
    assert list(result["plans"]["plans"]) == ["p"]


@pytest.mark.parametrize("kind", ["ours", "langchain"])
async def test_two_plans_are_made_in_one_turn(kind: str) -> None:
    turn = calls(("planning", CREATE), ("planning", {**CREATE, "plan_id": "q"}))
    result, _ = await answers(agent_of(kind, ScriptedModel([turn, "x"])), True)
    assert list(result["plans"]["plans"]) == ["p", "q"]
    assert result["plans"]["active"] == "q"


async def test_calls_side_by_side_are_bounded() -> None:
    turn = calls(*[mark(0, "in_progress")] * 40)
    model = ScriptedModel([call("planning", **CREATE), turn, "x"])
    _, told = await answers(agent_of("langchain", model), False)
    assert "1 in progress" in told[32] and "at most 32" in told[33]


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
    sizes, result = list[int](), dict[str, Any]()
    for n in range(3):
        with open_saver(url) as saver:
            script = [marking(10 * n + i) for i in range(10)]
            model = ScriptedModel([*script, "done"])
            result, _ = await answers(agent_of("ours", model, checkpointer=saver), False, config)
        sizes.append((tmp_path / "runs.db").stat().st_size)
    assert plan_of(result["plans"]).counts()["completed"] == 30
    assert sizes[2] - sizes[1] <= 1.5 * (sizes[1] - sizes[0])


def saved_bytes(saver: InMemorySaver) -> int:
    """What the channel of plans has written so far."""
    writes = [w for task in saver.writes.values() for w in task.values()]
    return sum(len(value[1]) for _, channel, value, _ in writes if channel == "plans")


@pytest.mark.parametrize("kind", ["ours", "langchain"])
async def test_checkpoints_hold_plain_changes_that_strict_readers_take(kind: str) -> None:
    saver = InMemorySaver(serde=JsonPlusSerializer(allowed_msgpack_modules=None))
    config: Any = {"configurable": {"thread_id": "t"}}
    create = {**CREATE, "steps": [f"n{n}" for n in range(50)]}
    sizes, result = list[int](), dict[str, Any]()
    for script in ([call("planning", **create)], *([marking(n)] for n in range(20))):
        agent = agent_of(kind, ScriptedModel([*script, "x"]), checkpointer=saver)
        result, _ = await answers(agent, True, config)
        sizes.append(saved_bytes(saver))
    book = result["plans"]
    assert json.loads(json.dumps(book)) == book
    assert plan_of(book).counts()["completed"] == 20
    costs = {after - before for before, after in pairwise(sizes[11:])}  # from id s11 on
    assert len(costs) == 1 and costs.pop() < 100


class Host(MessagesState, PlansState):
    """A graph around an agent."""


async def test_an_agent_in_a_graph_with_plans_works_on_them() -> None:
    agent = create_react_graph(ScriptedModel([marking(1), "x"]), [planning_tool])
    host: Any = (
        StateGraph(Host)
        .add_node("agent", agent)
        .set_entry_point("agent")
        .set_finish_point("agent")
        .compile()
    )
    plans: Any = {"plans": {"p": {"title": "T", "steps": ["A", "B"]}}, "active": "p"}
    result = await host.ainvoke({"messages": [("user", "go on")], "plans": plans})
    assert [s.status for s in plan_of(result["plans"]).steps] == ["not_started", "completed"]


async def test_an_agent_without_a_place_for_plans_is_told_so() -> None:
    model = ScriptedModel([call("planning", **CREATE), "I cannot plan."])
    _, told = await answers(create_agent(model, [planning_tool]), False)
    assert "PlansState" in told[0]


def test_an_agent_without_the_tool_has_no_plans_in_its_state() -> None:
    properties = create_react_graph(ScriptedModel()).get_output_jsonschema()["properties"]
    assert "plans" not in properties
    with_tool = create_react_graph(ScriptedModel(), [planning_tool])
    assert "plans" in with_tool.get_output_jsonschema()["properties"]


async def test_an_agent_that_may_only_read_may_plan() -> None:
    model = ScriptedModel([call("planning", **CREATE), "x"])
    result, told = await answers(agent_of("ours", model, policy=ToolPolicy.read_only()), False)
    assert "Created." in told[0] and list(result["plans"]["plans"]) == ["p"]
