"""Questions about a message log, and its repair. Pure functions."""

import json
import operator
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolCall, ToolMessage

from planloop.models import text_of

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
    if len(mended) == len(messages) and all(map(operator.is_, mended, messages)):
        return messages
    return mended


def unanswered(call: ToolCall, text: str = UNANSWERED) -> ToolMessage:
    """A result for a call that was not run; it does not guess at the cause."""
    return ToolMessage(text, tool_call_id=str(call["id"]), name=call["name"], status="error")


Round = tuple[tuple[str, str, str], ...]
"""One turn of calls: name, normalised arguments and result of each."""


def rounds_since(
    messages: Sequence[BaseMessage], first: int, limit: int
) -> tuple[int, list[Round]]:
    """How many turns with calls there were since index `first`, and the last `limit` of them."""
    turns = [n for n in range(first, len(messages)) if _has_calls(messages[n])]
    return len(turns), [_round(messages, n) for n in turns[-limit:]]


def _has_calls(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and bool(message.tool_calls)


def _round(messages: Sequence[BaseMessage], turn: int) -> Round:
    message = messages[turn]
    results: dict[str, str] = {}
    for later in messages[turn + 1 :]:
        if not isinstance(later, ToolMessage):
            break
        results[later.tool_call_id] = str(later.text)
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return tuple(
        (call["name"], canonical(call["args"]), results.get(str(call["id"]), "")) for call in calls
    )


def canonical(args: Any) -> str:
    """Arguments as text, the same for the same meaning whatever the order of keys."""
    return json.dumps(args, sort_keys=True, ensure_ascii=False, default=str)


def last_text(messages: Sequence[BaseMessage], first: int) -> str:
    """The latest thing the model said in this run."""
    for message in reversed(messages[first:]):
        if isinstance(message, AIMessage) and (text := text_of(message)):
            return text
    return ""
