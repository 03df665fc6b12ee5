"""Ask a model: in a form that its server takes, again where that can help, then the next model.

The one layer that tries again. The clients' own retries are switched off or relied on instead, so
that layers do not multiply.
"""

import math
import random
import re
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import BaseTool
from langgraph.errors import GraphBubbleUp

from planloop.state import Usage, no_usage

from .effects import Invoke, Pause, Steps
from .failures import Failure, describe_failure, text_of_error
from .limits import Limit, limit_behind, within
from .source import ModelSource
from .tokens import count_tokens
from .usage import usage_of

PATIENCE: Final = 60.0
"""Seconds that all waiting between the tries for one reply may take together."""
_FIRST_WAIT: Final = 0.5
_LONGEST_WAIT: Final = 16.0
_FORCED: Final = "forced tools"
_NOT_FORCED: Final = re.compile(r"tool_?choice|\brequired\b.*tool|tool.*\brequired\b", re.I | re.S)


@dataclass(frozen=True, slots=True)
class Answer:
    """What asking gave: a message, or why there is none."""

    message: AIMessage | None = None
    failure: Failure | None = None
    usage: Usage = field(default_factory=no_usage)

    @property
    def problem(self) -> str:
        """Why there is no message, in one sentence; empty if there is one."""
        return self.failure.detail if self.failure else ""


@dataclass(frozen=True, slots=True)
class Called:
    """How one model was called in the end."""

    value: Any = None
    error: Exception | None = None
    failure: Failure | None = None
    sent: list[BaseMessage] = field(default_factory=list)


def ask(
    source: ModelSource,
    messages: Sequence[BaseMessage],
    *,
    tools: Sequence[BaseTool] = (),
    choice: str = "auto",
    weight: int | None = None,
    seconds: float = math.inf,
    once: bool = False,
    internal: bool = False,
    alone: bool = False,
) -> Steps[Answer]:
    """Get one reply, from this model or the first of its fallbacks that gives one.

    Args:
        tools: What the model may call.
        choice: `auto`, or `required` where it must call something.
        weight: What the request weighs in tokens, where that is known.
        seconds: No further try is begun after this time.
        once: Do not try again; for what can be left out this time.
        internal: The reply is no part of the conversation and is kept off the message stream.
        alone: Do not ask the fallbacks.
    """
    last, until = Answer(), 0.0 if once else time.monotonic() + seconds
    for candidate in (source,) if alone else source.chain:
        last = yield from _ask_one(candidate, messages, tools, choice, weight, until, internal)
        if last.failure is None or last.failure.overflow:
            return last
    return last


def _ask_one(
    source: ModelSource,
    messages: Sequence[BaseMessage],
    tools: Sequence[BaseTool],
    choice: str,
    weight: int | None,
    until: float,
    internal: bool,
) -> Steps[Answer]:
    def make(sent: list[BaseMessage]) -> Invoke:
        model, options = source.asking(tools, choice)
        return Invoke(model, sent, {"tags": ["nostream"]} if internal else None, options)

    forced = bool(tools) and choice == "required"
    called = yield from call(source, messages, make, until=until, forced=forced)
    if called.failure is not None:
        return Answer(failure=called.failure)
    reply = called.value if isinstance(called.value, AIMessage) else AIMessage(str(called.value))
    mode = "tools" if tools and choice != "none" else "text"
    weight = count_tokens(called.sent) if weight is None else weight
    return Answer(reply, usage=usage_by(source, reply, weight, mode))


def usage_by(source: ModelSource, reply: BaseMessage, weight: int, mode: str) -> Usage:
    """What a reply cost, under the model's name, with how it was asked for."""
    usage = usage_of(reply, weight, model=source.name, mode=mode)
    for spent in usage.get("models", {}).values():
        spent["modes"] += [f"without {limit}" for limit in sorted(source.cannot)]
    return usage


def call(
    source: ModelSource,
    messages: Sequence[BaseMessage],
    make: Callable[[list[BaseMessage]], Invoke],
    *,
    until: float = math.inf,
    forced: bool = False,
) -> Steps[Called]:
    """Call one model until it answers or nothing more can be done.

    A refusal that names something the server cannot do is remembered, and the request is sent
    without it. A failure that may pass is tried again, after the time that the server asks for.

    Args:
        make: Makes the call of a request; it is made anew for each try.
        until: No further try is begun after this moment of the monotonic clock.
        forced: The request makes the model call a tool.
    """
    waited, tried = 0.0, 0
    learnt, only_now = set[str](), set[str]()
    while True:
        sent = list(messages)
        try:
            yield from source.load()
            sent = within(messages, source.cannot | only_now)
            value = yield make(sent)
            return Called(value, sent=sent)
        except GraphBubbleUp:
            raise
        except Exception as error:  # a model may raise anything; what it means is decided here
            if forced and _FORCED not in source.cannot and _is_of_forcing(error):
                learnt.add(_FORCED)
                source.cannot.add(_FORCED)
                continue
            if limit := _limit_of(error, sent, source.cannot | only_now):
                (learnt if limit.lasting else only_now).add(limit.name)
                source.cannot |= learnt
                continue
            failure = describe_failure(error)
            left = min(PATIENCE - waited, until - time.monotonic())
            wait = _wait_before(failure, tried, source.retries, left)
            if wait is None:
                source.cannot -= learnt  # a wrong guess: the request failed without it, too
                return Called(error=error, failure=failure, sent=sent)
        waited, tried = waited + wait, tried + 1
        yield Pause(wait, failure.detail)


def _is_refusal(error: Exception) -> bool:
    """Whether it may be about the form of the request; a template that fails makes some say 500."""
    return getattr(error, "status_code", None) in (400, 404, 422, 500, 501)


def _is_of_forcing(error: Exception) -> bool:
    return _is_refusal(error) and _NOT_FORCED.search(text_of_error(error)) is not None


def _limit_of(error: Exception, sent: list[BaseMessage], known: Collection[str]) -> Limit | None:
    """What the server cannot do, if that explains the error and was not known."""
    return limit_behind(text_of_error(error), sent, known) if _is_refusal(error) else None


def _wait_before(failure: Failure, tried: int, most: int, left: float) -> float | None:
    """Seconds to wait before the next try; `None` if there is to be none."""
    if not failure.passing or tried >= most:
        return None
    wait = failure.wait
    if wait is None:
        wait = min(_FIRST_WAIT * 2**tried, _LONGEST_WAIT) * random.uniform(0.75, 1.0)
    return wait if wait <= left else None
