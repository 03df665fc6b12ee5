"""Ask a model that cannot call tools for one JSON decision, and read it back as a tool call.

Tiny models give no native tool calls (none in about 130 requests to three of them), but under a
grammar they fill in `{"tool": ..., "args": {...}}` or `{"answer": "..."}` well. Everything here
is a function of the request and its reply: sending it, sync or async, is `local_chat`.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall
from langchain_core.messages.ai import add_usage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import BaseModel

from planloop.state import ToolSetupError

from .local_prompt import as_plain, tools_hint
from .local_schema import bounded

ARGUMENT_CHARS: Final = 1200
"""Most characters of a tool argument that declares no `maxLength`: a file of about 30 lines."""
ANSWER_CHARS: Final = 600
"""Most characters of a final answer."""
TEXT_CHARS: Final = 160
"""Most characters of a string in structured output that declares no `maxLength`."""

_ANSWER: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": ANSWER_CHARS}},
    "required": ["answer"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Ask:
    """One request as the server gets it, and how its reply is to be read."""

    messages: list[BaseMessage]
    kwargs: dict[str, Any]
    names: frozenset[str] = frozenset()
    """The tools offered."""
    free: bool = False
    """Whether an answer may come instead of a tool call."""
    made: list[ToolCall] = field(default_factory=list)
    """The calls made since the last human message."""

    @property
    def decides(self) -> bool:
        """Whether the reply is a decision; else it is plain text or plain JSON."""
        return self.free or bool(self.names)

    def read(self, result: ChatResult) -> ChatResult:
        """Turn a decision into an ordinary message; anything else stays the text it is."""
        if self.decides:
            for generation in result.generations:
                self._read_one(generation)
        return result

    def _read_one(self, generation: ChatGeneration) -> None:
        decision = _parse(generation.message.text)
        name, args, answer = (decision.get(key) for key in ("tool", "args", "answer"))
        if isinstance(name, str) and name in self.names and isinstance(args, dict):
            call = ToolCall(name=name, args=args, id=f"call_{uuid.uuid4().hex}", type="tool_call")
            update: dict[str, Any] = {"content": "", "tool_calls": [call]}
            info = generation.generation_info or {}
            generation.generation_info = {**info, "finish_reason": "tool_calls"}
        elif self.free and isinstance(answer, str):
            update = {"content": answer}
        else:
            return
        generation.message = generation.message.model_copy(update=update)
        generation.text = generation.message.text

    def repeats(self, result: ChatResult) -> bool:
        """Whether the reply makes a call again that was made since the last human message."""
        made = [(call["name"], call["args"]) for call in self.made]
        message = result.generations[0].message
        calls = message.tool_calls if isinstance(message, AIMessage) else []
        return self.free and any((call["name"], call["args"]) in made for call in calls)

    def answer_only(self) -> "Ask":
        """The same request with the answer as the only way out, which ends a loop of calls."""
        body = {**self.kwargs["extra_body"], "json_schema": _ANSWER}
        return replace(self, kwargs={**self.kwargs, "extra_body": body}, names=frozenset())


def ask_for(messages: Sequence[BaseMessage], kwargs: dict[str, Any]) -> Ask:
    """Rewrite a request: no tools and no response format on the wire, one bounded schema instead.

    Args:
        messages: The conversation, with tool calls and tool messages.
        kwargs: What `bind_tools` or `bind` bound. Not changed.

    Raises:
        ToolSetupError: `tool_choice` names a tool that is not bound.
    """
    kwargs = dict(kwargs)
    tools, choice = kwargs.pop("tools", None) or [], kwargs.pop("tool_choice", None) or "auto"
    kwargs.pop("parallel_tool_calls", None)
    response_format = kwargs.pop("response_format", None)
    body = dict(kwargs.pop("extra_body", None) or {})
    functions = _offered(tools, choice)
    if not functions:
        # Within extra_body, the SDK does not parse the reply: text that is cut comes back as text.
        body |= _format_body(response_format)
        return Ask(as_plain(messages), {**kwargs, "extra_body": body} if body else kwargs)
    free = choice == "auto"
    body["json_schema"] = {"anyOf": [*map(_variant, functions), *([_ANSWER] if free else [])]}
    return Ask(
        as_plain(messages, tools_hint(functions, free), free),
        {**kwargs, "extra_body": body},
        frozenset(function["name"] for function in functions),
        free,
        _made_since_human(messages),
    )


def charged(result: ChatResult, earlier: ChatResult) -> ChatResult:
    """A reply, charged with the tokens of the one it replaces as well."""
    old, new = earlier.generations[0].message, result.generations[0].message
    if isinstance(old, AIMessage) and isinstance(new, AIMessage):
        new.usage_metadata = add_usage(old.usage_metadata, new.usage_metadata)
    return result


def _offered(tools: list[dict[str, Any]], choice: Any) -> list[dict[str, Any]]:
    functions: list[dict[str, Any]] = [tool["function"] for tool in tools if "function" in tool]
    if choice == "none":
        return []
    if choice in ("auto", "required", "any", True):
        return functions
    name = choice.get("function", {}).get("name") if isinstance(choice, dict) else choice
    named = [function for function in functions if function["name"] == name]
    if not named:
        raise ToolSetupError(f"tool_choice names {name!r}, which is not one of the tools bound.")
    return named


def _format_body(response_format: Any) -> dict[str, Any]:
    if isinstance(response_format, type) and issubclass(response_format, BaseModel):
        return {"json_schema": bounded(response_format.model_json_schema(), TEXT_CHARS)}
    if not isinstance(response_format, dict):
        return {}
    if response_format.get("type") == "json_schema":
        return {"json_schema": bounded(response_format["json_schema"]["schema"], TEXT_CHARS)}
    return {"response_format": response_format}


def _variant(function: dict[str, Any]) -> dict[str, Any]:
    nothing = {"type": "object", "additionalProperties": False}
    return {
        "type": "object",
        "properties": {
            "tool": {"const": function["name"]},
            "args": bounded(function.get("parameters") or nothing, ARGUMENT_CHARS),
        },
        "required": ["tool", "args"],
        "additionalProperties": False,
    }


def _made_since_human(messages: Sequence[BaseMessage]) -> list[ToolCall]:
    made: list[ToolCall] = []
    for message in reversed(messages):
        if isinstance(message, HumanMessage):
            break
        if isinstance(message, AIMessage):
            made.extend(message.tool_calls)
    return made


def _parse(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
