"""LangGraph's store, opened rightly: where words to running plans wait."""

import asyncio
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from langgraph.store.base import Op, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from planloop.errors import StoreError, WrongUse

from .opened import BUSY_SECONDS, Opened, explained


class MemoryStore(Opened, InMemoryStore):
    """A store that is gone with the process."""


class SqliteFileStore(Opened, SqliteStore):
    """A store in a SQLite file, for graphs that are invoked and for graphs that are awaited.

    It may be the file of a saver: WAL journal and a busy timeout let several processes share it.
    Awaited calls run in a thread.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(
                path, check_same_thread=False, timeout=BUSY_SECONDS, isolation_level=None
            )
            super().__init__(connection)
            connection.execute("PRAGMA journal_mode=WAL")
            self.setup()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"The database {path} {explained(error)}") from error

    def close(self) -> None:
        self.conn.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        try:
            return super().batch(ops)
        except sqlite3.Error as error:
            raise StoreError(f"The database {self.path} {explained(error)}") from error

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, ops)


Store = MemoryStore | SqliteFileStore


def open_store(url: str) -> Store:
    """Open a store; use it as a context manager, or call `close()`.

    Args:
        url: As for `open_saver`, and the same file may be given: `sqlite:///runs.db`, `memory:`.

    Raises:
        WrongUse: The URL has another form.
        StoreError: The file cannot be opened, or is no database.
    """
    if url in ("memory:", "memory://"):
        return MemoryStore()
    prefix = "sqlite:///"
    if url.startswith(prefix) and len(url) > len(prefix):
        return SqliteFileStore(Path(unquote(url[len(prefix) :])))
    raise WrongUse(f"'{url}' is no place for a store: use sqlite:///FILE or memory:.")
