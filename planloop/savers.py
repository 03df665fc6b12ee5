"""Where runs are saved: one call that opens a LangGraph saver rightly and owns its connection."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from planloop.errors import WrongUse
from planloop.state import Plan, PlanStep

from .ledgers import MemoryLedger
from .opened import Opened
from .sqlite_saver import SqliteFileSaver


def serde_for(*types: type) -> JsonPlusSerializer:
    """A serializer that restores planloop's types and yours, and nothing else.

    planloop's own state is plain data; you need this for models of your own in your own state.

    Args:
        types: Classes at the top of a module; an instance is stored by module and name.
    """
    allowed = [(kind.__module__, kind.__name__) for kind in (Plan, PlanStep, *types)]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed)


class MemorySaver(Opened, InMemorySaver):
    """Runs that are gone with the process."""

    def __init__(self, serde: JsonPlusSerializer | None = None) -> None:
        super().__init__(serde=serde)
        self.ledger = MemoryLedger()

    def delete_thread(self, thread_id: str) -> None:
        super().delete_thread(thread_id)
        self.ledger.forget(thread_id)

    def keep_only(self, thread_id: str, moments: set[str], spaces: set[str]) -> int:
        """Delete all checkpoints of a thread but these of its own and those of these namespaces;
        return how many of its own are gone."""
        before = len(self.storage[thread_id][""])
        for space in {*self.storage[thread_id]} - spaces - {""}:
            del self.storage[thread_id][space]
        for moment in {*self.storage[thread_id][""]} - moments:
            del self.storage[thread_id][""][moment]
        for place in [key for key in self.writes if key[0] == thread_id]:
            if place[2] not in self.storage[thread_id].get(place[1], {}):
                del self.writes[place]
        return before - len(self.storage[thread_id][""])

    def threads(self) -> list[str]:
        """Ids of the saved threads, newest first."""
        saved = {name: spaces.get("") for name, spaces in self.storage.items()}
        newest = {name: max(moments) for name, moments in saved.items() if moments}
        return sorted(newest, key=lambda name: newest[name], reverse=True)


Saver = MemorySaver | SqliteFileSaver


def open_saver(url: str, *, serde: JsonPlusSerializer | None = None) -> Saver:
    """Open the place where runs are saved.

    The saver works for sync and async graphs; use it as a context manager, or call `close()`.

    Args:
        url: `sqlite:///runs.db` (relative), `sqlite:////var/lib/runs.db` (absolute), or `memory:`.
        serde: For models of your own in your own state, see `serde_for`.

    Raises:
        WrongUse: The URL has another form.
        StoreError: The file cannot be opened, or is no database of runs.
    """
    if url in ("memory:", "memory://"):
        return MemorySaver(serde=serde)
    prefix = "sqlite:///"
    if url.startswith(prefix) and len(url) > len(prefix):
        return SqliteFileSaver(Path(unquote(url[len(prefix) :])), serde)
    raise WrongUse(f"'{url}' is no place for runs: use sqlite:///FILE or memory:.")


def saved_threads(saver: BaseCheckpointSaver[Any]) -> list[str]:
    """Ids of the threads in any saver, newest first."""
    own: Callable[[], list[str]] | None = getattr(saver, "threads", None)
    if own is not None:
        return own()
    found = (item.config.get("configurable", {}).get("thread_id", "") for item in saver.list(None))
    return list(dict.fromkeys(found))
