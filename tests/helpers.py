"""Small builders that many tests share."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.rate_limiters import BaseRateLimiter

from planloop.testing import ScriptedModel

APPROVED = "[APPROVED]"
LONG = 10.0  # seconds that no passing test waits for


both_ways = pytest.mark.parametrize("awaited", [False, True])


async def ended(graph: Any, awaited: bool, config: Any = None) -> dict[str, Any]:
    """The end of a run that is awaited, or called in a thread."""
    given = {"request": "x"}
    if awaited:
        return dict(await graph.ainvoke(given, config))
    return dict(await asyncio.to_thread(graph.invoke, given, config))


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


def valid(messages: list[BaseMessage]) -> None:
    """Every call has one answer, right after its turn and in the order of the calls."""
    place = 0
    while place < len(messages):
        message = messages[place]
        place += 1
        assert not isinstance(message, ToolMessage)
        for made in getattr(message, "tool_calls", []):
            answer = messages[place]
            assert isinstance(answer, ToolMessage) and answer.tool_call_id == made["id"]
            place += 1


def stuck_until(event: asyncio.Event, seen: list[str]) -> Callable[..., Any]:
    async def work(n: int) -> str:
        """Work."""
        seen.append("begun")
        try:
            await asyncio.wait_for(event.wait(), LONG)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        return "worked"

    return work
