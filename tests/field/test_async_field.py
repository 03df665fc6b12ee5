"""Failures that users of agent loops reported, by case id: concurrency, cancelling, streaming."""

import asyncio
import threading
import warnings
from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any

import pytest
from helpers import planner_of
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.types import interrupt

from planloop import Runs, create_planning_graph, create_react_graph, open_saver, tool_traits
from planloop.testing import ScriptedModel, call, calls

CONFIG: Any = {"configurable": {"thread_id": "t"}}
LONG = 10.0  # seconds that no passing test waits for


def valid(messages: list[BaseMessage]) -> None:
    """Every call has one answer, right after its turn and in the order of the calls."""
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        assert not isinstance(message, ToolMessage)
        for made in getattr(message, "tool_calls", []):
            answer = messages[place]
            assert isinstance(answer, ToolMessage) and answer.tool_call_id == made["id"]
            place += 1


def reading(*functions: Callable[..., Any]) -> list[Any]:
    """Tools that may run side by side; what declares nothing runs in order."""
    return [tool_traits(effect="read")(tool(function)) for function in functions]


async def test_c106_blocking_tools_of_two_runs_overlap_and_the_loop_goes_on() -> None:
    both = threading.Barrier(2)
    beats = {"n": 0}

    def block(n: int) -> str:
        """Wait for the other run."""
        both.wait(LONG)
        return "met"

    async def beat() -> None:
        while True:
            beats["n"] += 1
            await asyncio.sleep(0)

    heart = asyncio.create_task(beat())
    graph = create_react_graph(
        ScriptedModel([call("block", n=1), call("block", n=2), "one", "two"]), [block]
    )
    given: Any = {"request": "x"}
    ended = await asyncio.gather(graph.ainvoke(given), graph.ainvoke(given))
    heart.cancel()
    assert {result["outcome"]["answer"] for result in ended} == {"one", "two"}
    assert beats["n"] > 10


async def test_c107_results_stand_in_the_order_of_the_calls_whoever_ends_first() -> None:
    second_done = asyncio.Event()

    async def slow(n: int) -> str:
        """Wait for the other."""
        await asyncio.wait_for(second_done.wait(), LONG)
        return "slow"

    async def boom(n: int) -> str:
        """Fail."""
        raise RuntimeError("boom")

    async def quick(n: int) -> str:
        """End first."""
        second_done.set()
        return "quick"

    turn = calls(("slow", {"n": 1}), ("boom", {"n": 2}), ("quick", {"n": 3}))
    result = await create_react_graph(
        ScriptedModel([turn, "done"]), reading(slow, boom, quick)
    ).ainvoke({"request": "x"})
    valid(result["messages"])
    results = [m for m in result["messages"] if isinstance(m, ToolMessage)]
    assert [m.status for m in results] == ["success", "error", "success"]
    assert [m.text.split(":")[0] for m in results] == ["slow", "RuntimeError", "quick"]


def test_c107_calls_side_by_side_are_bounded() -> None:
    running, most = {"n": 0}, {"n": 0}
    lock = threading.Lock()
    gate = threading.Event()

    def work(n: int) -> str:
        """Work."""
        with lock:
            running["n"] += 1
            most["n"] = max(most["n"], running["n"])
        gate.wait(0.01)
        with lock:
            running["n"] -= 1
        return "ok"

    many = calls(*(("work", {"n": n}) for n in range(50)))
    model = ScriptedModel([many, "done"])
    result = create_react_graph(model, reading(work)).invoke({"request": "x"})
    valid(result["messages"])
    assert 1 < most["n"] <= 16
    assert len(model.requests) == 2
    assert result["outcome"]["usage"]["tool_calls"] == 50


def stuck_until(event: asyncio.Event, seen: list[str]) -> Callable[..., Any]:
    async def work(n: int) -> str:
        """Work."""
        seen.append("begun")
        try:
            await asyncio.wait_for(event.wait(), LONG)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "worked"

    return work


async def test_c108_a_cancelled_run_goes_on_where_it_was() -> None:
    event, seen = asyncio.Event(), list[str]()
    model = ScriptedModel([call("work", n=1), "done"])
    graph = create_react_graph(model, [stuck_until(event, seen)], checkpointer=InMemorySaver())
    runs = Runs(graph)
    task = asyncio.create_task(runs.astart("x", thread="t"))
    while not seen:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["begun", "cancelled"]
    assert (await runs.astatus("t")).status == "interrupted"
    event.set()
    view = await runs.aresume("t")
    assert view.values["outcome"]["answer"] == "done"
    assert len(model.requests) == 2
    valid(view.values["messages"])


