"""Driving the runs of one graph, and seeing how they stand: what all verbs of `Runs` share."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from planloop.errors import WrongUse
from planloop.state import RunContext
from planloop.tools import LEDGER

from .graph_check import check_graph
from .locks import aalone, alone, is_driven
from .run_checks import Prepare, address_of, known
from .run_view import WORKSPACE, RunView, read_view
from .savers import saved_threads

OnEvent = Callable[[dict[str, Any]], None]


@contextmanager
def _fitting(saver: Any, mode: str, instead: str) -> Iterator[None]:
    """Say what to do where a saver is for the other mode."""
    try:
        yield
    except (NotImplementedError, asyncio.InvalidStateError) as error:
        raise WrongUse(
            f"{type(saver).__name__} is no saver for {mode} use: {instead}, or open the database "
            "by `open_saver`, which is for both."
        ) from error


class Driver:
    """The runs of one graph, without verbs that change them."""

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        if graph.checkpointer is None or isinstance(graph.checkpointer, bool):
            raise WrongUse("The graph has no saver: give it checkpointer=open_saver(...).")
        self.graph = graph
        self.saver = graph.checkpointer

    def status(self, thread: str) -> RunView:
        """A run as it is saved.

        Raises:
            UnknownThread: There is no such run.
        """
        return self._seen(known(thread, self._find(thread)))

    async def astatus(self, thread: str) -> RunView:
        """A run as `status` gives it, awaited."""
        view = known(thread, await self._afind(thread))
        return await asyncio.to_thread(self._seen, view) if view.status == "interrupted" else view

    def list(self) -> list[RunView]:
        """All saved runs, newest first."""
        views = (self._find(thread) for thread in saved_threads(self.saver))
        return [self._seen(view) for view in views if view is not None]

    def _seen(self, view: RunView) -> RunView:
        """A run that is cut off, as far as its state shows, may be in somebody's hands."""
        if view.status == "interrupted" and is_driven(self.saver, view.thread):
            return replace(view, status="running")
        return view

    def _find(self, thread: str) -> RunView | None:
        with _fitting(self.saver, "sync", "await the verbs that begin with `a`, such as `astart`"):
            snapshot = self.graph.get_state(address_of(thread), subgraphs=True)
        return read_view(thread, snapshot) if snapshot.created_at else None

    async def _afind(self, thread: str) -> RunView | None:
        with _fitting(self.saver, "async", "call the verbs without `a`, such as `start`"):
            snapshot = await self.graph.aget_state(address_of(thread), subgraphs=True)
        return read_view(thread, snapshot) if snapshot.created_at else None

    def _options(self, config: RunnableConfig) -> dict[str, Any]:
        workspace = config.get("metadata", {}).get(WORKSPACE)
        ledger = getattr(self.saver, "ledger", None)
        own = {**config.get("configurable", {}), **({LEDGER: ledger} if ledger else {})}
        return {
            "config": {**config, "configurable": own},
            "context": RunContext(workspace=workspace),
            "stream_mode": ["custom"],
            "subgraphs": True,
            "durability": "sync",
            "version": "v2",
        }

    def _drive(self, thread: str, prepare: Prepare, on_event: OnEvent | None) -> RunView:
        """Drive a run until it ends or waits. What it needs is checked when nobody else drives."""
        with alone(self.saver, thread):
            view = self._find(thread)
            if view is not None:
                check_graph(self.graph, self.saver, thread)
            given, config = prepare(view)
            parts: Iterator[Any] = self.graph.stream(given, **self._options(config))
            for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return self.status(thread)

    async def _adrive(self, thread: str, prepare: Prepare, on_event: OnEvent | None) -> RunView:
        async with aalone(self.saver, thread):
            view = await self._afind(thread)
            if view is not None:
                await asyncio.to_thread(check_graph, self.graph, self.saver, thread)
            given, config = prepare(view)
            parts: AsyncIterator[Any] = self.graph.astream(given, **self._options(config))
            async for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return await self.astatus(thread)
