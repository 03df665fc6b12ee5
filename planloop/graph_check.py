"""Whether a graph still has the nodes before which a run was stopped.

LangGraph passes over a node that is gone, and ends such a run without a word.
"""

from collections.abc import Iterator
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.pregel import Pregel
from langgraph.types import StateSnapshot

from planloop.errors import GraphChanged

from .run_checks import address_of

TO: Final = "branch:to:"
"""How LangGraph names the channels by which edges trigger nodes."""


def check_graph(
    graph: Pregel[Any, Any, Any, Any], saver: BaseCheckpointSaver[Any], thread: str
) -> None:
    """Look at all graphs within, too; blocks.

    Raises:
        GraphChanged: A node is gone; the message names it.
    """
    snapshot = graph.get_state(address_of(thread), subgraphs=True)
    if gone := next(_gone(graph, saver, snapshot), ""):
        raise GraphChanged(
            thread,
            f"was stopped before '{gone}', which this graph does not have: build the graph with "
            "the nodes and executors that it had, or go back to an earlier moment with `fork`.",
        )


def _gone(
    graph: Pregel[Any, Any, Any, Any], saver: BaseCheckpointSaver[Any], snapshot: StateSnapshot
) -> Iterator[str]:
    item = saver.get_tuple(snapshot.config)
    waiting = item.checkpoint["channel_values"] if item else {}
    names = (key.removeprefix(TO) for key in waiting if key.startswith(TO))
    yield from (name for name in names if name not in graph.nodes)
    inner = {name: found for name, found in graph.get_subgraphs() if isinstance(found, Pregel)}
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot) and task.name in inner:
            yield from _gone(inner[task.name], saver, task.state)
