"""Start the selected steps: mark them, count the attempt, write the briefs, hand them over."""

from collections.abc import Sequence
from typing import Any

from langgraph.types import Command, Send

from planloop.state import (
    ExecutorTask,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    apply_patch,
    enter,
    find_executor,
    unknown_tags,
)

from ._brief import make_brief
from ._events import emit
from ._node import Node


def make_start_step(executors: Sequence[str], default: str) -> Node:
    """The node `start_step`."""

    def start_step(state: PlanningState) -> Command[Any]:
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
        sends = []
        for step in started:
            brief = make_brief(plan, step).to_dict()
            sends.append(Send("run_executor", ExecutorTask(brief=brief, executor=step.routed_to)))
        update = PlanningUpdate(plan=patch, phase=phase, warnings=warnings)
        return Command(update=update, goto=sends)

    return Node(start_step)


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
