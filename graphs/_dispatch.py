"""One node for each of several executors; `run_executor` is drawn as this graph."""

from collections.abc import Mapping
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from planloop.nodes import Executor, Router, make_executor_node
from planloop.state import ExecutorTask, Outcome, RunContext


class DispatchState(ExecutorTask):
    """A task, and what its executor gave back."""

    outcome: Outcome
    observations: str
    sub_plan: dict[str, Any] | None


class DispatchOutput(TypedDict):
    """What an executor gave back."""

    outcome: Outcome
    observations: str
    sub_plan: dict[str, Any] | None


def create_dispatch(
    executors: Mapping[str, Executor],
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Build the graph that hands a task to the executor it names."""
    builder = StateGraph(
        DispatchState,
        context_schema=RunContext,
        input_schema=ExecutorTask,
        output_schema=DispatchOutput,
    )
    for name, executor in executors.items():
        builder.add_node(name, make_executor_node(name, executor)).add_edge(name, END)
    builder.add_conditional_edges(START, Router(named_executor), list(executors))
    return cast(CompiledStateGraph[Any, Any, Any, Any], builder.compile(name="executors"))


def named_executor(task: ExecutorTask) -> str:
    """The executor that `start_step` chose."""
    return task["executor"]
