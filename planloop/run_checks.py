"""What the verbs of `Runs` need of a thread: its condition checked, its address, its settings."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command

from planloop.errors import (
    AnswerError,
    EmptyRequest,
    FinishedThread,
    UnfinishedThread,
    UnknownThread,
)
from planloop.nodes import REVIVED

from .run_view import NOTE, WORKSPACE, RunView


def new_id() -> str:
    return uuid.uuid4().hex[:12]


def check_start(thread: str, view: RunView | None) -> None:
    if view is not None and view.status != "finished":
        how = f"`planloop resume {thread}` goes on with it."
        raise UnfinishedThread(thread, f"has not ended: {how}")


def known(thread: str, view: RunView | None) -> RunView:
    if view is None:
        raise UnknownThread(thread, "is unknown: `planloop runs` lists the saved ones.")
    return view


def finished(view: RunView) -> RunView:
    check_start(view.thread, view)
    return view


def unfinished(view: RunView) -> RunView:
    if view.status == "finished":
        raise FinishedThread(
            view.thread, "has ended: start a new run, or give it a further request by `follow_up`."
        )
    return view


def is_paused(view: RunView) -> bool:
    """Whether a run only waits to be resumed."""
    return any(question.value.get("type") == "paused" for question in view.pending)


def going_on(view: RunView) -> Command[Any] | None:
    if not view.pending:
        return None
    return Command(resume={question.id: True for question in view.pending})


def answering(view: RunView, answer: Any, wanted: str | None) -> Command[Any]:
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


def config_of(view: RunView) -> RunnableConfig:
    config = config_for(view.thread, view.workspace, view.notes)
    if view.revived is not None:
        config["metadata"] = {**config.get("metadata", {}), REVIVED: view.revived}
    return config


def taken_up(view: RunView) -> RunnableConfig:
    """The config of a run that goes on; a step that died with its process counts that."""
    return config_of(view if view.pending else replace(view, revived=time.time()))


def thread_of(config: RunnableConfig) -> str:
    return str(config.get("configurable", {})["thread_id"])


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
