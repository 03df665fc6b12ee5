"""Runs: start, look at, answer and resume what a graph does, by thread id.

Every verb checks first that the thread is in the condition it needs, and says what to do if not.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from planloop.errors import ThreadBusy, WrongUse
from planloop.state import RunContext

from .run_checks import (
    address_of,
    answering,
    check_start,
    config_for,
    config_of,
    finished,
    going_on,
    input_of,
    is_paused,
    known,
    new_id,
    taken_up,
    thread_of,
    unfinished,
)
from .run_view import WORKSPACE, Pending, RunStatus, RunView, read_view
from .savers import saved_threads
from .steering import aend, asay, end, say

__all__ = ["OnEvent", "Pending", "RunStatus", "RunView", "Runs", "is_paused"]

OnEvent = Callable[[dict[str, Any]], None]


class Runs:
    """The runs of one graph.

    Args:
        graph: A graph of ours that was compiled with a saver, see `planloop.open_saver`.

    Raises:
        WrongUse: The graph has no saver.
    """

    def __init__(self, graph: CompiledStateGraph[Any, Any, Any, Any]) -> None:
        if graph.checkpointer is None or isinstance(graph.checkpointer, bool):
            raise WrongUse("The graph has no saver: give it checkpointer=open_saver(...).")
        self.graph = graph
        self.saver = graph.checkpointer

    def start(
        self,
        request: str | Mapping[str, Any],
        *,
        thread: str | None = None,
        workspace: str | None = None,
        notes: Mapping[str, str] | None = None,
        on_event: OnEvent | None = None,
    ) -> RunView:
        """Begin a run, and return when it has ended or waits for an answer.

        Args:
            request: What to do, or the graph's whole input.
            thread: Its id; left out, a new one is made. A finished thread takes a new request.
            workspace: The folder the tools work in; remembered for `resume` and `answer`.
            notes: Short texts to remember with the run, such as the model's name. No secrets.
            on_event: Called with each event of the custom stream.

        Raises:
            UnfinishedThread: The thread's run has not ended.
        """
        given, name = input_of(request), thread or new_id()
        check_start(name, self._find(name) if thread else None)
        return self._drive(given, config_for(name, workspace, notes or {}), on_event)

    async def astart(
        self,
        request: str | Mapping[str, Any],
        *,
        thread: str | None = None,
        workspace: str | None = None,
        notes: Mapping[str, str] | None = None,
        on_event: OnEvent | None = None,
    ) -> RunView:
        """Begin a run as `start` does, awaited."""
        given, name = input_of(request), thread or new_id()
        check_start(name, await self._afind(name) if thread else None)
        return await self._adrive(given, config_for(name, workspace, notes or {}), on_event)

    def resume(self, thread: str, *, on_event: OnEvent | None = None) -> RunView:
        """Take up a run that was cut off or paused. One that waits for an answer is returned as it
        is.

        Raises:
            UnknownThread: There is no such run.
            FinishedThread: It has ended.
        """
        view = unfinished(self.status(thread))
        if view.pending and not is_paused(view):
            return view
        return self._drive(going_on(view), taken_up(view), on_event)

    async def aresume(self, thread: str, *, on_event: OnEvent | None = None) -> RunView:
        """Take up a run as `resume` does, awaited."""
        view = unfinished(await self.astatus(thread))
        if view.pending and not is_paused(view):
            return view
        return await self._adrive(going_on(view), taken_up(view), on_event)

    def answer(
        self, thread: str, answer: Any, *, id: str | None = None, on_event: OnEvent | None = None
    ) -> RunView:
        """Answer an open question and go on.

        Args:
            answer: The answer. Several questions are answered one at a time.
            id: Which question; may be left out if only one is open.

        Raises:
            AnswerError: Nothing is open, the id is unknown, several are open and none is named,
                or the answer is `None`.
        """
        view = self.status(thread)
        return self._drive(answering(view, answer, id), config_of(view), on_event)

    async def aanswer(
        self, thread: str, answer: Any, *, id: str | None = None, on_event: OnEvent | None = None
    ) -> RunView:
        """Answer an open question as `answer` does, awaited."""
        view = await self.astatus(thread)
        return await self._adrive(answering(view, answer, id), config_of(view), on_event)

    def follow_up(
        self,
        thread: str,
        request: str,
        *,
        extend: bool = False,
        on_event: OnEvent | None = None,
    ) -> RunView:
        """Give a finished thread a further request, with what it has come to in sight.

        A planner sees the earlier plan and its results; an agent goes on with its conversation.
        `start` on the same thread begins anew instead.

        Args:
            extend: Put the new steps behind those of the earlier plan, which keep their record.

        Raises:
            UnknownThread: There is no such run.
            UnfinishedThread: Its run has not ended.
        """
        view = finished(self.status(thread))
        return self._drive(self._further(request, extend), config_of(view), on_event)

    async def afollow_up(
        self,
        thread: str,
        request: str,
        *,
        extend: bool = False,
        on_event: OnEvent | None = None,
    ) -> RunView:
        """Give a finished thread a further request as `follow_up` does, awaited."""
        view = finished(await self.astatus(thread))
        return await self._adrive(self._further(request, extend), config_of(view), on_event)

    def _further(self, request: str, extend: bool) -> dict[str, Any]:
        given = input_of(request)
        if "follow_up" in self.graph.get_input_jsonschema().get("properties", {}):
            given["follow_up"] = "extend" if extend else "new"
        return given

    def note(self, thread: str, text: str) -> None:
        """Tell a plan that is being worked on something that it should take into account.

        It is read between two steps: the steps that have not begun are planned anew with it, and
        every later step is told. The graph needs a store, see `planloop.open_store`.

        Raises:
            EmptyRequest: The text is empty.
            FinishedThread: The run has ended: `follow_up` gives it a further request.
        """
        unfinished(self.status(thread))
        say(self.graph, thread, "note", input_of(text)["request"])

    async def anote(self, thread: str, text: str) -> None:
        """Tell a plan something as `note` does, awaited."""
        unfinished(await self.astatus(thread))
        await asay(self.graph, thread, "note", input_of(text)["request"])

    def pause(self, thread: str) -> None:
        """Let a plan wait before its next step, until it is resumed. The graph needs a store."""
        unfinished(self.status(thread))
        say(self.graph, thread, "pause", "")

    async def apause(self, thread: str) -> None:
        """Let a plan wait as `pause` does, awaited."""
        unfinished(await self.astatus(thread))
        await asay(self.graph, thread, "pause", "")

    def cancel(self, thread: str, reason: str = "", *, on_event: OnEvent | None = None) -> RunView:
        """End a plan with a report of what was done.

        One that waits for an answer is ended at once. One that is being worked on, here or in
        another process, ends after the step in work, and one that was cut off when it is resumed:
        for these two the graph needs a store.

        Raises:
            FinishedThread: It has ended already.
        """
        view = unfinished(self.status(thread))
        if not view.pending:
            say(self.graph, thread, "cancel", reason)
            return view
        end(self.graph, view, reason)
        return self._drive(None, config_of(view), on_event)

    async def acancel(
        self, thread: str, reason: str = "", *, on_event: OnEvent | None = None
    ) -> RunView:
        """End a plan as `cancel` does, awaited."""
        view = unfinished(await self.astatus(thread))
        if not view.pending:
            await asay(self.graph, thread, "cancel", reason)
            return view
        await aend(self.graph, view, reason)
        return await self._adrive(None, config_of(view), on_event)

    def pending(self, thread: str) -> list[Pending]:
        """The open questions of a run.

        Raises:
            UnknownThread: There is no such run.
        """
        return self.status(thread).pending

    def status(self, thread: str) -> RunView:
        """A run as it is saved.

        Raises:
            UnknownThread: There is no such run.
        """
        return known(thread, self._find(thread))

    async def astatus(self, thread: str) -> RunView:
        """A run as `status` gives it, awaited."""
        return known(thread, await self._afind(thread))

    def list(self) -> list[RunView]:
        """All saved runs, newest first."""
        views = (self._find(thread) for thread in saved_threads(self.saver))
        return [view for view in views if view is not None]

    def _find(self, thread: str) -> RunView | None:
        snapshot = self.graph.get_state(address_of(thread), subgraphs=True)
        return read_view(thread, snapshot) if snapshot.created_at else None

    async def _afind(self, thread: str) -> RunView | None:
        snapshot = await self.graph.aget_state(address_of(thread), subgraphs=True)
        return read_view(thread, snapshot) if snapshot.created_at else None

    def _options(self, config: RunnableConfig) -> dict[str, Any]:
        workspace = config.get("metadata", {}).get(WORKSPACE)
        return {
            "config": config,
            "context": RunContext(workspace=workspace),
            "stream_mode": ["custom"],
            "subgraphs": True,
            "durability": "sync",
            "version": "v2",
        }

    def _drive(self, given: Any, config: RunnableConfig, on_event: OnEvent | None) -> RunView:
        thread = thread_of(config)
        with self._alone(thread):
            parts: Iterator[Any] = self.graph.stream(given, **self._options(config))
            for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return self.status(thread)

    async def _adrive(
        self, given: Any, config: RunnableConfig, on_event: OnEvent | None
    ) -> RunView:
        thread = thread_of(config)
        with self._alone(thread):
            parts: AsyncIterator[Any] = self.graph.astream(given, **self._options(config))
            async for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return await self.astatus(thread)

    @contextmanager
    def _alone(self, thread: str) -> Iterator[None]:
        """Let nobody else in this process drive the thread meanwhile."""
        key = (id(self.saver), thread)
        with _LOCK:
            if key in _DRIVEN:
                raise ThreadBusy(thread, "is being driven already: wait until that ends.")
            _DRIVEN.add(key)
        try:
            yield
        finally:
            with _LOCK:
                _DRIVEN.discard(key)


_LOCK: Final = Lock()
_DRIVEN: Final[set[tuple[int, str]]] = set()
