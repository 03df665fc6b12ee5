"""Runs: start, look at, answer and resume what a graph does, by thread id.

Every verb checks first that the thread is in the condition it needs, and says what to do if not.
"""

import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Command

from planloop.errors import (
    AnswerError,
    EmptyRequest,
    FinishedThread,
    ThreadBusy,
    UnfinishedThread,
    UnknownThread,
    WrongUse,
)
from planloop.state import RunContext

from .run_view import NOTE, WORKSPACE, Pending, RunStatus, RunView, read_view
from .savers import saved_threads

__all__ = ["OnEvent", "Pending", "RunStatus", "RunView", "Runs"]

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
        given, name = _input(request), thread or _new_id()
        _check_start(name, self._find(name) if thread else None)
        return self._drive(given, _config(name, workspace, notes or {}), on_event)

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
        given, name = _input(request), thread or _new_id()
        _check_start(name, await self._afind(name) if thread else None)
        return await self._adrive(given, _config(name, workspace, notes or {}), on_event)

    def resume(self, thread: str, *, on_event: OnEvent | None = None) -> RunView:
        """Take up a run that was cut off. A run that waits for an answer is returned as it is.

        Raises:
            UnknownThread: There is no such run.
            FinishedThread: It has ended.
        """
        view = _unfinished(self.status(thread))
        return view if view.pending else self._drive(None, _config_of(view), on_event)

    async def aresume(self, thread: str, *, on_event: OnEvent | None = None) -> RunView:
        """Take up a run as `resume` does, awaited."""
        view = _unfinished(await self.astatus(thread))
        return view if view.pending else await self._adrive(None, _config_of(view), on_event)

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
        return self._drive(_answering(view, answer, id), _config_of(view), on_event)

    async def aanswer(
        self, thread: str, answer: Any, *, id: str | None = None, on_event: OnEvent | None = None
    ) -> RunView:
        """Answer an open question as `answer` does, awaited."""
        view = await self.astatus(thread)
        return await self._adrive(_answering(view, answer, id), _config_of(view), on_event)

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
        return _known(thread, self._find(thread))

    async def astatus(self, thread: str) -> RunView:
        """A run as `status` gives it, awaited."""
        return _known(thread, await self._afind(thread))

    def list(self) -> list[RunView]:
        """All saved runs, newest first."""
        views = (self._find(thread) for thread in saved_threads(self.saver))
        return [view for view in views if view is not None]

    def _find(self, thread: str) -> RunView | None:
        snapshot = self.graph.get_state(_address(thread), subgraphs=True)
        return read_view(thread, snapshot) if snapshot.created_at else None

    async def _afind(self, thread: str) -> RunView | None:
        snapshot = await self.graph.aget_state(_address(thread), subgraphs=True)
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
        thread = _thread_of(config)
        with self._alone(thread):
            parts: Iterator[Any] = self.graph.stream(given, **self._options(config))
            for part in parts:
                if on_event is not None:
                    on_event(part["data"])
        return self.status(thread)

    async def _adrive(
        self, given: Any, config: RunnableConfig, on_event: OnEvent | None
    ) -> RunView:
        thread = _thread_of(config)
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


def _new_id() -> str:
    return uuid.uuid4().hex[:12]


def _check_start(thread: str, view: RunView | None) -> None:
    if view is not None and view.status != "finished":
        how = f"`planloop resume {thread}` goes on with it."
        raise UnfinishedThread(thread, f"has not ended: {how}")


def _known(thread: str, view: RunView | None) -> RunView:
    if view is None:
        raise UnknownThread(thread, "is unknown: `planloop runs` lists the saved ones.")
    return view


def _unfinished(view: RunView) -> RunView:
    if view.status == "finished":
        raise FinishedThread(view.thread, "has ended: start a new run.")
    return view


def _answering(view: RunView, answer: Any, wanted: str | None) -> Command[Any]:
    thread, ids = view.thread, [question.id for question in view.pending]
    if not ids:
        raise AnswerError(thread, "waits for no answer.")
    if wanted is None and len(ids) > 1:
        raise AnswerError(thread, f"has several questions: name one of {', '.join(ids)}.")
    if wanted is not None and wanted not in ids:
        raise AnswerError(thread, f"has no question {wanted}; open: {', '.join(ids)}.")
    if answer is None:
        raise AnswerError(thread, "got no answer: give a text, true or false.")
    return Command(resume={wanted or ids[0]: answer})


def _config_of(view: RunView) -> RunnableConfig:
    return _config(view.thread, view.workspace, view.notes)


def _thread_of(config: RunnableConfig) -> str:
    return str(config.get("configurable", {})["thread_id"])


def _address(thread: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": thread})


def _input(request: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(request, str) and not request.strip():
        raise EmptyRequest
    return {"request": request} if isinstance(request, str) else dict(request)


def _config(thread: str, workspace: str | None, notes: Mapping[str, str]) -> RunnableConfig:
    """Settings ride in the checkpoint's metadata, so that another process can go on with them."""
    metadata = {f"{NOTE}{key}": str(value) for key, value in notes.items()}
    if workspace is not None:
        metadata[WORKSPACE] = workspace
    return RunnableConfig(configurable={"thread_id": thread}, metadata=metadata)
