"""Select the steps to do next: the first ones that are open and need nothing unfinished."""

from langgraph.types import interrupt

from planloop.state import PlanningState, PlanningUpdate, enter, ready_steps

from ._nesting import tell
from ._node import Node


def make_select_step(max_parallel: int) -> Node:
    """The node `select_step`. Where a person asked for a pause, it waits for any answer first.

    The interrupt's value is `{"type": "paused", "text": "..."}`, the plan as it stands.
    """

    def select_step(state: PlanningState) -> PlanningUpdate:
        if state.get("paused"):
            interrupt({"type": "paused", "text": state["plan"].render()})
        chosen = [step.id for step in ready_steps(state["plan"], max_parallel)]
        phase = enter(state["phase"], "STEP_SELECTED")
        tell("phase", phase=phase, steps=chosen)
        return PlanningUpdate(active=chosen, phase=phase, paused=False)

    return Node(select_step)
