"""A book of plans in the state: checkpoints hold the changes that it is made of."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

from langgraph.channels import DeltaChannel
from typing_extensions import TypedDict

from .errors import PlanError
from .patches import apply_patch
from .plan import as_plan
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
        plans.update(patch.get("plans") or {})  # a whole book, as a person may give it
        plans.update(patch.get("put") or {})
        for plan_id, steps in (patch.get("steps") or {}).items():
            if plan_id in plans:
                plans[plan_id] = _marked(plans[plan_id], steps)
        for plan_id in patch.get("drop") or ():
            plans.pop(plan_id, None)
        active = str(patch.get("active") or active)
    return PlanBook(plans=plans, active=active if active in plans else "")


def _marked(plan: dict[str, Any], steps: Mapping[str, Any]) -> dict[str, Any]:
    known = {step["id"] for step in plan["steps"]}
    patch = {step_id: fields for step_id, fields in steps.items() if step_id in known}
    return apply_patch(as_plan(plan), patch).model_dump(mode="json") if patch else plan


PLANS: Final = DeltaChannel(fold_book, PlanBook, snapshot_frequency=1_000)


class PlansState(TypedDict):
    """The key that the planning tool needs in an agent's state. Mix it in:

    `class MyState(MessagesState, PlansState): ...`
    """

    plans: Annotated[PlanBook, PLANS]
