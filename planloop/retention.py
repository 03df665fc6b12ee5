"""Giving back the space of moments that nobody will go back to."""

from collections.abc import Iterator
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.channels import DeltaChannel
from langgraph.checkpoint.base import BaseCheckpointSaver, CheckpointTuple
from langgraph.checkpoint.serde.types import _DeltaSnapshot
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StateSnapshot
from pydantic import BaseModel

from planloop.errors import WrongUse

Graph = CompiledStateGraph[Any, Any, Any, Any]


def prune(graph: Graph, saver: BaseCheckpointSaver[Any], thread: str, keep_last: int) -> int:
    """Delete all of a thread but its newest moments; return how many moments are gone.

    The way is that of LangGraph's documentation for channels that are saved incrementally: the
    oldest moment that is kept gets their whole values, and needs no moment before it from then on.
    What a run waits with stays, with the graphs within that have not ended.
    """
    if keep_last < 1:
        raise WrongUse(f"At least one moment of a run is kept, not {keep_last}.")
    keep_only = getattr(saver, "keep_only", None)
    if keep_only is None:
        raise WrongUse("Only savers of open_saver can be pruned.")
    kept = list(_newest(saver, thread, keep_last))
    if not kept:
        return 0
    head = graph.get_state(kept[0].config, subgraphs=True)
    if kept[-1].parent_config is not None:
        _make_whole(graph, saver, kept[-1])
    spaces = set(_spaces(head))
    removed: int = keep_only(thread, {item.checkpoint["id"] for item in kept}, spaces)
    return removed


def _newest(
    saver: BaseCheckpointSaver[Any], thread: str, keep_last: int
) -> Iterator[CheckpointTuple]:
    """The newest moments of the thread's newest branch, from the newest back."""
    place: RunnableConfig | None = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
    for _ in range(keep_last):
        item = saver.get_tuple(place) if place else None
        if item is None:
            return
        yield item
        place = item.parent_config


def _make_whole(graph: Graph, saver: BaseCheckpointSaver[Any], item: CheckpointTuple) -> None:
    """Save a moment again, with the whole values of its incremental channels and no parent."""
    values = graph.get_state(item.config).values
    names = [name for name, channel in graph.channels.items() if isinstance(channel, DeltaChannel)]
    checkpoint = item.checkpoint.copy()
    written = [name for name in names if name in values and name in checkpoint["channel_versions"]]
    whole = {name: _DeltaSnapshot(_plain(values[name])) for name in written}
    checkpoint["channel_values"] = {**checkpoint["channel_values"], **whole}
    metadata: Any = {k: v for k, v in item.metadata.items() if k != "counters_since_delta_snapshot"}
    versions = {name: checkpoint["channel_versions"][name] for name in whole}
    given = item.config.get("configurable", {})
    place = {key: value for key, value in given.items() if key != "checkpoint_id"}
    root = RunnableConfig(configurable=place)  # it has no parent
    saver.put(root, checkpoint, metadata, versions)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _spaces(snapshot: StateSnapshot) -> Iterator[str]:
    """The namespaces of the graphs within that have not ended."""
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            yield task.state.config.get("configurable", {}).get("checkpoint_ns", "")
            yield from _spaces(task.state)
