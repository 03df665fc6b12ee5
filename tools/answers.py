"""What a model is told about a call: always a fresh message, or a command of the tool's own."""

import asyncio
import logging
import re
from typing import Any, Final, Literal

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command
from pydantic import ValidationError

from planloop.state import cut_middle

from .arguments import explain, is_wrong_arguments
from .invoke import exit_text
from .results import MAX_OUTPUT, safe_str, to_text

logger = logging.getLogger("planloop.tools")

_SERDE: Final = JsonPlusSerializer()
_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9_-]")


def answer(
    call: ToolCall, value: object, *, limit: int | None = None
) -> ToolMessage | Command[Any]:
    """Answer a call with what its tool returned; a `Command` is passed on as it is."""
    if isinstance(value, Command):
        return value
    if isinstance(value, ToolMessage):
        return _message(call, value.content, value.status, limit, _savable(call, value.artifact))
    return _message(call, value, "success", limit)


def failure(
    call: ToolCall, error: BaseException, *, tool: BaseTool | None = None, limit: int | None = None
) -> ToolMessage:
    """Answer a call with the reason why it failed; the traceback goes to the log only."""
    logger.info("The tool call %s failed.", safe_str(call.get("name")), exc_info=error)
    return _message(call, _reason(error, tool), "error", limit)


def _reason(error: BaseException, tool: BaseTool | None) -> str:
    match error:
        case ToolException():
            return safe_str(error) or "The tool failed without saying why."
        case SystemExit():
            return exit_text(error)
        case asyncio.CancelledError():
            return "The tool cancelled itself and gave no result."
        case ValidationError() if tool and is_wrong_arguments(tool, error):
            return explain(error)
        case _:
            return f"{type(error).__name__}: {safe_str(error)}"


def _message(
    call: ToolCall,
    value: object,
    status: Literal["success", "error"],
    limit: int | None,
    artifact: Any = None,
) -> ToolMessage:
    return ToolMessage(
        content=cut_middle(to_text(value), limit or MAX_OUTPUT),
        name=_ILLEGAL.sub("_", safe_str(call.get("name") or "unknown").strip())[:64],
        tool_call_id=call.get("id") or "",
        status=status,
        artifact=artifact,
    )


def _savable(call: ToolCall, artifact: Any) -> Any:
    """Drop an artifact that no checkpoint can hold: it would end the run when that is written."""
    try:
        _SERDE.dumps_typed(artifact)
    except Exception as error:  # no graph runs in here: nothing to bubble up
        logger.warning(
            "The artifact of %s was dropped: %s cannot be saved (%s).",
            call["name"],
            type(artifact).__name__,
            safe_str(error),
        )
        return None
    return artifact
