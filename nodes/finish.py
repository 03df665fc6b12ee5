"""Finish: turn the decision that ended the loop into the outcome."""

import json
import time
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.config import get_config

from planloop.models import Steps, read_structured, structured, text_of
from planloop.state import (
    AgentStatus,
    AgentUpdate,
    Outcome,
    ReactRun,
    ReactState,
    Stop,
    add_usage,
    is_done,
    make_outcome,
)

from . import _hints
from ._budget import priced
from ._decide import Thinker
from ._images import request_of
from ._node import Node
from ._view import as_log, view_of


def make_finish(made_of: Thinker) -> Node:
    """The node `finish`."""

    def finish(state: ReactState) -> Steps[AgentUpdate]:
        run = state["run"]
        stop = run.get("stop")
        if stop is None:
            raise AssertionError("`finish` was reached without a decision to stop.")
        outcome = _outcome(stop, run["usage"])
        if made_of.answer_schema is not None:
            yield from _structure(made_of, state, outcome)
        outcome["usage"] = priced(outcome["usage"], made_of.budget)
        status: AgentStatus = "ERROR" if stop["reason"] == "error" else "FINISHED"
        update = AgentUpdate(status=status, outcome=outcome)
        if words := _last_words(outcome, state["messages"]):
            update["messages"] = [AIMessage(words)]
        return update

    return Node(finish)


def _outcome(stop: Stop, usage: Any) -> Outcome:
    outcome = make_outcome(
        stop["reason"],
        stop["detail"],
        success=stop["success"],
        answer=stop["answer"],
        usage=usage.copy(),
    )
    if stop["fatal"]:
        outcome["fatal"] = True
    if stop.get("abort"):
        outcome["abort"] = True
    if limit := stop.get("limit"):
        outcome["limit"] = limit
    return outcome


def _structure(made_of: Thinker, state: ReactState, outcome: Outcome) -> Steps[None]:
    """Read the answer as the schema wants it; a run that is done may be asked for it once more.

    Without an object that fits, the run did not give what it was asked for.
    """
    schema = made_of.answer_schema
    assert schema is not None
    value, problem = read_structured(AIMessage(outcome["answer"]), schema)
    if value is None and is_done(outcome):
        run: ReactRun = {**state["run"], "hint": _hints.STRUCTURE}
        summary = state.get("summary")
        log = as_log(state["messages"])
        view = view_of(log, run, system=made_of.system, window=made_of.room, summary=summary)
        request = yield from request_of(view, made_of)
        began = time.monotonic()
        found = yield from structured(made_of.source, request, schema)
        outcome["usage"] = add_usage(outcome["usage"], found.usage)
        outcome["usage"]["seconds"] += time.monotonic() - began
        value, problem = found.value, found.problem
    outcome["structured"] = None if value is None else value.model_dump(mode="json")
    if value is None:
        outcome["success"] = False
        outcome["detail"] += f" It gave no {schema.__name__}: {problem}"
    elif not outcome["answer"]:
        outcome["answer"] = json.dumps(outcome["structured"], ensure_ascii=False)


def _last_words(outcome: Outcome, messages: Sequence[AnyMessage]) -> str:
    """What a graph around this one, which reads the last words, is to hear; empty if it stands.

    The answer, or that the task is not done. Outside any other graph the outcome says the latter.
    """
    answer = outcome["answer"]
    last = messages[-1] if messages else None
    if answer and isinstance(last, AIMessage) and text_of(last) == answer:
        return ""
    if is_done(outcome):
        return answer
    if not _is_nested():
        return ""
    note = f"(The task is not done. {outcome['detail']})"
    return note if answer in note else f"{answer}\n\n{note}"


def _is_nested() -> bool:
    """Whether this graph runs inside another one."""
    return "|" in get_config().get("configurable", {}).get("checkpoint_ns", "")
