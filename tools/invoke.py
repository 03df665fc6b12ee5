"""Run one tool call to its end, its failure or its time limit, without blocking an event loop."""

import asyncio
import functools
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages.tool import ToolCall, ToolOutputMixin
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException

from .results import to_text

_GRACE: Final = 1.0  # seconds that a cancelled coroutine gets to clean up


@dataclass(frozen=True)
class Ending:
    """How a call ended: with a value, or with what was raised."""

    value: Any = None
    error: BaseException | None = None


class CallTimeout(ToolException):
    """The call took longer than its tool may take."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(f"The call timed out after {seconds:g} s; it may still be running.")


def is_async(tool: BaseTool) -> bool:
    """Whether the tool has an asynchronous form of its own."""
    if isinstance(tool, StructuredTool | Tool):
        return tool.coroutine is not None
    return type(tool)._arun is not BaseTool._arun


def is_async_only(tool: BaseTool) -> bool:
    """Whether the tool cannot be called from synchronous code."""
    return isinstance(tool, StructuredTool | Tool) and tool.func is None


def prepared(tool: BaseTool) -> BaseTool:
    """Copy a tool so that its result is turned to text while it is whole, and it cannot exit.

    LangChain writes what a tool returns into the message as JSON or `repr`, which loses bytes and
    `None`; and `SystemExit` in a coroutine stops the event loop before anybody can catch it.
    """
    pair = tool.response_format == "content_and_artifact"
    run, arun = tool._run, tool._arun

    @functools.wraps(run)
    def run_to_text(*args: Any, **kwargs: Any) -> Any:
        return _textual(run(*args, **kwargs), pair)

    @functools.wraps(arun)
    async def arun_to_text(*args: Any, **kwargs: Any) -> Any:
        try:
            return _textual(await arun(*args, **kwargs), pair)
        except SystemExit as error:
            raise ToolException(exit_text(error)) from error

    copy = tool.model_copy()
    # Straight into the instance: pydantic would take the names for private fields.
    vars(copy).update(_run=run_to_text, _arun=arun_to_text)
    return copy


def exit_text(error: SystemExit) -> str:
    """What is said of a tool that tried to end the program."""
    return f"The tool tried to end the program (exit code {to_text(error.code)})."


def call_now(tool: BaseTool, call: ToolCall, config: RunnableConfig | None) -> Ending:
    """Call a tool where we are."""
    try:
        return Ending(tool.invoke(call, config))
    except BaseException as error:  # handed back whole: the registry decides what passes
        return Ending(error=error)


def call_within(
    tool: BaseTool, call: ToolCall, config: RunnableConfig | None, timeout: float | None
) -> Ending:
    """Call a tool; one with a time limit runs in a thread of its own that is given up in time.

    Returns:
        The ending; its error is a `CallTimeout` when `timeout` seconds have passed.
    """
    if timeout is None:
        return call_now(tool, call, config)
    future = _in_thread(lambda: call_now(tool, call, config))
    try:
        return future.result(timeout)
    except TimeoutError:  # ours: one that the tool raises is inside its ending
        return Ending(error=CallTimeout(timeout))


async def acall_within(
    tool: BaseTool, call: ToolCall, config: RunnableConfig | None, timeout: float | None
) -> Ending:
    """Call a tool without blocking the loop; see `call_within`.

    Only the cancellation of the caller is raised; that of the tool is an ending.
    """
    work: asyncio.Future[Ending]
    if is_async(tool):
        work = asyncio.ensure_future(_acall_now(tool, call, config))
    else:
        work = asyncio.wrap_future(_in_thread(lambda: call_now(tool, call, config)))
    try:
        done, _ = await asyncio.wait({work}, timeout=timeout)
    except asyncio.CancelledError:
        await _give_up(work)
        raise
    if done:
        return work.result()
    await _give_up(work)
    return Ending(error=CallTimeout(timeout))


async def _acall_now(tool: BaseTool, call: ToolCall, config: RunnableConfig | None) -> Ending:
    try:
        return Ending(await tool.ainvoke(call, config))
    except BaseException as error:  # handed back whole, also a cancellation of the tool's own
        return Ending(error=error)


async def _give_up(work: asyncio.Future[Ending]) -> None:
    """Cancel, and wait a moment so that no task is left behind."""
    work.cancel()
    await asyncio.wait({work}, timeout=_GRACE)


def _in_thread(work: Callable[[], Ending]) -> Future[Ending]:
    """Run in a daemon thread, so that a call that never ends holds up neither a pool nor the exit.

    The thread sees the caller's context variables: `interrupt` and `get_runtime` work in it.
    """
    future: Future[Ending] = Future()
    future.set_running_or_notify_cancel()
    context = copy_context()

    def main() -> None:
        future.set_result(context.run(work))

    threading.Thread(target=main, name="planloop-tool", daemon=True).start()
    return future


def _textual(value: Any, pair: bool) -> Any:
    """Make text of a result, except of messages and commands, which pass as they are."""
    if pair and isinstance(value, tuple) and len(value) == 2:
        return _textual(value[0], False), value[1]
    return value if isinstance(value, ToolOutputMixin) else to_text(value)
