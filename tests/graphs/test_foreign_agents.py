"""Our agent inside other people's graphs, and other people's agents as executors of ours."""

from typing import Any

import pytest
from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import ToolException, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from planloop import (
    Budget,
    Executor,
    Runs,
    ToolPolicy,
    create_planning_graph,
    create_react_graph,
    tool_traits,
)
from planloop.testing import ScriptedModel, call, calls

from helpers import planner_of  # isort: skip

CONFIG: Any = {"configurable": {"thread_id": "t"}}
both_ways = pytest.mark.parametrize("awaited", [False, True])


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def going(graph: Any, given: Any, awaited: bool) -> dict[str, Any]:
    """Start or answer on the thread, awaited or not."""
    return dict(await graph.ainvoke(given, CONFIG) if awaited else graph.invoke(given, CONFIG))


def paying_agent() -> tuple[list[int], Any]:
    """What was paid, and an agent of ours that asks before it pays."""
    paid: list[int] = []

    def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    paying = tool_traits(effect="irreversible")(tool(pay))
    model = ScriptedModel([call("pay", "c1", amount=5), "Paid."])
    return paid, create_react_graph(model, [paying], policy=ToolPolicy.workspace())


def delegating(worker: Any, saver: Any = None) -> tuple[ScriptedModel, Any]:
    """A deep agent that hands one task to our agent and then answers."""
    boss = ScriptedModel(
        [call("task", "d1", description="Add 1 and 2.", subagent_type="adder"), "Told."]
    )
    made: Any = {"name": "adder", "description": "Adds.", "runnable": worker}
    return boss, create_deep_agent(model=boss, subagents=[made], checkpointer=saver)


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
@both_ways
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


def saying(text: str, reply: AIMessage) -> AIMessage:
    """A call with words beside it."""
    return reply.model_copy(update={"content": text})


LET_ME = saying("Let me add.", call("add", a=1, b=2))


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ([LET_ME, call("add", a=2, b=2), AIMessage("")], "budget of 1 steps"),
        ([LET_ME, call("terminate", status="failure", summary="No file.")], "No file."),
        ([LET_ME, *[ValueError("boom")] * 4], "boom"),
        ([LET_ME, *[AIMessage("")] * 4], "sent nothing"),
        ([call("add", a=1, b=2), call("add", a=2, b=2), AIMessage("")], "budget of 1 steps"),
    ],
    ids=["budget", "failure", "error", "empty", "no words at all"],
)
@pytest.mark.parametrize("inside", ["a deep agent", "a host"])
def test_who_is_around_our_agent_hears_how_a_run_ended_that_is_not_done(
    script: list[Any], told: str, inside: str
) -> None:
    budget = Budget(steps=1) if "budget" in told else Budget()
    worker = create_react_graph(ScriptedModel(script), [add], budget=budget)
    given = {"messages": [("user", "add")]}
    if inside == "a host":
        last = host_of(worker).invoke(given)["messages"][-1]
        assert isinstance(last, AIMessage)
    else:
        _, agent = delegating(worker)
        result = agent.invoke(given)
        last = next(m for m in result["messages"] if isinstance(m, ToolMessage))
    assert told in last.text


def test_a_deep_agents_state_gets_nothing_of_ours_but_the_answer() -> None:
    plan = create_planning_graph(planner_of("A"), lambda brief: "did A")
    react = create_react_graph(ScriptedModel([call("add", a=1, b=2), "It is 3."]), [add])
    for worker, told in ((react, "It is 3."), (plan, "1 of 1 steps completed")):
        _, agent = delegating(worker)
        result = agent.invoke({"messages": [("user", "add")]})
        assert set(result) <= {"messages", "files", "todos"}
        assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]
        assert told in result["messages"][2].text


@both_ways
async def test_a_question_of_our_agent_is_answered_through_a_deep_agent(awaited: bool) -> None:
    paid, worker = paying_agent()
    boss, agent = delegating(worker, InMemorySaver())
    asked = await going(agent, {"messages": [("user", "pay 5")]}, awaited)
    (question,) = asked["__interrupt__"]
    assert question.value["type"] == "tool_approval" and paid == []
    result = await going(agent, Command(resume=True), awaited)
    assert paid == [5]
    assert result["messages"][2].text == "Paid." and boss.left == 0


