"""Write a conversation with tools as the short plain text that a tiny model can follow."""

import json
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    merge_message_runs,
)

SUMMARY_CHARS: Final = 200
"""Most characters of a tool's description: reading the prompt is what costs time."""

CALL_HINT: Final = 'Reply with one JSON object: {"tool": "<name>", "args": {...}}'
FREE_HINT: Final = (
    ' to use a tool, or {"answer": "..."} once you know the answer. '
    "Never repeat a tool call that has been made. "
    "The turns marked as examples show the form only."
)
# Without example turns a 0.5B model repeats its calls. Their subjects are far from any task.
EXAMPLES: Final[tuple[BaseMessage, ...]] = (
    HumanMessage("Example: What is the capital of Peru?"),
    AIMessage('{"tool": "lookup", "args": {"query": "capital of Peru"}}'),
    HumanMessage("Result of lookup: Lima"),
    AIMessage('{"answer": "The capital of Peru is Lima."}'),
    HumanMessage("Example: Thank Bob."),
    AIMessage('{"answer": "Thank you, Bob!"}'),
)


def tools_hint(functions: Sequence[dict[str, Any]], free: bool) -> str:
    """Name the tools, one a line, and the form of the reply.

    Args:
        functions: The tools as OpenAI function schemas.
        free: Whether an answer may come instead of a call.

    >>> print(tools_hint([{"name": "add", "description": "Sum.", "parameters": {}}], False))
    Tools:
    - add(): Sum.
    Reply with one JSON object: {"tool": "<name>", "args": {...}}.
    """
    lines = ["Tools:"]
    for function in functions:
        names = ", ".join((function.get("parameters") or {}).get("properties", {}))
        summary = " ".join((function.get("description") or "").split("\n\n")[0].split())
        lines.append(f"- {function['name']}({names}): {summary[:SUMMARY_CHARS]}")
    return "\n".join([*lines, CALL_HINT]) + (FREE_HINT if free else ".")


def as_plain(
    messages: Sequence[BaseMessage], hint: str = "", free: bool = False
) -> list[BaseMessage]:
    """One system message, the examples, then the conversation in alternating plain turns.

    What stays the same from turn to turn stands first: the server keeps the prompt's unchanged
    beginning in its cache and reads only what follows. Tool calls and results become text, since
    the models' own templates answer such a history with nothing.

    Args:
        messages: The conversation as LangChain keeps it.
        hint: What `tools_hint` wrote; empty when no decision is asked for.
        free: Whether an answer may come instead of a call; then examples show both.
    """
    system = [message.text for message in messages if isinstance(message, SystemMessage)]
    head = "\n\n".join(part for part in (hint, *system) if part)
    turns = [
        turn
        for message in messages
        if not isinstance(message, SystemMessage)
        for turn in _turns(message, free)
    ]
    opening: list[BaseMessage] = [SystemMessage(head)] if head else []
    return [*opening, *(EXAMPLES if free else ()), *merge_message_runs(turns)]


def _turns(message: BaseMessage, free: bool) -> list[BaseMessage]:
    if isinstance(message, ToolMessage):
        return [HumanMessage(f"Result of {message.name or 'the tool'}: {message.text}")]
    if not isinstance(message, AIMessage):
        return [HumanMessage(message.text)]
    if message.tool_calls:
        calls = ({"tool": call["name"], "args": call["args"]} for call in message.tool_calls)
        return [AIMessage(_json(call)) for call in calls]
    if not message.text:
        return []  # an empty turn teaches a small model to answer with nothing
    return [AIMessage(_json({"answer": message.text}) if free else message.text)]


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
