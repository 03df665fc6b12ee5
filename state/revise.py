"""Changes to steps that have not begun: by a verifier's verdict, by the wish of a person."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field, field_validator

from .coerce import as_texts
from .errors import PlanError
from .plan import Plan, PlanStep, PlanVersion
from .rules import resolve_dependencies


class StepChange(BaseModel):
    """What is to become of one step that has not begun; what is left out stays as it is."""

    step: str = Field(description="Id of a step that has not begun, such as s3")
    drop: bool = Field(default=False, description="True if the step is not needed any more")
    name: str = Field(default="", description="Its new name, if that changes")
    description: str = Field(default="", description="Its new description, if that changes")
    success_criteria: list[str] = Field(
        default_factory=list, description="Its new criteria, if they change"
    )

    _texts = field_validator("success_criteria", mode="before")(as_texts)


def not_begun(plan: Plan) -> list[PlanStep]:
    """The steps that no executor has seen."""
    return [step for step in plan.steps if step.status == "not_started" and not step.attempts]


def revise(plan: Plan, changes: Sequence[StepChange], *, reason: str) -> tuple[Plan, list[str]]:
    """Apply changes by step id to steps that have not begun, and to no others.

    A step that loses a dependency to a drop no longer waits for it.

    Returns:
        The next version of the plan, or the same plan if nothing changes; and one sentence for
        each change that was refused.
    """
    free = {step.id: step for step in not_begun(plan)}
    wanted: dict[str, StepChange] = {}
    refused = []
    for change in changes:
        if change.step.strip() in free:
            wanted[change.step.strip()] = change
        else:
            refused.append(f"'{change.step}' has begun or is no step: it was not changed.")
    dropped = {step_id for step_id, change in wanted.items() if change.drop}
    steps = [
        _without(_changed(step, wanted.get(step.id)), dropped)
        for step in plan.steps
        if step.id not in dropped
    ]
    if not steps:
        return plan, [*refused, "No step would be left: nothing was dropped."]
    if steps == plan.steps:
        return plan, refused
    return next_version(plan, steps, reason), refused


def _changed(step: PlanStep, change: StepChange | None) -> PlanStep:
    if change is None:
        return step
    fields = change.model_dump(include={"name", "description", "success_criteria"})
    return step.model_copy(update={key: value for key, value in fields.items() if value})


def _without(step: PlanStep, dropped: set[str]) -> PlanStep:
    if step.status == "completed" or not dropped.intersection(step.depends_on):
        return step
    left = [needed for needed in step.depends_on if needed not in dropped]
    return step.model_copy(update={"depends_on": left})


def next_version(plan: Plan, steps: Sequence[PlanStep], reason: str, **more: Any) -> Plan:
    """The plan with these steps; its former ones go to the history, with the reason."""
    former = PlanVersion(
        version=plan.version,
        reason=reason,
        steps=[step.model_dump(mode="json") for step in plan.steps],
    )
    return plan.model_copy(
        update={
            "steps": list(steps),
            "version": plan.version + 1,
            "history": [*plan.history, former],
            **more,
        }
    )


def extended(plan: Plan, more: Plan, *, request: str) -> Plan:
    """A finished plan with the steps of another one behind its own, for a further request.

    Ids of the new steps go on where the old ones end; what was done keeps its record.

    Raises:
        PlanError: The old plan still has steps in work.
    """
    if any(step.status == "in_progress" for step in plan.steps):
        raise PlanError("A plan with a step in work cannot be extended: resume its run first.")
    number = plan.next_step
    ids = [f"s{number + n}" for n in range(len(more.steps))]
    fields = resolve_dependencies(_named(more), ids=ids)
    new = [PlanStep(**field, id=i) for field, i in zip(fields, ids, strict=True)]
    return next_version(
        plan,
        [*plan.steps, *new],
        f"extended for: {request}",
        request=request,
        next_step=number + len(new),
    )


def _named(plan: Plan) -> list[PlanStep]:
    """The steps with their dependencies as places, which hold in any numbering."""
    places = {step.id: str(place) for place, step in enumerate(plan.steps, 1)}
    return [
        step.model_copy(update={"depends_on": [places[needed] for needed in step.depends_on]})
        for step in plan.steps
    ]


def changes_of(value: Any) -> Any:
    """Read changes in the shapes that models send: one object, or a mapping of ids to changes."""
    if isinstance(value, Mapping):
        if "step" in value:
            return [value]
        return [{"step": key, **more} for key, more in value.items() if isinstance(more, Mapping)]
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, Mapping) and item.get("step")]
