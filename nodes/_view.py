"""What a model is shown of the log: a valid request that fits its window.

The log in the state stays whole. A request has one system message, first; the task of this run;
then as many of the latest turns as fit, each call with all its results; then a hint, if any.
"""

from collections.abc import Iterator, Sequence

from langchain_core.messages import (
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from planloop.models import count_tokens
from planloop.state import ReactRun

from ._history import repaired

_LEFT_OUT = "(Earlier turns were left out here, as they no longer fit.)"


def request_for(
    messages: Sequence[AnyMessage], run: ReactRun, *, system: str, window: int
) -> list[AnyMessage]:
    """Build the request.

    Args:
        system: The agent's own instructions; system messages of the log are joined to them.
        window: Tokens that all of it may take. What must be there is sent even if it does not fit.
    """
    told = [str(m.text) for m in messages if isinstance(m, SystemMessage) and m.text]
    head = "\n\n".join(part for part in (system, *told) if part)
    task = next((m for m in messages[run["first"] :] if isinstance(m, HumanMessage)), None)
    front: list[AnyMessage] = [SystemMessage(head)] if head else []
    hint: list[AnyMessage] = [HumanMessage(run["hint"])] if run["hint"] else []
    fixed = count_tokens([*front, *([task] if task else []), *hint])
    kept = _latest_turns(messages, window - fixed)
    if task is not None and not any(message is task for message in kept):
        kept = [HumanMessage(f"{task.text}\n\n{_LEFT_OUT}"), *kept]
    return [*front, *kept, *hint]


def _latest_turns(messages: Sequence[AnyMessage], room: int) -> list[AnyMessage]:
    """The latest whole turns that fit, at least the last one."""
    kept: list[list[AnyMessage]] = []
    for turn in _turns_backwards(messages):
        whole = repaired(turn)
        room -= count_tokens(whole)
        if kept and room < 0:
            break
        kept.append(whole)
    return [message for turn in reversed(kept) for message in turn]


def _turns_backwards(messages: Sequence[AnyMessage]) -> Iterator[list[AnyMessage]]:
    """The log from its end in units that may not be torn: a turn of calls with its results."""
    results: list[AnyMessage] = []
    for message in reversed(messages):
        if isinstance(message, ToolMessage):
            results.append(message)
        elif not isinstance(message, SystemMessage):
            yield [message, *reversed(results)]
            results = []
