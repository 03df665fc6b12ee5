"""Failures that users of agent loops reported, by case id: concurrency and cancelling."""

import asyncio
import threading
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from helpers import APPROVED, LONG, both_ways, ended, plan_json, planner_of, stuck_until, valid
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_config, get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import interrupt

from planloop import (
    Runs,
    StepBrief,
    create_planning_graph,
    create_react_graph,
    tool_traits,
)
from planloop.testing import ScriptedModel, call, calls

CONFIG: Any = {"configurable": {"thread_id": "t"}}


def reading(*functions: Callable[..., Any]) -> list[Any]:
    """Tools that may run side by side; what declares nothing runs in order."""
    return [tool_traits(effect="read")(tool(function)) for function in functions]


def look(n: int) -> str:
    """Look."""
    return f"seen {n}"


async def test_c106_blocking_tools_of_two_runs_overlap_and_the_loop_goes_on() -> None:
    both, beaten = threading.Barrier(2), threading.Event()
    blocked: list[int] = []

    def block(n: int) -> str:
        """Wait for the other run, then for the loop."""
        both.wait(LONG)
        blocked.append(n)
        return "met" if beaten.wait(LONG) else "the loop stood still"

    async def beat() -> None:
        while len(blocked) < 2:
            await asyncio.sleep(0)
        for _ in range(3):  # now both tools block
            await asyncio.sleep(0)
        beaten.set()

    heart = asyncio.create_task(beat())
    graph = create_react_graph(
        ScriptedModel([call("block", n=1), call("block", n=2), "one", "two"]), [block]
    )
    given: Any = {"request": "x"}
    ended = await asyncio.gather(graph.ainvoke(given), graph.ainvoke(given))
    await heart
    assert {result["outcome"]["answer"] for result in ended} == {"one", "two"}
    assert [result["messages"][2].text for result in ended] == ["met", "met"]


async def test_c106_more_blocking_executors_than_a_pool_has_threads_overlap() -> None:
    everybody = threading.Barrier(40)

    def work(brief: StepBrief) -> str:
        everybody.wait(1)
        return "met"

    planner = planner_of(*map(str, range(40)), depends_on=[])
    graph = create_planning_graph(
        {"planner": planner, "reviewer": planner, "default": ScriptedModel(["sum"])},
        work,
        max_parallel_steps=40,
        max_attempts=1,
        max_replans=0,
    )
    given: Any = {"request": "x"}
    steps = (await graph.ainvoke(given))["report"]["steps"]
    assert [step["result"] for step in steps] == ["met"] * 40


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
    assert asyncio.all_tasks() == {asyncio.current_task()}


@both_ways
async def test_c107_sequential_tools_run_in_the_order_of_the_calls(awaited: bool) -> None:
    order: list[str] = []

    async def step(n: int) -> str:
        """Work."""
        order.append(f"{n} begins")
        await asyncio.sleep(0)
        order.append(f"{n} ends")
        return str(n)

    three = calls(*(("step", {"n": n}) for n in (1, 2, 3)))
    graph = create_react_graph(ScriptedModel([three, "done"]), [step])  # undeclared: in order
    result = await ended(graph, awaited)
    assert order == [f"{n} {what}" for n in (1, 2, 3) for what in ("begins", "ends")]
    assert [m.text for m in result["messages"][2:5]] == ["1", "2", "3"]


@both_ways
async def test_c107_calls_side_by_side_are_bounded(awaited: bool) -> None:
    super_steps: list[int] = []
    pair = threading.Barrier(2)

    def work(n: int) -> str:
        """Work together with another call."""
        super_steps.append(get_config().get("metadata", {})["langgraph_step"])
        pair.wait(LONG)
        return "ok"

    many = calls(*(("work", {"n": n}) for n in range(50)))
    model = ScriptedModel([many, "done"])
    result = await ended(create_react_graph(model, reading(work)), awaited)
    valid(result["messages"])
    assert {m.text for m in result["messages"] if isinstance(m, ToolMessage)} == {"ok"}
    assert sorted(Counter(super_steps).values()) == [2, 16, 16, 16]
    assert len(model.requests) == 2
    assert result["outcome"]["usage"]["tool_calls"] == 50


