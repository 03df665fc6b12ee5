"""Read a model's reply: its text, its tool calls in valid form, and what it did wrong.

The one place that knows how models deviate. Nodes get a `Reply` and do not parse.
"""

import json
import re
import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, TypeVar

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    InvalidToolCall,
    ToolCall,
    ToolMessage,
)
from langchain_core.utils.json import parse_partial_json

from planloop.state import NAMELESS, cut_middle, legal_name

from .compat import BROKEN, says_something
from .extract import find_json, without_thoughts
from .savable import are_counts, is_savable

_LEAKED = re.compile(r"<(?:\|)?tool_call(?:\|)?>|<function=|\[TOOL_CALLS\]")
_ACTION = re.compile(r"^Action:\s*([\w-]+)[ \t]*(?:\(|$)", re.MULTILINE)
M = TypeVar("M", bound=BaseMessage)
_CALL_KEYS = ("arguments", "parameters", "args")


@dataclass(frozen=True, slots=True)
class Reply:
    """One turn of a model, in a form that can be stored and replayed to any server."""

    message: AIMessage
    """The turn: every call has an id of its own and arguments that are an object."""
    text: str
    """What it says, without thoughts."""
    calls: list[ToolCall] = field(default_factory=list)
    """Calls that can be run, in order."""
    answers: list[ToolMessage] = field(default_factory=list)
    """Answers to calls that cannot be run: broken arguments."""
    cut_off: bool = False
    """The output limit ended it."""
    refusal: str = ""
    """Why the model, or a filter of its server, would not answer."""

    @property
    def is_empty(self) -> bool:
        return not (self.text or self.calls or self.answers or self.refusal)


def text_of(message: BaseMessage) -> str:
    """The text of a message: text blocks joined, thoughts left out."""
    return without_thoughts(str(readable_message(message).text))


def readable_message(message: M) -> M:
    """The message, without blocks that say nothing and that LangChain cannot read."""
    content = message.content
    if isinstance(content, str) or all(map(says_something, content)):
        return message
    return message.model_copy(update={"content": [b for b in content if says_something(b)]})


def read_reply(message: BaseMessage, *, id_taken: Callable[[str], bool] = lambda _: False) -> Reply:
    """Read a reply.

    Args:
        message: What the model gave.
        id_taken: Whether an id of a call is already used in the history.
    """
    message = readable_message(message)
    given = message if isinstance(message, AIMessage) else AIMessage(content=message.content)
    used: set[str] = set()
    valid, invalid = _sorted_out(given)
    calls: list[ToolCall] = []
    broken: list[ToolCall] = []
    answers: list[ToolMessage] = []
    for call in valid:
        name = call["name"].strip() or NAMELESS
        made = ToolCall(**{**call, "name": name, "id": _own_id(call["id"], used, id_taken)})
        if is_savable(made["args"]):
            calls.append(made)
            continue
        raw = json.dumps(made["args"], ensure_ascii=False)
        answers.append(_bad_arguments(made, raw, _NOT_SAVABLE))
        broken.append(ToolCall(**{**made, "args": {}}))
    for sent in invalid:
        call_id, raw = _own_id(sent["id"], used, id_taken), sent["args"] or ""
        name, args = (sent["name"] or "").strip() or NAMELESS, _repaired(raw)
        args = args if args is None or is_savable(args) else None
        call = ToolCall(name=name, args=args or {}, id=call_id, type="tool_call")
        (broken if args is None else calls).append(call)
        if args is None:
            answers.append(_bad_arguments(call, raw, sent.get("error")))
    stored = _storable(given, [*calls, *broken])
    refusal = "" if calls else _refusal(given)
    return Reply(stored, text_of(given), calls, answers, _is_cut_off(given), refusal)


def _sorted_out(given: AIMessage) -> tuple[list[ToolCall], list[InvalidToolCall]]:
    """The calls that came whole, and the others, also those that the client completed itself."""
    raws = given.response_metadata.get(BROKEN, ())
    unfinished = [(guess, raw) for raw in raws if (guess := _guessed(raw)) is not None]
    valid, invalid = [], list(given.invalid_tool_calls)
    for call in given.tool_calls:
        guessed = next((item for item in unfinished if item[0] == call["args"]), None)
        if guessed is None:
            valid.append(call)
        else:
            unfinished.remove(guessed)
            invalid.append(_unfinished(call, guessed[1]))
    return valid, invalid


