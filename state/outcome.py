"""How one agent run ended, and what it spent."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

StopReason = Literal[
    "final_answer",
    "terminated",
    "budget_exhausted",
    "stuck",
    "timed_out",
    "empty_response",
    "no_tool_calls",
    "output_truncated",
    "rejected",
    "context_overflow",
    "recursion_limit",
    "cancelled",
    "error",
]
AgentStatus = Literal["IDLE", "RUNNING", "FINISHED", "ERROR"]


class Usage(TypedDict):
    """What a run spent. Sums are taken with `add_usage`."""

    steps: int
    """Turns of the model."""
    tool_calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    """Wall-clock seconds."""
    estimated: bool
    """True when a server did not report tokens and they were counted here instead."""


class Outcome(TypedDict):
    """How one agent run ended."""

    reason: StopReason
    success: bool | None
    """What the run said of itself; `None`: it did not say."""
    answer: str
    """What it gives back; empty if nothing."""
    detail: str
    """One sentence for a person."""
    usage: Usage
    fatal: NotRequired[bool]
    """True when trying again cannot help, such as a refused key or an unknown model."""


def no_usage() -> Usage:
    """A fresh count of nothing."""
    return Usage(
        steps=0, tool_calls=0, input_tokens=0, output_tokens=0, seconds=0.0, estimated=False
    )


def add_usage(left: Usage | None, right: Usage | None) -> Usage:
    """Sum two counts; a missing one counts as nothing. The reducer of `usage` channels.

    >>> add_usage(None, {**no_usage(), "steps": 2})["steps"]
    2
    """
    a, b = left or no_usage(), right or no_usage()
    return Usage(
        steps=a["steps"] + b["steps"],
        tool_calls=a["tool_calls"] + b["tool_calls"],
        input_tokens=a["input_tokens"] + b["input_tokens"],
        output_tokens=a["output_tokens"] + b["output_tokens"],
        seconds=round(a["seconds"] + b["seconds"], 3),
        estimated=a["estimated"] or b["estimated"],
    )


def make_outcome(
    reason: StopReason,
    detail: str,
    *,
    success: bool | None = False,
    answer: str = "",
    usage: Usage | None = None,
) -> Outcome:
    """An outcome; what is not given is nothing. A final answer says nothing of success."""
    return Outcome(
        reason=reason,
        success=None if reason == "final_answer" else success,
        answer=answer,
        detail=detail,
        usage=usage or no_usage(),
    )


def is_done(outcome: Outcome) -> bool:
    """Whether the run ended by its own decision and did not call itself a failure.

    Only such a run may complete a step: an exhausted budget, a loop or an error never does.
    """
    ended = outcome["reason"] in ("final_answer", "terminated")
    return ended and outcome["success"] is not False
