"""`planloop graph`: draw the graphs."""

from typing import Literal

from planloop.errors import WrongUse
from planloop.state import lifecycle_mermaid

from .build import AnyGraph, planner_graph, planning_graph, react_graph
from .screen import Screen
from .settings import RunSettings

GraphName = Literal["react", "planner", "planning"]


def graph(name: GraphName, *, lifecycle: bool, ascii_only: bool) -> int:
    """Print a graph, with the graphs inside it."""
    screen = Screen()
    if lifecycle:
        if name != "planning":
            raise WrongUse("--lifecycle belongs to the planning graph: planloop graph planning.")
        screen.result(lifecycle_mermaid())
        return 0
    drawn = _graph(name).get_graph(xray=True)
    if not ascii_only:
        screen.result(drawn.draw_mermaid().rstrip())
        return 0
    try:
        screen.result(drawn.draw_ascii())
    except ImportError:
        raise WrongUse("Drawing with --ascii needs grandalf: pip install grandalf.") from None
    return 0


def _graph(name: GraphName) -> AnyGraph:
    settings = RunSettings(approve_plan=True)
    if name == "react":
        return react_graph()
    return planner_graph(settings) if name == "planner" else planning_graph(settings)
