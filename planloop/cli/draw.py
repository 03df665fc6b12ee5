"""`planloop graph`: draw the graphs."""

from typing import Literal

from langchain_core.runnables.graph import Graph

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
    screen.result(_as_ascii(drawn))
    return 0


def _as_ascii(drawn: Graph) -> str:
    """The graph in characters; what leads from a node to itself stands below.

    The layout cannot place such an edge, and not every other: then the edges are listed.
    """
    own = [edge for edge in drawn.edges if edge.source == edge.target]
    others = [edge for edge in drawn.edges if edge.source != edge.target]
    try:
        text = Graph(nodes=drawn.nodes, edges=others).draw_ascii()
    except ImportError:
        raise WrongUse("Drawing with --ascii needs grandalf: pip install grandalf.") from None
    except ValueError:
        text, own = "", drawn.edges
    arrows = [f"{e.source} {'..>' if e.conditional else '-->'} {e.target}" for e in own]
    return "\n".join([text, *arrows]).strip("\n")


def _graph(name: GraphName) -> AnyGraph:
    settings = RunSettings(approve_plan=True)
    if name == "react":
        return react_graph()
    return planner_graph(settings) if name == "planner" else planning_graph(settings)
