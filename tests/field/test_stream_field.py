"""Failures that users of agent loops reported, by case id: streaming, and runs side by side."""

import asyncio
import json
import threading
from contextlib import closing
from typing import Any

import pytest
from helpers import (
    APPROVED,
    LONG,
    both_ways,
    ended,
    plan_json,
    planner_of,
    stuck_until,
    valid,
    verdicts,
)
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer

from planloop import (
    Runs,
    create_planning_graph,
    create_react_graph,
    open_saver,
)
from planloop.testing import ScriptedModel, call

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def plan_graph(saver: Any = None) -> Any:
    def worker(answer: str) -> Any:
        return create_react_graph(ScriptedModel([call("look", n=1), answer]), [look])

    plan = json.dumps({"steps": [{"name": "A", "executor": "cat"}, {"name": "B"}]})
    executors = {"cat": worker("The cat sleeps here."), "dog": worker("The dog barks.")}
    planner = ScriptedModel([plan, APPROVED, "That was all."])
    return create_planning_graph(planner, executors, checkpointer=saver, default_executor="dog")


def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


@both_ways
@pytest.mark.parametrize("subgraphs", [False, True])
async def test_c112_a_stream_ends_as_a_call_does_and_shows_no_inner_chatter(
    awaited: bool, subgraphs: bool
) -> None:
    graph = plan_graph(InMemorySaver())
    given: Any = {"request": "look after the cat"}
    modes: Any = {"stream_mode": ["updates", "messages", "custom"], "subgraphs": subgraphs}
    if awaited:
        parts = [part async for part in graph.astream(given, CONFIG, **modes)]
    else:
        parts = await asyncio.to_thread(lambda: list(graph.stream(given, CONFIG, **modes)))
    tokens = "".join(
        str(part[-1][0].text)
        for part in parts
        if part[-2] == "messages" and isinstance(part[-1][0], AIMessageChunk)
    )
    assert tokens == ("The cat sleeps here.The dog barks." if subgraphs else "")
    events = [part[-1] for part in parts if part[-2] == "custom"]
    started = [e for e in events if e.get("phase") == "IN_PROGRESS"]
    assert [(e["step"], e["executor"]) for e in started] == [("s1", "cat"), ("s2", "dog")]
    state = (await graph.aget_state(CONFIG)).values
    called = await ended(plan_graph(), awaited)
    for end in (state, called):
        steps = [(s["id"], s["status"], s["result"]) for s in end["report"]["steps"]]
        assert steps == [
            ("s1", "completed", "The cat sleeps here."),
            ("s2", "completed", "The dog barks."),
        ]
        assert [s.status for s in end["plan"].steps] == ["completed", "completed"]
        assert sum(m.text.count("The cat sleeps here.") for m in end["messages"]) == 1
        texts = [m.text for m in end["messages"]]
        assert len(texts) == len(set(texts))
    assert state["report"]["outcome"] == called["report"]["outcome"]
    assert [m.type for m in state["messages"]] == [m.type for m in called["messages"]]


def streamed_parts(mode: str) -> list[Any]:
    given: Any = {"request": "x"}
    return [part for _, part in plan_graph().stream(given, stream_mode=mode, subgraphs=True)]


def test_c112_each_event_of_a_step_names_its_executor() -> None:
    events = [e for e in streamed_parts("custom") if e["type"] == "phase" and "step" in e]
    assert [e["phase"] for e in events] == ["IN_PROGRESS", "EXECUTOR_RUN", "COMPLETED"] * 2
    executors = [(e["step"], e.get("executor")) for e in events]
    assert executors == [*[("s1", "cat")] * 3, *[("s2", "dog")] * 3]


def test_c112_the_event_of_a_failed_step_names_its_executor_too() -> None:
    given: Any = {"request": "x"}
    model = ScriptedModel([call("terminate", status="failure", summary="No.")])
    worker = {"cat": create_react_graph(model, [look])}
    graph = create_planning_graph(planner_of("A"), worker, max_attempts=1, max_replans=0)
    events = [e for e in graph.stream(given, stream_mode="custom") if "step" in e]
    assert events[-1]["phase"] == "ERROR_REPORTED"
    assert [(e["step"], e["executor"]) for e in events] == [("s1", "cat")] * 3


