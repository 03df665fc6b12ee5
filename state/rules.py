"""The rules every plan keeps, whoever wrote it."""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import islice
from typing import Any

from .draft import DraftStep, StepFields
from .errors import PlanError
from .plan import Plan, PlanStep
from .tags import normalise


def check_rules(
    steps: Sequence[StepFields], *, max_steps: int, executors: Sequence[str] = ()
) -> None:
    """Hold a list of steps against the bounds and the registered executors.

    Raises:
        PlanError: The first rule that is broken, with the step.
    """
    if not steps:
        raise PlanError("The plan has no steps: give at least one step with a name.")
    if len(steps) > max_steps:
        raise PlanError(
            f"The plan has {len(steps)} steps, at most {max_steps} are allowed: merge some."
        )
    labels = [label for step in steps if (label := _label(step))]
    if twice := sorted({label for label in labels if labels.count(label) > 1}):
        raise PlanError(f"Two steps have the id '{twice[0]}': give each step its own, or none.")
    known = {normalise(name) for name in executors}
    for index, step in enumerate(steps):
        if step.executor and known and normalise(step.executor) not in known:
            valid = ", ".join(executors)
            raise PlanError(
                f"steps[{index}].executor '{step.executor}' is unknown: use one of {valid}."
            )


def resolve_dependencies(
    steps: Sequence[StepFields], *, ids: Sequence[str] = (), finished: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The steps as plain fields, with `depends_on` turned into step ids.

    A dependency may be written as an id, as the position counted from 1, as a step's name, or as
    the id that the model gave that step; this last one counts first.

    Args:
        ids: Ids that the steps will have; default `s1`, `s2`, …
        finished: Ids of steps outside the list that may be depended on.

    Raises:
        PlanError: A dependency that does not exist, or a cycle.
    """
    own = list(ids) or [f"s{n}" for n in range(1, len(steps) + 1)]
    lookup = {step_id: step_id for step_id in finished}
    lookup |= {step.name.strip().casefold(): i for step, i in zip(steps, own, strict=True)}
    lookup |= {str(n): step_id for n, step_id in enumerate(own, 1)}
    # A model numbers a new list from s1 again; ids that there are go first.
    lookup = {f"s{n}": step_id for n, step_id in enumerate(own, 1)} | lookup
    lookup |= {step_id: step_id for step_id in own}
    lookup |= {_label(step): i for step, i in zip(steps, own, strict=True) if _label(step)}
    fields = []
    for index, step in enumerate(steps):
        needed = []
        for name in step.depends_on:
            found = lookup.get(name.strip().casefold())
            if found is None:
                valid = ", ".join([*finished, *own])
                raise PlanError(f"steps[{index}].depends_on '{name}' is unknown: use {valid}.")
            needed.append(found)
        wanted = list(dict.fromkeys(needed))
        fields.append({name: getattr(step, name) for name in StepFields.model_fields})
        fields[-1]["depends_on"] = wanted
    _refuse_cycles({step_id: f["depends_on"] for step_id, f in zip(own, fields, strict=True)})
    return fields


def _label(step: StepFields) -> str:
    """The id that a model gave a step, in the spelling that names are compared in."""
    return step.label.casefold() if isinstance(step, DraftStep) else ""


def _refuse_cycles(needs: dict[str, list[str]]) -> None:
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        circle = " → ".join(error.args[1])
        raise PlanError(f"Steps depend on each other in a circle: {circle}.") from error


def ready_steps(plan: Plan, most: int | None = None) -> list[PlanStep]:
    """Steps that can be worked on now: open, and all that they depend on is completed.

    Args:
        most: No more than this many, the first ones.
    """
    done = {step.id for step in plan.steps if step.status == "completed"}
    ready = (
        step
        for step in plan.steps
        if step.status in ("not_started", "in_progress") and done.issuperset(step.depends_on)
    )
    return list(islice(ready, most))


def blocked_dependents(plan: Plan, blocked: str) -> dict[str, dict[str, Any]]:
    """Patches that block every open step which needs `blocked`, directly or by others."""
    gone, patches = {blocked}, {}
    for _ in plan.steps:  # once a step at most: dependencies may point forwards
        found = {
            step.id: next(name for name in step.depends_on if name in gone)
            for step in plan.steps
            if step.id not in gone and step.status != "completed" and gone & set(step.depends_on)
        }
        if not found:
            break
        for step_id, cause in found.items():
            patches[step_id] = {"status": "blocked", "notes": f"needs {cause}, which is blocked"}
        gone |= set(found)
    return patches
