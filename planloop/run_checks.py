"""What the verbs of `Runs` need of a thread: its condition checked, its address, its settings."""

import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from planloop.errors import (
    AnswerError,
    EmptyRequest,
    FinishedThread,
    ThreadBusy,
    UnfinishedThread,
    UnknownThread,
)
from planloop.nodes import IN_DOUBT, REVIVED

from .run_view import NOTE, WORKSPACE, Pending, RunView


def new_id() -> str:
    return uuid.uuid4().hex[:12]


Prepare = Callable[[RunView | None], tuple[Any, RunnableConfig]]
"""Checks whether a thread is as a verb needs it; gives the graph's input and its config."""


def starting(
    thread: str, request: str | Mapping[str, Any], workspace: str | None, notes: Mapping[str, str]
) -> Prepare:
    given = input_of(request)

    def prepare(view: RunView | None) -> tuple[Any, RunnableConfig]:
        check_start(thread, view)
        return given, config_for(thread, workspace, notes)

    return prepare


def check_start(thread: str, view: RunView | None) -> None:
    if view is not None and view.status != "finished":
        how = f"`planloop resume {thread}` goes on with it."
        raise UnfinishedThread(thread, f"has not ended: {how}")


def known(thread: str, view: RunView | None) -> RunView:
    if view is None:
        raise UnknownThread(thread, "is unknown: `planloop runs` lists the saved ones.")
    return view


def following(given: dict[str, Any]) -> Prepare:
    def prepare(view: RunView | None) -> tuple[Any, RunnableConfig]:
        assert view is not None
        check_start(view.thread, view)
        return given, config_of(view)

    return prepare


def unfinished(view: RunView) -> RunView:
    if view.status == "finished":
        raise FinishedThread(
            view.thread, "has ended: start a new run, or give it a further request by `follow_up`."
        )
    return view


def is_paused(view: RunView) -> bool:
    """Whether a run only waits to be resumed."""
    return any(question.kind == "paused" for question in view.pending)


def resuming(view: RunView | None) -> tuple[Any, RunnableConfig]:
    """Go on; a pause is over then. A step that died with its process counts that."""
    assert view is not None
    view = unfinished(view)
    if view.pending and not is_paused(view):
        raise ThreadBusy(view.thread, "has gone on meanwhile: look at it again.")
    if view.pending:
        return Command(resume={item.id: True for item in view.pending}), config_of(view)
    return None, config_of(replace(view, revived=time.time()))


def answering(answer: Any, wanted: str | None) -> Prepare:
    def prepare(view: RunView | None) -> tuple[Any, RunnableConfig]:
        assert view is not None
        question = _asked(view, answer, wanted)
        if question.kind == IN_DOUBT:  # asked as soon as a dead run was taken up
            view = replace(view, revived=time.time())
        return Command(resume={question.id: answer}), config_of(view)

    return prepare


def _asked(view: RunView, answer: Any, wanted: str | None) -> Pending:
    """The question that is answered."""
    thread, ids = view.thread, [question.id for question in view.pending]
    if not ids:
        raise AnswerError(thread, "waits for no answer.")
    if wanted is None and len(ids) > 1:
        raise AnswerError(thread, f"has several questions: name one of {', '.join(ids)}.")
    if wanted is not None and wanted not in ids:
        raise AnswerError(thread, f"has no question {wanted}; open: {', '.join(ids)}.")
    if answer is None:
        raise AnswerError(thread, "got no answer: give a text, true or false.")
    return next(item for item in view.pending if item.id == (wanted or ids[0]))


def config_of(view: RunView) -> RunnableConfig:
    config = config_for(view.thread, view.workspace, view.notes)
    if view.revived is not None:
        config["metadata"] = {**config.get("metadata", {}), REVIVED: view.revived}
    return config


def address_of(thread: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": thread})


def input_of(request: str | Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(request, str) and not request.strip():
        raise EmptyRequest
    return {"request": request} if isinstance(request, str) else dict(request)


def config_for(thread: str, workspace: str | None, notes: Mapping[str, str]) -> RunnableConfig:
    """Settings ride in the checkpoint's metadata, so that another process can go on with them."""
    metadata = {f"{NOTE}{key}": str(value) for key, value in notes.items()}
    if workspace is not None:
        metadata[WORKSPACE] = workspace
    return RunnableConfig(configurable={"thread_id": thread}, metadata=metadata)
