"""Every change to a plan, as a pure function. The graph and the planning tool both call these."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from .draft import DraftStep, PlanDraft
from .errors import IllegalTransition, PlanError
from .patches import apply_patch, explain
from .plan import Plan, PlanOrigin, PlanStep
from .revise import next_version
from .rules import check_rules, resolve_dependencies
from .status import STATUS_MOVES, read_status


def create_plan(
    draft: PlanDraft | Sequence[Any] | Mapping[str, Any],
    *,
    request: str,
    title: str = "",
    origin: PlanOrigin = "model",
    max_steps: int = 50,
    executors: Sequence[str] = (),
) -> Plan:
    """Make a plan of what a model or a person wrote.

    Args:
        draft: A draft, or anything `PlanDraft` reads: steps as objects, texts, encoded JSON.
        request: What the plan is for.
        title: Used where the draft has none; the request serves last.
        max_steps: More steps than this are refused.
        executors: Names that a step's `executor` may have; empty means any.

    Raises:
        PlanError: No steps, a step without text, too many, unknown or circular dependencies,
            an unknown executor. The message names the step and the rule.
    """
    parsed = read_draft(draft)
    steps = without_blanks(parsed.steps)
    if origin == "model":  # small models fall into loops; a person may mean it
        steps = without_repeats(steps)
    check_rules(steps, max_steps=max_steps, executors=executors)
    fields = resolve_dependencies(steps)
    return Plan(
        id=new_plan_id(),
        title=(parsed.title or title or request).strip(),
        request=request,
        origin=origin,
        steps=[PlanStep(**field, id=f"s{n}") for n, field in enumerate(fields, 1)],
        next_step=len(steps) + 1,
    )


def new_plan_id() -> str:
    """An id that no other plan has, made without the clock."""
    return f"plan_{uuid.uuid4().hex[:12]}"


def without_blanks(steps: Sequence[DraftStep]) -> list[DraftStep]:
    """The steps that say something."""
    return [step for step in steps if step.name.strip() or step.description.strip()]


def without_repeats(steps: Sequence[DraftStep]) -> list[DraftStep]:
    """The steps without those that only say again what the step before them says."""
    bare = [step.model_copy(update={"label": ""}) for step in steps]
    return [step for n, step in enumerate(steps) if n == 0 or bare[n] != bare[n - 1]]


def read_draft(value: Any) -> PlanDraft:
    """Read a draft from the shapes that models send.

    Raises:
        PlanError: What is wrong, by step and field.
    """
    if isinstance(value, PlanDraft):
        return value
    try:
        return PlanDraft.model_validate(value)
    except ValidationError as error:
        raise PlanError(f"The plan cannot be read: {explain(error)}.") from error


def adopt_plan(
    plan: Plan, *, request: str, max_steps: int = 50, executors: Sequence[str] = ()
) -> Plan:
    """Take over a plan that a person gives: the same rules, a new id, its record kept.

    Raises:
        PlanError: It breaks a rule of plans.
    """
    check_rules(plan.steps, max_steps=max_steps, executors=executors)
    ids = [step.id for step in plan.steps]
    fields = resolve_dependencies(plan.steps, ids=ids)
    return plan.model_copy(
        update={
            "id": new_plan_id(),
            "title": plan.title or request,
            "request": request,
            "origin": "user",
            "steps": [
                step.model_copy(update={"depends_on": field["depends_on"]})
                for step, field in zip(plan.steps, fields, strict=True)
            ],
        }
    )


def fallback_plan(request: str) -> Plan:
    """The three broad milestones that OpenManus falls back to, marked as such."""
    names = ("Analyze the request", "Execute the task", "Verify the results")
    title = f"Plan for: {request.strip()[:50]}{'…' if len(request.strip()) > 50 else ''}"
    return create_plan(list(names), request=request, title=title, origin="fallback")


def update_plan(
    plan: Plan,
    steps: Any,
    *,
    reason: str,
    max_steps: int = 50,
    executors: Sequence[str] = (),
    keep_completed: bool = False,
) -> Plan:
    """Replace the steps; a step that is still there keeps its id and record.

    A step is the same if it says so by id, else if its text is the same, first come first served.
    The former steps go to `history`, so that nothing of a removed step is lost.

    Args:
        keep_completed: Put completed steps that the new list leaves out in front.

    Raises:
        PlanError: The new steps break a rule of plans.
    """
    wanted = _wanted_ids(steps)
    draft = read_draft(steps)
    fresh = without_blanks(draft.steps)
    kept = match_steps(plan, fresh, wanted)
    front = [
        step
        for step in plan.steps
        if keep_completed and step.status == "completed" and step.id not in kept
    ]
    check_rules(fresh, max_steps=max_steps - len(front), executors=executors)
    number, ids = plan.next_step, []
    for step_id in kept:
        ids.append(step_id or f"s{number}")
        number += not step_id
    fields = resolve_dependencies(fresh, ids=ids, finished=[step.id for step in front])
    merged = [
        _carried(plan.step(old), field) if old else PlanStep(**field, id=new)
        for old, new, field in zip(kept, ids, fields, strict=True)
    ]
    title = draft.title or plan.title
    return next_version(plan, [*front, *merged], reason, title=title, next_step=number)


def _wanted_ids(steps: Any) -> list[str]:
    """Ids that the new steps carry, by position; empty where there is none."""
    items = steps.get("steps") if isinstance(steps, Mapping) else getattr(steps, "steps", steps)
    if not isinstance(items, Sequence) or isinstance(items, str):
        return []
    read = (i.get("id") if isinstance(i, Mapping) else getattr(i, "id", "") for i in items)
    return [str(value or "") for value in read]


def match_steps(plan: Plan, fresh: Sequence[DraftStep], wanted: Sequence[str]) -> list[str]:
    """For each new step the id of the old step that it continues, or an empty string."""
    free = {step.id: step for step in plan.steps}
    by_id = list(wanted) if len(wanted) == len(fresh) else [""] * len(fresh)
    ids = [free.pop(step_id).id if step_id in free else "" for step_id in by_id]
    for index, step in enumerate(fresh):
        if not ids[index]:
            text = (step.name.strip(), step.description.strip())
            same = (s for s in free.values() if (s.name.strip(), s.description.strip()) == text)
            if found := next(same, None):
                ids[index] = free.pop(found.id).id
    return ids


def _carried(old: PlanStep, field: Mapping[str, Any]) -> PlanStep:
    """The old record under the new words; a completed step keeps its words too."""
    return old if old.status == "completed" else old.model_copy(update=dict(field))


def mark_step(plan: Plan, step: str | int, status: str, *, notes: str | None = None) -> Plan:
    """Give a step another status.

    Args:
        step: Its id, or its zero-based index.
        notes: Replaces the notes; an empty string clears them, `None` leaves them.

    Raises:
        PlanError: There is no such step or no such status.
        IllegalTransition: The step cannot go there from where it is.
    """
    found = find_step(plan, step)
    new = read_status(status)
    if new != found.status and new not in STATUS_MOVES[found.status]:
        raise IllegalTransition(f"status of step {found.id}", found.status, new)
    patch: dict[str, Any] = {"status": new} if notes is None else {"status": new, "notes": notes}
    return apply_patch(plan, {found.id: patch})


def find_step(plan: Plan, step: str | int) -> PlanStep:
    """The step with this id or zero-based index.

    Raises:
        PlanError: There is none; the valid range is named.
    """
    text = str(step).strip()
    for candidate in plan.steps:
        if candidate.id == text:
            return candidate
    if text.isdecimal() and len(text) < 10 and int(text) < len(plan.steps):
        return plan.steps[int(text)]
    last = len(plan.steps) - 1
    raise PlanError(f"There is no step '{step}': valid are the indices 0 to {last}, or step ids.")