@pytest.mark.parametrize("timeout", [None, LONG])
async def test_c108_a_cancelled_run_goes_on_where_it_was(timeout: float | None) -> None:
    event, seen, ran = asyncio.Event(), list[str](), list[int]()

    async def quick(n: int) -> str:
        """End at once."""
        ran.append(n)
        return "quick"

    stuck = tool_traits(effect="read", timeout=timeout)(tool(stuck_until(event, seen)))
    tools = [*reading(quick), stuck]
    turn = calls(("quick", {"n": 1}), ("work", {"n": 2}))
    model = ScriptedModel([turn, "done"])
    runs = Runs(create_react_graph(model, tools, checkpointer=InMemorySaver()))
    task = asyncio.create_task(runs.astart("x", thread="t"))

    async def saved() -> bool:
        state = await runs.graph.aget_state(CONFIG)
        return any(done.name == "act" and done.result for done in state.tasks)

    async with asyncio.timeout(LONG):
        while not (seen and await saved()):
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["begun", "cancelled"]
    assert task.cancelled() and asyncio.all_tasks() == {asyncio.current_task()}
    assert (await runs.astatus("t")).status == "interrupted"
    event.set()
    view = await runs.aresume("t")
    assert ran == [1]  # what was finished is not run again
    assert seen == ["begun", "cancelled", "begun"] and len(model.requests) == 2
    assert [m.text for m in view.values["messages"]][2:] == ["quick", "worked", "done"]
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


def test_c108_a_blocking_tool_holds_up_neither_the_cancelling_nor_the_loops_end() -> None:
    begun, gate, seen = threading.Event(), threading.Event(), list[str]()

    def work(n: int) -> str:
        """Block."""
        begun.set()
        seen.append("worked" if gate.wait(LONG) else "held up")
        return seen[-1]

    model = ScriptedModel([call("work", n=1), "done"])
    runs = Runs(create_react_graph(model, [work], checkpointer=InMemorySaver()))

    async def main() -> None:
        task = asyncio.create_task(runs.astart("x", thread="t"))
        await asyncio.to_thread(begun.wait, LONG)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert seen == []  # nobody waited for the tool

    asyncio.run(main())
    gate.set()
    view = runs.resume("t")  # not awaited, though the run was
    assert [m.text for m in view.values["messages"]][2:] == ["worked", "done"]
    valid(view.values["messages"])
    assert set(seen) == {"worked"}


def test_c108_a_blocking_executor_holds_up_neither_the_cancelling_nor_the_loops_end() -> None:
    begun, gate, seen = threading.Event(), threading.Event(), list[str]()

    def work(brief: StepBrief) -> str:
        begun.set()
        seen.append("worked" if gate.wait(1) else "held up")
        return seen[-1]

    runs = Runs(create_planning_graph(planner_of("A"), work, checkpointer=InMemorySaver()))

    async def main() -> None:
        task = asyncio.create_task(runs.astart("x", thread="t"))
        await asyncio.to_thread(begun.wait, LONG)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert seen == []  # nobody waited for it
    gate.set()
    steps = runs.resume("t").values["report"]["steps"]
    assert [(step["result"], step["attempts"]) for step in steps] == [
        ("worked", 2)
    ]  # the one that was cut off counts


