"""The report: how a whole plan ended, computed from the record and from nothing a model says."""

from collections.abc import Mapping, Sequence
from functools import reduce
from textwrap import indent
from typing import Final, Literal, NotRequired

from typing_extensions import TypedDict

from .outcome import StopReason, Usage, add_usage, no_usage
from .plan import Plan, PlanOrigin, PlanStep, Verdict
from .status import StepStatus

PlanOutcome = Literal["completed", "completed_unverified", "partial", "failed", "cancelled"]

_DEEPEST: Final = 8
"""Plans within plans that are reported."""
_HEADS: Final[dict[PlanOutcome, str]] = {
    "completed": "Plan completed",
    "completed_unverified": "Plan completed, but not everything was verified",
    "partial": "Plan partly completed",
    "failed": "Plan failed",
    "cancelled": "Plan cancelled",
}


class StepReport(TypedDict):
    """What became of one step."""

    id: str
    name: str
    status: StepStatus
    executor: str
    routing: str
    """Why another executor ran it than the one that it asks for; empty where none did."""
    attempts: int
    reason: StopReason | None
    """How the latest attempt ended; `None` if there was none."""
    verified: bool
    verdicts: list[Verdict]
    notes: str
    result: str
    started: float | None
    """When the first attempt began, in seconds since the epoch."""
    ended: float | None
    """When the latest attempt ended, in seconds since the epoch."""
    usage: Usage | None
    """What all its attempts spent together."""
    sub_plan: NotRequired["PlanReport"]
    """The report of the plan by which it was done, if its executor made one."""


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
    facts: NotRequired[dict[str, list[str]]]
    """What was known of the task at the last replan, by the names of the lists of `Facts`."""
    root_causes: NotRequired[list[str]]
    """What the planner named as the cause of each failure that it planned around."""
    task: NotRequired[Verdict]
    """Whether the results answer the request, if that was checked."""


def build_report(
    plan: Plan,
    *,
    usage: Usage,
    replans: int = 0,
    warnings: Sequence[str] = (),
    cancelled: bool = False,
    facts: Mapping[str, Sequence[str]] | None = None,
    root_causes: Sequence[str] = (),
    task: Verdict | None = None,
) -> PlanReport:
    """Compute the report from the plan's record.

    Args:
        task: Whether the results answer the request: a plan that does not is no completed one.
    """
    report = _plan_report(plan, usage, 0)
    report["replans"] = replans
    report["warnings"] = [*dict.fromkeys(warnings), *report["warnings"]]
    if task is not None:
        report["task"] = task
        report["outcome"] = _with_task(report["outcome"], task)
    if cancelled:
        report["outcome"] = "cancelled"
    if known := {name: list(texts) for name, texts in (facts or {}).items() if texts}:
        report["facts"] = known
    if root_causes:
        report["root_causes"] = list(root_causes)
    return report


def _with_task(outcome: PlanOutcome, task: Verdict) -> PlanOutcome:
    """A completed plan is so only as far as its results answer the request."""
    if not outcome.startswith("completed") or task["verdict"] == "met":
        return outcome
    return "partial" if task["verdict"] == "not_met" else "completed_unverified"


def _plan_report(plan: Plan, usage: Usage, depth: int) -> PlanReport:
    unverified = [s.id for s in plan.steps if s.status == "completed" and not s.verified]
    return PlanReport(
        outcome=plan_outcome(plan),
        counts=plan.counts(),
        steps=[_step_report(step, depth) for step in plan.steps],
        replaced=[_step_report(step, depth) for step in replaced_steps(plan)],
        plan_origin=plan.origin,
        replans=sum(version["reason"].startswith("replanned") for version in plan.history),
        usage=usage,
        warnings=[f"Not verified: {', '.join(unverified)}."] if unverified else [],
    )


def _step_report(step: PlanStep, depth: int) -> StepReport:
    report = StepReport(
        id=step.id,
        name=step.text,
        status=step.status,
        executor=step.routed_to,
        routing=step.routing,
        attempts=step.attempts,
        reason=step.outcome["reason"] if step.outcome else None,
        verified=step.verified,
        verdicts=list(step.verdicts),
        notes=step.notes,
        result=step.result,
        started=step.started,
        ended=step.ended,
        usage=step.usage,
    )
    if step.sub_plan and depth < _DEEPEST:
        spent = reduce(add_usage, (inner.usage for inner in step.sub_plan.steps), no_usage())
        report["sub_plan"] = _plan_report(step.sub_plan, spent, depth + 1)
    return report


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


def headline(report: PlanReport) -> str:
    """How it ended and the counts, in one sentence."""
    counts = report["counts"]
    done = f"{counts['completed']} of {counts['total']} steps completed"
    return f"{_HEADS[report['outcome']]}: {done}, {counts['blocked']} blocked."


def report_text(plan: Plan, report: PlanReport, *, ascii_only: bool = False) -> str:
    """The report for a person: counts first, then each step with what it gave or why it failed."""
    lines = [headline(report), "", plan.render(ascii_only=ascii_only)]
    for step in report["steps"]:
        if step["result"] and step["status"] == "completed":
            lines += ["", f"{_named(step)}:", step["result"]]
        if "sub_plan" in step:
            lines += ["", *_within(step["id"], step["sub_plan"])]
    for gone in report["replaced"]:
        lines += ["", f"{gone['id']} {gone['name']} ({gone['status']}, replaced): {gone['notes']}"]
    if report["warnings"]:
        lines += ["", *(f"Warning: {warning}" for warning in report["warnings"])]
    return "\n".join(lines)


def _within(step_id: str, report: PlanReport) -> list[str]:
    """A plan within a plan: its counts, and indented what its steps gave or why they failed."""
    lines = []
    for step in report["steps"]:
        if step["status"] == "completed":
            lines.append(f"{_named(step)}: {step['result']}")
        else:
            lines.append(f"{step['id']} {step['name']} ({step['status']}): {step['notes']}")
        if "sub_plan" in step:
            lines += _within(f"{step_id}/{step['id']}", step["sub_plan"])
    return [f"Within {step_id}: {headline(report)}", indent("\n".join(lines), "  ")]


def _named(step: StepReport) -> str:
    check = "" if step["verified"] else " (not verified)"
    return f"{step['id']} {step['name']}{check}"
