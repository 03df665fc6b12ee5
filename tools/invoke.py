"""Run one tool call to its end, its failure or its time limit, without blocking an event loop."""

import asyncio
import functools
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages.tool import ToolCall, ToolOutputMixin
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool, Tool, ToolException

from .direct import Direct, direct_form, is_heard
from .results import to_content, to_text
from .workers import BACKGROUND, WORKERS, is_given_up

_GRACE: Final = 1.0  # seconds that a cancelled coroutine gets to clean up


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended: with a value, or with what was raised."""

    value: Any = None
    error: BaseException | None = None


class CallTimeout(ToolException):
    """The call took longer than its tool may take."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__(f"The call timed out after {seconds:g} s; it may still be running.")


@dataclass(frozen=True, slots=True)
class Runner:
    """A tool, ready to be called: straight away, or by LangChain where somebody listens."""

    tool: BaseTool
    direct: Direct | None
    is_async: bool
    """It has an asynchronous form of its own."""
    is_sync: bool
    """It has a synchronous one."""

    @classmethod
    def of(cls, tool: BaseTool) -> "Runner":
        made = isinstance(tool, StructuredTool | Tool)
        is_async = (
            tool.coroutine is not None  # type: ignore[attr-defined]  # as `made` says
            if made
            else type(tool)._arun is not BaseTool._arun
        )
        is_sync = tool.func is not None if made else True  # type: ignore[attr-defined]  # as above
        return cls(_prepared(tool), direct_form(tool), is_async, is_sync)

    def run(self, call: ToolCall, config: RunnableConfig | None) -> Ending:
        """Call it where we are. Whatever is raised is handed back: the registry decides."""
        try:
            if self.direct is None or self.direct.function is None or is_heard(config):
                return Ending(self.tool.invoke(call, config))
            return Ending(
                _textual(self.direct.function(**self.direct.arguments(call["args"])), False)
            )
        except BaseException as error:
            return Ending(error=error)

    async def arun(self, call: ToolCall, config: RunnableConfig | None) -> Ending:
        """Await it where we are. Only the cancellation of the caller is raised."""
        try:
            if self.direct is None or self.direct.coroutine is None or is_heard(config):
                return Ending(await self.tool.ainvoke(call, config))
            given = self.direct.arguments(call["args"])
            return Ending(_textual(await self.direct.coroutine(**given), False))
        except asyncio.CancelledError as error:
            if is_given_up():
                raise
            return Ending(error=error)
        except BaseException as error:
            return Ending(error=error)


def _prepared(tool: BaseTool) -> BaseTool:
    """Copy a tool so that its result is turned to text while it is whole, and it cannot exit.

    LangChain writes what a tool returns into the message as JSON or `repr`, which loses bytes and
    `None`; and `SystemExit` in a coroutine stops the event loop before anybody can catch it, as
    `GeneratorExit` passes by those who wait for it.
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
        except GeneratorExit as error:
            raise ToolException(f"GeneratorExit: {to_text(error)}") from error

    copy = tool.model_copy()
    # Straight into the instance: pydantic would take the names for private fields.
    vars(copy).update(_run=run_to_text, _arun=arun_to_text)
    return copy


def exit_text(error: SystemExit) -> str:
    """What is said of a tool that tried to end the program."""
    return f"The tool tried to end the program (exit code {to_text(error.code)})."


def call_within(
    runner: Runner, call: ToolCall, config: RunnableConfig | None, timeout: float | None
) -> Ending:
    """Call a tool; one with a time limit runs in a thread of its own that is given up in time.

    A tool that is asynchronous only runs on a loop in the background.

    Returns:
        The ending; its error is a `CallTimeout` when `timeout` seconds have passed.
    """
    if not runner.is_sync:
        return BACKGROUND.run(acall_within(runner, call, config, timeout))
    if timeout is None:
        return runner.run(call, config)
    future = WORKERS.submit(lambda: runner.run(call, config))
    try:
        return future.result(timeout)
    except TimeoutError:  # ours: one that the tool raises is inside its ending
        return Ending(error=CallTimeout(timeout))


async def acall_within(
    runner: Runner, call: ToolCall, config: RunnableConfig | None, timeout: float | None
) -> Ending:
    """Call a tool without blocking the loop; see `call_within`.

    Only the cancellation of the caller is raised; that of the tool is an ending.
    """
    if timeout is None and runner.is_async:
        return await runner.arun(call, config)
    work: asyncio.Future[Ending]
    if runner.is_async:
        work = asyncio.ensure_future(_apart(runner, call, config))
    else:
        work = asyncio.wrap_future(WORKERS.submit(lambda: runner.run(call, config)))
        if timeout is None:
            return await work
    try:
        done, _ = await asyncio.wait({work}, timeout=timeout)
    except asyncio.CancelledError:
        await _give_up(work)
        raise
    if done:
        return work.result()
    await _give_up(work)
    return Ending(error=CallTimeout(timeout))


async def _apart(runner: Runner, call: ToolCall, config: RunnableConfig | None) -> Ending:
    """Await a call in a task of its own, whose cancellation is an ending like others."""
    try:
        return await runner.arun(call, config)
    except BaseException as error:
        return Ending(error=error)


async def _give_up(work: asyncio.Future[Ending]) -> None:
    """Cancel, and wait a moment so that no task is left behind."""
    work.cancel()
    await asyncio.wait({work}, timeout=_GRACE)


def _textual(value: Any, pair: bool) -> Any:
    """Make text of a result, or blocks; messages and commands pass as they are."""
    if pair and isinstance(value, tuple) and len(value) == 2:
        return _textual(value[0], False), value[1]
    return value if isinstance(value, ToolOutputMixin) else to_content(value)
