"""Events as plain lines, for whoever reads a log."""

from collections.abc import Mapping
from typing import Any

from planloop.state import MARKS, Plan, one_line

from .progress import Progress, call_line, retry_line

_NEXT = {
    "retry": "it will be tried again",
    "replan": "the rest will be planned anew",
    "block": "it is blocked",
    "stop": "the run stops",
}


def line_of(event: Mapping[str, Any], progress: Progress) -> str:
    """What an event tells; empty where it tells nothing new."""
    kind = event.get("type")
    if kind == "replan":
        return f"New plan after a failure:\n{checklist(progress.plan)}"
    if kind == "phase":
        return _phase_line(event, progress)
    if kind == "tool_call":
        return f"      {call_line(event)}"
    if kind == "retry":
        return f"      {retry_line(event)}"
    if kind == "tool_result" and event["status"] == "error":
        return f"      {event['name']} failed"
    return ""


def _phase_line(event: Mapping[str, Any], progress: Progress) -> str:
    phase, name = event["phase"], progress.name_of(event.get("step", ""))
    if phase == "NO_PLAN":
        return "Planning …"
    if phase == "PLAN_CREATED":
        return f"Plan: {one_line(progress.plan.title, 100)}\n{checklist(progress.plan)}"
    if phase == "FALLBACK_PLAN":
        return f"No plan could be made; three broad steps instead:\n{checklist(progress.plan)}"
    if phase == "IN_PROGRESS":
        again = f" (attempt {event['attempt']})" if event["attempt"] > 1 else ""
        return f"{MARKS['in_progress']} {name}{again}"
    if phase == "COMPLETED":
        return f"{MARKS['completed']} {name}{'' if event['verified'] else ' (not verified)'}"
    if phase == "ERROR_REPORTED":
        why = one_line(event["reason"], 160).rstrip(".")
        return f"{MARKS['blocked']} {name}: {why}; {_NEXT.get(event['recovery'], '')}"
    return ""


def checklist(plan: Plan) -> str:
    """The steps, one a line."""
    return "\n".join(f"  {MARKS[step.status]} {step.id} {step.text}" for step in plan.steps)
