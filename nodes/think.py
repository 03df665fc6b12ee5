"""Think: show the model what happened, read its reply, decide how the loop goes on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from langchain_core.messages import AnyMessage, ToolCall, ToolMessage
from langgraph.errors import GraphBubbleUp

from planloop.models import (
    Invoke,
    ModelSource,
    Reply,
    Steps,
    describe_failure,
    legal_name,
    looks_like_call,
    read_reply,
    usage_of,
)
from planloop.state import (
    AgentUpdate,
    Budget,
    MemoryPolicy,
    MessageLog,
    ReactRun,
    ReactState,
    Stop,
    StopReason,
    Usage,
    add_usage,
    one_line,
)
from planloop.tools import ToolPolicy, ToolRegistry, traits_of

from . import _hints
from ._budget import exhausted
from ._events import emit
from ._history import last_text, latest_rounds, pending_calls, unanswered
from ._node import Node
from ._stuck import WINDOW, cycle_length
from ._view import view_of

ToolChoice = Literal["auto", "required", "none"]
TERMINATE: Final = "terminate"
MAX_NUDGES: Final = 2


@dataclass(frozen=True)
class Thinker:
    """What `think` is built from."""

    source: ModelSource
    registry: ToolRegistry
    system: str
    tool_choice: ToolChoice
    budget: Budget
    memory: MemoryPolicy
    policy: ToolPolicy | None


def make_think(made_of: Thinker) -> Node:
    """The node `think`."""

    def think(state: ReactState) -> Steps[AgentUpdate]:
        log, run = as_log(state["messages"]), state["run"]
        if pending_calls(log):  # sequential tools: the next of this turn's calls is due
            return AgentUpdate(status="RUNNING")
        if limit := exhausted(made_of.budget, run["usage"], run["started"]):
            return _stopped(run, "budget_exhausted", limit, answer=last_text(log, run["first"]))
        run = _watch(run, log)
        if run["stop"]:
            return AgentUpdate(run=run)
        view = view_of(log, run, system=made_of.system, window=made_of.memory.window_tokens)
        try:
            yield from made_of.source.load()
            model = made_of.source.bound(made_of.registry.tools, made_of.tool_choice)
            given = yield Invoke(model, view.messages)
        except GraphBubbleUp:
            raise
        except Exception as error:  # a model may raise anything; the run ends by decision
            failure = describe_failure(error)
            reason: StopReason = "context_overflow" if failure.overflow else "error"
            answer = last_text(log, run["first"])
            return _stopped(run, reason, failure.detail, answer=answer, fatal=failure.fatal)
        reply = read_reply(
            given, id_taken=lambda call_id: log.place(result_id(call_id)) is not None
        )
        spent = usage_of(given, view.tokens)
        emit("turn", number=run["usage"]["steps"] + 1, text=reply.text, usage=dict(spent))
        return _decide(made_of, run, log, reply, spent)

    return Node(think)


def as_log(messages: list[AnyMessage]) -> MessageLog:
    """The log; a plain list, as a hand-made state has it, is read into one."""
    return messages if isinstance(messages, MessageLog) else MessageLog(messages)


def result_id(call_id: str) -> str:
    """The message id of a call's result: with it the log knows which call ids are taken."""
    return f"result-{call_id}"


def _decide(
    made_of: Thinker, run: ReactRun, log: Sequence[AnyMessage], reply: Reply, spent: Usage
) -> AgentUpdate:
    """What a reply means: run calls, answer broken ones, ask again, or end."""
    run = {**run, "usage": add_usage(run["usage"], spent), "hint": ""}
    if reply.calls or reply.answers:
        if made_of.tool_choice == "none":
            return _text_reply(made_of, run, log, _without_calls(reply))
        return _call_reply(made_of, run, log, reply)
    return _text_reply(made_of, run, log, reply)


def _without_calls(reply: Reply) -> Reply:
    return Reply(reply.message.model_copy(update={"tool_calls": []}), reply.text)


def _text_reply(
    made_of: Thinker, run: ReactRun, log: Sequence[AnyMessage], reply: Reply
) -> AgentUpdate:
    """A turn without calls ends the loop, unless it says nothing or meant a call."""
    leaked = len(made_of.registry) > 0 and made_of.tool_choice != "none"
    leaked = leaked and looks_like_call(reply.text, made_of.registry.names)
    if reply.is_empty:
        reason: StopReason = "output_truncated" if reply.cut_off else "empty_response"
        return _nudge_or_stop(run, log, reason, _hints.EMPTY, MAX_NUDGES)
    if leaked or made_of.tool_choice == "required":
        hint = _hints.LEAKED if leaked else _hints.REQUIRED
        stop = _nudge_or_stop(run, log, "no_tool_calls", hint, 1)
        return {**stop, "messages": [reply.message]}
    if reply.cut_off:
        detail = "The answer was cut off by the model's output limit."
        stop = _stopped(run, "output_truncated", detail, answer=reply.text)
        return {**stop, "messages": [reply.message]}
    done = _stopped(run, "final_answer", "The model gave its answer.", reply.text, success=None)
    return {**done, "messages": [reply.message]}


