"""Say something to a plan while it runs: a note, a wish to pause, a wish to end it.

The words go to the graph's LangGraph store, and the plan reads them between two steps; so they
may come from any process that opens the same store.
"""

import uuid
from typing import Any, Final

from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore

from planloop.errors import WrongUse
from planloop.nodes import CANCELLED, INBOX
from planloop.state import Halt

from .run_checks import address_of
from .run_view import RunView

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


def end(graph: CompiledStateGraph[Any, Any, Any, Any], view: RunView, reason: str) -> None:
    """Put a plan that waits for an answer before its summary; its question is dropped."""
    graph.update_state(address_of(view.thread), _ended(graph, view, reason), _REPORTER)


async def aend(graph: CompiledStateGraph[Any, Any, Any, Any], view: RunView, reason: str) -> None:
    """Put a waiting plan before its summary as `end` does, awaited."""
    await graph.aupdate_state(address_of(view.thread), _ended(graph, view, reason), _REPORTER)


_REPORTER: Final = "report_error"
"""The node after which a plan that stops goes to its summary."""


def _ended(
    graph: CompiledStateGraph[Any, Any, Any, Any], view: RunView, reason: str
) -> dict[str, Any]:
    if _REPORTER not in graph.nodes:
        raise WrongUse("Only plans can be cancelled: this graph is no planning graph.")
    plan = view.values.get("plan")
    steps = plan.steps if plan is not None else []
    patch = {
        step.id: {"status": "blocked", "notes": _WHILE}
        for step in steps
        if step.status == "in_progress"
    }
    halt = Halt(kind="cancelled", reason=f"{CANCELLED} {reason}".strip())
    return {"halt": halt, "plan": patch, "recovery": "stop", "phase": "ERROR_REPORTED"}
