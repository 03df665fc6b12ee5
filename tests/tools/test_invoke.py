"""Time limits, cancellation, threads. Tools here wait for events, never for the clock."""

import asyncio
import os
import select
import threading
import warnings
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool, tool

from planloop.tools import ToolRegistry, tool_traits

WHO: ContextVar[str] = ContextVar("WHO")
LONG = 10.0  # seconds that no passing test waits for


def call(name: str) -> ToolCall:
    return ToolCall(name=name, args={}, id="c1")


def limited(tool: BaseTool, timeout: float) -> ToolRegistry:
    return ToolRegistry([tool_traits(effect="read", timeout=timeout)(tool)])


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets threads go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def stuck(release: threading.Event) -> BaseTool:
    @tool
    def stuck() -> str:
        """Wait for ever."""
        release.wait(LONG)
        return "too late"

    return stuck


TIMED_OUT = "The call timed out after 0.05 s; it may still be running."


def test_a_stuck_tool_is_given_up(stuck: BaseTool) -> None:
    message = limited(stuck, 0.05).run(call("stuck"))
    assert isinstance(message, ToolMessage)
    assert (message.content, message.status) == (TIMED_OUT, "error")


async def test_a_stuck_tool_is_given_up_in_a_loop(stuck: BaseTool) -> None:
    message = await limited(stuck, 0.05).arun(call("stuck"))
    assert isinstance(message, ToolMessage)
    assert (message.content, message.status) == (TIMED_OUT, "error")


async def test_a_stuck_coroutine_is_cancelled() -> None:
    cleaned = asyncio.Event()

    @tool
    async def stuck() -> None:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.set()

    message = await limited(stuck, 0.05).arun(call("stuck"))
    assert isinstance(message, ToolMessage) and message.content == TIMED_OUT
    assert cleaned.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_time_limit_of_the_tools_own_is_told_as_its_own(asynchronous: bool) -> None:
    @tool
    def fetch() -> None:
        """Fetch."""
        raise TimeoutError("the server is slow")

    registry = limited(fetch, LONG)
    answer = (
        asyncio.run(registry.arun(call("fetch"))) if asynchronous else registry.run(call("fetch"))
    )
    assert isinstance(answer, ToolMessage)
    assert answer.content == "TimeoutError: the server is slow"


def test_stuck_tools_use_up_no_pool(stuck: BaseTool) -> None:
    async def many() -> list[Any]:
        registry = limited(stuck, 0.05)
        await asyncio.gather(*(registry.arun(call("stuck")) for _ in range(60)))
        loop = asyncio.get_running_loop()
        return [await asyncio.wait_for(loop.run_in_executor(None, lambda: "free"), LONG)]

    assert asyncio.run(many()) == ["free"]  # and the end of the loop waits for no thread


@pytest.mark.parametrize("timeout", [None, LONG])
async def test_the_context_of_the_caller_is_seen(timeout: float | None) -> None:
    def who() -> str:
        """Say who."""
        return f"{WHO.get()} in {threading.current_thread().name}"

    made = StructuredTool.from_function(func=who)
    registry = ToolRegistry([made]) if timeout is None else limited(made, timeout)
    WHO.set("ann")
    answers = [registry.run(call("who")), await registry.arun(call("who"))]
    texts = [str(answer.content) for answer in answers if isinstance(answer, ToolMessage)]
    assert all(text.startswith("ann in ") for text in texts)
    assert texts[1].endswith("planloop-tool")
    assert texts[0].endswith("MainThread") == (timeout is None)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_runs_tools_in_threads_of_its_own() -> None:
    @tool
    async def work() -> str:
        """Work."""
        return "worked"

    registry = limited(work, LONG)
    assert registry.run(call("work")).content == "worked"  # type: ignore[union-attr]
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
        child = os.fork()
    if child == 0:
        answer = registry.run(call("work"))
        os.write(writing, str(answer.content).encode())  # type: ignore[union-attr]
        os._exit(0)
    ready, _, _ = select.select([reading], [], [], LONG)
    assert ready, "the child hangs"
    assert os.read(reading, 100) == b"worked"
    os.waitpid(child, 0)


async def test_cancelling_the_caller_cancels_the_tool() -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    @tool
    async def work() -> None:
        """Work."""
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    task = asyncio.ensure_future(ToolRegistry([work]).arun(call("work")))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_cancelling_the_caller_leaves_a_thread_behind_but_no_error(
    release: threading.Event,
) -> None:
    started, ended = threading.Event(), threading.Event()

    @tool
    def work() -> str:
        """Work."""
        started.set()
        release.wait(LONG)
        ended.set()
        return "too late"

    task = asyncio.ensure_future(ToolRegistry([work]).arun(call("work")))
    assert await asyncio.to_thread(started.wait, LONG)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    release.set()
    assert await asyncio.to_thread(ended.wait, LONG)
