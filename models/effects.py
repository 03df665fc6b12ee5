"""One body for sync and async: a node yields what touches the world, a driver performs it.

A node that calls a model is a generator. It yields an effect and gets the effect's result back
(or its exception, raised at the `yield`). `perform` runs effects here and now, `aperform` awaits
them; the node itself is written once. The idea is known as sans-I/O from protocol libraries.
"""

import asyncio
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from langchain_core.runnables import Runnable, RunnableConfig

from .events import emit

T = TypeVar("T")


class Effect(Protocol):
    """Something that touches the world, in both forms."""

    def run(self) -> Any:
        """Do it and return its result."""
        ...

    async def arun(self) -> Any:
        """Do it without blocking the event loop."""
        ...


Steps = Generator[Effect, Any, T]
"""A piece of work that yields effects and returns a `T`."""


@dataclass(frozen=True, slots=True)
class Invoke:
    """Call a model, a tool or a graph."""

    runnable: Runnable[Any, Any]
    input: Any
    config: RunnableConfig | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further arguments, such as the tools on offer: `bind` would merge configs at each call."""

    def run(self) -> Any:
        return self.runnable.invoke(self.input, self.config, **self.options)

    async def arun(self) -> Any:
        return await self.runnable.ainvoke(self.input, self.config, **self.options)


@dataclass(frozen=True, slots=True)
class Blocking:
    """Call a function that may wait for a file or a socket: in a thread, if a loop is running."""

    function: Callable[..., Any]
    args: tuple[Any, ...] = ()

    def run(self) -> Any:
        return self.function(*self.args)

    async def arun(self) -> Any:
        return await asyncio.to_thread(self.function, *self.args)


@dataclass(frozen=True, slots=True)
class Pause:
    """Wait before a call is tried again, and tell whoever watches why."""

    seconds: float
    why: str

    def run(self) -> None:
        self._tell()
        time.sleep(self.seconds)

    async def arun(self) -> None:
        self._tell()
        await asyncio.sleep(self.seconds)

    def _tell(self) -> None:
        emit("retry", seconds=round(self.seconds, 1), why=self.why)


def perform(steps: Steps[T]) -> T:
    """Run a piece of work to its end."""
    try:
        effect = next(steps)
        while True:
            try:
                result = effect.run()
            except Exception as error:  # handed to the work, which decides
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # StopIteration is not generic
    finally:
        steps.close()


async def aperform(steps: Steps[T]) -> T:
    """Run a piece of work to its end on the event loop."""
    try:
        effect = next(steps)
        while True:
            try:
                result = await effect.arun()
            except Exception as error:  # handed to the work, which decides
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]  # StopIteration is not generic
    finally:
        steps.close()
