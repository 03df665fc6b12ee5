"""Verify steps: what code can check first, then a judge, for each criterion with evidence."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from planloop.models import Blocking, ModelSource, Steps
from planloop.state import (
    Plan,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    StepChange,
    Usage,
    Verdict,
    add_usage,
    apply_patch,
    is_done,
    no_usage,
    not_begun,
    plan_mark,
    revise,
)
from planloop.tools import Check

from ._checks import by_code, declared_texts
from ._judge import Judged, judged, unproven
from ._nesting import tell
from ._node import Node

SWITCHED_OFF: Final = "Verification was switched off (verify=False)."
MAX_REVISIONS: Final = 10
"""How often in a run a verdict may change steps that have not begun."""


@dataclass(frozen=True)
class Verifier:
    """What steps are verified with."""

    judge: ModelSource
    checks: Mapping[str, Check]
    enabled: bool = True
    may_revise: bool = True
    """Whether a verdict may change steps that have not begun; not where a person approves them."""


@dataclass
class _Finding:
    """What verifying one step gave."""

    verdicts: list[Verdict] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=no_usage)
    fingerprint: str = ""
    met: str = ""
    changes: list[StepChange] = field(default_factory=list)


def make_verify_step(verifier: Verifier) -> Node:
    """The node `verify_step`."""

    def verify_step(state: PlanningState) -> Steps[PlanningUpdate]:
        plan, patch, usage = state["plan"], dict[str, Any](), no_usage()
        warnings = [] if verifier.enabled else [SWITCHED_OFF]
        found: dict[str, _Finding] = {}
        for step_id in state["active"]:
            finding = yield from _find(verifier, plan, plan.step(step_id))
            found[step_id] = finding
            patch[step_id] = _patch(plan.step(step_id), finding)
            _tell(plan.step(step_id), finding)
            warnings += finding.warnings
            usage = add_usage(usage, finding.usage)
        update = PlanningUpdate(plan=patch, usage=usage)
        revised, told = _revised(verifier, state, patch, found)
        if revised is not None:
            whole = revised.model_dump(mode="json")
            tell("revise", reason=revised.history[-1]["reason"], plan=whole)
            update["plan"] = whole
            update["plan_id"] = plan_mark(revised)
            update["revisions"] = state.get("revisions", 0) + 1
        warnings += told
        update["warnings"] = [warning for warning in warnings if warning not in state["warnings"]]
        return update

    return Node(verify_step)


def _tell(step: PlanStep, finding: _Finding) -> None:
    if finding.verdicts:
        tell("verify", step=step.id, executor=step.routed_to, verdicts=finding.verdicts)


def _find(verifier: Verifier, plan: Plan, step: PlanStep) -> Steps[_Finding]:
    """Check one step that was run. What did not end well needs no check."""
    if not _is_done(step):
        return _Finding(fingerprint=_fingerprint(step, {}))
    if not verifier.enabled:
        return _Finding(fingerprint=_fingerprint(step, {}))
    checked = yield from by_code(step, verifier.checks)
    files: Mapping[str, str] = {}
    if step.expected_outputs:
        files = yield Blocking(declared_texts, (step,))
    finding = _Finding(fingerprint=_fingerprint(step, files))
    by_place = dict(checked.criteria)
    places = [n for n in range(len(step.success_criteria)) if n not in by_place]
    if places and not _unmet([*checked.outputs, *by_place.values()]):
        said: Judged = yield from judged(verifier.judge, plan, step, places, files)
        by_place |= said.criteria
        finding.usage, finding.met = said.usage, said.met
        finding.changes = list(said.changes)
        finding.warnings += [said.problem] if said.problem else []
        _weigh(step, finding, by_place, places)
    finding.verdicts = [*checked.outputs, *(by_place[place] for place in sorted(by_place))]
    return finding


def _weigh(
    step: PlanStep, finding: _Finding, by_place: dict[int, Verdict], places: list[int]
) -> None:
    """A judge who shows nothing sends a step back once: not again over the same result."""
    if step.fingerprints[-1:] != [finding.fingerprint]:
        return
    for place in places:
        verdict = by_place[place]
        if verdict["verdict"] == "not_met" and not verdict["evidence"]:
            by_place[place] = unproven(verdict["criterion"])
            finding.warnings.append(
                f"{step.id}: the judge calls '{verdict['criterion']}' not met without showing it; "
                "the result is the same as before."
            )


def _patch(step: PlanStep, finding: _Finding) -> dict[str, Any]:
    """What changes of the step; a plain success costs few bytes."""
    met = bool(finding.verdicts) and not any(v["verdict"] != "met" for v in finding.verdicts)
    changes: dict[str, Any] = {"verdicts": finding.verdicts, "verified": met}
    changes = {key: value for key, value in changes.items() if value != getattr(step, key)}
    return {**changes, "fingerprints": [*step.fingerprints, finding.fingerprint]}


def _revised(
    verifier: Verifier,
    state: PlanningState,
    patch: dict[str, Any],
    found: Mapping[str, _Finding],
) -> tuple[Plan | None, list[str]]:
    """The next version of the plan as the verdicts want it, or none; and what was refused."""
    if not any(finding.met or finding.changes for finding in found.values()):
        return None, []
    plan = apply_patch(state["plan"], patch)
    passed = [f for f in found.values() if f.verdicts and not _unmet(f.verdicts)]
    changes = [change for finding in passed for change in finding.changes]
    reason = "changed after a verdict"
    if met := next((finding.met for finding in passed if finding.met), ""):
        changes = [StepChange(step=step.id, drop=True) for step in not_begun(plan)]
        reason = f"the request is met already: {met}"
    if not changes or not (met or verifier.may_revise):
        return None, []
    if state.get("revisions", 0) >= MAX_REVISIONS:
        return None, [f"Verdicts have changed the plan {MAX_REVISIONS} times: no more."]
    revised, refused = revise(plan, changes, reason=reason)
    told = [f"A verdict's change: {problem}" for problem in refused]
    if met and revised is not plan:
        told.append(f"Steps were left out, as {reason}")
    return (None if revised is plan else revised), told


def _is_done(step: PlanStep) -> bool:
    return step.outcome is not None and is_done(step.outcome)


def _unmet(verdicts: list[Verdict]) -> bool:
    return any(verdict["verdict"] == "not_met" for verdict in verdicts)


def _fingerprint(step: PlanStep, files: Mapping[str, str]) -> str:
    """What an attempt came to, whatever anybody says of it, as a short hash."""
    return hashlib.sha256("\0".join(_traces(step, files)).encode(errors="replace")).hexdigest()[:12]


def _traces(step: PlanStep, files: Mapping[str, str]) -> Iterator[str]:
    if step.outcome is not None and not is_done(step.outcome):
        yield from (step.outcome["reason"], step.outcome["detail"])
    for text in (step.result, step.observations):
        yield " ".join(text.split())
    for name in sorted(files):
        yield from (name, files[name])
