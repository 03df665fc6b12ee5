"""What an executor gave back: an outcome, a text, or the last state of a graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from pydantic import TypeAdapter

from planloop.models import read_reply, text_of, usage_of
from planloop.state import (
    Outcome,
    Plan,
    StopReason,
    add_usage,
    cut_middle,
    make_outcome,
    no_usage,
    one_line,
)

from ._history import canonical

REASONS: Final = get_args(StopReason)
_OUTCOME: Final = TypeAdapter(Outcome)
ENDING: Final = ("terminate", "abort_plan")  # tools whose results show nothing
_OBSERVED = 2_000  # characters of tool results that are kept for checking a step


@dataclass(frozen=True)
class Ran:
    """What an executor gave back."""

    outcome: Outcome
    observations: str = ""
    sub_plan: dict[str, Any] | None = None
    """The plan by which it was done, as plain data, if a planning graph did it."""


def read_result(result: Any) -> Ran:
    """What an executor's result means."""
    if isinstance(result, str):
        return Ran(_answered(result))
    if not isinstance(result, Mapping):
        kind = type(result).__name__
        return Ran(make_outcome("error", f"The executor gave a {kind}, not text or an outcome."))
    if "reason" in result and "answer" in result:
        return Ran(_completed(result))
    messages = result.get("messages") or []
    seen = observations(messages)
    if isinstance(found := result.get("outcome"), Mapping) and found.get("reason") in REASONS:
        return Ran(_completed(found), seen)
    if isinstance(report := result.get("report"), Mapping):
        return _of_sub_plan(report, str(result.get("summary") or ""), result.get("plan"))
    return Ran(_of_agent(messages, result.get("structured_response")), seen)


def _of_agent(messages: Sequence[BaseMessage], found: Any) -> Outcome:
    """What the run of somebody else's agent comes to, and what it cost.

    Its answer is the object that it found, as LangChain's agents hand it out, else its last words
    that came without a call, else the result of a tool that ended the run.
    """
    turns = [message for message in messages if isinstance(message, AIMessage)]
    usage = no_usage()
    for turn in turns:
        usage = add_usage(usage, usage_of(turn, 0))
    usage["tool_calls"] = sum(len(turn.tool_calls) for turn in turns)
    if found is not None:
        return {**_answered(TypeAdapter(Any).dump_json(found).decode()), "usage": usage}
    said = (turn for turn in reversed(turns) if text_of(turn) and not turn.tool_calls)
    last = next(said, None)
    if last is None:
        return {**_by_tool(messages[-1] if messages else None), "usage": usage}
    reply = read_reply(last)
    outcome = _answered(reply.text)
    if reply.cut_off:
        detail = "The executor's answer was cut off by its model's output limit."
        outcome = make_outcome("output_truncated", detail, answer=reply.text)
    elif reply.refusal:
        outcome["success"] = False
        outcome["detail"] = f"The executor's model refused: {one_line(reply.refusal, 300)}"
    return {**outcome, "usage": usage}


def _by_tool(last: BaseMessage | None) -> Outcome:
    """What a run that a tool ended comes to: the tool's result, if it is one."""
    if not isinstance(last, ToolMessage):
        return _answered("")
    if last.status == "error":
        return make_outcome("error", one_line(str(last.text), 500))
    return _answered(str(last.text))


def _answered(text: str) -> Outcome:
    if not text.strip():
        return make_outcome("empty_response", "The executor gave back no text.")
    return make_outcome("final_answer", "The executor gave its answer.", answer=text)


def _completed(found: Mapping[str, Any]) -> Outcome:
    """An outcome with what is missing filled in.

    Raises:
        ValueError: A reason that there is not, or a value of the wrong kind.
    """
    if found["reason"] not in REASONS:
        raise ValueError(f"'{found['reason']}' is no reason; use one of {', '.join(REASONS)}")
    usage = found["usage"] if isinstance(found.get("usage"), Mapping) else {}
    given = {key: value for key, value in found.items() if value is not None}
    filled = {**make_outcome(found["reason"], ""), **given, "usage": {**no_usage(), **usage}}
    return _OUTCOME.validate_python({**filled, "success": found.get("success", filled["success"])})


def _of_sub_plan(report: Mapping[str, Any], summary: str, plan: Any) -> Ran:
    """What a plan within a plan comes to: done only if it is completed."""
    ended = str(report.get("outcome"))
    counts = report.get("counts") or {}
    progress = f"{counts.get('completed', 0)} of {counts.get('total', 0)} steps completed"
    told = " ".join(str(warning) for warning in report.get("warnings") or [])
    outcome = make_outcome(
        "cancelled" if ended == "cancelled" else "terminated",
        one_line(f"The sub-plan ended {ended.replace('_', ', ')}: {progress}. {told}", 400),
        success=ended in ("completed", "completed_unverified"),
        answer=summary,
        usage=report.get("usage"),
    )
    seen = "\n".join(
        f"[{step['id']}] {step['status']}: {one_line(step['result'] or step['notes'], 300)}"
        for step in report.get("steps") or []
    )
    inner = plan.model_dump(mode="json") if isinstance(plan, Plan) else None
    return Ran(outcome, cut_middle(seen, _OBSERVED), inner)


def observations(messages: Sequence[BaseMessage]) -> str:
    """The latest tool calls with what they returned, one paragraph each, shortened."""
    asked = {
        str(call["id"]): f"{call['name']} {canonical(call['args'])}"
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    parts: list[str] = []
    room = _OBSERVED
    for message in reversed(messages):
        if not isinstance(message, ToolMessage) or message.name in ENDING:
            continue
        what = one_line(asked.get(message.tool_call_id, message.name or "tool"), 200)
        parts.append(f"{what}\n→ {cut_middle(str(message.text), 600)}")
        room -= len(parts[-1])
        if room <= 0:
            break
    return "\n".join(reversed(parts))
