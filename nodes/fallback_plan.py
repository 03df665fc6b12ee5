"""The fallback plan: three broad steps, marked as such, when no plan could be made."""

from planloop.models import emit
from planloop.state import PlanningState, PlanningUpdate, enter, plan_mark
from planloop.state import fallback_plan as three_steps

from ._node import Node


def make_fallback_plan() -> Node:
    """The node `fallback_plan`."""

    def fallback_plan(state: PlanningState) -> PlanningUpdate:
        plan = three_steps(state["task"])
        phase = enter(state["phase"], "FALLBACK_PLAN")
        emit("phase", phase=phase, plan=plan.model_dump(mode="json"))
        return PlanningUpdate(
            plan=plan.model_dump(mode="json"),
            plan_id=plan_mark(plan),
            phase=phase,
            warnings=["No plan could be made; the three-step fallback plan was used."],
        )

    return Node(fallback_plan)
