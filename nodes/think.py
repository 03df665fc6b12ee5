"""Think: show the model what happened, read its reply, decide how the loop goes on."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.errors import GraphBubbleUp

from planloop.models import (
    Failure,
    Invoke,
    Steps,
    describe_failure,
    read_reply,
    text_of,
    usage_of,
)
from planloop.state import (
    AgentUpdate,
    MessageLog,
    ReactRun,
    ReactState,
    Stop,
    StopReason,
    add_usage,
    append_messages,
)

from . import _hints
from ._budget import exhausted
from ._decide import Thinker, decide
from ._events import emit
from ._history import last_text, latest_rounds, pending_calls
from ._node import Node
from ._stops import make_stop, result_id, stopped
from ._stuck import LONGEST, WINDOW, cycle_length
from ._view import View, view_of


def make_think(made_of: Thinker) -> Node:
    """The node `think`."""

    def think(state: ReactState) -> Steps[AgentUpdate]:
        log, run = as_log(state["messages"]), state["run"]
        if pending_calls(log):  # sequential tools: the next of this turn's calls is due
            return AgentUpdate(status="RUNNING")
        run, stop = _watch(made_of, run, log)
        if stop is not None:
            return (yield from _closing(made_of, state, run, log, stop))
        view = _view(made_of, state, run, log)
        if view.gap and _may_compact(made_of, run):
            return AgentUpdate(run={**run, "compacting": True})
        given, failure, view = yield from _ask(made_of, state, run, log, view)
        if failure is not None:
            reason: StopReason = "context_overflow" if failure.overflow else "error"
            answer = last_text(log, run["first"])
            return stopped(run, reason, failure.detail, answer, fatal=failure.fatal)
        if given.id and log.place(given.id) is not None:  # else it would replace that turn
            given = given.model_copy(update={"id": None})
        reply = read_reply(
            given, id_taken=lambda call_id: log.place(result_id(call_id)) is not None
        )
        spent = usage_of(given, view.tokens)
        emit("turn", number=run["usage"]["steps"] + 1, text=reply.text, usage=dict(spent))
        update = decide(made_of, run, log, reply, spent)
        run, said = update.get("run", run), update.get("messages", [])
        stop = run["stop"]
        if stop is None or stop["reason"] != "budget_exhausted":
            return update
        last = yield from _closing(made_of, state, run, append_messages(log, [said]), stop)
        return {**last, "messages": [*said, *last.get("messages", [])]}

    return Node(think)


def as_log(messages: list[AnyMessage]) -> MessageLog:
    """The log; a plain list, as a hand-made state has it, is read into one."""
    return messages if isinstance(messages, MessageLog) else MessageLog(messages)


def _view(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog, window: int = 0
) -> View:
    return view_of(
        log,
        run,
        system=made_of.system,
        window=window or made_of.window,
        summary=state.get("summary"),
    )


def _may_compact(made_of: Thinker, run: ReactRun) -> bool:
    """Whether what no longer fits is to be summarised; not again in the turn in which it failed."""
    source = made_of.source
    able = made_of.memory.strategy == "summarize" and source.is_loaded and source.judges
    return able and run["compacted_at"] != run["usage"]["steps"]


def _ask(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog, view: View
) -> Steps[tuple[Any, Failure | None, View]]:
    """One reply; a request that the server finds too long is sent once more at half its size."""
    failure: Failure | None = None
    for _ in range(2):
        try:
            yield from made_of.source.load()
            model = made_of.source.bound(made_of.registry.tools, made_of.tool_choice)
            return (yield Invoke(model, view.messages)), None, view
        except GraphBubbleUp:
            raise
        except Exception as error:  # a model may raise anything; the run ends by decision
            failure = describe_failure(error)
            if not failure.overflow:
                break
            smaller = _view(made_of, state, run, log, view.tokens // 2)
            if smaller.tokens >= view.tokens:
                break
            view = smaller
    return None, failure, view


def _watch(
    made_of: Thinker, run: ReactRun, log: Sequence[AnyMessage]
) -> tuple[ReactRun, Stop | None]:
    """Whether a budget is used up, or the model goes in circles: it is told once, then stopped."""
    if limit := exhausted(made_of.budget, run["usage"], run["started"]):
        return run, make_stop("budget_exhausted", limit)
    length = cycle_length(latest_rounds(log, run["first"], WINDOW))
    turns = run["usage"]["steps"]
    if not length:
        out_of_it = run["warned_at"] and turns > run["warned_at"] + LONGEST
        return ({**run, "warned_at": 0} if out_of_it else run), None
    if not run["warned_at"]:
        return {**run, "warned_at": turns, "hint": _hints.STUCK}, None
    if turns < run["warned_at"] + length:
        return run, None
    what = "The same call came back" if length == 1 else f"A cycle of {length} turns came back"
    return run, make_stop("stuck", f"{what} with the same results, also after a hint.")


def _closing(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog, stop: Stop
) -> Steps[AgentUpdate]:
    """End the run, but let the model say first what it has found, without tools.

    One request beyond the budget; if it fails, the latest thing that the model said stands.
    """
    answer = last_text(log, run["first"])
    view = _view(made_of, state, {**run, "hint": _hints.CLOSING}, log)
    try:
        model = yield from made_of.source.load()
        given = yield Invoke(model, view.messages)
    except GraphBubbleUp:
        raise
    except Exception:  # the run ends in any case
        return stopped(run, stop["reason"], stop["detail"], answer)
    run = {**run, "usage": add_usage(run["usage"], usage_of(given, view.tokens))}
    text = text_of(given)
    update = stopped(run, stop["reason"], stop["detail"], text or answer)
    return {**update, "messages": [AIMessage(text)]} if text else update
