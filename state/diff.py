"""Placeholder until plans can be compared."""

from .plan import Plan


def plan_diff(old: Plan, new: Plan) -> str:
    """What is different."""
    return "" if old == new else new.render()
