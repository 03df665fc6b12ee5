"""Questions about a message log, and its repair. Pure functions."""

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolCall, ToolMessage

from planloop.models import text_of
from planloop.state import is_image

UNANSWERED = "This call has no result: the run was stopped before it was answered."


def pending_calls(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    """Calls of the last model turn that have no result yet, in order."""
    answered = set()
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            answered.add(message.tool_call_id)
        elif isinstance(message, AIMessage):
            return [call for call in message.tool_calls if call["id"] not in answered]
        else:
            return []
    return []


def repaired(messages: list[AnyMessage]) -> list[AnyMessage]:
    """The log with every call answered right after its turn, and no result without its call.

    The list that came in, if nothing had to be mended.
    """
    if is_paired(messages):
        return messages
    mended: list[AnyMessage] = []
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        if isinstance(message, ToolMessage):
            continue  # its call is gone
        mended.append(message)
        if not isinstance(message, AIMessage) or not message.tool_calls:
            continue
        results: dict[str, ToolMessage] = {}
        while place < len(messages) and isinstance(found := messages[place], ToolMessage):
            results[found.tool_call_id] = found
            place += 1
        mended += [results.get(str(call["id"])) or unanswered(call) for call in message.tool_calls]
    return mended


def is_paired(messages: Sequence[BaseMessage]) -> bool:
    """Whether every call is answered right after its turn and every result has its call."""
    waiting: set[str] = set()
    for message in messages:
        if message.type == "tool":
            call_id = message.tool_call_id  # type: ignore[attr-defined]  # it is a ToolMessage
            if call_id not in waiting:
                return False
            waiting.remove(call_id)
        elif waiting:
            return False
        elif message.type == "ai" and message.tool_calls:  # type: ignore[attr-defined]  # as above
            waiting = {str(call["id"]) for call in message.tool_calls}  # type: ignore[attr-defined]
    return not waiting


def unanswered(call: ToolCall, text: str = UNANSWERED) -> ToolMessage:
    """A result for a call that was not run; it does not guess at the cause."""
    return ToolMessage(text, tool_call_id=str(call["id"]), name=call["name"], status="error")


def has_images(message: BaseMessage) -> bool:
    """Whether it is a tool's result with an image in it."""
    return isinstance(message, ToolMessage) and bool(images_of(message))


def images_of(message: BaseMessage) -> list[dict[str, Any]]:
    """The image blocks of a message."""
    content = message.content if isinstance(message.content, list) else []
    return [block for block in content if is_image(block)]


def canonical(args: Any) -> str:
    """Arguments as text, the same for the same meaning whatever the order of keys."""
    return json.dumps(args, sort_keys=True, ensure_ascii=False, default=str)


def last_text(messages: Sequence[BaseMessage], first: int) -> str:
    """The latest thing the model said in this run."""
    for place in range(len(messages) - 1, first - 1, -1):
        message = messages[place]
        if isinstance(message, AIMessage) and (text := text_of(message)):
            return text
    return ""
