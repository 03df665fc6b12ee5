"""Compact: summarise the turns that no longer fit. The history itself stays as it is."""

import time
from collections.abc import Sequence

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from planloop.models import Steps, ask, cut_to_tokens, emit, text_of
from planloop.state import AgentUpdate, ReactState, Summary, add_usage, cut_middle

from ._decide import Thinker
from ._history import canonical
from ._node import Node
from ._prompts import prompt
from ._view import as_log, covered_by, start_of_tail

_SUMMARY_LIMIT = 4_000  # characters of a summary


def make_compact(made_of: Thinker) -> Node:
    """The node `compact`. If the model cannot summarise, the old turns are left out this time."""

    def compact(state: ReactState) -> Steps[AgentUpdate]:
        log, run, started = as_log(state["messages"]), state["run"], time.monotonic()
        before = state.get("summary")
        begin, end = covered_by(log, before), start_of_tail(log, made_of.room // 2)
        # Tried once a turn, whatever comes of it.
        run = run.copy()
        run["compacting"], run["compacted_at"] = False, run["usage"]["steps"] + 1
        if end <= begin:
            return AgentUpdate(run=run)
        told = f"Summary so far:\n{before['text']}\n\n" if before else ""
        text = cut_to_tokens(transcript(log[begin:end]), made_of.room // 2)
        request = [SystemMessage(prompt("compact")), HumanMessage(f"{told}Turns:\n{text}")]
        answer = yield from ask(made_of.source, request, once=True, internal=True)
        run["usage"] = {
            **run["usage"],
            "seconds": run["usage"]["seconds"] + time.monotonic() - started,
        }
        if answer.message is None:  # no reason to end the run; it is tried in the next turn
            emit("compact", covered=begin, problem=answer.problem)
            return AgentUpdate(run=run)
        spent = answer.usage.copy()
        spent["steps"] = 0  # tokens count, but a summary is no turn of the agent
        run["usage"] = add_usage(run["usage"], spent)
        words = cut_middle(text_of(answer.message), _SUMMARY_LIMIT)
        if not words:
            return AgentUpdate(run=run)
        emit("compact", covered=end)
        return AgentUpdate(run=run, summary=Summary(text=words, last=str(log[end - 1].id)))

    return Node(compact)


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
