"""Where runs are saved: one call that opens a LangGraph saver rightly and owns its connection."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any, Self
from urllib.parse import unquote

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from planloop.errors import StoreError, WrongUse
from planloop.state import Plan, PlanStep

from .compressed import compressed
from .ledgers import CALLS, MemoryLedger, SqliteLedger

BUSY_SECONDS = 10.0
"""How long a write waits for another process that holds the file."""


_PAGE = 8192
"""Bytes of a page: a checkpoint takes some 1,500, of which few fit into the usual 4,096."""
_WRITES = """
CREATE TABLE IF NOT EXISTS writes (
    thread_id TEXT NOT NULL,
    checkpoint_ns TEXT NOT NULL DEFAULT '',
    checkpoint_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    task_path TEXT NOT NULL DEFAULT '',
    idx INTEGER NOT NULL,
    channel TEXT NOT NULL,
    type TEXT,
    value BLOB,
    PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
) WITHOUT ROWID
"""
"""LangGraph's own table, but the key is stored once: a run takes a tenth less space."""


def serde_for(*types: type) -> JsonPlusSerializer:
    """A serializer that restores planloop's types and yours, and nothing else.

    planloop's own state is plain data; you need this for models of your own in your own state.

    Args:
        types: Classes at the top of a module; an instance is stored by module and name.
    """
    allowed = [(kind.__module__, kind.__name__) for kind in (Plan, PlanStep, *types)]
    return JsonPlusSerializer(allowed_msgpack_modules=allowed)


class Opened:
    """A saver that can be closed, and says so when it is used afterwards."""

    def close(self) -> None:
        """Give the connection back; later use raises `StoreError`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()


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


class SqliteFileSaver(Opened, SqliteSaver):
    """Runs in a SQLite file, for graphs that are invoked and for graphs that are awaited.

    WAL journal and a busy timeout, so that several processes can share the file. Awaited calls
    run in a thread, as they do in every SQLite driver for asyncio.

    A process that dies loses nothing that was written. A power cut loses nothing of a super-step
    that is over; of one that is not, it may take the results of tasks that were finished.
    """

    def __init__(self, path: Path, serde: JsonPlusSerializer | None = None) -> None:
        self.path = path
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path, check_same_thread=False, timeout=BUSY_SECONDS)
            super().__init__(connection, serde=compressed(serde or JsonPlusSerializer()))
            self.lock = RLock()  # type: ignore[assignment]  # `list` may be read while writing
            connection.execute(f"PRAGMA page_size={_PAGE}")  # of a new file
            connection.execute(_WRITES)
            connection.execute(CALLS)
            self.setup()
        self.ledger = SqliteLedger(self._writing, self.serde)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Say in a sentence what is wrong with the file."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"The database {self.path} {explained(error)}") from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction of ours; it is over, and flushed to the disk, when this ends."""
        with self._told(), self.lock, self.conn:
            yield self.conn

    def close(self) -> None:
        self.conn.close()

    def get_next_version(self, current: Any, channel: None) -> Any:
        """Versions count from 1. LangGraph's own are 50 characters, several dozen a checkpoint.

        They tell branches of one thread apart where values are stored by version; in this file
        each checkpoint holds its values. A thread that was begun with the long ones goes on so.
        """
        if isinstance(current, str):
            return super().get_next_version(current, channel)
        return 1 if current is None else current + 1

    def keep_only(self, thread_id: str, moments: set[str], spaces: set[str]) -> int:
        """Delete all checkpoints of a thread but these of its own and those of these namespaces;
        return how many of its own are gone. The file becomes smaller by `compact`."""
        kept = "(checkpoint_ns = '' AND checkpoint_id IN ({})) OR checkpoint_ns IN ({})".format(
            ", ".join("?" * len(moments)), ", ".join("?" * len(spaces))
        )
        values = (thread_id, *moments, *spaces)
        with self._writing() as connection:
            count = "SELECT COUNT(*) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ''"
            before = connection.execute(count, (thread_id,)).fetchone()[0]
            for table in ("writes", "checkpoints"):
                query = f"DELETE FROM {table} WHERE thread_id = ? AND NOT ({kept})"
                connection.execute(query, values)
            return int(before - connection.execute(count, (thread_id,)).fetchone()[0])

    def compact(self) -> None:
        """Give free pages back to the disk; rewrites the file, and waits for nobody."""
        with self._told(), self.lock, suppress(sqlite3.OperationalError):
            self.conn.execute("VACUUM")

    def threads(self) -> list[str]:
        """Ids of the saved threads, newest first."""
        query = (
            "SELECT thread_id FROM checkpoints WHERE checkpoint_ns = '' "
            "GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC"
        )
        with self._told(), self.cursor(transaction=False) as cursor:
            return [row[0] for row in cursor.execute(query).fetchall()]

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        with self._told():
            return super().get_tuple(config)

    def list(self, config: RunnableConfig | None, **options: Any) -> Iterator[CheckpointTuple]:
        with self._told():
            yield from super().list(config, **options)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        with self._told():
            return super().put(config, checkpoint, metadata, new_versions)

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        # The checkpoint that follows is flushed to the disk, and this with it.
        with self._told(), self.lock:
            self.conn.execute("PRAGMA synchronous=NORMAL")
            try:
                super().put_writes(config, writes, task_id, task_path)
            finally:
                self.conn.execute("PRAGMA synchronous=FULL")

    def delete_thread(self, thread_id: str) -> None:
        with self._told():
            super().delete_thread(thread_id)
        self.ledger.forget(thread_id)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        with self._told():
            return super().get_delta_channel_history(config=config, channels=channels)

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(
        self, config: RunnableConfig | None, **options: Any
    ) -> AsyncIterator[CheckpointTuple]:
        for found in await asyncio.to_thread(lambda: [*self.list(config, **options)]):
            yield found

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        await asyncio.to_thread(self.delete_thread, thread_id)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, Any]:
        return await asyncio.to_thread(
            self.get_delta_channel_history, config=config, channels=channels
        )


def explained(error: Exception) -> str:
    text = str(error)
    if "closed" in text:
        return "was closed: use the saver inside its `with` block, or open it again."
    if "locked" in text or "busy" in text:
        return "is locked by another process: wait for it to end, or give another file."
    if "not a database" in text or "malformed" in text:
        return f"is damaged or no database of runs ({text}): move it away or give another file."
    if "unable to open" in text or isinstance(error, OSError):
        return f"cannot be opened ({text}): check that the folder exists and can be written."
    if "readonly" in text:
        return "cannot be written: check the rights of the file and its folder."
    return f"cannot be used ({text})."


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
