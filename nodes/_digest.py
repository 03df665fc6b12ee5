"""What is worked out of a log once and extended as it grows, so that a turn costs the same at
message 10 and at message 10,000."""

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolCall, ToolMessage

from planloop.models import count_message
from planloop.state import MessageLog

from ._history import canonical, has_images, is_paired
from ._stuck import WINDOW

Round = tuple[tuple[str, str, str], ...]
"""One turn of calls: name, normalised arguments and result of each."""


@dataclass(frozen=True, slots=True)
class Digest:
    """What is known of the first `count` messages."""

    count: int
    told: tuple[str, ...]
    """Texts of the system messages."""
    weights: list[int]
    """Tokens of the first n messages, at index n; system messages weigh nothing here."""
    paired: bool
    """Every call is answered right after its turn, every result has its call."""
    rounds: tuple[tuple[int, Round], ...]
    """The latest turns of calls, with the place of each."""
    pictured: bool
    """A tool's result has an image in it."""
    call_ids: set[str]
    """Ids of all calls; versions of a log share it, so it may know those of a version beside."""

    def tokens(self, start: int, end: int | None = None) -> int:
        """Tokens of the messages from `start` up to `end`."""
        return self.weights[self.count if end is None else end] - self.weights[start]

    def rounds_since(self, first: int) -> list[Round]:
        """The latest turns of calls from this place on."""
        return [found for place, found in self.rounds if place > first]


def _nothing() -> Digest:
    return Digest(0, (), [0], True, (), False, set())


def digest_of(log: MessageLog) -> Digest:
    """The digest of the whole log; what is new since the last one is added to it."""
    known: Digest = log.digest or _nothing()
    if known.count == len(log) and log.digest is not None:
        return known
    if not known.paired or known.count > len(log):
        known = _nothing()
    fresh = log[known.count :]
    weights = known.weights.copy()
    for message in fresh:
        weights.append(weights[-1] + (0 if message.type == "system" else count_message(message)))
    told = tuple(str(m.text) for m in fresh if m.type == "system" and m.text)
    rounds = (*known.rounds, *_rounds(log, known.count))[-WINDOW:]
    pictured = known.pictured or any(map(has_images, fresh))
    for message in fresh:
        for call in _calls(message):
            known.call_ids.add(str(call["id"]))
    made = Digest(
        len(log), known.told + told, weights, is_paired(fresh), rounds, pictured, known.call_ids
    )
    log.digest = made
    return made


def _rounds(log: Sequence[AnyMessage], start: int) -> list[tuple[int, Round]]:
    places = [n for n in range(start, len(log)) if _calls(log[n])]
    return [(place, _round(log, place)) for place in places[-WINDOW:]]


def _calls(message: BaseMessage) -> list[ToolCall]:
    return message.tool_calls if isinstance(message, AIMessage) else []


def _round(log: Sequence[AnyMessage], turn: int) -> Round:
    message = log[turn]
    results: dict[str, str] = {}
    for place in range(turn + 1, len(log)):
        later = log[place]
        if not isinstance(later, ToolMessage):
            break
        results[later.tool_call_id] = str(later.text)
    return tuple(
        (call["name"], canonical(call["args"]), results.get(str(call["id"]), ""))
        for call in _calls(message)
    )