async def cancelled_after(ticks: int) -> bool:
    """Cancel a plan after so many turns of the loop and take it up again; had it ended?"""
    ran: list[int] = []

    async def work(n: int) -> str:
        """Work."""
        ran.append(n)
        await asyncio.sleep(0)
        return "worked"

    def reply(messages: list[BaseMessage]) -> str | AIMessage:
        return "done" if isinstance(messages[-1], ToolMessage) else call("work", n=1)

    said = {"planner": plan_json("A", "B"), "reviewer": APPROVED, "default": "sum"}
    roles = {role: ScriptedModel(repeat=text) for role, text in said.items()}
    worker = create_react_graph(ScriptedModel(repeat=reply), [work])
    runs = Runs(create_planning_graph(roles, worker, checkpointer=InMemorySaver()))
    task = asyncio.create_task(runs.astart("x", thread="t"))
    for _ in range(ticks):
        await asyncio.sleep(0)
    ended = task.done()
    task.cancel()
    await asyncio.wait({task})
    assert asyncio.all_tasks() == {asyncio.current_task()}
    view = await runs.astatus("t")
    if not ended:
        assert task.cancelled()
    if view.status != "finished":
        view = await runs.aresume("t")
    steps = view.values["report"]["steps"]
    assert [(s["status"], s["result"]) for s in steps] == [("completed", "done")] * 2
    assert sum(s["attempts"] for s in steps) in (2, 3)  # the one that was cut off counts
    assert len(ran) <= 3  # only the call that was cut off runs again
    return ended


async def test_c108_a_plan_that_was_cancelled_at_any_moment_goes_on() -> None:
    ticks = 2  # in the first one nothing is saved yet
    while not await cancelled_after(ticks):
        ticks += 29
    assert ticks > 100


async def test_c108_a_plan_that_was_cancelled_in_a_tool_goes_on() -> None:
    event, seen = asyncio.Event(), list[str]()
    planner = planner_of("A", "B")
    model = ScriptedModel([call("work", n=1), "A is done.", "B is done."])
    worker = create_react_graph(model, [stuck_until(event, seen)])
    runs = Runs(create_planning_graph(planner, worker, checkpointer=InMemorySaver()))
    task = asyncio.create_task(runs.astart("x", thread="t"))
    async with asyncio.timeout(LONG):
        while not seen:
            await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert seen == ["begun", "cancelled"]
    status = await runs.astatus("t")
    assert (status.status, status.values["phase"]) == ("interrupted", "IN_PROGRESS")
    event.set()
    steps = (await runs.aresume("t")).values["report"]["steps"]
    assert [step["result"] for step in steps] == ["A is done.", "B is done."]
    assert [step["attempts"] for step in steps] == [2, 1]
    assert planner.left == model.left == 0


@both_ways
async def test_c108_a_tool_that_cancels_itself_takes_no_sibling(awaited: bool) -> None:
    done = asyncio.Event()

    async def cancel(n: int) -> str:
        """Cancel itself."""
        done.set()
        raise asyncio.CancelledError

    async def other(n: int) -> str:
        """End later."""
        await asyncio.wait_for(done.wait(), LONG)
        await asyncio.sleep(0)
        return "other"

    turn = calls(("other", {"n": 1}), ("cancel", {"n": 2}), ("other", {"n": 3}))
    graph = create_react_graph(ScriptedModel([turn, "done"]), reading(cancel, other))
    result = await ended(graph, awaited)
    valid(result["messages"])
    texts = [m.text for m in result["messages"] if isinstance(m, ToolMessage)]
    assert texts == ["other", "The tool cancelled itself and gave no result.", "other"]
    assert result["outcome"]["answer"] == "done"


@both_ways
async def test_c108_an_executor_that_cancels_itself_fails_its_step_only(awaited: bool) -> None:
    def cancel(brief: StepBrief) -> str:
        if brief["step"].name == "A":
            raise asyncio.CancelledError
        return "done"

    async def acancel(brief: StepBrief) -> str:
        return cancel(brief)

    graph = create_planning_graph(
        planner_of("A", "B"), acancel if awaited else cancel, max_attempts=1, max_replans=0
    )
    report = (await ended(graph, awaited))["report"]
    assert report["steps"][0]["reason"] == "error"
    assert report["outcome"] in ("failed", "partial")


