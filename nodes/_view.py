"""What a model is shown of the log: a valid request that fits its window.

The log in the state stays whole. A request has one system message, first; the task of this run;
the running summary of what was left out; then as many of the latest turns as fit, each call with
all its results; then a hint, if any.
"""

from dataclasses import dataclass

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from planloop.models import count_tokens
from planloop.state import MessageLog, ReactRun, Summary

from ._history import is_paired, repaired

_LEFT_OUT = "(Earlier turns were left out here, as they no longer fit.)"
_SUMMARY = "(Earlier turns no longer fit. A summary of them:)"


@dataclass(frozen=True, slots=True)
class View:
    """One request."""

    messages: list[AnyMessage]
    tokens: int
    """What it weighs, approximately; tool schemas are not counted."""
    gap: bool
    """Whether turns were left out that stand in no summary."""


def view_of(
    log: MessageLog, run: ReactRun, *, system: str, window: int, summary: Summary | None = None
) -> View:
    """Build the request.

    Args:
        log: The whole history.
        system: The agent's own instructions; system messages of the log are joined to them.
        window: Tokens that all of it may take. What must be there is sent even if it does not fit.
        summary: What stands for the turns that it covers.
    """
    told = [str(m.text) for m in log if m.type == "system" and m.text]
    head = "\n\n".join(part for part in (system, *told) if part)
    front: list[AnyMessage] = [SystemMessage(head)] if head else []
    hint: list[AnyMessage] = [HumanMessage(run["hint"])] if run["hint"] else []
    first = run["first"]
    covered = covered_by(log, summary)
    fixed = count_tokens([*front, *hint, *([HumanMessage(summary["text"])] if summary else [])])
    task = log[first] if first < len(log) and isinstance(log[first], HumanMessage) else None
    start = start_of_tail(log, window - fixed - (log.tokens(first) if task else 0))
    gap = start > covered
    start = max(start, covered)
    kept: list[AnyMessage] = [message for message in log[start:] if message.type != "system"]
    if not is_paired(kept):
        kept = repaired(kept)
    if start > 0:
        kept = [_opening(task if start > first else None, summary if covered else None), *kept]
    weight = fixed + sum(log.tokens(place) for place in range(start, len(log)))
    return View([*front, *kept, *hint], weight, gap)


def _opening(task: AnyMessage | None, summary: Summary | None) -> HumanMessage:
    """What stands for the turns before the tail: the task, and their summary if there is one."""
    parts = [str(task.text)] if task is not None else []
    parts += [_SUMMARY, summary["text"]] if summary else [_LEFT_OUT]
    return HumanMessage("\n\n".join(parts))


def covered_by(log: MessageLog, summary: Summary | None) -> int:
    """How many messages from the beginning the summary stands for."""
    place = log.place(summary["last"]) if summary else None
    return 0 if place is None else place + 1


def start_of_tail(log: MessageLog, room: int) -> int:
    """Where the latest turns that fit begin; the last turn is always kept, and none is torn."""
    start = place = len(log)
    while place > 0:
        place -= 1
        room -= log.tokens(place)
        if log[place].type == "tool":
            continue
        if room < 0 and start < len(log):
            break
        start = place
    return start