@both_ways
async def test_two_tasks_of_a_deep_agent_ask_and_are_answered_one_by_one(awaited: bool) -> None:
    paid: list[int] = []

    def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return f"paid {amount}"

    def reply(messages: list[BaseMessage]) -> str | AIMessage:
        last = messages[-1]
        return last.text if last.type == "tool" else call("pay", "c1", amount=int(last.text[-1]))

    paying = tool_traits(effect="irreversible")(tool(pay))
    worker = create_react_graph(
        ScriptedModel(repeat=reply), [paying], policy=ToolPolicy.workspace()
    )
    boss, agent = delegating(worker, InMemorySaver())
    tasks = [{"description": f"pay {n}", "subagent_type": "adder"} for n in (1, 2)]
    boss.script[0] = calls(*(("task", given) for given in tasks))
    result = await going(agent, {"messages": [("user", "pay")]}, awaited)
    asked = {ask.value["calls"][0]["args"]["amount"]: ask.id for ask in result["__interrupt__"]}
    result = await going(agent, Command(resume={asked[2]: True}), awaited)
    assert paid == [2] and [ask.id for ask in result["__interrupt__"]] == [asked[1]]
    result = await going(agent, Command(resume={asked[1]: False}), awaited)
    refused, done = (m.text for m in result["messages"] if isinstance(m, ToolMessage))
    assert paid == [2] and "Rejected" in refused and done == "paid 2"


@both_ways
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


@pytest.mark.parametrize("make", [create_agent, create_deep_agent])
@both_ways
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([RuntimeError("boom")] * 4, "error"),
        ([call("broken"), call("broken")], "error"),
        ([AIMessage("")] * 4, "empty_response"),
        ([call("add", a=1, b=2), AIMessage("")] * 2, "empty_response"),
        ([LET_ME, AIMessage("")] * 2, "empty_response"),
    ],
    ids=["model fails", "tool fails", "empty", "empty after a call", "words beside a call"],
)
async def test_langchains_agent_that_fails_or_says_nothing_completes_nothing(
    make: Any, script: list[Any], reason: str, awaited: bool
) -> None:
    def broken() -> str:
        """Break."""
        raise RuntimeError("boom")

    agent = make(model=ScriptedModel(script), tools=[add, broken])
    graph = create_planning_graph(planner_of("A"), agent, max_attempts=2, max_replans=0)
    report = (await going(graph, {"request": "add"}, awaited))["report"]
    assert report["counts"]["completed"] == 0
    assert report["outcome"] == "failed"
    assert (report["steps"][0]["reason"], report["steps"][0]["attempts"]) == (reason, 2)
    assert reason != "error" or "boom" in report["steps"][0]["notes"]


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (False, "It is 3."),
        (True, "No numbers."),
    ],
)
def test_a_tool_that_ends_langchains_agent_gives_the_answer_unless_it_failed(
    broken: bool, told: str
) -> None:
    @tool(return_direct=True)
    def total() -> str:
        """Give the total."""
        if broken:
            raise ToolException("No numbers.")
        return "It is 3."

    total.handle_tool_error = True
    agent = create_agent(ScriptedModel([call("total")]), [total])
    graph = create_planning_graph(planner_of("A"), agent, max_attempts=1, max_replans=0)
    (step,) = graph.invoke({"request": "add"})["report"]["steps"]
    assert step["status"] == ("blocked" if broken else "completed")
    assert told in step["notes" if broken else "result"]


class Sum(BaseModel):
    value: int


def test_an_object_that_langchains_agent_gives_is_its_answer() -> None:
    model = ScriptedModel([call("add", a=1, b=2), call("Sum", value=3)])
    agent = create_agent(model, [add], response_format=ToolStrategy(Sum))
    graph = create_planning_graph(planner_of("A"), agent, max_attempts=1, max_replans=0)
    (step,) = graph.invoke({"request": "add"})["report"]["steps"]
    assert step["status"] == "completed"
    assert Sum.model_validate_json(step["result"]).value == 3


def test_a_reply_of_langchains_agent_that_was_cut_off_completes_nothing() -> None:
    cut = AIMessage("It is", response_metadata={"finish_reason": "length"})
    agent = create_agent(ScriptedModel([cut] * 4), [add])
    graph = create_planning_graph(planner_of("A"), agent, max_replans=0)
    report = graph.invoke({"request": "add"})["report"]
    assert report["counts"]["completed"] == 0
    assert report["steps"][0]["reason"] == "output_truncated"


