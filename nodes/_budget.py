"""Whether a budget is used up, and which."""

import time

from planloop.state import Budget, Usage


def exhausted(budget: Budget, usage: Usage, started: float) -> str:
    """The first limit that is reached, as one sentence; empty if none is.

    `tool_calls` is not looked at here: it ends a run only when a further call is asked for.

    Args:
        started: Seconds since the epoch when the run began.
    """
    limits = (
        ("steps", budget.steps, usage["steps"]),
        ("input tokens", budget.input_tokens, usage["input_tokens"]),
        ("output tokens", budget.output_tokens, usage["output_tokens"]),
        ("seconds", budget.seconds, time.time() - started if budget.seconds is not None else 0),
    )
    for name, limit, used in limits:
        if limit is not None and used >= limit:
            return f"The budget of {limit:g} {name} is used up."
    return ""
