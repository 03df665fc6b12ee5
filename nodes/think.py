"""Think: show the model what happened, read its reply, decide how the loop goes on."""

import math
import time
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from planloop.models import Answer, ModelSource, Steps, ask, emit, read_reply, text_of
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
from ._budget import reached
from ._decide import Thinker, decide
from ._digest import digest_of
from ._history import last_text, pending_calls
from ._images import request_of
from ._node import Node
from ._stops import SECONDS, answer_call, make_stop, stopped
from ._stuck import LONGEST, cycle_length
from ._view import View, as_log, view_of

STEPS_OF_A_TURN: Final = 5
"""Super-steps of one more turn: approve, act, think, compact, finish."""
_TOKENS: Final = ("input_tokens", "output_tokens", "cost")
_LEAST_WINDOW: Final = 1_024
_TRIES: Final = 2


def make_think(made_of: Thinker) -> Node:
    """The node `think`."""

    def think(state: ReactState) -> Steps[AgentUpdate]:
        began = time.monotonic()
        log = as_log(state["messages"])
        run = timed(state["run"], log)
        late: list[AnyMessage] = []
        if pending := pending_calls(log):  # sequential tools: the next of this turn's calls is due
            if state["remaining_steps"] >= STEPS_OF_A_TURN:
                return AgentUpdate(run=run)
            late += [answer_call(call, _hints.NO_STEPS_LEFT) for call in pending]
            log = append_messages(log, [late])
        update = yield from _turn(made_of, state, run, log)
        if late:
            update["messages"] = [*late, *update.get("messages", [])]
        update["run"] = _brought_up(update.get("run", run), time.monotonic() - began)
        return update

    return Node(think)


def _brought_up(run: ReactRun, seconds: float) -> ReactRun:
    """The counts with the time of this turn, and without what is not needed any more."""
    usage = run["usage"].copy()
    usage["seconds"] = round(usage["seconds"] + seconds, 3)
    kept = {key: value for key, value in run.items() if value or key in ReactRun.__required_keys__}
    return cast(ReactRun, {**kept, "usage": usage})


def timed(run: ReactRun, log: MessageLog) -> ReactRun:
    """The counts with the time that the latest tools took; side by side, the slowest counts."""
    took = [
        _seconds(message.response_metadata.get(SECONDS))
        for message in log[run.get("timed", len(log)) :]  # an older checkpoint has no such count
        if isinstance(message, ToolMessage)
    ]
    usage = run["usage"].copy()
    usage["seconds"] += max(took, default=0.0)
    return {**run, "usage": usage, "timed": len(log)}


def _seconds(noted: Any) -> float:
    """What `act` noted; in an edited state anything may stand there."""
    known = isinstance(noted, float) and 0 <= noted < math.inf
    return noted if known else 0.0


def _turn(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog
) -> Steps[AgentUpdate]:
    """One turn of the model, or the decision that there is to be none."""
    run, stop = _watch(made_of, state, run, log)
    if stop is not None:
        return (yield from _closing(made_of, state, run, log, stop))
    view = _view(made_of, state, run, log, made_of.room)
    if view.gap and _may_compact(made_of, run):
        return AgentUpdate(run={**run, "compacting": True})
    answer = yield from _ask(made_of, state, run, log, view)
    if answer.message is None:
        return _failed(run, log, answer)
    given = answer.message
    if given.id and log.place(given.id) is not None:  # else it would replace that turn
        given = given.model_copy(update={"id": None})
    reply = read_reply(given, id_taken=digest_of(log).call_ids.__contains__)
    spent = answer.usage
    emit("turn", number=run["usage"]["steps"] + 1, text=reply.text, usage=dict(spent))
    update = decide(made_of, run, log, reply, spent)
    run, said = update.get("run", run), update.get("messages", [])
    stop = run.get("stop")
    if stop is None or stop["reason"] != "budget_exhausted":
        return update
    told = append_messages(log, [said])
    last = yield from _closing(made_of, state, run, told, stop)
    return {**last, "messages": [*said, *last.get("messages", [])]}


def _failed(run: ReactRun, log: MessageLog, answer: Answer) -> AgentUpdate:
    """No reply came: the end, with what was said so far."""
    failure = answer.failure
    reason: StopReason = "context_overflow" if failure and failure.overflow else "error"
    fatal = failure is not None and failure.fatal
    return stopped(run, reason, answer.problem, last_text(log, run["first"]), fatal=fatal)


