"""The planning tool on a store: plans that outlive the thread, each an item of its own."""

import uuid
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final

from langchain_core.tools import BaseTool, ToolException, tool
from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore

from planloop.state import (
    PlanBook,
    PlanError,
    ToolSetupError,
    cut_middle,
    fold_book,
    run_command,
)

from .planning import MAX_SHOWN, NAME, CommandName, Index, Status, Steps, given, planning_tool
from .traits import own, tool_traits

_ACTIVE: Final = "active"
_MOST_ITEMS: Final = 100


def planning_tool_for(*namespace: str) -> BaseTool:
    """Make a planning tool whose plans are in the graph's store, beyond any thread.

    Args:
        namespace: Where they are, such as `"plans", "user-7"`. Writers of different plans do not
            disturb each other; of two that write one plan at once from different processes, the
            later one is kept.

    Raises:
        ToolSetupError: A part of the namespace is empty or has a dot, which stores refuse.
    """
    place = namespace or ("plans",)
    if wrong := [part for part in place if not part or "." in part]:
        raise ToolSetupError(f"A namespace has no empty parts and no dots, as {wrong[0]!r} has.")
    lock = Lock()  # read, change, write: calls of one turn may run side by side

    @own
    @tool_traits(effect="write", sequential=True, on_replay="repeat")
    @tool(NAME, description=planning_tool.description)
    def kept_planning_tool(
        command: CommandName,
        plan_id: str | None = None,
        title: str | None = None,
        steps: Steps = None,
        step_index: Index = None,
        step_status: Status = None,
        step_notes: str | None = None,
    ) -> str:
        if command == "create" and not plan_id:
            plan_id = f"plan_{uuid.uuid4().hex[:12]}"  # another process may count to the same
        store = _store()
        args = given(plan_id, title, steps, step_index, step_status, step_notes)
        try:
            with lock:
                change = run_command(read_book(store, place), command, args)
                write_book(store, place, change.patch)
        except PlanError as error:
            raise ToolException(str(error)) from error
        return cut_middle(change.text, MAX_SHOWN)

    kept_planning_tool.handle_tool_error = True
    return kept_planning_tool


def read_book(store: BaseStore, namespace: Sequence[str]) -> PlanBook:
    """The plans that are kept in a store under this name."""
    place = (*namespace, NAME)
    items = [i for i in store.search(place, limit=_MOST_ITEMS) if i.namespace == place]
    active = store.get((*namespace, _ACTIVE), _ACTIVE)
    plans = {item.key: item.value for item in sorted(items, key=lambda item: item.created_at)}
    chosen = {"active": str(active.value.get("plan_id") or "")} if active else {}
    return fold_book(None, [{"plans": plans, **chosen}])


def write_book(store: BaseStore, namespace: Sequence[str], patch: Mapping[str, Any]) -> None:
    """Write what has changed, each plan for itself."""
    place = (*namespace, NAME)
    for plan_id, plan in (patch.get("put") or {}).items():
        store.put(place, plan_id, plan)
    for plan_id, steps in (patch.get("steps") or {}).items():
        if item := store.get(place, plan_id):
            kept = {"plans": {plan_id: item.value}}
            book = fold_book(None, [kept, {"steps": {plan_id: steps}}])
            store.put(place, plan_id, book["plans"][plan_id])
    for plan_id in patch.get("drop") or ():
        store.delete(place, plan_id)
    if active := patch.get("active"):
        store.put((*namespace, _ACTIVE), _ACTIVE, {"plan_id": active})


def _store() -> BaseStore:
    try:
        store = get_runtime().store
    except (RuntimeError, KeyError):  # no graph around this code
        store = None
    if store is None:
        raise ToolException("The graph has no store to keep plans in: give it store=….")
    return store
