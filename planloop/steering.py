"""Say something to a plan while it runs: a note, a wish to pause, a wish to end it.

The words go to the graph's LangGraph store, and the plan reads them between two steps; so they
may come from any process that opens the same store.
"""

import uuid
from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import StateSnapshot

from planloop.errors import WrongUse
from planloop.nodes import CANCELLED, INBOX
from planloop.state import Halt, Plan, Usage, add_usage, no_usage

from .run_checks import address_of

_WHILE: Final = "the plan was cancelled while it was in work"


def say(graph: CompiledStateGraph[Any, Any, Any, Any], thread: str, kind: str, text: str) -> None:
    """Leave a word for the run on this thread."""
    store_of(graph).put((INBOX, thread), uuid.uuid4().hex, {"kind": kind, "text": text})


async def asay(
    graph: CompiledStateGraph[Any, Any, Any, Any], thread: str, kind: str, text: str
) -> None:
    """Leave a word as `say` does, awaited."""
    await store_of(graph).aput((INBOX, thread), uuid.uuid4().hex, {"kind": kind, "text": text})


def store_of(graph: CompiledStateGraph[Any, Any, Any, Any]) -> BaseStore:
    """The store of a graph.

    Raises:
        WrongUse: It has none.
    """
    if graph.store is None:
        raise WrongUse("The graph has no store to speak through: give it store=open_store(...).")
    return graph.store


def end(graph: CompiledStateGraph[Any, Any, Any, Any], thread: str, reason: str) -> None:
    """Put a plan that waits for an answer before its summary; its question is dropped."""
    place = address_of(thread)
    snapshot = graph.get_state(place, subgraphs=True)
    graph.update_state(place, _ended(graph, snapshot, reason), _REPORTER)


async def aend(graph: CompiledStateGraph[Any, Any, Any, Any], thread: str, reason: str) -> None:
    """Put a waiting plan before its summary as `end` does, awaited."""
    place = address_of(thread)
    snapshot = await graph.aget_state(place, subgraphs=True)
    await graph.aupdate_state(place, _ended(graph, snapshot, reason), _REPORTER)


_SENT: Final = "__pregel_push"
"""How LangGraph marks the path of a task that was sent, before its place among them."""
_REPORTER: Final = "report_error"
"""The node after which a plan that stops goes to its summary."""


def _ended(
    graph: CompiledStateGraph[Any, Any, Any, Any], snapshot: StateSnapshot, reason: str
) -> dict[str, Any]:
    """The update that ends the plan, with what its steps in work have come to so far."""
    if _REPORTER not in graph.nodes:
        raise WrongUse("Only plans can be cancelled: this graph is no planning graph.")
    steps = {step.id: step for step in snapshot.values["plan"].steps}
    gathered = _gathered(snapshot)
    patch = {
        step_id: {**gathered.get(step_id, {}), "status": "blocked", "notes": _WHILE}
        for step_id, step in steps.items()
        if step.status == "in_progress"
    }
    halt = Halt(kind="cancelled", reason=f"{CANCELLED} {reason}".strip())
    update = {"halt": halt, "plan": patch, "recovery": "stop", "phase": "ERROR_REPORTED"}
    return {**update, "usage": _unsaved_usage(snapshot)}


def _gathered(snapshot: StateSnapshot) -> dict[str, dict[str, Any]]:
    """By step: what is saved of a finished one beside others, and the plan within one in work."""
    found: dict[str, dict[str, Any]] = {}
    for task in snapshot.tasks:
        if isinstance(task.result, dict):
            found |= task.result.get("plan") or {}
        elif inner := _inner_plan(task.state):
            place = task.path[1] if task.path[0] == _SENT else 0
            found[snapshot.values["active"][place]] = {"sub_plan": inner.model_dump(mode="json")}
    return found


def _inner_plan(state: Any) -> Plan | None:
    if not isinstance(state, StateSnapshot):
        return None
    plan = state.values.get("plan")
    if isinstance(plan, Plan) and plan.steps:
        return plan
    inner = (_inner_plan(task.state) for task in state.tasks)
    return next((plan for plan in inner if plan), None)


def _unsaved_usage(snapshot: StateSnapshot) -> Usage:
    """What the tasks in work have spent: finished ones, and the graphs within the others."""
    total = no_usage()
    for task in snapshot.tasks:
        if isinstance(task.result, dict):
            total = add_usage(total, task.result.get("usage") or no_usage())
        elif isinstance(task.state, StateSnapshot):
            values = task.state.values
            own = values.get("usage") or (values.get("run") or {}).get("usage") or no_usage()
            total = add_usage(add_usage(total, own), _unsaved_usage(task.state))
    return total