def test_c112_every_call_of_a_model_but_the_agents_own_is_tagged() -> None:
    heard: list[tuple[str, bool]] = []

    class Ear(BaseCallbackHandler):
        def on_chat_model_start(
            self, serialized: Any, messages: Any, *, tags: Any = None, **more: Any
        ) -> None:
            heard.append((more["metadata"]["langgraph_node"], "nostream" in tags))

    judged = verdicts(("is A", "met", "seen 1"))
    planner = ScriptedModel([plan_json("A", success_criteria=["is A"]), APPROVED, judged, "sum"])
    worker = create_react_graph(ScriptedModel([call("look", n=1), "done"]), [look])
    given: Any = {"request": "x"}
    create_planning_graph(planner, worker).invoke(given, {"callbacks": [Ear()]})
    assert planner.left == 0
    agents = [("think", False)] * 2
    assert heard == [
        *[("generate", True), ("reflect", True), *agents],
        *[("verify_step", True), ("final_summary", True)],
    ]


@pytest.mark.parametrize("planned", [False, True])
@pytest.mark.parametrize("closed", [False, True])
async def test_c113_who_stops_reading_can_take_the_run_up_again(
    planned: bool, closed: bool
) -> None:
    event, seen = asyncio.Event(), list[str]()
    model = ScriptedModel([call("work", n=1), "The work is done."])
    given: Any = {"request": "x"}
    with open_saver("memory:") as saver:
        tools = [stuck_until(event, seen)]
        graph: Any = create_react_graph(model, tools, checkpointer=None if planned else saver)
        if planned:
            graph = create_planning_graph(planner_of("A"), graph, checkpointer=saver)
        stream = graph.astream(given, CONFIG, stream_mode="custom", subgraphs=True)
        async for _, part in stream:
            if part["type"] == "tool_call":
                break
        async with asyncio.timeout(LONG):
            while "begun" not in seen:
                await asyncio.sleep(0)
            if closed:
                await stream.aclose()
            else:
                del stream  # nobody closes it
            while "cancelled" not in seen:
                await asyncio.sleep(0)
        event.set()
        view = await Runs(graph).aresume("t")
    assert view.status == "finished" and seen == ["begun", "cancelled", "begun"]
    assert model.left == 0 and len(model.requests) == 2
    valid(view.values["messages"])
    if planned:
        assert view.values["report"]["steps"][0]["result"] == "The work is done."
    else:
        assert view.values["outcome"]["answer"] == "The work is done."


def test_c113_the_same_in_a_run_that_is_not_awaited() -> None:
    gate, ran = threading.Event(), list[int]()

    def work(n: int) -> str:
        """Wait until the reader is gone or going."""
        ran.append(n)
        get_stream_writer()({"type": "mine"})
        return "worked" if gate.wait(LONG) else "held up"

    model = ScriptedModel([call("work", n=1), "done"])
    graph = create_react_graph(model, [work], checkpointer=InMemorySaver())
    given: Any = {"request": "x"}
    read: Any = graph.stream(given, CONFIG, stream_mode="custom")
    with closing(read) as stream:
        next(part for part in stream if part["type"] == "mine")
        threading.Thread(target=gate.set).start()
    view = Runs(graph).resume("t")
    assert view.values["outcome"]["answer"] == "done"
    assert ran == [1]  # closing waits for the tool that runs, and its result is saved
    valid(view.values["messages"])


async def test_c114_twenty_runs_of_one_graph_keep_to_themselves() -> None:
    def echo(messages: list[BaseMessage]) -> AIMessage:
        task = next(m.text for m in messages if m.type == "human")
        last = messages[-1]
        if isinstance(last, ToolMessage):
            return AIMessage(f"{task} -> {last.text}")
        return call("own", name=task)

    def own(name: str) -> str:
        """Give it back."""
        return f"own {name}"

    graph = create_react_graph(ScriptedModel(repeat=echo), [own], checkpointer=InMemorySaver())

    async def one(n: int, awaited: bool) -> str:
        config: Any = {"configurable": {"thread_id": str(n)}}
        given: Any = {"request": f"task {n}"}
        if awaited:
            result = await graph.ainvoke(given, config)
        else:
            result = await asyncio.to_thread(graph.invoke, given, config)
        return str(result["outcome"]["answer"])

    answers = await asyncio.gather(*(one(n, n % 2 == 0) for n in range(20)))
    assert answers == [f"task {n} -> own task {n}" for n in range(20)]