def _guessed(raw: str) -> Any:
    """What LangChain makes of arguments that are not whole."""
    try:
        return parse_partial_json(raw)
    except ValueError:
        return None


def _unfinished(call: ToolCall, raw: str) -> InvalidToolCall:
    return InvalidToolCall(
        name=call["name"], args=raw, id=call["id"], error="cut off", type="invalid_tool_call"
    )


def _own_id(given: str | None, used: set[str], id_taken: Callable[[str], bool]) -> str:
    call_id = given or f"call_{uuid.uuid4().hex[:16]}"
    if call_id in used or id_taken(call_id):
        call_id = f"{call_id[:40]}_{uuid.uuid4().hex[:8]}"
    used.add(call_id)
    return call_id


def _repaired(raw: str) -> dict[str, Any] | None:
    """Arguments that are valid after all: empty means none, an encoded object is decoded."""
    if not raw.strip():
        return {}
    try:
        value = json.loads(raw, strict=False)
        if isinstance(value, str):
            value = json.loads(value, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


_NOT_SAVABLE = "a number of more than 64 bits, or objects inside each other more than 64 deep"


def _bad_arguments(call: ToolCall, raw: str, error: str | None) -> ToolMessage:
    why = (error or "they are no JSON object").splitlines()[0][:200]
    return ToolMessage(
        f"The arguments of {call['name']} could not be read ({why}). You sent: "
        f"{cut_middle(raw, 500)}\nSend the call again; the arguments must be one JSON object.",
        tool_call_id=str(call["id"]),
        name=call["name"],
        status="error",
    )


def _storable(given: AIMessage, calls: list[ToolCall]) -> AIMessage:
    """The same turn with valid calls; what the provider added stays, as some want it back."""
    extra = {
        key: value
        for key, value in given.additional_kwargs.items()
        if key not in ("tool_calls", "function_call", "parsed")
    }
    content: Any = given.content
    counts, metadata = given.usage_metadata, given.response_metadata
    if isinstance(content, list):
        # Call blocks would be sent beside `tool_calls`, with the arguments as they came.
        content = [
            b for b in content if not (isinstance(b, dict) and b.get("type") in _CALL_BLOCKS)
        ]
    return given.model_copy(
        update={
            "content": content,
            "tool_calls": [{**call, "name": legal_name(call["name"])} for call in calls],
            "invalid_tool_calls": [],
            "additional_kwargs": extra if is_savable(extra) else {},
            "response_metadata": metadata if is_savable(metadata) else {},
            "usage_metadata": counts if are_counts(counts) else None,
        }
    )


_CALL_BLOCKS = ("tool_call", "tool_use", "invalid_tool_call", "function_call")


def _is_cut_off(message: AIMessage) -> bool:
    reason = message.response_metadata.get("finish_reason")
    return (reason or message.response_metadata.get("stop_reason")) in ("length", "max_tokens")


def _refusal(message: AIMessage) -> str:
    said: Any = message.additional_kwargs.get("refusal")
    blocks = message.content if isinstance(message.content, list) else []
    for block in blocks:
        if isinstance(block, dict) and block.get("type") == "refusal":
            said = said or block.get("refusal")
    if isinstance(said, str) and said.strip():
        return said.strip()
    filtered = message.response_metadata.get("finish_reason") == "content_filter"
    return "The content filter of the model's server stopped the reply." if filtered else ""


def looks_like_call(text: str, tools: Collection[str]) -> bool:
    """Whether a text is a tool call that missed the tool channel.

    A known marker of a call, a first line that is the name of a tool, or JSON that names a tool
    or brings arguments.
    """
    if _LEAKED.search(text) or text.split("\n", 1)[0].strip() in tools:
        return True
    if any(name in tools for name in _ACTION.findall(text)):
        return True
    for value in find_json(text):
        items = value if isinstance(value, list) else [value]
        for item in items:
            if not isinstance(item, dict):
                continue
            name = item.get("name") or item.get("tool")
            if isinstance(name, str) and (
                name.strip() in tools or any(key in item for key in _CALL_KEYS)
            ):
                return True
    return False


def is_approval(text: str) -> bool:
    """Whether a review ends with the marker `[APPROVED]` alone on its last line.

    After URSA's marker, but as a decision: inside a sentence it decides nothing.
    """
    lines = [line.strip(" \t*_`#") for line in text.splitlines()]
    last = next((line for line in reversed(lines) if line), "")
    return last.casefold() == "[approved]"
