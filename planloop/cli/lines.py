"""Events as plain lines, for whoever reads a log."""

from collections.abc import Mapping
from textwrap import indent
from typing import Any

from planloop.state import MARKS, Plan, one_line

from .progress import Progress, call_line, path_text, retry_line, within_of

_NEXT = {
    "retry": "it will be tried again",
    "replan": "the rest will be planned anew",
    "block": "it is blocked",
    "stop": "the run stops",
}


_STEER = {
    "note": "Noted",
    "pause": "Pausing before the next step",
    "cancel": "Cancelling before the next step",
    "unheard": "What people say cannot be read",
}


def line_of(event: Mapping[str, Any], progress: Progress) -> str:
    """What an event tells; empty where it tells nothing new. Plans within plans are indented."""
    within = within_of(event)
    return indent(_told(event, progress, within), "  " if within else "")


def _told(event: Mapping[str, Any], progress: Progress, within: str) -> str:
    kind = event.get("type")
    if kind == "replan":
        head = f"{path_text(within)}New plan after a failure:"
        return f"{head}\n{checklist(progress.plan_of(within))}"
    if kind == "revise":
        head = f"{path_text(within)}Plan changed, {one_line(event['reason'], 160)}:"
        return f"{head}\n{checklist(progress.plan_of(within))}"
    if kind == "phase":
        return _phase_line(event, progress, within)
    if kind == "tool_call":
        return f"      {call_line(event)}"
    if kind == "retry":
        return f"      {retry_line(event)}"
    if kind == "tool_result" and event["status"] == "error":
        return f"      {event['name']} failed"
    if kind == "verify":
        return _verdict_line(event, within)
    return _steer_line(event) if kind == "steer" else ""


def _steer_line(event: Mapping[str, Any]) -> str:
    """What a person said to the run."""
    text = one_line(str(event.get("text") or ""), 160)
    return f"{_STEER.get(event['what'], 'Heard')}{': ' if text else ''}{text}"


def _verdict_line(event: Mapping[str, Any], within: str) -> str:
    """The first criterion that is not met, and how many more are not."""
    unmet = [v["criterion"] for v in event["verdicts"] if v["verdict"] == "not_met"]
    if not unmet:
        return ""
    more = f" and {len(unmet) - 1} more" if unmet[1:] else ""
    return f"      {path_text(within)}{event['step']} not met: {one_line(unmet[0], 120)}{more}"


def _phase_line(event: Mapping[str, Any], progress: Progress, within: str) -> str:
    phase, name = event["phase"], progress.name_of(event.get("step", ""), within)
    path, plan = path_text(within), progress.plan_of(within)
    if phase == "NO_PLAN":
        return f"{path}Planning …"
    if phase == "PLAN_CREATED":
        return f"{path}Plan: {one_line(plan.title, 100)}\n{checklist(plan)}"
    if phase == "FALLBACK_PLAN":
        return f"{path}No plan could be made; three broad steps instead:\n{checklist(plan)}"
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
