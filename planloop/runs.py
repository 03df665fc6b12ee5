"""Runs: start, look at, answer and resume what a graph does, by thread id.

Every verb checks first that the thread is in the condition it needs, and says what to do if not.
"""

from collections.abc import Mapping
from typing import Any

from .driver import OnEvent
from .run_checks import (
    answering,
    following,
    input_of,
    is_paused,
    new_id,
    resuming,
    starting,
    unfinished,
)
from .run_history import History, Moment
from .run_view import Pending, RunStatus, RunView
from .run_words import Words

__all__ = ["Moment", "OnEvent", "Pending", "RunStatus", "RunView", "Runs", "is_paused"]


class Runs(Words, History):
    """The runs of one graph.

    Args:
        graph: A graph of ours that was compiled with a saver, see `planloop.open_saver`.

    Raises:
        WrongUse: The graph has no saver.
    """

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

    def pending(self, thread: str) -> list[Pending]:
        """The open questions of a run.

        Raises:
            UnknownThread: There is no such run.
        """
        return self.status(thread).pending
