"""What a reply means: run its calls, answer the broken ones, ask again, or end the run."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from planloop.models import (
    ModelSource,
    Reply,
    count_text,
    looks_like_call,
    read_structured,
)
from planloop.state import (
    AgentUpdate,
    Budget,
    MemoryPolicy,
    ReactRun,
    StopReason,
    Usage,
    add_usage,
    legal_name,
    one_line,
)
from planloop.tools import ToolPolicy, ToolRegistry

from . import _hints
from ._history import canonical, last_text
from ._stops import answer_call, own, refused_name, stopped

ToolChoice = Literal["auto", "required", "none"]
TERMINATE: Final = "terminate"
ABORT: Final = "abort_plan"
MAX_NUDGES: Final = 2


@dataclass(frozen=True)
class Thinker:
    """What the ReAct loop is built from."""

    source: ModelSource
    registry: ToolRegistry
    system: str
    tool_choice: ToolChoice
    budget: Budget
    memory: MemoryPolicy
    answer_schema: type[BaseModel] | None = None

    @cached_property
    def overhead(self) -> int:
        """Tokens of the tools' schemas, which go out with each request."""
        offered = self.registry.tools if self.tool_choice != "none" else ()
        return count_text(json.dumps([convert_to_openai_tool(tool) for tool in offered]))

    @cached_property
    def endings(self) -> frozenset[str]:
        """Names of the tools that end a run."""
        return frozenset({TERMINATE, ABORT}.intersection([TERMINATE, *self.registry.names]))

    @property
    def room(self) -> int:
        """Tokens for the messages of a request: tool schemas and the reply need room too."""
        return self.room_for(self.source)

    def room_for(self, source: ModelSource) -> int:
        """The same for a request to this model."""
        whole = min(self.memory.window_tokens, source.window or self.memory.window_tokens)
        return max(whole - self.overhead - whole // 10, whole // 4)


def decide(
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
    message = reply.message.model_copy(update={"tool_calls": []})
    return replace(reply, message=message, calls=[], answers=[])


def _text_reply(
    made_of: Thinker, run: ReactRun, log: Sequence[AnyMessage], reply: Reply
) -> AgentUpdate:
    """A turn without calls ends the loop, unless it says nothing or meant a call."""
    leaked = len(made_of.registry) > 0 and made_of.tool_choice != "none"
    leaked = leaked and looks_like_call(reply.text, made_of.registry.names)
    if leaked and made_of.answer_schema is not None:  # which may look like a call
        leaked = read_structured(reply.message, made_of.answer_schema)[0] is None
    if reply.refusal:
        detail = f"The model refused: {one_line(reply.refusal, 300)}"
        stop = stopped(run, "final_answer", detail, reply.text or reply.refusal, success=False)
        said = reply.message if reply.text else AIMessage(reply.refusal)  # nothing empty is stored
        return {**stop, "messages": [said]}
    if reply.is_empty:
        reason: StopReason = "output_truncated" if reply.cut_off else "empty_response"
        return _nudge_or_stop(run, reason, _hints.EMPTY, MAX_NUDGES, last_text(log, run["first"]))
    if leaked or made_of.tool_choice == "required":
        hint = _hints.LEAKED if leaked else _hints.REQUIRED
        stop = _nudge_or_stop(run, "no_tool_calls", hint, 1, "" if leaked else reply.text)
        return {**stop, "messages": [reply.message]}
    if reply.cut_off:
        detail = "The answer was cut off by the model's output limit."
        stop = stopped(run, "output_truncated", detail, answer=reply.text)
        return {**stop, "messages": [reply.message]}
    done = stopped(run, "final_answer", "The model gave its answer.", reply.text, success=None)
    return {**done, "messages": [reply.message]}


def _nudge_or_stop(
    run: ReactRun, reason: StopReason, hint: str, most: int, answer: str
) -> AgentUpdate:
    if (nudges := run.get("nudges", 0)) < most:
        return AgentUpdate(run={**run, "nudges": nudges + 1, "hint": hint})
    return stopped(run, reason, _hints.WHY[reason], answer=answer)


def _call_reply(
    made_of: Thinker, run: ReactRun, log: Sequence[AnyMessage], reply: Reply
) -> AgentUpdate:
    run = {**run, "nudges": 0}
    endings = made_of.endings
    ends = [call for call in reply.calls if call["name"].strip() in endings]
    work = [call for call in reply.calls if call["name"].strip() not in endings]
    answers = [own(answer) for answer in reply.answers]
    if ends and not work and not answers:
        return _terminated(run, log, reply, ends)
    answers += [answer_call(call, _hints.ALONE.format(call["name"].strip())) for call in ends]
    odd = [call for call in work if legal_name(call["name"]) != call["name"]]
    answers += [own(refused_name(made_of.registry, call)) for call in odd]
    work, again = _once([call for call in work if call not in odd])
    answers += again
    late = []
    if (most := made_of.budget.tool_calls) is not None:
        late = work[max(most - run["usage"]["tool_calls"], 0) :]
    answers += [answer_call(call, _hints.NO_CALLS_LEFT) for call in late]
    usage = run["usage"].copy()
    usage["tool_calls"] += len(work) - len(late)
    update = AgentUpdate(run={**run, "usage": usage})
    if late and len(late) == len(work):
        detail = f"All {made_of.budget.tool_calls} tool calls of the budget are used."
        answer = last_text(log, run["first"])
        update = stopped(
            {**run, "usage": usage}, "budget_exhausted", detail, answer, limit="tool_calls"
        )
    return {**update, "messages": [reply.message, *answers]}


def _once(calls: Sequence[ToolCall]) -> tuple[list[ToolCall], list[ToolMessage]]:
    """Each call of a turn once; the same call again, argument for argument, is only answered."""
    first: dict[tuple[str, str], ToolCall] = {}
    again = []
    for call in calls:
        key = (call["name"].strip(), canonical(call["args"]))
        if (known := first.setdefault(key, call)) is not call:
            again.append(answer_call(call, _hints.DUPLICATE.format(known["id"])))
    return list(first.values()), again


def _terminated(
    run: ReactRun, log: Sequence[AnyMessage], reply: Reply, ends: Sequence[ToolCall]
) -> AgentUpdate:
    """`terminate` alone ends the run with the status it gives; a second one changes nothing.

    `abort_plan` ends it as a failure that asks for the end of the whole plan.
    """
    args = ends[0]["args"]
    if ends[0]["name"].strip() == ABORT:
        reason = str(args.get("reason") or "") or reply.text or "no reason given"
        detail = f"The model aborted the plan: {one_line(reason, 300)}"
        update = stopped(run, "terminated", detail, reason, success=False, abort=True)
        return {**update, "messages": [reply.message, *_closed(ends)]}
    status = str(args.get("status", "success")).strip().lower()
    failed = status in ("failure", "failed", "fail", "error")
    answer = str(args.get("summary") or "") or reply.text or last_text(log, run["first"])
    detail = f"The model ended the run with status {'failure' if failed else 'success'}"
    detail += f": {one_line(answer, 300)}" if failed and answer else "."
    update = stopped(run, "terminated", detail, answer, success=not failed)
    return {**update, "messages": [reply.message, *_closed(ends)]}


def _closed(ends: Sequence[ToolCall]) -> list[ToolMessage]:
    closed = [answer_call(ends[0], "The run ends here.", status="success")]
    late = "Not run: the first call has ended the run."
    return closed + [answer_call(call, late) for call in ends[1:]]


def decision_on(policy: ToolPolicy | None, registry: ToolRegistry, call: ToolCall) -> str:
    """What the policy says of a call; a name that is no tool is answered by the registry."""
    traits = registry.traits(call["name"])
    if policy is None or traits is None:
        return "allow"
    return policy.decide(call["name"].strip(), call["args"], traits)