@both_ways
async def test_a_deep_agent_does_the_steps_of_a_plan(awaited: bool) -> None:
    model = ScriptedModel([call("add", a=1, b=2), "It is 3."])
    agent = create_deep_agent(model=model, tools=[add])
    graph = create_planning_graph(planner_of("A"), agent)
    (step,) = (await going(graph, {"request": "add"}, awaited))["report"]["steps"]
    assert (step["status"], step["result"]) == ("completed", "It is 3.")
    assert "add" in model.requests[0].tools


def test_a_deep_agent_that_asks_before_a_call_pauses_the_plan() -> None:
    model = ScriptedModel([call("add", a=1, b=2), "It is 3."])
    agent = create_deep_agent(model=model, tools=[add], interrupt_on={"add": True})
    runs = Runs(create_planning_graph(planner_of("A"), agent, checkpointer=InMemorySaver()))
    view = runs.start("add", thread="t")
    assert view.status == "waiting"
    (question,) = view.pending
    assert question.value["action_requests"][0]["args"] == {"a": 1, "b": 2}
    view = runs.answer("t", {"decisions": [{"type": "approve"}]}, id=question.id)
    assert view.values["report"]["steps"][0]["result"] == "It is 3."


def host_of(node: Any, saver: Any = None) -> Any:
    """A graph of somebody else with ours as its only node."""
    builder: Any = StateGraph(MessagesState)
    return builder.add_node("work", node).add_edge(START, "work").compile(checkpointer=saver)


@both_ways
async def test_a_question_of_our_agent_is_answered_through_the_host(awaited: bool) -> None:
    ran, worker = paying_agent()
    host = host_of(worker, InMemorySaver())
    asked = await going(host, {"messages": [("user", "pay 5")]}, awaited)
    (question,) = asked["__interrupt__"]
    assert question.value["calls"][0]["args"] == {"amount": 5} and ran == []
    result = await going(host, Command(resume={question.id: True}), awaited)
    assert ran == [5]
    assert set(result) == {"messages"}
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]


def test_our_agent_works_on_a_plan_inside_somebody_elses_graph() -> None:
    worker = create_react_graph(ScriptedModel([call("add", a=1, b=2), "It is 3."]), [add])
    host = host_of(create_planning_graph(planner_of("A"), worker), InMemorySaver())
    result = host.invoke({"messages": [("user", "add")]}, CONFIG)
    assert set(result) == {"messages"}
    assert result["messages"][-1].text.startswith("Plan completed")


def test_a_refusal_through_the_host_runs_nothing_and_is_told_to_the_model() -> None:
    paid, worker = paying_agent()
    host = host_of(worker, InMemorySaver())
    host.invoke({"messages": [("user", "pay 5")]}, CONFIG)
    refusal: Any = Command(resume=False)
    result = host.invoke(refusal, CONFIG)
    assert paid == []
    told = result["messages"][2]
    assert isinstance(told, ToolMessage) and told.status == "error"
    assert [m.type for m in result["messages"]] == ["human", "ai", "tool", "ai"]


@both_ways
async def test_who_writes_instead_of_answering_has_nothing_run_and_is_heard(awaited: bool) -> None:
    paid, worker = paying_agent()
    host = host_of(worker, InMemorySaver())
    await going(host, {"messages": [("user", "pay 5")]}, awaited)
    result = await going(host, {"messages": [("user", "forget it")]}, awaited)
    assert paid == []
    assert [m.text for m in result["messages"]] == ["pay 5", "forget it", "Paid."]


@both_ways
async def test_a_host_has_a_second_task_done_on_the_same_thread(awaited: bool) -> None:
    model = ScriptedModel(
        [call("add", "c1", a=1, b=2), "It is 3.", call("add", "c1", a=2, b=2), "It is 4."]
    )
    host = host_of(create_react_graph(model, [add], budget=Budget(steps=2)), InMemorySaver())
    await going(host, {"messages": [("user", "1+2")]}, awaited)
    result = await going(host, {"messages": [("user", "2+2")]}, awaited)
    texts = [m.text for m in result["messages"] if m.text]
    assert texts == ["1+2", "3", "It is 3.", "2+2", "4", "It is 4."]
    assert [m.text for m in model.requests[2].messages if m.text][1:] == texts[:4]


