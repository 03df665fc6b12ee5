"""Where blocking tools run while a loop goes on, and coroutines while there is no loop."""

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeVar

T = TypeVar("T")
_MOST_IDLE: Final = 32


class Workers:
    """Daemon threads, used again, with no upper limit.

    A call that never ends keeps its own thread and holds up neither others nor the exit, which a
    pool of the standard library would wait for.
    """

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Future[Any], Context, Callable[[], Any]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 0

    def submit(self, work: Callable[[], T]) -> Future[T]:
        """Run `work`; it sees the caller's context variables."""
        future: Future[T] = Future()
        future.set_running_or_notify_cancel()
        with self._lock:
            spare = self._idle > 0
            self._idle -= spare
        if not spare:  # begun before the job is put, which nobody would do if it cannot begin
            threading.Thread(target=self._serve, name="planloop-tool", daemon=True).start()
        self._jobs.put((future, copy_context(), work))
        return future

    def _serve(self) -> None:
        while True:
            future, context, work = self._jobs.get()
            try:
                future.set_result(context.run(work))
            except BaseException as error:  # told to who waits, who would wait for ever
                future.set_exception(error)
            del future, context, work  # an idle thread keeps nothing alive
            with self._lock:
                if self._idle >= _MOST_IDLE:
                    return
                self._idle += 1


async def in_thread(function: Callable[..., T], *args: Any) -> T:
    """Await a blocking function in a thread of its own, whatever it raises."""

    def work() -> Callable[[], T]:
        try:
            value = function(*args)
        except BaseException as error:  # a future takes no StopIteration, and would wait for ever
            return partial(_raised, error)
        return lambda: value

    return (await asyncio.wrap_future(WORKERS.submit(work)))()


def is_given_up() -> bool:
    """Whether who awaits this task has cancelled it; if not, the work has cancelled itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _raised(error: BaseException) -> Any:
    raise error


class Background:
    """One event loop in a thread of its own, for coroutines that are called without a loop.

    It stays, so that a client which an asynchronous tool keeps open is still good at the next call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end; it sees the caller's context variables."""
        if threading.current_thread().name == _LOOP_THREAD:  # called from a tool that runs there
            return WORKERS.submit(lambda: asyncio.run(work)).result()
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name=_LOOP_THREAD, daemon=True
                ).start()
            return self._loop


_LOOP_THREAD: Final = "planloop-loop"
WORKERS: Final = Workers()
BACKGROUND: Final = Background()


def _begin_anew() -> None:
    """Forget the threads: a forked process has none of them."""
    vars(WORKERS).update(vars(Workers()))
    vars(BACKGROUND).update(vars(Background()))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
