"""The fallback plan: three broad steps, marked as such, when no plan could be made."""

from planloop.models import Steps
from planloop.state import PlanningState, PlanningUpdate, enter, plan_mark
from planloop.state import fallback_plan as three_steps

from ._inbox import read_inbox
from ._nesting import tell
from ._node import Node
from ._task import placed


def make_fallback_plan() -> Node:
    """The node `fallback_plan`."""

    def fallback_plan(state: PlanningState) -> Steps[PlanningUpdate]:
        plan = placed(state, three_steps(state["task"]))
        phase = enter(state["phase"], "FALLBACK_PLAN")
        tell("phase", phase=phase, plan=plan.model_dump(mode="json"))
        heard = yield from read_inbox(state)
        update = PlanningUpdate(
            plan=plan.model_dump(mode="json"),
            plan_id=plan_mark(plan),
            phase=phase,
            warnings=["No plan could be made; the three-step fallback plan was used."],
        )
        return {**update, **heard}

    return Node(fallback_plan)
