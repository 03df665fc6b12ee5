"""What is known of a run while it goes: the plan so far, what is being done, what it has cost."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from planloop.state import Plan, StepStatus, apply_patch, as_plan, blocked_dependents, one_line

_DOING = {
    "NO_PLAN": "planning",
    "EXECUTOR_RUN": "checking the step",
    "FINAL_SUMMARY": "summing up",
    "DONE": "",
}


@dataclass
class Progress:
    """A picture of a run, brought up to date by its events."""

    plan: Plan = field(default_factory=Plan)
    inner: dict[str, Plan] = field(default_factory=dict)
    """Plans within the plan, by the ids of the steps that they do, as in `s2/s1`."""
    doing: str = ""
    tokens: int = 0
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, values: Mapping[str, Any], started: float) -> "Progress":
        """The picture of a saved run, watched since this moment of the monotonic clock."""
        usage = values.get("usage") or {}
        tokens = usage.get("input_tokens", 0) + usage.get("output_tokens", 0)
        return cls(plan=values.get("plan") or Plan(), tokens=tokens, started=started)

    @property
    def seconds(self) -> float:
        """Since this process began to watch."""
        return time.monotonic() - self.started

    def take(self, event: Mapping[str, Any]) -> None:
        """Bring the picture up to date."""
        kind, within = event.get("type"), within_of(event)
        if "plan" in event and within:
            self.inner[within] = as_plan(event["plan"])
        elif "plan" in event:
            self.plan = as_plan(event["plan"])
        if kind == "phase" and within:
            self._take_inner(event, within)
        elif kind == "phase":
            self._take_phase(event)
        elif kind == "turn":
            usage = event["usage"]
            self.tokens += usage["input_tokens"] + usage["output_tokens"]
        elif kind == "tool_call":
            self.doing = call_line(event)
        elif kind == "tool_result":
            self.doing = "thinking"
        elif kind == "retry":
            self.doing = retry_line(event)

    def _take_phase(self, event: Mapping[str, Any]) -> None:
        phase, step = event["phase"], event.get("step", "")
        self.doing = _DOING.get(phase, self.doing)
        if phase == "IN_PROGRESS":
            self._mark(step, "in_progress")
            self.doing = "thinking"
        elif phase == "COMPLETED":
            self._mark(step, "completed")
        elif phase == "ERROR_REPORTED":
            again = event["recovery"] == "retry"
            self._mark(step, "not_started" if again else "blocked", event["reason"])
            if event["recovery"] in ("block", "stop"):
                self.plan = apply_patch(self.plan, blocked_dependents(self.plan, step))

    def _take_inner(self, event: Mapping[str, Any], within: str) -> None:
        """Of a plan within the plan only what is done now is shown."""
        if event["phase"] == "IN_PROGRESS":
            self.doing = self.name_of(event.get("step", ""), within)
        elif doing := _DOING.get(event["phase"]):
            self.doing = path_text(within) + doing

    def _mark(self, step: str, status: StepStatus, notes: str = "") -> None:
        if any(known.id == step for known in self.plan.steps):
            self.plan = apply_patch(self.plan, {step: {"status": status, "notes": notes}})

    def plan_of(self, within: str) -> Plan:
        """The plan that events speak of which come from within these steps."""
        return self.inner.get(within, Plan()) if within else self.plan

    def name_of(self, step: str, within: str = "") -> str:
        """Id and text of a step in one line, behind the ids of the steps around it."""
        found = next((known for known in self.plan_of(within).steps if known.id == step), None)
        name = f"{step} {one_line(found.text, 100)}" if found else step
        return path_text(within) + name


def within_of(event: Mapping[str, Any]) -> str:
    """The steps around the plan that an event comes from; empty for the outermost plan."""
    return str(event.get("within") or "")


def path_text(within: str) -> str:
    """The steps around a plan, to stand before what happens in it.

    >>> path_text("s2/s1")
    's2 › s1 › '
    """
    return "".join(f"{step} › " for step in within.split("/") if step)


def retry_line(event: Mapping[str, Any]) -> str:
    """Why the model is asked again, and when."""
    return f"asking the model again in {event['seconds']:g} s: {one_line(event['why'], 120)}"


def call_line(event: Mapping[str, Any]) -> str:
    """A tool call in one line."""
    args = ", ".join(f"{key}={one_line(str(value), 60)}" for key, value in event["args"].items())
    return f"{event['name']}({one_line(args, 120)})"
