"""Runs in a SQLite file: LangGraph's saver with one connection for sync and async, and smaller."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import RLock
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
)
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from planloop.errors import StoreError

from .compressed import compressed
from .ledgers import CALLS, SqliteLedger
from .opened import BUSY_SECONDS, Opened, explained

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
