"""Our agent inside other people's graphs, and other people's agents as executors of ours."""

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command

from planloop import (
    Budget,
    Executor,
    ToolPolicy,
    create_planning_graph,
    create_react_graph,
    tool_traits,
)
from planloop.testing import ScriptedModel, call

from helpers import planner_of  # isort: skip

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def delegating(worker: Any) -> tuple[ScriptedModel, Any]:
    """A deep agent that hands one task to our agent and then answers."""
    boss = ScriptedModel(
        [call("task", "d1", description="Add 1 and 2.", subagent_type="adder"), "Told."]
    )
    made: Any = {"name": "adder", "description": "Adds.", "runnable": worker}
    return boss, create_deep_agent(model=boss, subagents=[made])


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ([call("add", a=1, b=2), "It is 3."], "It is 3."),
        (
            [call("add", a=1, b=2), call("terminate", status="success", summary="3 it is")],
            "3 it is",
        ),
        ([call("add", a=1, b=2), call("add", a=2, b=2), "Only 3 so far."], "Only 3 so far."),
    ],
    ids=["final answer", "terminate", "budget"],
)
@pytest.mark.parametrize("awaited", [False, True])
async def test_a_deep_agent_hears_the_answer_of_our_agent(
    script: list[Any], told: str, awaited: bool
) -> None:
    worker = create_react_graph(ScriptedModel(script), [add], budget=Budget(steps=2))
    boss, agent = delegating(worker)
    given = {"messages": [("user", "add")]}
    result = await agent.ainvoke(given) if awaited else agent.invoke(given)
    heard = next(m for m in result["messages"] if isinstance(m, ToolMessage))
    assert heard.text == told
    assert result["messages"][-1].text == "Told."
    assert boss.left == 0


@pytest.mark.parametrize("awaited", [False, True])
async def test_langchains_agent_does_the_steps_of_a_plan(awaited: bool) -> None:
    model = ScriptedModel(
        [call("add", a=1, b=2), AIMessage("It is 3.", usage_metadata=_tokens(7, 2))]
    )
    agent = create_agent(model, [add])
    graph = create_planning_graph(planner_of("A"), Executor(agent, description="Adds."))
    given: Any = {"request": "add"}
    result = await graph.ainvoke(given) if awaited else graph.invoke(given)
    (step,) = result["report"]["steps"]
    assert (step["status"], step["result"]) == ("completed", "It is 3.")
    assert result["report"]["usage"]["input_tokens"] >= 7
    assert "add" in model.requests[0].messages[-1].text


def _tokens(read: int, written: int) -> Any:
    return {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}


@pytest.mark.parametrize("script", [[RuntimeError("boom")] * 4, [AIMessage("")] * 4])
def test_langchains_agent_that_fails_or_says_nothing_completes_nothing(script: list[Any]) -> None:
    agent = create_agent(ScriptedModel(script), [add])
    graph = create_planning_graph(planner_of("A"), agent, max_replans=0)
    report = graph.invoke({"request": "add"})["report"]
    assert report["counts"]["completed"] == 0
    assert report["outcome"] == "failed"


def test_a_reply_of_langchains_agent_that_was_cut_off_completes_nothing() -> None:
    cut = AIMessage("It is", response_metadata={"finish_reason": "length"})
    agent = create_agent(ScriptedModel([cut] * 4), [add])
    graph = create_planning_graph(planner_of("A"), agent, max_replans=0)
    report = graph.invoke({"request": "add"})["report"]
    assert report["counts"]["completed"] == 0
    assert report["steps"][0]["reason"] == "output_truncated"


def test_a_deep_agent_does_the_steps_of_a_plan() -> None:
    model = ScriptedModel([call("add", a=1, b=2), "It is 3."])
    agent = create_deep_agent(model=model, tools=[add])
    graph = create_planning_graph(planner_of("A"), agent)
    (step,) = graph.invoke({"request": "add"})["report"]["steps"]
    assert (step["status"], step["result"]) == ("completed", "It is 3.")


def host_of(node: Any, saver: Any = None) -> Any:
    """A graph of somebody else with ours as its only node."""
    builder: Any = StateGraph(MessagesState)
    return builder.add_node("work", node).add_edge(START, "work").compile(checkpointer=saver)


@pytest.mark.parametrize("awaited", [False, True])
async def test_a_question_of_our_agent_is_answered_through_the_host(awaited: bool) -> None:
    ran: list[int] = []

    def pay(amount: int) -> str:
        """Pay."""
        ran.append(amount)
        return "paid"

    from langchain_core.tools import tool

    paying = tool_traits(effect="irreversible")(tool(pay))
    model = ScriptedModel([call("pay", "c1", amount=5), "Paid."])
    worker = create_react_graph(model, [paying], policy=ToolPolicy.workspace())
    host = host_of(worker, InMemorySaver())
    given: Any = {"messages": [("user", "pay 5")]}
    asked = await host.ainvoke(given, CONFIG) if awaited else host.invoke(given, CONFIG)
    (question,) = asked["__interrupt__"]
    assert question.value["calls"][0]["args"] == {"amount": 5} and ran == []
    yes: Any = Command(resume={question.id: True})
    result = await host.ainvoke(yes, CONFIG) if awaited else host.invoke(yes, CONFIG)
    assert ran == [5]
    assert set(result) == {"messages"}
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]


def test_our_agent_works_on_a_plan_inside_somebody_elses_graph() -> None:
    worker = create_react_graph(ScriptedModel([call("add", a=1, b=2), "It is 3."]), [add])
    host = host_of(create_planning_graph(planner_of("A"), worker), InMemorySaver())
    result = host.invoke({"messages": [("user", "add")]}, CONFIG)
    assert set(result) == {"messages"}
    assert result["messages"][-1].text.startswith("Plan completed")
