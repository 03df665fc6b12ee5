"""Run the executor of one step: its own graph, or a function."""

from collections.abc import Mapping
from typing import Any, cast

from langgraph.pregel import Pregel

from planloop.models import Invoke, Steps, emit
from planloop.state import ExecutorTask, PlanningState, PlanningUpdate, outcome_patch

from ._brief import task_for
from ._node import Node
from .executors import Executor, Ran, make_runner


def make_run_executor(executor: Executor) -> Node:
    """The node `run_executor` where there is one executor: it is drawn as that executor's graph."""
    run = make_runner(executor)

    def run_executor(given: ExecutorTask | PlanningState) -> Steps[PlanningUpdate]:
        task = _task(given)
        ran = yield from run(task["brief"])
        return _recorded(task, ran)

    return Node(run_executor, inner=executor.target)


def make_dispatch(dispatch: Pregel[Any, Any, Any, Any]) -> Node:
    """The node `run_executor` where there are several: a small graph with a node for each."""

    def run_executor(given: ExecutorTask | PlanningState) -> Steps[PlanningUpdate]:
        task = _task(given)
        result = yield Invoke(dispatch, task)
        return _recorded(task, Ran(result["outcome"], result["observations"]))

    return Node(run_executor, inner=dispatch)


def make_executor_node(name: str, executor: Executor) -> Node:
    """One executor's node of the dispatch graph."""
    run = make_runner(executor)

    def run_one(task: ExecutorTask) -> Steps[Mapping[str, Any]]:
        ran = yield from run(task["brief"])
        return {"outcome": ran.outcome, "observations": ran.observations}

    return Node(run_one, name, inner=executor.target)


def _task(given: Any) -> ExecutorTask:
    """The task that was sent, or that of the one step in work."""
    if "brief" in given:
        return cast(ExecutorTask, given)
    return task_for(given["plan"], given["plan"].step(given["active"][0]))


def _recorded(task: ExecutorTask, ran: Ran) -> PlanningUpdate:
    step_id = task["brief"]["step"]["id"]
    patch = {**outcome_patch(ran.outcome), "observations": ran.observations}
    emit(
        "phase",
        phase="EXECUTOR_RUN",
        step=step_id,
        executor=task["executor"],
        reason=ran.outcome["reason"],
    )
    return PlanningUpdate(plan={step_id: patch}, phase="EXECUTOR_RUN", usage=ran.outcome["usage"])
