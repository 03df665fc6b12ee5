"""The message log: an incremental channel with an appending reducer and stable ids.

LangGraph's `add_messages` builds an index of the whole log at every write. Here the index is kept
beside the log, so that appending costs the same at message 10 and at message 10,000; the meaning
is the same: a message with a known id replaces the old one, `RemoveMessage` removes.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Annotated, Any, Final

from langchain_core.messages import (
    AnyMessage,
    BaseMessage,
    RemoveMessage,
    convert_to_messages,
    message_chunk_to_message,
)
from langchain_core.messages.base import BaseMessageChunk
from langgraph.channels import DeltaChannel
from langgraph.graph.message import REMOVE_ALL_MESSAGES

_PARTED: Final = ""  # no message has this id


class MessageLog(list[AnyMessage]):
    """A list of messages that knows where each id stands.

    Later versions of one log share this knowledge: it only ever grows, and an entry counts only
    if the message at that place still has that id. Where versions have gone different ways, which
    is noted among the places, an entry that does not count says nothing, and the log is searched.
    """

    digest: Any
    """What a reader worked out of the log; handed on to versions that only append to it."""

    def __init__(self, messages: Iterable[Any] = (), known: "MessageLog | None" = None) -> None:
        super().__init__(messages)
        self.places: dict[str, int]
        if known is None:
            own = enumerate(self)
            self.places = {str(m.id): n for n, m in own if isinstance(m, BaseMessage)}
            self.digest = None
        else:
            self.places, self.digest = known.places, known.digest

    def place(self, message_id: str) -> int | None:
        """Where the message with this id stands, or `None`."""
        place = self.places.get(message_id)
        if place is None or (place < len(self) and self[place].id == message_id):
            return place
        if _PARTED not in self.places:  # a version that has gone further in the same way has it
            return None
        found = (n for n, message in enumerate(self) if message.id == message_id)
        return next(found, None)

    def note_place(self, message_id: str) -> None:
        """Note that the next message will have this id."""
        if self.places.setdefault(message_id, len(self)) != len(self):
            self.places[message_id] = len(self)
            self.places[_PARTED] = 0

    def __copy__(self) -> "MessageLog":
        return MessageLog(self, self)


def append_messages(log: Any, writes: Sequence[Any]) -> MessageLog:
    """Fold writes into the log: append, replace by id, or remove.

    Each write is a message, anything LangChain turns into one, or a list of these. A message
    without an id gets one made of its place and content, the same at every replay. Removing an
    unknown id does nothing. Folding in one batch or in several gives the same log.
    """
    old = log if isinstance(log, MessageLog) else MessageLog(log or ())
    new = MessageLog(old, old)
    for message in _flatten(writes):
        if isinstance(message, RemoveMessage):
            new = _removed(new, str(message.id))
        else:
            _put(new, message)
    return new


def _flatten(writes: Sequence[Any]) -> Iterable[BaseMessage]:
    for write in writes:
        given: list[Any] = write if isinstance(write, list) else [write]
        others = [item for item in given if not isinstance(item, BaseMessage)]
        batch: Sequence[BaseMessage] = convert_to_messages(given) if others else given
        for message in batch:
            yield (
                message_chunk_to_message(message)
                if isinstance(message, BaseMessageChunk)
                else message
            )


def _put(log: MessageLog, message: Any) -> None:
    if not message.id:
        message = message.model_copy(update={"id": stable_id(len(log), message)})
    place = log.place(message.id)
    if place is None:
        log.note_place(message.id)
        log.append(message)
    else:
        log[place], log.digest = message, None


def _removed(log: MessageLog, message_id: str) -> MessageLog:
    if message_id == REMOVE_ALL_MESSAGES:
        return MessageLog()
    return MessageLog(message for message in log if message.id != message_id)


def stable_id(place: int, message: BaseMessage) -> str:
    """An id made of place, kind and content, so that replaying a write gives the same id."""
    call = getattr(message, "tool_call_id", "")
    seed = f"{place}\0{message.type}\0{call}\0{message.content!r}"
    return blake2b(seed.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


MESSAGES: Final = DeltaChannel(append_messages, list, snapshot_frequency=1000)
Messages = Annotated[list[AnyMessage], MESSAGES]
"""The type of a `messages` key: only what is appended is stored at each step."""
