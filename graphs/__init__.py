"""One graph a module: wires nodes, nothing else."""

from .react import create_react_graph

__all__ = ["create_react_graph"]
