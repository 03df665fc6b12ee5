"""Executors: who does a step. Any compiled graph with `messages`, or a function of the brief."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp, GraphRecursionError
from langgraph.pregel import Pregel

from planloop.models import Effect, Invoke, Steps
from planloop.state import (
    Outcome,
    StepBrief,
    WrongUse,
    make_outcome,
    one_line,
)
from planloop.tools import in_thread, is_given_up

from ._reading import Ran, read_result

StepFunction = Callable[[StepBrief], str | Outcome | Awaitable[str | Outcome]]
SUPER_STEPS: Final = 10_000
"""Recursion limit of an executor's graph: a small one of the host's would cut its work off."""


@dataclass(frozen=True)
class Executor:
    """Who does a step, and what for.

    Args:
        target: A compiled graph with `messages`, or a function `(brief) -> str | Outcome`,
            sync or async.
        description: What it is good for; planners read this.
        stand_in: Name of the executor that makes the last attempt at a step which this one has
            failed; empty if nobody does.

    Raises:
        WrongUse: The target is neither.
    """

    target: Any
    description: str = ""
    stand_in: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.target, Pregel) and not callable(self.target):
            raise WrongUse(
                f"{self.target!r} is no executor: give a compiled graph or a function of the brief."
            )
        if not self.description:
            found = getattr(self.target, "description", "") or inspect.getdoc(self.target) or ""
            text = "" if isinstance(self.target, Pregel) and found == Pregel.__doc__ else found
            object.__setattr__(self, "description", one_line(text, 200))


ExecutorLike = Pregel[Any, Any, Any, Any] | StepFunction | Executor
"""What may be given as an executor."""


def as_executors(given: Any) -> dict[str, Executor]:
    """One executor or a mapping of names to executors, as a mapping.

    Raises:
        WrongUse: There is none, or one cannot do steps.
    """
    named = given if isinstance(given, Mapping) else {_name_of(given): given}
    if not named:
        raise WrongUse("No executors: give at least one graph or function that does the steps.")
    if bad := [name for name in named if not str(name).strip() or {":", "|"} & set(str(name))]:
        raise WrongUse(f"{bad[0]!r} cannot name an executor: use words without ':' and '|'.")
    executors = {
        str(name): value if isinstance(value, Executor) else Executor(value)
        for name, value in named.items()
    }
    for name, executor in executors.items():
        if executor.stand_in and executor.stand_in not in executors:
            raise WrongUse(f"The stand-in of {name}, '{executor.stand_in}', is no executor.")
    return executors


def _name_of(executor: Any) -> str:
    target = executor.target if isinstance(executor, Executor) else executor
    name = getattr(target, "name", None) or getattr(target, "__name__", None)
    return str(name) if name and name not in ("LangGraph", "<lambda>") else "default"


class AsyncOnly(WrongUse):
    """An async executor in a run that is not awaited: no attempt at the step, but wrong use."""

    def __init__(self) -> None:
        super().__init__("An executor is async: run the graph with `ainvoke` or `astream`.")


class CancelledItself(RuntimeError):
    """What an executor's own cancellation comes to: its step has failed, not the run."""

    def __init__(self) -> None:
        super().__init__("the executor gave no result")


@dataclass(frozen=True, slots=True)
class CallFunction:
    """The effect of calling a function of the brief."""

    function: Callable[[StepBrief], Any]
    brief: StepBrief
    config: RunnableConfig

    def run(self) -> Any:
        try:
            with _within(self.config):
                result = self.function(self.brief)
        except asyncio.CancelledError as error:
            raise CancelledItself from error
        if inspect.iscoroutine(result):
            result.close()
            raise AsyncOnly
        return result

    async def arun(self) -> Any:
        try:
            return await self._awaited()
        except asyncio.CancelledError as error:
            if is_given_up():
                raise
            raise CancelledItself from error

    async def _awaited(self) -> Any:
        with _within(self.config):
            if inspect.iscoroutinefunction(self.function):
                return await self.function(self.brief)
            result = await in_thread(self.function, self.brief)
            return await result if inspect.isawaitable(result) else result


@contextmanager
def _within(config: RunnableConfig) -> Iterator[None]:
    """Let graphs that are called in here inherit the config, in this task."""
    token = var_child_runnable_config.set(config)
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


Runner = Callable[[Mapping[str, Any], RunnableConfig], Steps[Ran]]


def make_runner(executor: Executor) -> Runner:
    """How this executor does a step, given the plain brief and the config of what is in the step.

    Never fails: it ends in an outcome.
    """
    target = executor.target

    def run(brief: Mapping[str, Any], inner: RunnableConfig) -> Steps[Ran]:
        if isinstance(target, Pregel):
            given = {"messages": [HumanMessage(brief["prompt"])]}
            config: RunnableConfig = {**inner, "recursion_limit": SUPER_STEPS}
            return _guarded(Invoke(target, given, config))
        outer = get_config()
        own = {**outer.get("configurable", {}), **inner.get("configurable", {})}
        around: RunnableConfig = {**outer, "configurable": own}
        return _guarded(CallFunction(target, StepBrief.from_dict(brief), around))

    return run


def _guarded(effect: Effect) -> Steps[Ran]:
    try:
        result = yield effect
        return read_result(result)
    except (GraphBubbleUp, AsyncOnly):
        raise
    except GraphRecursionError as error:
        return Ran(make_outcome("recursion_limit", one_line(str(error), 300)))
    except Exception as error:  # an executor may raise anything; the plan goes on by decision
        return Ran(make_outcome("error", f"{type(error).__name__}: {one_line(str(error), 500)}"))


__all__ = [
    "Executor",
    "Ran",
    "as_executors",
    "make_runner",
]
