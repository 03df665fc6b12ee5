"""A book of plans in the state: checkpoints hold the changes that it is made of."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from .errors import PlanError
from .patches import apply_patch
from .plan import Plan, PlanStep, as_plan
from .planbook import PlanBook, empty_book


def fold_book(book: Any, patches: Sequence[Any]) -> PlanBook:
    """Fold changes into a book, in order; a change to what is gone changes nothing.

    >>> fold_book(None, [{"active": "p"}, {"put": {"p": {"id": "p"}}, "active": "p"}])["active"]
    'p'
    """
    folded = book if isinstance(book, Mapping) and "plans" in book else empty_book()
    plans, active = dict(folded["plans"]), str(folded.get("active") or "")
    for patch in patches:
        if not isinstance(patch, Mapping):
            raise PlanError(f"Plans cannot be changed by a {type(patch).__name__}: give a dict.")
        plans.update(_checked(patch.get("plans") or {}))
        plans.update(patch.get("put") or {})
        for plan_id, steps in (patch.get("steps") or {}).items():
            if plan_id in plans:
                plans[plan_id] = _marked(plans[plan_id], steps)
        for plan_id in patch.get("drop") or ():
            plans.pop(plan_id, None)
        active = str(patch.get("active") or active)
    return PlanBook(plans=plans, active=active if active in plans else "")


def _checked(plans: Any) -> dict[str, dict[str, Any]]:
    """The plans of a whole book, as a person or a graph around this one gives it."""
    if not isinstance(plans, Mapping):
        raise PlanError(f"Plans are given by id, in a dict, not in a {type(plans).__name__}.")
    named = {str(i): as_plan(plan).model_copy(update={"id": str(i)}) for i, plan in plans.items()}
    return {plan_id: plan.model_dump(mode="json") for plan_id, plan in named.items()}


def _marked(plan: dict[str, Any], patch: Mapping[str, Any]) -> dict[str, Any]:
    steps = [
        _changed(step, patch[step["id"]]) if step["id"] in patch else step for step in plan["steps"]
    ]
    return {**plan, "steps": steps}


def _changed(step: dict[str, Any], fields: Any) -> dict[str, Any]:
    # Only this step is read again: a thread is made of many such changes.
    alone = apply_patch(Plan(steps=[PlanStep(**step)]), {step["id"]: fields})
    return alone.steps[0].model_dump(mode="json")


PLANS: Final = DeltaChannel(fold_book, PlanBook, snapshot_frequency=1_000)


class PlansState(TypedDict):
    """The key that the planning tool needs in an agent's state. Mix it in:

    `class MyState(MessagesState, PlansState): ...`
    """

    plans: Annotated[PlanBook, PLANS]
