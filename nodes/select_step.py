"""Select the steps to do next: the first ones that are open and need nothing unfinished."""

from planloop.models import emit
from planloop.state import PlanningState, PlanningUpdate, enter, ready_steps

from ._node import Node


def make_select_step(max_parallel: int) -> Node:
    """The node `select_step`."""

    def select_step(state: PlanningState) -> PlanningUpdate:
        chosen = [step.id for step in ready_steps(state["plan"])[:max_parallel]]
        phase = enter(state["phase"], "STEP_SELECTED")
        emit("phase", phase=phase, steps=chosen)
        return PlanningUpdate(active=chosen, phase=phase)

    return Node(select_step)
