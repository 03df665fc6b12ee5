"""What a model is shown of the log: a valid request that fits its window.

The log in the state stays whole. A request has one system message, first; the task of this run;
the running summary of what was left out; then as many of the latest turns as fit, each call with
all its results; then a hint, if any.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, SystemMessage

from planloop.models import count_message, count_text, cut_to_tokens
from planloop.state import MessageLog, ReactRun, Summary, cut_middle

from ._digest import Digest, digest_of
from ._history import is_paired, repaired

_LEFT_OUT = "(Earlier turns were left out here, as they no longer fit.)"
_SUMMARY = "(Earlier turns no longer fit. A summary of them:)"
_CHARACTERS_A_TOKEN = 2  # fewer than there are in most scripts
_LEAST_SHOWN = 200  # characters of a result
_weight = lru_cache(maxsize=32)(count_text)  # of the same instructions, turn after turn


@dataclass(frozen=True, slots=True)
class View:
    """One request."""

    messages: list[AnyMessage]
    tokens: int
    """What it weighs, approximately; tool schemas are not counted."""
    gap: bool
    """Whether turns were left out that stand in no summary."""
    pictured: bool
    """Whether results in it may have images, which are yet to be put as the model takes them."""


def as_log(messages: list[AnyMessage]) -> MessageLog:
    """The log; a plain list, as a hand-made state has it, is read into one."""
    return messages if isinstance(messages, MessageLog) else MessageLog(messages)


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
    digest = digest_of(log)
    parts = (system, *digest.told) if digest.told else (system,)
    head = "\n\n".join(part for part in parts if part)
    front: list[AnyMessage] = [SystemMessage(head)] if head else []
    hint: list[AnyMessage] = [HumanMessage(told)] if (told := run.get("hint")) else []
    room = window - _weight(head) - sum(map(count_message, hint))
    covered = covered_by(log, summary)
    if not covered and digest.tokens(0) <= room:
        kept, weight, gap = _turns(log, 0, digest), digest.tokens(0), False
    else:
        kept, weight, gap = _tail(log, run["first"], room, summary if covered else None)
    return View([*front, *kept, *hint], window - room + weight, gap, digest.pictured)


def _tail(
    log: MessageLog, first: int, room: int, summary: Summary | None
) -> tuple[list[AnyMessage], int, bool]:
    """The opening and the latest turns that fit beside it; whether others are in no summary."""
    digest, covered = digest_of(log), covered_by(log, summary)
    task = log[first] if first < len(log) and log[first].type == "human" else None
    if summary:
        summary = {**summary, "text": cut_to_tokens(summary["text"], room // 4)}
    opening = _opening(task, summary)
    start = start_of_tail(log, room - count_message(opening))
    left_out = start - covered - (covered <= first < start)  # the task is never left out
    gap, start = left_out > 0, max(start, covered)
    if start <= first:  # the task stands among the turns that fit: it is not said twice
        opening = _opening(None, summary)
    before = [opening] if start > 0 else []
    room -= sum(map(count_message, before))
    kept, weight = _turns(log, start, digest), digest.tokens(start)
    if weight > room:  # the last turn alone is too long
        kept = _shortened(kept, room)
        weight = sum(map(count_message, kept))
    return [*before, *kept], weight + sum(map(count_message, before)), gap


def _shortened(messages: list[AnyMessage], room: int) -> list[AnyMessage]:
    """The messages with their results cut to an equal share of the room, if that is too much."""
    results = [message for message in messages if message.type == "tool"]
    share = max(room * _CHARACTERS_A_TOKEN // max(len(results), 1), _LEAST_SHOWN)
    return [
        message.model_copy(update={"content": cut_middle(str(message.text), share)})
        if message.type == "tool" and len(str(message.text)) > share
        else message
        for message in messages
    ]


def _turns(log: MessageLog, start: int, digest: Digest) -> list[AnyMessage]:
    """The messages from here on, without system messages, each call with its results."""
    kept: list[AnyMessage] = log[start:]
    if digest.told:
        kept = [message for message in kept if message.type != "system"]
    return kept if digest.paired or is_paired(kept) else repaired(kept)


def _opening(task: AnyMessage | None, summary: Summary | None) -> AnyMessage:
    """What stands for the turns before the tail: the task, and their summary if there is one."""
    notes = [_SUMMARY, summary["text"]] if summary else [_LEFT_OUT]
    if task is None or isinstance(task.content, str):
        return HumanMessage("\n\n".join([*([str(task.text)] if task else []), *notes]))
    blocks: list[Any] = [*task.content, {"type": "text", "text": "\n\n".join(notes)}]
    return HumanMessage(blocks)


def covered_by(log: MessageLog, summary: Summary | None) -> int:
    """How many messages from the beginning the summary stands for."""
    place = log.place(summary["last"]) if summary else None
    return 0 if place is None else place + 1


def start_of_tail(log: MessageLog, room: int) -> int:
    """Where the latest turns that fit begin; the last turn is always kept, and none is torn."""
    weights = digest_of(log).weights
    start = min(bisect_left(weights, weights[-1] - max(room, 0)), len(log))
    while start < len(log) and log[start].type == "tool":
        start += 1
    if start == len(log):
        start = max(start - 1, 0)
        while start > 0 and log[start].type == "tool":
            start -= 1
    return start
