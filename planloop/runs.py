"""Runs: start, look at, answer and resume what a graph does, by thread id.

Every verb checks first that the thread is in the condition it needs, and says what to do if not.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from planloop.errors import ThreadBusy, WrongUse
from planloop.state import RunContext
from planloop.tools import LEDGER

from .locks import aalone, alone, forget_lock, is_driven
from .retention import prune
from .run_checks import (
    Prepare,
    address_of,
    answering,
    following,
    input_of,
    is_paused,
    known,
    new_id,
    resuming,
    starting,
    unfinished,
)
from .run_history import History, Moment
from .run_view import WORKSPACE, Pending, RunStatus, RunView, read_view
from .savers import SqliteFileSaver, saved_threads
from .steering import aend, asay, end, say

__all__ = ["Moment", "OnEvent", "Pending", "RunStatus", "RunView", "Runs", "is_paused"]

OnEvent = Callable[[dict[str, Any]], None]


class Runs(History):
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
        name = thread or new_id()
        return self._drive(name, starting(name, request, workspace, notes or {}), on_event)

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
        name = thread or new_id()
        return await self._adrive(name, starting(name, request, workspace, notes or {}), on_event)

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
        return self._drive(thread, resuming, on_event)

    async def aresume(self, thread: str, *, on_event: OnEvent | None = None) -> RunView:
        """Take up a run as `resume` does, awaited."""
        view = unfinished(await self.astatus(thread))
        if view.pending and not is_paused(view):
            return view
        return await self._adrive(thread, resuming, on_event)

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
        self.status(thread)
        return self._drive(thread, answering(answer, id), on_event)

    async def aanswer(
        self, thread: str, answer: Any, *, id: str | None = None, on_event: OnEvent | None = None
    ) -> RunView:
        """Answer an open question as `answer` does, awaited."""
        await self.astatus(thread)
        return await self._adrive(thread, answering(answer, id), on_event)

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
        self.status(thread)
        return self._drive(thread, following(self._further(request, extend)), on_event)

    async def afollow_up(
        self,
        thread: str,
        request: str,
        *,
        extend: bool = False,
        on_event: OnEvent | None = None,
    ) -> RunView:
        """Give a finished thread a further request as `follow_up` does, awaited."""
        await self.astatus(thread)
        return await self._adrive(thread, following(self._further(request, extend)), on_event)

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
        with alone(self.saver, thread):
            end(self.graph, thread, reason)
        return self._drive(thread, resuming, on_event)

    async def acancel(
        self, thread: str, reason: str = "", *, on_event: OnEvent | None = None
    ) -> RunView:
        """End a plan as `cancel` does, awaited."""
        view = unfinished(await self.astatus(thread))
        if not view.pending:
            await asay(self.graph, thread, "cancel", reason)
            return view
        async with aalone(self.saver, thread):
            await aend(self.graph, thread, reason)
        return await self._adrive(thread, resuming, on_event)

    def fork(self, thread: str, at: int | str, *, plan: Any = None) -> RunView:
        """Make a moment the newest of its thread: a branch, with which `resume` goes on.

        What came after it stays in the history. Work that was going on at the moment begins anew:
        an agent's step from its first turn, a question is asked again. A call with an effect that
        the model makes again word for word under the same id is not made: its result is known.

        Args:
            at: A moment's number or id, see `history`.
            plan: The steps from here on, where no step is in work; finished ones stay. Steps as for
                a new plan, or a text with a line for each, `NAME -- DESCRIPTION`; a line that
                begins with a step's id (`s2: `) keeps what else is known of it.

        Raises:
            UnknownThread: There is no such run.
            ThreadBusy: Somebody drives it.
            WrongUse: There is no such moment, or the plan cannot be changed there.
        """
        with alone(self.saver, thread):
            self._branch(thread, at, plan)
        return self.status(thread)

    async def afork(self, thread: str, at: int | str, *, plan: Any = None) -> RunView:
        """Make a moment the newest as `fork` does, awaited."""
        async with aalone(self.saver, thread):
            await asyncio.to_thread(self._branch, thread, at, plan)
        return await self.astatus(thread)

    def prune(self, keep_last: int = 1) -> int:
        """Delete all but the newest moments of every run; return how many moments are gone.

        Runs go on, and finished ones are shown and followed up, as before; `history` and `fork`
        know only what was kept. Runs that are being driven are left out.

        Raises:
            WrongUse: `keep_last` is less than one, or the saver is not one of `open_saver`.
        """
        gone = 0
        for thread in saved_threads(self.saver):
            with suppress(ThreadBusy), alone(self.saver, thread):
                gone += prune(self.graph, self.saver, thread, keep_last)
        if isinstance(self.saver, SqliteFileSaver):
            self.saver.compact()
        return gone

    async def aprune(self, keep_last: int = 1) -> int:
        """Delete old moments as `prune` does, awaited."""
        return await asyncio.to_thread(self.prune, keep_last)

    def delete(self, thread: str) -> None:
        """Forget a run with its branches and its ledger. Its workspace stays.

        Raises:
            UnknownThread: There is no such run.
            ThreadBusy: Somebody drives it.
        """
        self.status(thread)
        with alone(self.saver, thread):
            self.saver.delete_thread(thread)
        forget_lock(self.saver, thread)

    async def adelete(self, thread: str) -> None:
        """Forget a run as `delete` does, awaited."""
        await asyncio.to_thread(self.delete, thread)

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
        snapshot = self.graph.get_state(address_of(thread), subgraphs=True)
        return read_view(thread, snapshot) if snapshot.created_at else None

    async def _afind(self, thread: str) -> RunView | None:
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
            given, config = prepare(self._find(thread))
            parts: Iterator[Any] = self.graph.stream(given, **self._options(config))
            for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return self.status(thread)

    async def _adrive(self, thread: str, prepare: Prepare, on_event: OnEvent | None) -> RunView:
        async with aalone(self.saver, thread):
            given, config = prepare(await self._afind(thread))
            parts: AsyncIterator[Any] = self.graph.astream(given, **self._options(config))
            async for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return await self.astatus(thread)