@both_ways
async def test_an_executor_that_runs_out_of_items_fails_its_step_only(awaited: bool) -> None:
    def work(brief: StepBrief) -> str:
        return next(iter(list[str]()))

    graph = create_planning_graph(planner_of("A"), work, max_attempts=1, max_replans=0)
    report = (await asyncio.wait_for(ended(graph, awaited), 1))["report"]
    assert report["steps"][0]["reason"] == "error"


@both_ways
async def test_c109_a_late_result_never_reaches_the_state(awaited: bool) -> None:
    gate, late = threading.Event(), threading.Semaphore(0)

    @tool_traits(effect="read", timeout=0.02)
    @tool
    def slow(n: int) -> str:
        """Take too long."""
        gate.wait(LONG)
        late.release()
        return "too late"

    # More than any pool has room for: the next call must not wait for them.
    many = calls(*(("slow", {"n": n}) for n in range(40)))
    model = ScriptedModel([many, call("look", n=1), "done"])
    graph = create_react_graph(model, [slow, look], checkpointer=InMemorySaver())
    result = await ended(graph, awaited, CONFIG)
    assert [m.text for m in result["messages"]][-2:] == ["seen 1", "done"]
    gate.set()
    for _ in range(40):
        assert await asyncio.to_thread(late.acquire, timeout=LONG)
    state = (await graph.aget_state(CONFIG)).values
    assert [m.text for m in state["messages"]] == [m.text for m in result["messages"]]
    assert sum("timed out after 0.02 s" in m.text for m in state["messages"]) == 40


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


async def test_c110_a_tool_on_a_loop_may_run_a_graph_that_is_not_awaited() -> None:
    async def fetch(n: int) -> str:
        """Fetch."""
        await asyncio.sleep(0)
        return f"got {n}"

    async def delegate(n: int) -> str:
        """Have a plan worked on, not awaited."""
        worker = create_react_graph(
            ScriptedModel([call("fetch", n=n), "A is done.", call("fetch", n=n), "B is done."]),
            [fetch],
        )
        given: Any = {"request": "x"}
        report = create_planning_graph(planner_of("A", "B"), worker).invoke(given)["report"]
        return str(report["counts"]["completed"])

    for awaited in (False, True, False):
        model = ScriptedModel([call("delegate", n=1), "done"])
        result = await ended(create_react_graph(model, [delegate]), awaited)
        assert result["messages"][2].text == "2"


@both_ways
@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("timeout", [None, LONG])
@pytest.mark.parametrize("heard", [False, True])
async def test_c111_a_tool_may_ask_and_write_to_the_stream(
    awaited: bool, native: bool, timeout: float | None, heard: bool
) -> None:
    def plain(n: int) -> str:
        """Ask."""
        get_stream_writer()({"type": "mine", "n": n})
        return f"told {interrupt('which?')}"

    async def native_one(n: int) -> str:
        """Ask."""
        return plain(n)

    native_one.__name__ = "plain"
    asking = tool_traits(effect="read", timeout=timeout)(tool(native_one if native else plain))
    graph: Any = create_react_graph(
        ScriptedModel([call("plain", n=1), "done"]), [asking], checkpointer=InMemorySaver()
    )
    if heard:  # then LangChain calls the tool
        graph = graph.with_config(callbacks=[BaseCallbackHandler()])
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


@pytest.mark.parametrize("kind", ["react", "planning", "host"])
async def test_c112_the_event_stream_of_langchain_shows_a_run_too(kind: str) -> None:
    graph: Any = create_react_graph(ScriptedModel([call("look", n=1), "It sleeps."]), [look])
    if kind == "planning":
        graph = create_planning_graph(planner_of("A"), graph)
    if kind == "host":
        builder: Any = StateGraph(MessagesState)
        graph = builder.add_node("work", graph).add_edge(START, "work").compile()
    given = {"messages": [("user", "x")]}
    events = [event async for event in graph.astream_events(given, version="v2")]
    replies = [e["data"]["output"].text for e in events if e["event"] == "on_chat_model_end"]
    assert "It sleeps." in replies
    assert "It sleeps." in events[-1]["data"]["output"]["messages"][-1].text
