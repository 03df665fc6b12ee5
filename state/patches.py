"""Plain patches: how nodes, clients and people change a plan that is in the state."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from .draft import PlanDraft
from .errors import PlanError
from .outcome import Outcome
from .plan import Plan, PlanStep
from .text import cut_middle

PlanPatch = dict[str, Any]
"""Changed fields by step id, or a whole plan (it has `steps`)."""


def apply_patch(plan: Plan, patch: Any) -> Plan:
    """Fold one write of the plan channel into a plan.

    Raises:
        PlanError: The patch names an unknown step or sets a value of the wrong kind.
    """
    if isinstance(patch, Plan):
        return patch
    if isinstance(patch, PlanDraft):
        patch = patch.model_dump()
    if not isinstance(patch, Mapping | list):
        raise PlanError(f"A plan cannot be changed by a {type(patch).__name__}: give a dict.")
    if isinstance(patch, list) or "steps" in patch:
        try:
            return Plan.model_validate(_completed(plan, patch))
        except ValidationError as error:
            raise PlanError(f"The plan cannot be read: {explain(error)}.") from error
    if not patch:
        return plan
    ids = [step.id for step in plan.steps]
    if unknown := [step_id for step_id in patch if step_id not in ids]:
        raise PlanError(f"The plan has no step '{unknown[0]}'; it has {', '.join(ids)}.")
    steps = [_patched(s, patch[s.id]) if s.id in patch else s for s in plan.steps]
    return plan.model_copy(update={"steps": steps})


def _completed(plan: Plan, patch: Any) -> dict[str, Any]:
    """A whole plan; one without an id is a new version of the plan that is there.

    Without a title it has that of the request: it may be a plan for another one.
    """
    new = {"steps": patch} if isinstance(patch, list) else dict(patch)
    if new.get("id") or not plan.id:
        return new
    kept = plan.model_dump(include={"id", "request", "origin", "next_step", "history"})
    kept["title"] = plan.request
    return {**kept, "version": plan.version + 1, **{k: v for k, v in new.items() if v is not None}}


def _patched(step: PlanStep, fields: Any) -> PlanStep:
    if not isinstance(fields, Mapping) or not set(fields) <= set(PlanStep.model_fields) - {"id"}:
        known = ", ".join(name for name in PlanStep.model_fields if name != "id")
        raise PlanError(f"Step {step.id} cannot take {fields!r}; its fields are {known}.")
    try:
        checked = PlanStep.model_validate({"id": step.id, "name": step.name, **fields})
    except ValidationError as error:
        raise PlanError(f"Step {step.id} cannot be changed: {explain(error)}.") from error
    return step.model_copy(update={name: getattr(checked, name) for name in fields})


def explain(error: ValidationError) -> str:
    """The first problems of a validation as `steps[1].name: Field required`."""
    parts = []
    for item in error.errors()[:5]:
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in item["loc"])
        parts.append(f"{path.lstrip('.') or 'value'}: {item['msg']}")
    return "; ".join(parts)


def outcome_patch(outcome: Outcome, *, limit: int = 4_000) -> dict[str, Any]:
    """The fields of a step that record how its attempt ended; long answers lose their middle."""
    answer = cut_middle(outcome["answer"], limit)
    return {"outcome": {**outcome, "answer": ""}, "result": answer}
