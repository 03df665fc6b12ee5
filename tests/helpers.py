"""Small builders that many tests share."""

import json
from typing import Any

from langchain_core.rate_limiters import BaseRateLimiter

from planloop.testing import ScriptedModel

APPROVED = "[APPROVED]"


def plan_json(*names: str, **fields: Any) -> str:
    """A plan as a model sends it; `fields` go into every step."""
    steps = [
        {
            "name": name,
            "description": f"do {name}",
            "requires_code": False,
            "expected_outputs": [],
            "success_criteria": [],
            **fields,
        }
        for name in names
    ]
    return json.dumps({"title": "T", "steps": steps}, ensure_ascii=False)


def planner_of(*names: str, **fields: Any) -> ScriptedModel:
    """A model that makes this plan, approves it, and sums up."""
    return ScriptedModel([plan_json(*names, **fields), APPROVED, "That was all."])


def verdicts(*given: tuple[str, str, str]) -> str:
    """A judge's reply: criterion, verdict, evidence."""
    keys = ("criterion", "verdict", "evidence")
    return json.dumps({"verdicts": [dict(zip(keys, item, strict=True)) for item in given]})


class Limiter(BaseRateLimiter):
    """Lets everything pass, and counts."""

    def __init__(self) -> None:
        self.taken = 0

    def acquire(self, *, blocking: bool = True) -> bool:
        self.taken += 1
        return True

    async def aacquire(self, *, blocking: bool = True) -> bool:
        return self.acquire(blocking=blocking)
