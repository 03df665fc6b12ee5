"""Start the selected steps: mark them, count the attempt, write the briefs, hand them over."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from langgraph.types import Send

from planloop.state import (
    PlanningState,
    PlanningUpdate,
    PlanStep,
    enter,
    find_executor,
    unknown_tags,
)

from ._nesting import tell
from ._node import Node
from .executors import Executor


@dataclass(frozen=True)
class Roster:
    """Who does which step."""

    executors: Mapping[str, Executor]
    default: str
    max_attempts: int

    def route(self, step: PlanStep) -> tuple[str, str]:
        """The executor for the next attempt, and why if it is not the one that the step names.

        The last attempt goes to the stand-in of an executor that has failed, if it has one.
        """
        names = tuple(self.executors)
        found, why = find_executor(step, names), ""
        if found is None and (asked := unknown_tags(step, names)):
            known = ", ".join(names)
            why = f"It asks for '{asked[0]}', which is none of {known}."
        name = found or self.default
        stand_in = self.executors[name].stand_in
        if stand_in and 0 < step.attempts - step.revivals == self.max_attempts - 1:
            return stand_in, f"{why} {name} has failed; {stand_in} stands in for it.".strip()
        return name, why and f"{why} {name} did it."


def make_start_step(roster: Roster) -> Node:
    """The node `start_step`."""

    def start_step(state: PlanningState) -> PlanningUpdate:
        patch: dict[str, Any] = {}
        warnings: list[str] = []
        phase = enter(state["phase"], "IN_PROGRESS")
        for step_id in state["active"]:
            step = state["plan"].step(step_id)
            executor, why = roster.route(step)
            if why and why != step.routing:
                warnings.append(f"{step_id}: {why}")
            patch[step_id] = _started(step, executor, why)
            attempt = step.attempts + 1
            tell("phase", phase=phase, step=step_id, executor=executor, attempt=attempt)
        return PlanningUpdate(plan=patch, phase=phase, warnings=warnings)

    return Node(start_step)


def _started(step: PlanStep, executor: str, why: str) -> dict[str, Any]:
    """What changes; what stays as it is costs no bytes."""
    now = round(time.time(), 3)
    changes = {
        "status": "in_progress",
        "attempts": step.attempts + 1,
        "routed_to": executor,
        "routing": why,
        "started": step.started or now,
        "began": now,
    }
    return {key: value for key, value in changes.items() if value != getattr(step, key)}


def hand_over(brief: Callable[..., Any]) -> Callable[[PlanningState], str | list[Send]]:
    """Hand a lone step to `run_executor`; steps that run side by side get a task each.

    An edge decides this, and one step goes by a plain one, so that a state that is edited here
    goes on as it would have gone.
    """

    def route(state: PlanningState) -> str | list[Send]:
        steps = [state["plan"].step(step_id) for step_id in state["active"]]
        if len(steps) == 1:
            return "run_executor"
        return [Send("run_executor", brief(state, step)) for step in steps]

    return route
