"""How one agent run ended, and what it spent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NotRequired

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


@dataclass(frozen=True, kw_only=True)
class Price:
    """What a model costs, in a currency of your choice, for a million tokens."""

    input: float
    output: float

    def __post_init__(self) -> None:
        if self.input < 0 or self.output < 0:
            raise ValueError(f"{self} is negative.")


class ModelUsage(TypedDict):
    """What was spent on one model, and how it was asked."""

    calls: int
    input_tokens: int
    output_tokens: int
    modes: list[str]
    """`tools`, `text`, `json_schema`, `function_calling`, `json_mode` or `prompt`, and `without …`
    for each thing that its server turned out not to do."""


class Usage(TypedDict):
    """What a run spent. Sums are taken with `add_usage`."""

    steps: int
    """Turns of the model."""
    tool_calls: int
    input_tokens: int
    output_tokens: int
    seconds: float
    """Seconds of work. An agent does not count the time in which it waits for a person."""
    estimated: bool
    """True when a server did not report tokens and they were counted here instead."""
    models: NotRequired[dict[str, ModelUsage]]
    """The same by the name of the model."""
    cost: NotRequired[float]
    """What it cost by the price table of the budget, if there is one."""


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
    limit: NotRequired[str]
    """Which budget ended the run: the name of a field of `Budget`."""
    structured: NotRequired[dict[str, Any] | None]
    """The answer as the agent's `answer_schema` wants it; `None` if the model did not give it."""
    fatal: NotRequired[bool]
    """True when trying again cannot help, such as a refused key or an unknown model."""
    abort: NotRequired[bool]
    """True when the run asks that the whole plan be ended; its own step is not done."""


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
    total = Usage(
        steps=a["steps"] + b["steps"],
        tool_calls=a["tool_calls"] + b["tool_calls"],
        input_tokens=a["input_tokens"] + b["input_tokens"],
        output_tokens=a["output_tokens"] + b["output_tokens"],
        seconds=round(a["seconds"] + b["seconds"], 3),
        estimated=a["estimated"] or b["estimated"],
    )
    if "models" in a or "models" in b:
        total["models"] = _by_model(a.get("models") or {}, b.get("models") or {})
    if "cost" in a or "cost" in b:
        total["cost"] = a.get("cost", 0.0) + b.get("cost", 0.0)
    return total


def _by_model(
    left: Mapping[str, ModelUsage], right: Mapping[str, ModelUsage]
) -> dict[str, ModelUsage]:
    total = dict(left)
    for name, more in right.items():
        if (known := total.get(name)) is None:
            total[name] = more
            continue
        total[name] = ModelUsage(
            calls=known["calls"] + more["calls"],
            input_tokens=known["input_tokens"] + more["input_tokens"],
            output_tokens=known["output_tokens"] + more["output_tokens"],
            modes=known["modes"] + [mode for mode in more["modes"] if mode not in known["modes"]],
        )
    return total


def cost_of(usage: Usage, prices: Mapping[str, Price]) -> float:
    """What the tokens cost. A model that the table does not name counts at its dearest prices.

    >>> spent = {"calls": 1, "input_tokens": 1_000_000, "output_tokens": 0, "modes": ["text"]}
    >>> cost_of({**no_usage(), "models": {"m": spent}}, {"m": Price(input=0.25, output=2)})
    0.25
    """
    if not prices:
        return 0.0
    dearest = Price(
        input=max(price.input for price in prices.values()),
        output=max(price.output for price in prices.values()),
    )
    total = 0.0
    for name, spent in (usage.get("models") or {}).items():
        price = prices.get(name, dearest)
        total += spent["input_tokens"] * price.input + spent["output_tokens"] * price.output
    return total / 1_000_000


def make_outcome(
    reason: StopReason,
    detail: str,
    *,
    success: bool | None = None,
    answer: str = "",
    usage: Usage | None = None,
) -> Outcome:
    """An outcome; what is not given is nothing. Only a final answer may leave success open."""
    return Outcome(
        reason=reason,
        success=False if success is None and reason != "final_answer" else success,
        answer=answer,
        detail=detail,
        usage=usage or no_usage(),
    )


def is_done(outcome: Outcome) -> bool:
    """Whether the run ended by its own decision and did not call itself a failure.

    Only such a run may complete a step: an exhausted budget, a loop or an error never does.
    """
    ended = outcome["reason"] in ("final_answer", "terminated")
    return ended and outcome["success"] is not False and not outcome.get("abort")
