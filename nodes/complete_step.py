"""Complete the steps that really are done."""

from typing import Any

from planloop.models import Steps
from planloop.state import PlanningState, PlanningUpdate, PlanStep, enter, is_done

from ._inbox import read_inbox
from ._nesting import tell
from ._node import Node


def is_passed(step: PlanStep) -> bool:
    """Whether a step that was run may be completed: done, and no criterion is known to be unmet."""
    done = step.outcome is not None and is_done(step.outcome)
    return done and all(verdict["verdict"] != "not_met" for verdict in step.verdicts)


def make_complete_step() -> Node:
    """The node `complete_step`."""

    def complete_step(state: PlanningState) -> Steps[PlanningUpdate]:
        phase = enter(state["phase"], "COMPLETED")
        patch: dict[str, Any] = {}
        for step_id in state["active"]:
            step = state["plan"].step(step_id)
            if is_passed(step):
                patch[step_id] = {"status": "completed", **({"notes": ""} if step.notes else {})}
                tell(
                    "phase",
                    phase=phase,
                    step=step_id,
                    executor=step.routed_to,
                    verified=step.verified,
                )
        left = [step_id for step_id in state["active"] if step_id not in patch]
        update = PlanningUpdate(plan=patch, phase=phase, active=left, recovery="none")
        # Steps that failed beside these are reported next, and that node asks then.
        heard = PlanningUpdate() if left else (yield from read_inbox(state))
        return {**update, **steered(heard)}

    return Node(complete_step)


def steered(heard: PlanningUpdate) -> PlanningUpdate:
    """What was heard between two steps; a note asks for a plan that fits it."""
    if heard.get("steer") and not heard.get("halt"):
        return {**heard, "recovery": "replan"}
    return heard
