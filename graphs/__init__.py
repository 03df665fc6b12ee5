"""One graph a module: wires nodes, nothing else."""

from .planner import create_planner_graph
from .planning import create_planning_graph
from .react import create_react_graph

__all__ = ["create_planner_graph", "create_planning_graph", "create_react_graph"]
