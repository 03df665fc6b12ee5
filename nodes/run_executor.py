"""Run the executor of one step: its own graph, or a function."""

import time
from collections.abc import Callable, Mapping
from typing import Any, cast

from langgraph.pregel import Pregel

from planloop.models import Invoke, Steps
from planloop.state import (
    Budget,
    ExecutorTask,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    add_usage,
    outcome_patch,
)

from ._nesting import inner_config, revived_after, tell
from ._node import Node
from ._reading import Ran
from .executors import Executor, make_runner

Briefing = Callable[[PlanningState, PlanStep], ExecutorTask]
"""Writes the task of a step."""


def make_run_executor(executor: Executor, budget: Budget, brief: Briefing) -> Node:
    """The node `run_executor` where there is one executor: it is drawn as that executor's graph."""
    run = make_runner(executor)

    def run_executor(given: ExecutorTask | PlanningState) -> Steps[PlanningUpdate]:
        task = _task(given, brief)
        ran = yield from run(task["brief"], _inner(task, budget))
        return _recorded(task, ran)

    return Node(run_executor, inner=executor.target)


def make_dispatch(dispatch: Pregel[Any, Any, Any, Any], budget: Budget, brief: Briefing) -> Node:
    """The node `run_executor` where there are several: a small graph with a node for each."""

    def run_executor(given: ExecutorTask | PlanningState) -> Steps[PlanningUpdate]:
        task = _task(given, brief)
        result = yield Invoke(dispatch, task, _inner(task, budget))
        ran = Ran(result["outcome"], result["observations"], result.get("sub_plan"))
        return _recorded(task, ran)

    return Node(run_executor, inner=dispatch)


def make_executor_node(name: str, executor: Executor) -> Node:
    """One executor's node of the dispatch graph, which has the step's config already."""
    run = make_runner(executor)

    def run_one(task: ExecutorTask) -> Steps[Mapping[str, Any]]:
        ran = yield from run(task["brief"], {})
        return {"outcome": ran.outcome, "observations": ran.observations, "sub_plan": ran.sub_plan}

    return Node(run_one, name, inner=executor.target)


def _task(given: Any, brief: Briefing) -> ExecutorTask:
    """The task that was sent, or that of the one step in work."""
    if "brief" in given:
        return cast(ExecutorTask, given)
    return brief(given, given["plan"].step(given["active"][0]))


def _inner(task: ExecutorTask, budget: Budget) -> Any:
    brief = task["brief"]
    return inner_config(str(brief["step"]["id"]), brief["idempotency_key"], budget, task["spent"])


def _recorded(task: ExecutorTask, ran: Ran) -> PlanningUpdate:
    step = task["brief"]["step"]
    step_id = step["id"]
    spent = add_usage(step["usage"], ran.outcome["usage"])
    spent.pop("models", None)  # the whole plan's usage has them
    patch = {**outcome_patch(ran.outcome), "usage": spent, "ended": round(time.time(), 3)}
    if ran.observations or step["observations"]:
        patch["observations"] = ran.observations
    if revived_after(step["began"]):
        patch["attempts"] = step["attempts"] + 1
        patch["revivals"] = step["revivals"] + 1
    if ran.sub_plan is not None:
        patch["sub_plan"] = ran.sub_plan
    tell(
        "phase",
        phase="EXECUTOR_RUN",
        step=step_id,
        executor=task["executor"],
        reason=ran.outcome["reason"],
    )
    return PlanningUpdate(plan={step_id: patch}, phase="EXECUTOR_RUN", usage=ran.outcome["usage"])
