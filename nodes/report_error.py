"""Report what failed, and decide: try again, plan again, block, or stop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from planloop.models import Steps
from planloop.state import (
    Halt,
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

from ._inbox import read_inbox
from ._nesting import tell
from ._node import Node
from .complete_step import steered

_ORDER: Final[tuple[Recovery, ...]] = ("none", "retry", "block", "replan", "stop")


@dataclass(frozen=True)
class Bounds:
    """How much is tried before a step is given up."""

    max_attempts: int
    max_replans: int
    stop_on_blocked: bool


def make_report_error(bounds: Bounds) -> Node:
    """The node `report_error`."""

    def report_error(state: PlanningState) -> Steps[PlanningUpdate]:
        phase = enter(state["phase"], "ERROR_REPORTED")
        plan, patch = state["plan"], dict[str, Any]()
        recovery: Recovery = "none"
        halt: Halt | None = None
        known = state.get("failures") or []
        for step_id in state["active"]:
            step = plan.step(step_id)
            why, decided = reason_of(step), decide(step, bounds, state["replans"], known)
            if decided == "replan" and recovery == "replan":
                decided = "block"  # one new plan answers for one failure; the model sees both
            changes = _changes(plan, step, decided, why)
            plan = apply_patch(plan, changes)
            patch = {key: {**patch.get(key, {}), **changes.get(key, {})} for key in patch | changes}
            if _ORDER.index(decided) > _ORDER.index(recovery):
                recovery = decided
            if step.outcome and step.outcome.get("abort"):
                halt = Halt(kind="aborted", reason=f"{step_id} aborted the plan: {why}")
            tell(
                "phase",
                phase=phase,
                step=step_id,
                executor=step.routed_to,
                reason=why,
                recovery=decided,
            )
        update = PlanningUpdate(plan=patch, phase=phase, recovery=recovery)
        heard = yield from read_inbox(state)
        if halt is None:
            return {**update, **(heard if recovery == "stop" else steered(heard))}
        return {**update, **heard, "halt": halt}

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


def decide(step: PlanStep, bounds: Bounds, replans: int, known: Sequence[str]) -> Recovery:
    """What follows a failed attempt.

    Args:
        known: Failures that a new plan has answered already, see `failure_key`; a plan that comes
            to the same again is not answered by yet another one.
    """
    if step.outcome and (step.outcome.get("fatal") or step.outcome.get("abort")):
        return "stop"
    if step.attempts - step.revivals < bounds.max_attempts and not _is_stalled(step):
        return "retry"
    if replans < bounds.max_replans and failure_key(step) not in known:
        return "replan"
    return "stop" if bounds.stop_on_blocked else "block"


def _is_stalled(step: PlanStep) -> bool:
    """A step that was sent back and came to the very same result; an error may pass."""
    done = step.outcome is not None and is_done(step.outcome)
    return done and len(step.fingerprints) > 1 and step.fingerprints[-1] == step.fingerprints[-2]


def failure_key(step: PlanStep) -> str:
    """What tells one failure from another: what came out, and after an error also of what."""
    latest = step.fingerprints[-1] if step.fingerprints else ""
    done = step.outcome is not None and is_done(step.outcome)
    return latest if done else f"{latest} {one_line(step.text, 200).casefold()}"


def _changes(plan: Plan, step: PlanStep, decided: Recovery, why: str) -> dict[str, Any]:
    if decided == "retry":
        return {step.id: {"status": "not_started", "notes": why}}
    blocked = {step.id: {"status": "blocked", "notes": why}}
    return blocked if decided == "replan" else {**blocked, **blocked_dependents(plan, step.id)}
