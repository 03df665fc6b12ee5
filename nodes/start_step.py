"""Start the selected steps: mark them, count the attempt, write the briefs, hand them over."""

from collections.abc import Sequence
from typing import Any

from langgraph.types import Send

from planloop.models import emit
from planloop.state import (
    PlanningState,
    PlanningUpdate,
    PlanStep,
    apply_patch,
    enter,
    find_executor,
    unknown_tags,
)

from ._brief import task_for
from ._node import Node


def make_start_step(executors: Sequence[str], default: str) -> Node:
    """The node `start_step`."""

    def start_step(state: PlanningState) -> PlanningUpdate:
        patch: dict[str, Any] = {}
        warnings: list[str] = []
        for step_id in state["active"]:
            step = state["plan"].step(step_id)
            executor, why = routed(step, executors, default)
            warnings += [why] if why else []
            patch[step_id] = {
                "status": "in_progress",
                "attempts": step.attempts + 1,
                "routed_to": executor,
            }
        plan = apply_patch(state["plan"], patch)
        started = [plan.step(step_id) for step_id in state["active"]]
        phase = enter(state["phase"], "IN_PROGRESS")
        for step in started:
            emit("phase", phase=phase, step=step.id, executor=step.routed_to, attempt=step.attempts)
        return PlanningUpdate(plan=patch, phase=phase, warnings=warnings)

    return Node(start_step)


def hand_over(state: PlanningState) -> str | list[Send]:
    """Hand a lone step to `run_executor`; steps that run side by side get a task each.

    An edge decides this, and one step goes by a plain one, so that a state that is edited here
    goes on as it would have gone.
    """
    steps = [state["plan"].step(step_id) for step_id in state["active"]]
    if len(steps) == 1:
        return "run_executor"
    return [Send("run_executor", task_for(state["plan"], step)) for step in steps]


def routed(step: PlanStep, executors: Sequence[str], default: str) -> tuple[str, str]:
    """The executor for a step, and a warning if it is not the one that the step asks for."""
    if found := find_executor(step, executors):
        return found, ""
    if asked := unknown_tags(step, executors):
        known = ", ".join(executors)
        return (
            default,
            f"{step.id} asks for '{asked[0]}', which is none of {known}: {default} did it.",
        )
    return default, ""
