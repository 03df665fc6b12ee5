"""One driver a thread: a lock that other processes see, and that is freed when its holder dies."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final

from filelock import FileLock, Timeout

from planloop.errors import StoreError, ThreadBusy

from .opened import explained

_PATIENCE: Final = 0.3  # seconds; somebody may just be looking whether the thread is driven
_HERE: Final = "is being driven already: wait until that ends."
_ELSEWHERE: Final = "is being driven by another process: wait until that ends."
_NONE: Final = FileLock("")  # is never taken; to release it does nothing
_LOCK: Final = Lock()
_DRIVEN: Final[set[tuple[int, str]]] = set()


@contextmanager
def alone(saver: Any, thread: str) -> Iterator[None]:
    """Let nobody else drive the thread meanwhile.

    In this process that holds for any saver; for a SQLite file of `open_saver` in every process of
    this machine, too. Such a lock is a file beside the database, kept as long as the thread is.

    Raises:
        ThreadBusy: Somebody does.
        StoreError: The lock cannot be written.
    """
    with _in_this_process(saver, thread):
        held = _taken(saver, thread)
        try:
            yield
        finally:
            held.release()


@asynccontextmanager
async def aalone(saver: Any, thread: str) -> AsyncIterator[None]:
    """Let nobody else drive the thread as `alone` does, awaited."""
    with _in_this_process(saver, thread):
        held = _NONE
        if lock_path(saver, thread) is not None:
            held = await asyncio.to_thread(_taken, saver, thread)
        try:
            yield
        finally:
            held.release()


@contextmanager
def _in_this_process(saver: Any, thread: str) -> Iterator[None]:
    key = (id(saver), thread)
    with _LOCK:
        if key in _DRIVEN:
            raise ThreadBusy(thread, _HERE)
        _DRIVEN.add(key)
    try:
        yield
    finally:
        with _LOCK:
            _DRIVEN.discard(key)


def _taken(saver: Any, thread: str) -> FileLock:
    """The lock between processes, held."""
    path = lock_path(saver, thread)
    if path is None:
        return _NONE
    held = FileLock(path, timeout=_PATIENCE, thread_local=False)
    try:
        path.parent.mkdir(exist_ok=True)
        held.acquire(poll_interval=0.02)
    except Timeout as error:
        raise ThreadBusy(thread, _ELSEWHERE) from error
    except OSError as error:
        raise StoreError(f"The lock of the database {saver.path} {explained(error)}") from error
    return held


def is_driven(saver: Any, thread: str) -> bool:
    """Whether a run on this thread is being driven, as far as this process can see."""
    if (id(saver), thread) in _DRIVEN:
        return True
    path = lock_path(saver, thread)
    if path is None or not path.exists():
        return False
    held = FileLock(path, timeout=0, thread_local=False)
    try:
        held.acquire()
    except (Timeout, OSError):
        return True
    held.release()
    return False


def forget_lock(saver: Any, thread: str) -> None:
    """Remove the lock of a thread that is gone."""
    if path := lock_path(saver, thread):
        path.unlink(missing_ok=True)


def lock_path(saver: Any, thread: str) -> Path | None:
    """The file that is locked while a thread is driven; none where one process has all of it."""
    path = getattr(saver, "path", None)
    if not isinstance(path, Path):
        return None
    name = hashlib.sha256(thread.encode(errors="replace")).hexdigest()[:32]
    return path.with_name(f"{path.name}-locks") / name
