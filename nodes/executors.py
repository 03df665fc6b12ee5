"""Executors: who does a step. Any compiled graph with `messages`, or a function of the brief."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.errors import GraphBubbleUp, GraphRecursionError
from langgraph.pregel import Pregel
from pydantic import TypeAdapter

from planloop.models import Effect, Invoke, Steps, text_of
from planloop.state import (
    Outcome,
    StepBrief,
    StopReason,
    WrongUse,
    cut_middle,
    make_outcome,
    no_usage,
    one_line,
)

from ._history import canonical

StepFunction = Callable[[StepBrief], str | Outcome | Awaitable[str | Outcome]]
REASONS: Final = get_args(StopReason)
_OUTCOME: Final = TypeAdapter(Outcome)
SUPER_STEPS: Final = 10_000
"""Recursion limit of an executor's graph: a small one of the host's would cut its work off."""
_OBSERVED = 2_000  # characters of tool results that are kept for checking a step


@dataclass(frozen=True)
class Executor:
    """Who does a step, and what for.

    Args:
        target: A compiled graph with `messages`, or a function `(brief) -> str | Outcome`,
            sync or async.
        description: What it is good for; planners read this.

    Raises:
        WrongUse: The target is neither.
    """

    target: Any
    description: str = ""

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
    return {
        str(name): value if isinstance(value, Executor) else Executor(value)
        for name, value in named.items()
    }


def _name_of(executor: Any) -> str:
    target = executor.target if isinstance(executor, Executor) else executor
    name = getattr(target, "name", None) or getattr(target, "__name__", None)
    return str(name) if name and name not in ("LangGraph", "<lambda>") else "default"


class AsyncOnly(WrongUse):
    """An async executor in a run that is not awaited: no attempt at the step, but wrong use."""

    def __init__(self) -> None:
        super().__init__("An executor is async: run the graph with `ainvoke` or `astream`.")


@dataclass(frozen=True)
class Ran:
    """What an executor gave back."""

    outcome: Outcome
    observations: str = ""


@dataclass(frozen=True, slots=True)
class CallFunction:
    """The effect of calling a function of the brief."""

    function: Callable[[StepBrief], Any]
    brief: StepBrief

    def run(self) -> Any:
        result = self.function(self.brief)
        if inspect.iscoroutine(result):
            result.close()
            raise AsyncOnly
        return result

    async def arun(self) -> Any:
        if inspect.iscoroutinefunction(self.function):
            return await self.function(self.brief)
        result = await asyncio.to_thread(self.function, self.brief)
        return await result if inspect.isawaitable(result) else result


def make_runner(executor: Executor) -> Callable[[Mapping[str, Any]], Steps[Ran]]:
    """How this executor does a step, given the plain brief. Never fails: it ends in an outcome."""
    target = executor.target

    def run(brief: Mapping[str, Any]) -> Steps[Ran]:
        if isinstance(target, Pregel):
            given = {"messages": [HumanMessage(brief["prompt"])]}
            return _guarded(Invoke(target, given, {"recursion_limit": SUPER_STEPS}))
        return _guarded(CallFunction(target, StepBrief.from_dict(brief)))

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


def read_result(result: Any) -> Ran:
    """What an executor's result means."""
    if isinstance(result, str):
        return Ran(_answered(result))
    if not isinstance(result, Mapping):
        kind = type(result).__name__
        return Ran(make_outcome("error", f"The executor gave a {kind}, not text or an outcome."))
    if "reason" in result and "answer" in result:
        return Ran(_completed(result))
    messages = result.get("messages") or []
    seen = observations(messages)
    if isinstance(found := result.get("outcome"), Mapping) and found.get("reason") in REASONS:
        return Ran(_completed(found), seen)
    if isinstance(report := result.get("report"), Mapping):
        return Ran(_of_sub_plan(report, str(result.get("summary") or "")), seen)
    said = (text_of(m) for m in reversed(messages) if isinstance(m, AIMessage))
    return Ran(_answered(next(said, "")), seen)


def _answered(text: str) -> Outcome:
    if not text.strip():
        return make_outcome("empty_response", "The executor gave back no text.")
    return make_outcome("final_answer", "The executor gave its answer.", answer=text)


def _completed(found: Mapping[str, Any]) -> Outcome:
    """An outcome with what is missing filled in.

    Raises:
        ValueError: A reason that there is not, or a value of the wrong kind.
    """
    if found["reason"] not in REASONS:
        raise ValueError(f"'{found['reason']}' is no reason; use one of {', '.join(REASONS)}")
    usage = found["usage"] if isinstance(found.get("usage"), Mapping) else {}
    given = {key: value for key, value in found.items() if value is not None}
    filled = {**make_outcome(found["reason"], ""), **given, "usage": {**no_usage(), **usage}}
    return _OUTCOME.validate_python({**filled, "success": found.get("success", filled["success"])})


def _of_sub_plan(report: Mapping[str, Any], summary: str) -> Outcome:
    done = report.get("outcome") in ("completed", "completed_unverified")
    return make_outcome(
        "terminated",
        f"The sub-plan ended {report.get('outcome')}.",
        success=done,
        answer=summary,
        usage=report.get("usage"),
    )


def observations(messages: Sequence[BaseMessage]) -> str:
    """The latest tool calls with what they returned, one paragraph each, shortened."""
    asked = {
        str(call["id"]): f"{call['name']} {canonical(call['args'])}"
        for message in messages
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    }
    parts: list[str] = []
    room = _OBSERVED
    for message in reversed(messages):
        if not isinstance(message, ToolMessage) or message.name == "terminate":
            continue
        what = one_line(asked.get(message.tool_call_id, message.name or "tool"), 200)
        parts.append(f"{what}\n→ {cut_middle(str(message.text), 600)}")
        room -= len(parts[-1])
        if room <= 0:
            break
    return "\n".join(reversed(parts))


__all__ = [
    "Executor",
    "Ran",
    "as_executors",
    "make_runner",
    "observations",
    "read_result",
]
