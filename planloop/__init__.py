"""Plan-and-execute agents as explicit, durable LangGraph graphs.

The names below are loaded when they are first used: importing planloop costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from planloop.graphs import (
        create_planner_graph,
        create_planning_graph,
        create_react_graph,
    )
    from planloop.models import load_model
    from planloop.nodes import Executor
    from planloop.state import (
        TRANSITIONS,
        Budget,
        MemoryPolicy,
        Outcome,
        Plan,
        PlanDraft,
        PlanReport,
        PlansState,
        PlanStep,
        Price,
        RunContext,
        StepBrief,
    )
    from planloop.tools import (
        ToolPolicy,
        ToolRegistry,
        default_tools,
        planning_tool,
        planning_tool_for,
        tool_traits,
    )

    from .runs import Runs
    from .savers import open_saver, serde_for
    from .stores import open_store

__version__ = "0.1.0"

_HOMES = {
    "create_planner_graph": "planloop.graphs",
    "create_planning_graph": "planloop.graphs",
    "create_react_graph": "planloop.graphs",
    "load_model": "planloop.models",
    "Executor": "planloop.nodes",
    "Budget": "planloop.state",
    "MemoryPolicy": "planloop.state",
    "Outcome": "planloop.state",
    "Plan": "planloop.state",
    "PlanDraft": "planloop.state",
    "PlanReport": "planloop.state",
    "PlanStep": "planloop.state",
    "PlansState": "planloop.state",
    "Price": "planloop.state",
    "RunContext": "planloop.state",
    "StepBrief": "planloop.state",
    "TRANSITIONS": "planloop.state",
    "ToolPolicy": "planloop.tools",
    "ToolRegistry": "planloop.tools",
    "default_tools": "planloop.tools",
    "planning_tool": "planloop.tools",
    "planning_tool_for": "planloop.tools",
    "tool_traits": "planloop.tools",
    "Runs": "planloop.runs",
    "open_saver": "planloop.savers",
    "serde_for": "planloop.savers",
    "open_store": "planloop.stores",
}

__all__ = [
    "TRANSITIONS",
    "Budget",
    "Executor",
    "MemoryPolicy",
    "Outcome",
    "Plan",
    "PlanDraft",
    "PlanReport",
    "PlanStep",
    "PlansState",
    "Price",
    "RunContext",
    "Runs",
    "StepBrief",
    "ToolPolicy",
    "ToolRegistry",
    "create_planner_graph",
    "create_planning_graph",
    "create_react_graph",
    "default_tools",
    "load_model",
    "open_saver",
    "open_store",
    "planning_tool",
    "planning_tool_for",
    "serde_for",
    "tool_traits",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'planloop' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*__all__, *globals()])
