"""The graphs that the commands run and show."""

from typing import Any

from langchain_core.tools import BaseTool
from langgraph.graph.state import CompiledStateGraph

from planloop.graphs import create_planner_graph, create_planning_graph, create_react_graph
from planloop.models import ModelLike
from planloop.runs import Runs
from planloop.savers import Saver
from planloop.state import Budget, MemoryPolicy
from planloop.stores import Store
from planloop.tools import ToolPolicy, default_tools, file_tools

from .settings import RunSettings

AnyGraph = CompiledStateGraph[Any, Any, Any, Any]
LOCAL_STEPS = 4  # a small model loses the thread of a longer plan
LOCAL_TURNS = 8  # and gets no further by more turns
LOCAL_WINDOW = 6_000  # tokens; the engine's window is 8,192
STEPS = 50


def planning_graph(
    settings: RunSettings,
    model: ModelLike = None,
    saver: Saver | None = None,
    store: Store | None = None,
) -> AnyGraph:
    """Build the graph of `planloop run`. Without a model it can be read and drawn."""
    local = settings.is_local
    worker = create_react_graph(
        model,
        _tools(settings),
        name="worker",
        budget=Budget(steps=LOCAL_TURNS) if local else Budget(),
        memory=MemoryPolicy(window_tokens=LOCAL_WINDOW) if local else MemoryPolicy(),
        policy=ToolPolicy.trusted() if settings.yes else ToolPolicy.workspace(),
    )
    return create_planning_graph(
        model,
        worker,
        max_reflections=0 if local else 1,
        clarify=0 if settings.yes else settings.clarify,
        approve_plan=settings.approve_plan and not settings.yes,
        verify=settings.verify,
        verify_task=settings.verify_task,
        max_attempts=settings.max_attempts,
        max_replans=settings.max_replans,
        max_parallel_steps=settings.parallel,
        max_plan_steps=settings.max_steps or (LOCAL_STEPS if local else STEPS),
        budget=Budget(steps=None, seconds=settings.seconds),
        checkpointer=saver,
        store=store,
    )


def _tools(settings: RunSettings) -> list[BaseTool]:
    """What a step may be done with. Code of a small model is not worth a question: no Python."""
    if settings.is_local and not settings.yes:
        return file_tools()
    return default_tools(people=not settings.is_local)


def planner_graph(settings: RunSettings, model: ModelLike = None) -> AnyGraph:
    """Build the graph of `planloop plan`."""
    local = settings.is_local
    return create_planner_graph(
        model,
        max_reflections=0 if local else 1,
        max_plan_steps=LOCAL_STEPS if local else STEPS,
    )


def react_graph() -> AnyGraph:
    """Build the agent that does the steps, to be drawn."""
    return create_react_graph(None, default_tools(), policy=ToolPolicy.workspace())


def saved_runs(saver: Saver, store: Store | None = None) -> Runs:
    """The saved runs, to be looked at and spoken to, in a graph with every node there may be."""
    every = RunSettings(clarify=1, verify_task=True)
    return Runs(planning_graph(every, None, saver, store))
