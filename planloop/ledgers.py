"""The ledgers of calls that `open_saver` keeps: in the process, or in the database of the runs."""

import sqlite3
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from threading import Lock
from typing import Final

from langchain_core.messages import ToolMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

from planloop.tools import Claim

CALLS: Final = """
CREATE TABLE IF NOT EXISTS planloop_calls (
    key TEXT NOT NULL PRIMARY KEY,
    thread_id TEXT NOT NULL,
    begun REAL NOT NULL,
    type TEXT,
    result BLOB
) WITHOUT ROWID
"""


class MemoryLedger:
    """Calls of runs that are gone with the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._calls: dict[str, tuple[str, float, ToolMessage | None]] = {}

    def claim(self, thread: str, key: str) -> Claim:
        with self._lock:
            found = self._calls.get(key)
            if found is None:
                self._calls[key] = (thread, time.time(), None)
                return Claim("new")
        _, begun, result = found
        return Claim("doubt" if result is None else "done", begun, result)

    def finish(self, key: str, result: ToolMessage) -> None:
        with self._lock:
            thread, begun, _ = self._calls[key]
            self._calls[key] = (thread, begun, result)

    def release(self, key: str) -> None:
        with self._lock:
            self._calls.pop(key, None)

    def forget(self, thread: str) -> None:
        """Forget the calls of a thread that is deleted."""
        with self._lock:
            self._calls = {k: call for k, call in self._calls.items() if call[0] != thread}


class SqliteLedger:
    """Calls in the SQLite file of the runs; each note is on the disk before a method returns.

    Args:
        writing: Gives the connection for one transaction, and says what is wrong with the file.
        serde: Makes bytes of results.
    """

    def __init__(
        self,
        writing: Callable[[], AbstractContextManager[sqlite3.Connection]],
        serde: SerializerProtocol,
    ) -> None:
        self._writing = writing
        self._serde = serde

    def claim(self, thread: str, key: str) -> Claim:
        with self._writing() as connection:
            added = connection.execute(
                "INSERT INTO planloop_calls (key, thread_id, begun) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                (key, thread, time.time()),
            )
            if added.rowcount:
                return Claim("new")
            query = "SELECT begun, type, result FROM planloop_calls WHERE key = ?"
            begun, kind, result = connection.execute(query, (key,)).fetchone()
        if kind is None:
            return Claim("doubt", begun)
        return Claim("done", begun, self._serde.loads_typed((kind, result)))

    def finish(self, key: str, result: ToolMessage) -> None:
        kind, content = self._serde.dumps_typed(result)
        with self._writing() as connection:
            connection.execute(
                "UPDATE planloop_calls SET type = ?, result = ? WHERE key = ?", (kind, content, key)
            )

    def release(self, key: str) -> None:
        with self._writing() as connection:
            connection.execute("DELETE FROM planloop_calls WHERE key = ?", (key,))

    def forget(self, thread: str) -> None:
        """Forget the calls of a thread that is deleted."""
        with self._writing() as connection:
            connection.execute("DELETE FROM planloop_calls WHERE thread_id = ?", (thread,))
