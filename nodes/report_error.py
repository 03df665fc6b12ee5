"""Report what failed, and decide: try again, plan again, block, or stop."""

from dataclasses import dataclass
from typing import Any

from planloop.models import emit
from planloop.state import (
    Plan,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    Recovery,
    apply_patch,
    blocked_dependents,
    enter,
    is_done,
    one_line,
)

from ._node import Node


@dataclass(frozen=True)
class Bounds:
    """How much is tried before a step is given up."""

    max_attempts: int
    max_replans: int
    stop_on_blocked: bool


def make_report_error(bounds: Bounds) -> Node:
    """The node `report_error`."""

    def report_error(state: PlanningState) -> PlanningUpdate:
        phase = enter(state["phase"], "ERROR_REPORTED")
        plan, recovery = state["plan"], "none"
        patch: dict[str, Any] = {}
        for step_id in state["active"]:
            step = plan.step(step_id)
            why, decided = reason_of(step), decide(step, bounds, state["replans"])
            if decided == "replan" and recovery == "replan":
                decided = "block"  # one new plan answers for one failure; the model sees both
            changes = _changes(plan, step, decided, why)
            plan = apply_patch(plan, changes)
            patch = {key: {**patch.get(key, {}), **changes.get(key, {})} for key in patch | changes}
            recovery = _worst(recovery, decided)
            emit(
                "phase",
                phase=phase,
                step=step_id,
                executor=step.routed_to,
                reason=why,
                recovery=decided,
            )
        return PlanningUpdate(plan=patch, phase=phase, recovery=recovery)  # type: ignore[typeddict-item]  # a Recovery

    return Node(report_error)


def reason_of(step: PlanStep) -> str:
    """Why a step that was run is not done, in one line."""
    if step.outcome is None:
        return "the executor gave no outcome"
    if not is_done(step.outcome):
        why, gave = one_line(step.outcome["detail"], 400), one_line(step.result, 300)
        said = f" It gave: {gave}" if gave and gave not in why else ""
        return f"{step.outcome['reason']}: {why}{said}"
    unmet = [v for v in step.verdicts if v["verdict"] == "not_met"]
    told = (f"{v['criterion']} ({v['evidence'] or 'no evidence given'})" for v in unmet)
    return "not met: " + "; ".join(one_line(text, 300) for text in told)


def decide(step: PlanStep, bounds: Bounds, replans: int) -> Recovery:
    """What follows a failed attempt."""
    if step.outcome and step.outcome.get("fatal"):
        return "stop"
    if step.attempts < bounds.max_attempts:
        return "retry"
    if replans < bounds.max_replans:
        return "replan"
    return "stop" if bounds.stop_on_blocked else "block"


def _changes(plan: Plan, step: PlanStep, decided: Recovery, why: str) -> dict[str, Any]:
    if decided == "retry":
        return {step.id: {"status": "not_started", "notes": why}}
    blocked = {step.id: {"status": "blocked", "notes": why}}
    return blocked if decided == "replan" else {**blocked, **blocked_dependents(plan, step.id)}


def _worst(left: str, right: str) -> str:
    order = ("none", "retry", "block", "replan", "stop")
    return max(left, right, key=order.index)