@pytest.mark.parametrize("alone", [False, True])
@both_ways
async def test_a_tool_of_our_agent_hands_over_to_another_agent_of_the_host(
    awaited: bool, alone: bool
) -> None:
    def hand_over(n: int) -> Any:
        """Let Bob do it."""
        told = {"messages": [AIMessage("Bob, take it.")]}
        return Command(goto="bob", graph=Command.PARENT, update=told)

    turn = [("hand_over", {"n": 1}), ("add", {"a": 1, "b": 2})]
    tools = [tool_traits(effect="read")(tool(made)) for made in (hand_over, add)]
    alice = create_react_graph(ScriptedModel([calls(*turn[: 1 if alone else 2])]), tools)
    builder: Any = StateGraph(MessagesState)
    builder.add_node("alice", alice, destinations=("bob",)).add_edge(START, "alice")
    builder.add_node("bob", create_react_graph(ScriptedModel(["I am Bob."])))
    host = builder.compile(checkpointer=InMemorySaver())
    result = await going(host, {"messages": [("user", "go")]}, awaited)
    assert [m.text for m in result["messages"]] == ["go", "Bob, take it.", "I am Bob."]


@both_ways
async def test_a_question_inside_a_plan_is_answered_through_the_host(awaited: bool) -> None:
    paid, worker = paying_agent()
    host = host_of(create_planning_graph(planner_of("A"), worker), InMemorySaver())
    asked = await going(host, {"messages": [("user", "pay 5")]}, awaited)
    (question,) = asked["__interrupt__"]
    assert question.value["calls"][0]["args"] == {"amount": 5} and paid == []
    result = await going(host, Command(resume={question.id: True}), awaited)
    assert paid == [5] and set(result) == {"messages"}
    human, report = result["messages"]
    assert human.text == "pay 5" and "1 of 1 steps completed" in report.text


class Clashing(MessagesState, total=False):
    """A host with keys that our graphs use inside."""

    run: str
    task: str
    usage: str
    active: str
    plan_id: str
    warnings: str
    started: str
    recovery: str


@pytest.mark.parametrize("planned", [False, True])
def test_c134_what_is_private_to_our_graphs_stays_away_from_the_host(planned: bool) -> None:
    node: Any = create_react_graph(ScriptedModel([call("add", a=1, b=2), "It is 3."]), [add])
    if planned:
        node = create_planning_graph(planner_of("A"), node)
    mine = {key: f"host's {key}" for key in Clashing.__annotations__ if key != "messages"}
    builder: Any = StateGraph(Clashing).add_node("work", node).add_edge(START, "work")
    host = builder.compile(checkpointer=InMemorySaver())
    result = host.invoke({"messages": [("user", "add")], **mine}, CONFIG)
    assert {key: result[key] for key in result if key != "messages"} == mine
    assert host.get_state(CONFIG).values.keys() == result.keys()


@pytest.mark.parametrize(
    "ids",
    [
        ("c1", "c2"),
        ("call_0", "call_0"),
    ],
)
def test_c134_two_of_our_agents_side_by_side_keep_their_own_results(ids: tuple[str, str]) -> None:
    builder: Any = StateGraph(MessagesState)
    for place, call_id in enumerate(ids):
        model = ScriptedModel([call("add", call_id, a=place, b=10), f"done {place}"])
        builder.add_node(f"agent {place}", create_react_graph(model, [add]))
        builder.add_edge(START, f"agent {place}")
    host = builder.compile(checkpointer=InMemorySaver())
    result = host.invoke({"messages": [("user", "add")]}, CONFIG)
    texts = [m.text for m in result["messages"] if m.text]
    assert sorted(texts) == ["10", "11", "add", "done 0", "done 1"]
    for place, message in enumerate(result["messages"]):
        if isinstance(message, ToolMessage):
            assert result["messages"][place - 1].tool_calls[0]["id"] == message.tool_call_id


def test_c28_what_a_provider_added_to_a_turn_reaches_the_host() -> None:
    thinking = call("add", a=1, b=2)
    thinking.additional_kwargs["reasoning_content"] = "hm"
    model = ScriptedModel([thinking, "It is 3."])
    host = host_of(create_react_graph(model, [add]), InMemorySaver())
    result = host.invoke({"messages": [("user", "add")]}, CONFIG)
    for turn in (result["messages"][1], model.requests[1].messages[2]):
        assert turn.additional_kwargs["reasoning_content"] == "hm"
