"""What a model's server cannot do: read from its refusal, remembered, and worked around.

Each limit has a sign by which a refusal is known, a question whether the refused request used the
feature at all, and a way to say the same without it.
"""

import operator
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from planloop.state import is_image

Messages = Sequence[BaseMessage]
IMAGE_NOTE: Final = "[an image, which this model cannot be shown]"
_BEGIN: Final = "(The conversation so far:)"
_SEEN: Final = "(I have the results.)"


@dataclass(frozen=True)
class Limit:
    """One thing that some servers do not do."""

    name: str
    sign: re.Pattern[str]
    """What their refusal says."""
    used: Callable[[Messages], bool]
    """Whether a request makes use of it."""
    without: Callable[[Messages], list[BaseMessage]]
    """The same request without it."""
    lasting: bool = True
    """It holds for all later requests; else it was this one's fault."""


def limit_behind(refusal: str, request: Messages, known: Collection[str]) -> Limit | None:
    """The limit that explains a refusal of this request, if it was not known before."""
    for limit in LIMITS:
        if limit.name not in known and limit.sign.search(refusal) and limit.used(request):
            return limit
    return None


def within(request: Messages, known: Collection[str]) -> list[BaseMessage]:
    """The request in a form that keeps to the known limits."""
    adapted = list(request)
    for limit in LIMITS:
        if limit.name in known:
            adapted = limit.without(adapted)
    return adapted


def _blocks(message: BaseMessage) -> list[Any]:
    return message.content if isinstance(message.content, list) else []


def _has_images(request: Messages) -> bool:
    return any(is_image(block) for message in request for block in _blocks(message))


def _without_images(request: Messages) -> list[BaseMessage]:
    note = {"type": "text", "text": IMAGE_NOTE}
    return [
        message.model_copy(
            update={"content": [note if is_image(b) else b for b in _blocks(message)]}
        )
        if any(map(is_image, _blocks(message)))
        else message
        for message in request
    ]


def _has_blocks(request: Messages) -> bool:
    return any(map(_blocks, request))


def _as_text(request: Messages) -> list[BaseMessage]:
    return [
        message.model_copy(update={"content": _joined(message)}) if _blocks(message) else message
        for message in request
    ]


def _joined(message: BaseMessage) -> str:
    images = sum(map(is_image, _blocks(message)))
    return "\n".join(part for part in (str(message.text), *[IMAGE_NOTE] * images) if part)


def _has_system(request: Messages) -> bool:
    return any(message.type == "system" for message in request)


def _without_system(request: Messages) -> list[BaseMessage]:
    told = "\n\n".join(str(m.text) for m in request if m.type == "system")
    rest = [message for message in request if message.type != "system"]
    if rest and rest[0].type == "human":
        return [_with_text(rest[0], told, before=True), *rest[1:]]
    return [HumanMessage(told), *rest]


def _with_text(message: BaseMessage, text: str, *, before: bool = False) -> BaseMessage:
    """The message with a paragraph more."""
    content: Any
    if isinstance(message.content, str):
        parts = [text, message.content] if before else [message.content, text]
        content = "\n\n".join(part for part in parts if part)
    else:
        block = {"type": "text", "text": text}
        content = [block, *message.content] if before else [*message.content, block]
    return message.model_copy(update={"content": content})


def _has_parallel(request: Messages) -> bool:
    return any(isinstance(m, AIMessage) and len(m.tool_calls) > 1 for m in request)


def _one_by_one(request: Messages) -> list[BaseMessage]:
    """A turn of several calls as several turns of one call, each with its result."""
    parts: list[BaseMessage] = []
    place = 0
    while place < len(request):
        message = request[place]
        place += 1
        if not isinstance(message, AIMessage) or len(message.tool_calls) < 2:
            parts.append(message)
            continue
        results: dict[str, ToolMessage] = {}
        while place < len(request) and isinstance(found := request[place], ToolMessage):
            results[found.tool_call_id] = found
            place += 1
        for number, call in enumerate(message.tool_calls):
            parts.append(_only(message, number))
            if (result := results.get(str(call["id"]))) is not None:
                parts.append(result)
    return parts


def _only(message: Any, number: int) -> AIMessage:
    update: dict[str, Any] = {"tool_calls": [message.tool_calls[number]]}
    if number:
        update |= {"content": "", "id": None}
    turn: AIMessage = message.model_copy(update=update)
    return turn


def _alternates(request: Messages) -> bool:
    adapted = _alternating(request)
    return len(adapted) == len(request) and all(map(operator.is_, adapted, request))


def _alternating(request: Messages) -> list[BaseMessage]:
    """User and assistant in turn, beginning with the user.

    What a user says is never put into a tool's result, whose words are data.
    """
    joined: list[BaseMessage] = []
    for message in request:
        last = joined[-1] if joined else SystemMessage("")
        if message.type == last.type == "human" or (message.type == "ai" and _is_plain(last)):
            # Of two turns of the model the later one stays, with its calls and what it began with.
            late = message if message.type == "ai" else last
            joined[-1] = late.model_copy(update={"content": _joined_content(last, message)})
            continue
        if message.type == "human" and last.type == "tool":
            joined.append(AIMessage(_SEEN))
        if message.type == "ai" and last.type == "system":
            joined.append(HumanMessage(_BEGIN))
        joined.append(message)
    return joined


def _is_plain(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and not message.tool_calls


def _joined_content(first: BaseMessage, second: BaseMessage) -> Any:
    if isinstance(first.content, str) and isinstance(second.content, str):
        return "\n\n".join(part for part in (first.content, second.content) if part)
    return [
        {"type": "text", "text": block} if isinstance(block, str) else block
        for message in (first, second)
        for block in (message.content if isinstance(message.content, list) else [message.content])
        if block
    ]


def _sign(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


LIMITS: Final = (
    Limit(
        "images",
        _sign(
            r"mmproj|not a multimodal|at most 0 image|unknown variant `image_url`"
            r"|(not|n't) support\w*.{0,40}(image|vision|multimodal)"
            r"|(image|vision|multimodal).{0,60}not support"
        ),
        _has_images,
        _without_images,
    ),
    Limit(
        "these images",
        _sign(
            r"(process|valid|unsupported|decode|corrupt).{0,60}image|image.{0,60}(valid|corrupt)"
        ),
        _has_images,
        _without_images,
        lasting=False,
    ),
    Limit(
        "content blocks",
        _sign(r"expected a string|must be a string|valid string|type: sequence"),
        _has_blocks,
        _as_text,
    ),
    Limit(
        "a system message",
        _sign(
            r"system (role|message|prompt|instruction)s?\W.*(not|n't|unsupport)|"
            r"(not|n't) support.*(system|developer)|developer instruction is not enabled"
        ),
        _has_system,
        _without_system,
    ),
    Limit(
        "parallel calls",
        _sign(
            r"single tool.?call|one tool.?call|parallel (tool|function).?call|multiple tool.?call"
        ),
        _has_parallel,
        _one_by_one,
    ),
    Limit(
        "turns of one role in a row",
        _sign(r"must alternate|roles.*alternat"),
        lambda request: not _alternates(request),
        _alternating,
    ),
)
"""In the order in which they are worked around."""
