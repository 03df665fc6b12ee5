"""A plan within a plan: which step of the outer one it does, how deep it is, what is left for it.

It travels in the config, which every graph hands on to the graphs that it calls, and never enters
a state.
"""

from dataclasses import replace
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from typing_extensions import TypedDict

from planloop.models import emit
from planloop.state import Budget, Usage, WrongUse, cost_of
from planloop.tools import KEY

_NESTING: Final = "planloop_plan"
REVIVED: Final = "planloop_revived"
"""In the metadata of a run that was cut off: when it was taken up, in seconds since the epoch."""
MAX_DEPTH: Final = 4
"""Plans within plans; a deeper one is refused, and the step that wanted it fails."""


class Nesting(TypedDict):
    """Where a plan stands."""

    within: str
    """Ids of the steps around it from the outermost plan inwards, as in `s2/s1`; empty outside."""
    depth: int
    left: dict[str, float]
    """What the plans around it may still spend, by field of `Budget`."""


def nesting() -> Nesting:
    """Where the plan stands that this code runs for."""
    try:
        given = get_config().get("configurable", {}).get(_NESTING)
    except RuntimeError:  # no graph around this code
        given = None
    return given if isinstance(given, dict) else Nesting(within="", depth=0, left={})  # type: ignore[return-value]


def revived_after(began: float | None) -> bool:
    """Whether the run was cut off and taken up again since this moment."""
    revived = get_config().get("metadata", {}).get(REVIVED)
    return isinstance(revived, float) and began is not None and began < revived


def check_depth() -> None:
    """Refuse a plan that is too deep.

    Raises:
        WrongUse: It is.
    """
    if nesting()["depth"] > MAX_DEPTH:
        raise WrongUse(f"This plan is more than {MAX_DEPTH} plans deep: let an agent do the step.")


def tell(kind: str, **fields: Any) -> None:
    """Send an event of the lifecycle; one of a plan within a plan says so."""
    if within := nesting()["within"]:
        fields["within"] = within
    emit(kind, **fields)


def inner_config(step_id: str, key: str, budget: Budget, usage: Usage) -> RunnableConfig:
    """The config for what does one step: a plan in there knows where it stands."""
    outer = nesting()
    within = f"{outer['within']}/{step_id}" if outer["within"] else step_id
    inner = Nesting(within=within, depth=outer["depth"] + 1, left=_left(capped(budget), usage))
    return RunnableConfig(configurable={_NESTING: inner, KEY: key})


def _left(budget: Budget, usage: Usage) -> dict[str, float]:
    used = {**usage, "cost": cost_of(usage, budget.prices)}
    limits = ("steps", "tool_calls", "input_tokens", "output_tokens", "seconds", "cost")
    left = {}
    for name in limits:
        limit, spent = getattr(budget, name), used.get(name, 0)
        if limit is not None and isinstance(spent, int | float):
            left[name] = max(limit - spent, 0)
    return left


def capped(budget: Budget) -> Budget:
    """The budget of this plan, no larger than what the plans around it have left."""
    left = nesting()["left"]
    if not left:
        return budget
    if "cost" in left and not budget.prices:  # without prices there is nothing to count
        left = {name: value for name, value in left.items() if name != "cost"}
    own = {name: getattr(budget, name) for name in left}
    smaller: dict[str, Any] = {
        name: value if own[name] is None else min(own[name], value) for name, value in left.items()
    }
    return replace(budget, **smaller)
