"""What a model is told about a call: always a fresh message, or a command of the tool's own."""

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, ToolException
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Command
from pydantic import ValidationError

from planloop.state import cut_middle, is_image, legal_name

from .arguments import explain, is_wrong_arguments
from .invoke import exit_text
from .keep import keep, kept_image
from .results import MAX_OUTPUT, safe_str, to_content, to_text

logger = logging.getLogger("planloop.tools")

_SERDE: Final = JsonPlusSerializer()
_MOST_IMAGES: Final = 20


@dataclass(frozen=True, slots=True)
class Shown:
    """How much of a result a model is shown, and where the rest of it goes."""

    limit: int = MAX_OUTPUT
    """Characters."""
    workspace: Path | None = None
    """The folder for what is longer, where the run's context names none."""


def answer(call: ToolCall, value: object, shown: Shown) -> ToolMessage | Command[Any]:
    """Answer a call with what its tool returned; a `Command` is passed on as it is.

    A text that is too long, and every image, is kept in the workspace; the answer names the file.
    """
    if isinstance(value, Command):
        return value
    if isinstance(value, ToolMessage):
        content = _content(call, value.content, shown)
        return _message(call, content, value.status, _savable(call, value.artifact))
    return _message(call, _content(call, value, shown), "success")


def is_heavy(value: object, shown: Shown) -> bool:
    """Whether answering with this value may write files."""
    content = value.content if isinstance(value, ToolMessage) else value
    return isinstance(content, list) or (isinstance(content, str) and len(content) > shown.limit)


def failure(
    call: ToolCall, error: BaseException, *, tool: BaseTool | None = None, limit: int = MAX_OUTPUT
) -> ToolMessage:
    """Answer a call with the reason why it failed; the traceback goes to the log only."""
    logger.info("The tool call %s failed.", safe_str(call.get("name")), exc_info=error)
    return _message(call, cut_middle(to_text(_reason(error, tool)), limit), "error")


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


def _content(call: ToolCall, value: object, shown: Shown) -> str | list[Any]:
    content = to_content(value)
    name = safe_str(call.get("name") or "result")
    if isinstance(content, str):
        return _within(content, name, shown)
    texts = "\n".join(block["text"] for block in content if not is_image(block))
    pictures = [block for block in content if is_image(block)]
    blocks = [kept_image(block, name, shown.workspace) for block in pictures[:_MOST_IMAGES]]
    if len(pictures) > _MOST_IMAGES:
        texts += f"\n[{len(pictures) - _MOST_IMAGES} more images left out]"
    if texts:
        blocks.insert(0, {"type": "text", "text": _within(texts, name, shown)})
    if any(map(is_image, blocks)):
        return blocks
    return cut_middle("\n".join(block["text"] for block in blocks), shown.limit)


def _within(text: str, name: str, shown: Shown) -> str:
    if len(text) <= shown.limit:
        return text
    path = keep(text.encode("utf-8", "replace"), name, "txt", shown.workspace)
    return cut_middle(text, shown.limit, f"; the whole text is in {path}" if path else "")


def _message(
    call: ToolCall,
    content: str | list[Any],
    status: Literal["success", "error"],
    artifact: Any = None,
) -> ToolMessage:
    return ToolMessage(
        content=content,
        name=legal_name(safe_str(call.get("name") or "unknown").strip()),
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
