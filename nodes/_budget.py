"""Whether a budget is used up, and which."""

from typing import NamedTuple

from planloop.state import Budget, Usage, cost_of


class Reached(NamedTuple):
    """A limit that is reached."""

    limit: str
    """The name of the field of `Budget`."""
    detail: str
    """One sentence."""


def reached(budget: Budget, usage: Usage) -> Reached | None:
    """The first limit that is reached, or `None`.

    `tool_calls` is not looked at here: it ends a run only when a further call is asked for.
    """
    cost = cost_of(usage, budget.prices) if budget.cost is not None else 0.0
    limits = (
        ("steps", budget.steps, usage["steps"]),
        ("input_tokens", budget.input_tokens, usage["input_tokens"]),
        ("output_tokens", budget.output_tokens, usage["output_tokens"]),
        ("seconds", budget.seconds, usage["seconds"]),
        ("cost", budget.cost, cost),
    )
    for name, limit, used in limits:
        if limit is not None and used >= limit:
            what = name.replace("_", " ")
            sentence = f"The budget of {limit:g} {what} is used up."
            return Reached(name, sentence if name != "cost" else f"The cost has reached {limit:g}.")
    return None


def priced(usage: Usage, budget: Budget) -> Usage:
    """The usage with what it cost, if the budget has prices; rounded for people."""
    usage = {**usage, "seconds": round(usage["seconds"], 3)}
    if budget.prices:
        usage["cost"] = round(cost_of(usage, budget.prices), 6)
    return usage