def _nudge_or_stop(
    run: ReactRun, log: Sequence[AnyMessage], reason: StopReason, hint: str, most: int
) -> AgentUpdate:
    if run["nudges"] < most:
        return AgentUpdate(run={**run, "nudges": run["nudges"] + 1, "hint": hint})
    return _stopped(run, reason, _hints.WHY[reason], answer=last_text(log, run["first"]))


def _call_reply(
    made_of: Thinker, run: ReactRun, log: Sequence[AnyMessage], reply: Reply
) -> AgentUpdate:
    run = {**run, "nudges": 0}
    ends = [call for call in reply.calls if call["name"].strip() == TERMINATE]
    work = [call for call in reply.calls if call["name"].strip() != TERMINATE]
    answers = [_own(answer) for answer in reply.answers]
    if ends and not work and not answers:
        return _terminated(run, log, reply, ends)
    answers += [_answer(call, _hints.TERMINATE_ALONE) for call in ends]
    odd = [call for call in work if legal_name(call["name"]) != call["name"]]
    answers += [_own(_refused_name(made_of.registry, call)) for call in odd]
    work = [call for call in work if call not in odd]
    room = _calls_left(made_of.budget, run["usage"])
    late = work[room:] if room is not None else []
    answers += [_answer(call, _hints.NO_CALLS_LEFT) for call in late]
    denied = [call for call in work if call not in late and _is_denied(made_of, call)]
    answers += [_answer(call, _hints.DENIED) for call in denied]
    counted = {**run["usage"], "tool_calls": run["usage"]["tool_calls"] + len(work) - len(late)}
    update = AgentUpdate(run={**run, "usage": counted})  # type: ignore[typeddict-item]  # a Usage
    if late and len(late) == len(work):
        detail = f"All {made_of.budget.tool_calls} tool calls of the budget are used."
        update = _stopped(run, "budget_exhausted", detail, last_text(log, run["first"]))
    return {**update, "messages": [reply.message, *answers]}


def _terminated(
    run: ReactRun, log: Sequence[AnyMessage], reply: Reply, ends: Sequence[ToolCall]
) -> AgentUpdate:
    """`terminate` alone ends the run with the status it gives; a second one changes nothing."""
    args = ends[0]["args"]
    status = str(args.get("status", "success")).strip().lower()
    failed = status in ("failure", "failed", "fail", "error")
    answer = str(args.get("summary") or "") or reply.text or last_text(log, run["first"])
    detail = f"The model ended the run with status {'failure' if failed else 'success'}"
    detail += f": {one_line(answer, 300)}" if failed and answer else "."
    update = _stopped(run, "terminated", detail, answer, success=not failed)
    closed = [_answer(ends[0], "The run ends here.", status="success")]
    closed += [_answer(call, "Not run: the first call has ended the run.") for call in ends[1:]]
    return {**update, "messages": [reply.message, *closed]}


def _own(answer: ToolMessage) -> ToolMessage:
    return answer.model_copy(update={"id": result_id(answer.tool_call_id)})


def _refused_name(registry: ToolRegistry, call: ToolCall) -> ToolMessage:
    """The registry's answer to a name that no tool can have; nothing is run."""
    answer = registry.run(call)
    return answer if isinstance(answer, ToolMessage) else unanswered(call)


def _answer(
    call: ToolCall, text: str, status: Literal["success", "error"] = "error"
) -> ToolMessage:
    return _own(unanswered(call, text).model_copy(update={"status": status}))


def _calls_left(budget: Budget, usage: Usage) -> int | None:
    return None if budget.tool_calls is None else max(budget.tool_calls - usage["tool_calls"], 0)


def _is_denied(made_of: Thinker, call: ToolCall) -> bool:
    return decision_on(made_of.policy, made_of.registry, call) == "deny"


def decision_on(policy: ToolPolicy | None, registry: ToolRegistry, call: ToolCall) -> str:
    """What the policy says of a call; a name that is no tool is answered by the registry."""
    tool = registry.get(call["name"])
    if policy is None or tool is None:
        return "allow"
    return policy.decide(tool.name, call["args"], traits_of(tool))


def _watch(run: ReactRun, log: Sequence[AnyMessage]) -> ReactRun:
    """Tell the model once that it goes in circles; if it goes on, stop."""
    length = cycle_length(latest_rounds(log, run["first"], WINDOW))
    turns = run["usage"]["steps"]
    if not length:
        return run
    if not run["warned_at"]:
        return {**run, "warned_at": turns, "hint": _hints.STUCK}
    if turns < run["warned_at"] + length:
        return run
    what = "The same call came back" if length == 1 else f"A cycle of {length} turns came back"
    detail = f"{what} with the same results, also after a hint."
    return {**run, "stop": _stop("stuck", detail, last_text(log, run["first"]))}


def _stop(reason: StopReason, detail: str, answer: str = "", **more: Any) -> Stop:
    return Stop(
        reason=reason,
        detail=detail,
        answer=answer,
        success=more.get("success", False),
        fatal=more.get("fatal", False),
    )


def _stopped(
    run: ReactRun, reason: StopReason, detail: str, answer: str = "", **more: Any
) -> AgentUpdate:
    return AgentUpdate(run={**run, "stop": _stop(reason, detail, answer, **more), "hint": ""})