async def test_c108_a_run_cancelled_in_a_model_call_goes_on_too() -> None:
    begun, never = asyncio.Event(), asyncio.Event()

    class Slow(ScriptedModel):
        async def _agenerate(self, *args: Any, **options: Any) -> Any:
            if not begun.is_set():
                begun.set()
                await asyncio.wait_for(never.wait(), LONG)
            return await super()._agenerate(*args, **options)

    made: Any = Slow
    runs = Runs(create_react_graph(made(["done"]), [], checkpointer=InMemorySaver()))
    task = asyncio.create_task(runs.astart("x", thread="t"))
    await asyncio.wait_for(begun.wait(), LONG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    view = await runs.aresume("t")
    assert view.values["outcome"]["answer"] == "done"


async def test_c109_a_late_result_never_reaches_the_state() -> None:
    gate, late = threading.Event(), threading.Event()

    @tool_traits(effect="read", timeout=0.05)
    @tool
    def slow(n: int) -> str:
        """Take too long."""
        gate.wait(LONG)
        late.set()
        return "too late"

    graph = create_react_graph(
        ScriptedModel([call("slow", n=1), "done"]), [slow], checkpointer=InMemorySaver()
    )
    result = await graph.ainvoke({"request": "x"}, CONFIG)
    assert result["outcome"]["answer"] == "done"
    gate.set()
    assert await asyncio.to_thread(late.wait, LONG)
    state = await graph.aget_state(CONFIG)
    texts = [m.text for m in state.values["messages"]]
    assert any("timed out" in text for text in texts)
    assert "too late" not in texts


def test_c110_tools_that_are_async_only_run_in_a_sync_run_again_and_again() -> None:
    loops: list[Any] = []

    async def fetch(n: int) -> str:
        """Fetch."""
        loops.append(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return f"got {n}"

    def run() -> str:
        model = ScriptedModel([calls(("fetch", {"n": 1}), ("fetch", {"n": 2})), "done"])
        result = create_react_graph(model, [fetch]).invoke({"request": "x"})
        return " ".join(m.text for m in result["messages"] if isinstance(m, ToolMessage))

    async def inside() -> str:
        return run()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [run(), run(), asyncio.run(inside())] == ["got 1 got 2"] * 3
    assert len(set(map(id, loops))) == 1  # a client that a tool keeps stays good


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize("native", [False, True])
async def test_c111_a_tool_may_ask_and_write_to_the_stream(awaited: bool, native: bool) -> None:
    def plain(n: int) -> str:
        """Ask."""
        get_stream_writer()({"type": "mine", "n": n})
        return f"told {interrupt('which?')}"

    async def native_one(n: int) -> str:
        """Ask."""
        return plain(n)

    native_one.__name__ = "plain"
    graph = create_react_graph(
        ScriptedModel([call("plain", n=1), "done"]),
        [native_one if native else plain],
        checkpointer=InMemorySaver(),
    )
    runs, events = Runs(graph), list[Any]()
    if awaited:
        view = await runs.astart("x", thread="t", on_event=events.append)
        assert [ask.value for ask in view.pending] == ["which?"]
        view = await runs.aanswer("t", "this")
    else:
        view = await asyncio.to_thread(runs.start, "x", thread="t", on_event=events.append)
        assert [ask.value for ask in view.pending] == ["which?"]
        view = await asyncio.to_thread(runs.answer, "t", "this")
    assert [m.text for m in view.values["messages"] if isinstance(m, ToolMessage)] == ["told this"]
    assert {"type": "mine", "n": 1} in events


def plan_graph(saver: Any = None) -> Any:
    worker = create_react_graph(
        ScriptedModel([call("look", n=1), "The cat sleeps here."]), [look], name="worker"
    )
    return create_planning_graph(
        planner_of("A"), {"cat": worker}, checkpointer=saver, default_executor="cat"
    )


def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_c112_a_stream_ends_as_a_call_does_and_shows_no_inner_chatter(
    subgraphs: bool,
) -> None:
    modes = ["updates", "messages", "custom"]
    given: Any = {"request": "look after the cat"}
    tokens, events = "", []
    graph = plan_graph(InMemorySaver())
    async for item in graph.astream(given, CONFIG, stream_mode=modes, subgraphs=subgraphs):
        mode, part = item[-2], item[-1]
        if mode == "messages":
            tokens += str(part[0].text) if isinstance(part[0], AIMessageChunk) else ""
        elif mode == "custom":
            events.append(part)
    state = graph.get_state(CONFIG).values
    called = plan_graph().invoke(given)
    statuses = [(s["id"], s["status"], s["result"]) for s in state["report"]["steps"]]
    assert statuses == [(s["id"], s["status"], s["result"]) for s in called["report"]["steps"]]
    texts = [m.text for m in state["messages"]]
    assert len(texts) == len(set(texts))
    assert ("The cat sleeps here." in tokens) == subgraphs
    assert "[APPROVED]" not in tokens and '"steps"' not in tokens
    started = [e for e in events if e.get("phase") == "IN_PROGRESS"]
    assert [(e["step"], e["executor"]) for e in started] == [("s1", "cat")]


async def test_c113_who_stops_reading_can_take_the_run_up_again() -> None:
    event, seen = asyncio.Event(), list[str]()
    with open_saver("memory:") as saver:
        model = ScriptedModel([call("work", n=1), "done"])
        graph = create_react_graph(model, [stuck_until(event, seen)], checkpointer=saver)
        given: Any = {"request": "x"}
        read: Any = graph.astream(given, CONFIG, stream_mode="updates")
        async with aclosing(read) as stream:
            async for part in stream:
                if "think" in part:
                    break
        event.set()
        view = await Runs(graph).aresume("t")
        assert view.values["outcome"]["answer"] == "done"
        valid(view.values["messages"])
        assert "begun" in seen


def test_c113_the_same_in_a_run_that_is_not_awaited() -> None:
    graph = create_react_graph(
        ScriptedModel([call("look", n=1), "done"]), [look], checkpointer=InMemorySaver()
    )
    given: Any = {"request": "x"}
    read: Any = graph.stream(given, CONFIG, stream_mode="updates")
    with closing(read) as stream:
        next(part for part in stream if "think" in part)
    view = Runs(graph).resume("t")
    assert view.values["outcome"]["answer"] == "done"
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
