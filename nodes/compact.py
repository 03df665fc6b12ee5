"""Compact: summarise the turns that no longer fit. The history itself stays as it is."""

from collections.abc import Sequence

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.errors import GraphBubbleUp

from planloop.models import Invoke, Steps, text_of, usage_of
from planloop.state import AgentUpdate, ReactState, Summary, Usage, add_usage, cut_middle

from ._decide import CHARACTERS_A_TOKEN, Thinker
from ._events import emit
from ._history import canonical
from ._node import Node
from ._prompts import prompt
from ._view import covered_by, start_of_tail
from .think import as_log

_SUMMARY_LIMIT = 4_000  # characters of a summary


def make_compact(made_of: Thinker) -> Node:
    """The node `compact`. If the model cannot summarise, the old turns are left out this time."""

    def compact(state: ReactState) -> Steps[AgentUpdate]:
        log, run = as_log(state["messages"]), state["run"]
        before = state.get("summary")
        begin, end = covered_by(log, before), start_of_tail(log, made_of.window // 2)
        # Tried once a turn, whatever comes of it.
        run = run.copy()
        run["compacting"], run["compacted_at"] = False, run["usage"]["steps"]
        if end <= begin:
            return AgentUpdate(run=run)
        told = f"Summary so far:\n{before['text']}\n\n" if before else ""
        room = made_of.window * CHARACTERS_A_TOKEN // 2
        text = cut_middle(transcript(log[begin:end]), room)
        request = [SystemMessage(prompt("compact")), HumanMessage(f"{told}Turns:\n{text}")]
        try:
            model = yield from made_of.source.load()
            reply = yield Invoke(model, request, {"tags": ["nostream"]})
        except GraphBubbleUp:
            raise
        except Exception as error:  # no summary is no reason to end; it is tried in the next turn
            emit("compact", covered=begin, problem=type(error).__name__)
            return AgentUpdate(run=run)
        run["usage"] = _spent(run["usage"], reply, request)
        words = cut_middle(text_of(reply), _SUMMARY_LIMIT)
        if not words:
            return AgentUpdate(run=run)
        emit("compact", covered=end)
        return AgentUpdate(run=run, summary=Summary(text=words, last=str(log[end - 1].id)))

    return Node(compact)


def _spent(usage: Usage, reply: BaseMessage, request: Sequence[BaseMessage]) -> Usage:
    """Tokens count, but a summary is no turn of the agent."""
    spent = usage_of(reply, request)
    spent["steps"] = 0
    return add_usage(usage, spent)


def transcript(messages: Sequence[AnyMessage]) -> str:
    """The turns as text, each message shortened."""
    return "\n".join(line for message in messages if (line := _line(message)))


def _line(message: AnyMessage) -> str:
    text = cut_middle(text_of(message), 1_000)
    if isinstance(message, ToolMessage):
        return f"Result of {message.name}: {text}"
    if isinstance(message, AIMessage):
        calls = "; ".join(f"{c['name']} {canonical(c['args'])[:300]}" for c in message.tool_calls)
        return f"Agent: {text}" + (f" [calls {calls}]" if calls else "")
    return "" if isinstance(message, SystemMessage) else f"User: {text}"
