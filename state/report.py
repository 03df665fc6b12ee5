"""The report: how a whole plan ended, computed from the record and from nothing a model says."""

from collections.abc import Sequence
from typing import Literal

from typing_extensions import TypedDict

from .outcome import StopReason, Usage
from .plan import Plan, PlanOrigin, PlanStep
from .status import StepStatus

PlanOutcome = Literal["completed", "completed_unverified", "partial", "failed", "cancelled"]


class StepReport(TypedDict):
    """What became of one step."""

    id: str
    name: str
    status: StepStatus
    executor: str
    attempts: int
    reason: StopReason | None
    """How the latest attempt ended; `None` if there was none."""
    verified: bool
    notes: str
    result: str


class PlanReport(TypedDict):
    """How a whole plan ended."""

    outcome: PlanOutcome
    counts: dict[str, int]
    """Steps by status, `total` too."""
    steps: list[StepReport]
    replaced: list[StepReport]
    """Steps of former versions that were tried and are no longer in the plan."""
    plan_origin: PlanOrigin
    replans: int
    usage: Usage
    warnings: list[str]


def build_report(
    plan: Plan,
    *,
    usage: Usage,
    replans: int = 0,
    warnings: Sequence[str] = (),
    cancelled: bool = False,
) -> PlanReport:
    """Compute the report from the plan's record."""
    unverified = [s.id for s in plan.steps if s.status == "completed" and not s.verified]
    notes = list(dict.fromkeys(warnings))
    if unverified:
        notes.append(f"Not verified: {', '.join(unverified)}.")
    return PlanReport(
        outcome="cancelled" if cancelled else plan_outcome(plan),
        counts=plan.counts(),
        steps=[_step_report(step) for step in plan.steps],
        replaced=[_step_report(step) for step in replaced_steps(plan)],
        plan_origin=plan.origin,
        replans=replans,
        usage=usage,
        warnings=notes,
    )


def replaced_steps(plan: Plan) -> list[PlanStep]:
    """Steps of former versions that were worked on and left out since, as they were last."""
    present = {step.id for step in plan.steps}
    former = {
        step["id"]: PlanStep.model_validate(step)
        for version in plan.history
        for step in version["steps"]
    }
    return [s for s in former.values() if s.id not in present and s.status != "not_started"]


def plan_outcome(plan: Plan) -> PlanOutcome:
    """`completed` only if every step is completed and verified; nothing completed is `failed`."""
    done = [step for step in plan.steps if step.status == "completed"]
    if not done:
        return "failed"
    if len(done) < len(plan.steps):
        return "partial"
    return "completed" if all(step.verified for step in done) else "completed_unverified"


def _step_report(step: PlanStep) -> StepReport:
    return StepReport(
        id=step.id,
        name=step.text,
        status=step.status,
        executor=step.routed_to,
        attempts=step.attempts,
        reason=step.outcome["reason"] if step.outcome else None,
        verified=step.verified,
        notes=step.notes,
        result=step.result,
    )


def report_text(plan: Plan, report: PlanReport, *, ascii_only: bool = False) -> str:
    """The report for a person: counts first, then each step with what it gave or why it failed."""
    counts = report["counts"]
    head = {
        "completed": "Plan completed",
        "completed_unverified": "Plan completed, but not everything was verified",
        "partial": "Plan partly completed",
        "failed": "Plan failed",
        "cancelled": "Plan cancelled",
    }[report["outcome"]]
    lines = [
        f"{head}: {counts['completed']} of {counts['total']} steps completed, "
        f"{counts['blocked']} blocked.",
        "",
        plan.render(ascii_only=ascii_only),
    ]
    results = [step for step in report["steps"] if step["result"] and step["status"] == "completed"]
    for step in results:
        check = "" if step["verified"] else " (not verified)"
        lines += ["", f"{step['id']} {step['name']}{check}:", step["result"]]
    for gone in report["replaced"]:
        lines += ["", f"{gone['id']} {gone['name']} ({gone['status']}, replaced): {gone['notes']}"]
    if report["warnings"]:
        lines += ["", *(f"Warning: {warning}" for warning in report["warnings"])]
    return "\n".join(lines)