def _view(made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog, room: int) -> View:
    return view_of(
        log,
        run,
        system=made_of.system,
        window=room,
        summary=state.get("summary"),
    )


def _may_compact(made_of: Thinker, run: ReactRun) -> bool:
    """Whether what no longer fits is to be summarised; not again in the turn in which it failed."""
    source = made_of.source
    able = made_of.memory.strategy == "summarize" and source.is_loaded and source.judges
    return able and run.get("compacted_at") != run["usage"]["steps"] + 1


def _ask(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog, view: View
) -> Steps[Answer]:
    """One reply, of the first model of the chain that gives one."""
    answer = Answer()
    for source in made_of.source.chain:
        if source is not made_of.source:
            view = _view(made_of, state, run, log, made_of.room_for(source))
        answer = yield from _ask_one(made_of, state, run, log, view, source)
        if answer.message is not None:
            break
    return answer


def _ask_one(
    made_of: Thinker,
    state: ReactState,
    run: ReactRun,
    log: MessageLog,
    view: View,
    source: ModelSource,
) -> Steps[Answer]:
    """One reply of this model. A request that its server finds too long is sent once more, smaller.

    What is learnt of the window holds from then on, also for other runs of the same model.
    """
    answer = Answer()
    for _ in range(_TRIES):
        request = yield from request_of(view, made_of)
        answer = yield from ask(
            source,
            request,
            tools=made_of.registry.tools,
            choice=made_of.tool_choice,
            weight=view.tokens + made_of.overhead,
            seconds=_seconds_left(made_of, run),
            alone=True,
        )
        if answer.failure is None or not answer.failure.overflow:
            break
        sent = view.tokens + made_of.overhead
        source.window = _smaller(answer.failure.window or sent, sent, source.window)
        smaller = _view(made_of, state, run, log, made_of.room_for(source))
        if smaller.tokens >= view.tokens:
            break
        view = smaller
    return answer


def _smaller(told: int, sent: int, known: int | None) -> int:
    """The window to keep to from now on, since the estimate of what was sent was too low."""
    return max(min(told * 3 // 4, sent // 2, known or sent), _LEAST_WINDOW)


def _seconds_left(made_of: Thinker, run: ReactRun) -> float:
    """How long the model may be asked again and again."""
    limit = made_of.budget.seconds
    return math.inf if limit is None else limit - run["usage"]["seconds"]


def _watch(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog
) -> tuple[ReactRun, Stop | None]:
    """Whether a budget is used up, or the model goes in circles: it is told once, then stopped."""
    if limit := reached(made_of.budget, run["usage"]):
        return run, make_stop("budget_exhausted", limit.detail, limit=limit.limit)
    if state["remaining_steps"] < STEPS_OF_A_TURN:
        return run, make_stop("recursion_limit", _hints.WHY["recursion_limit"])
    length = cycle_length(digest_of(log).rounds_since(run["first"]))
    turns, warned_at = run["usage"]["steps"], run.get("warned_at", 0)
    if not length:
        out_of_it = warned_at and turns > warned_at + LONGEST
        return ({**run, "warned_at": 0} if out_of_it else run), None
    if not warned_at:
        return {**run, "warned_at": turns, "hint": _hints.STUCK}, None
    if turns < warned_at + length:
        return run, None
    what = "The same call came back" if length == 1 else f"A cycle of {length} turns came back"
    return run, make_stop("stuck", f"{what} with the same results, also after a hint.")


def _closing(
    made_of: Thinker, state: ReactState, run: ReactRun, log: MessageLog, stop: Stop
) -> Steps[AgentUpdate]:
    """End the run, but let the model say first what it has found, without tools.

    One request beyond the budget, and a small one where tokens have run out. If it fails, the
    latest thing that the model said stands.
    """
    room = made_of.room // 4 if stop.get("limit") in _TOKENS else made_of.room
    view = _view(made_of, state, {**run, "hint": _hints.CLOSING}, log, room)
    request = yield from request_of(view, made_of)
    answer = yield from ask(made_of.source, request, weight=view.tokens, once=True)
    text = text_of(answer.message) if answer.message is not None else ""
    run = {**run, "usage": add_usage(run["usage"], answer.usage)}
    stop = {**stop, "answer": text or last_text(log, run["first"])}
    update = AgentUpdate(run={**run, "stop": stop, "hint": ""})
    return {**update, "messages": [AIMessage(text)]} if text else update
