"""What people say to a plan while it runs: notes, a wish to pause, a wish to end it.

Such words wait in LangGraph's store, under the thread's id, because another process may say them;
they are read between two steps, and taken out when the state that holds them is saved.
"""

from dataclasses import dataclass
from typing import Any, Final

from langgraph.config import get_config
from langgraph.errors import GraphBubbleUp
from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore

from planloop.models import Blocking, Steps
from planloop.state import Halt, PlanningState, PlanningUpdate, one_line

from ._nesting import nesting, tell

INBOX: Final = "planloop_inbox"
KINDS: Final = ("note", "pause", "cancel")
MOST: Final = 50
"""Words that are read at once."""
NOTE_WIDTH: Final = 2_000
CANCELLED: Final = "A person cancelled the plan."


@dataclass(frozen=True, slots=True)
class _Word:
    key: str
    kind: str
    text: str


def read_inbox(state: PlanningState) -> Steps[PlanningUpdate]:
    """What people have said since the last step, as an update of the state.

    Plans within plans leave it to the outermost one.
    """
    words = yield from _words(state.get("heard") or [])
    if not words:
        return PlanningUpdate()
    known = [word for word in words if word.kind in KINDS and (word.text or word.kind != "note")]
    for word in known:
        tell("steer", what=word.kind, text=word.text)
    update = PlanningUpdate(heard=[word.key for word in words])
    if notes := [word.text for word in known if word.kind == "note"]:
        update["advice"] = [*(state.get("advice") or []), *notes]
        update["steer"] = "\n".join(filter(None, [state.get("steer"), *notes]))
    if any(word.kind == "pause" for word in known):
        update["paused"] = True
    if cancels := [word for word in known if word.kind == "cancel"]:
        reason = f"{CANCELLED} {cancels[0].text}".strip()
        update["halt"] = Halt(kind="cancelled", reason=reason)
    return update


def old_words() -> Steps[list[str]]:
    """Keys of what was said to an earlier run on this thread; it is not meant for this one."""
    words = yield from _words([])
    return [word.key for word in words]


def _words(heard: list[str]) -> Steps[list[_Word]]:
    store = _store()
    if store is None or nesting()["depth"]:
        return []
    thread = str(get_config().get("configurable", {}).get("thread_id", ""))
    try:
        words: list[_Word] = yield Blocking(_new_words, (store, thread, heard))
    except GraphBubbleUp:
        raise
    except Exception as error:  # a store of anybody's; the plan goes on without it
        tell("steer", what="unheard", text=one_line(str(error), 300))
        return []
    return words


def _store() -> BaseStore | None:
    try:
        return get_runtime().store
    except (RuntimeError, KeyError):  # no graph around this code
        return None


def _new_words(store: BaseStore, thread: str, heard: list[str]) -> list[_Word]:
    """Words that are not in the state yet. Those that are, and only those, are taken out."""
    place = (INBOX, thread)
    for key in heard:
        store.delete(place, key)
    items = [item for item in store.search(place, limit=MOST) if item.key not in heard]
    items.sort(key=lambda item: (item.created_at, item.key))
    return [_read(item.key, item.value) for item in items]


def _read(key: str, value: dict[str, Any]) -> _Word:
    return _Word(key, str(value.get("kind")), one_line(str(value.get("text") or ""), NOTE_WIDTH))
