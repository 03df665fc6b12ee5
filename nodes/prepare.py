"""Begin a run: take the request, mend the history, forget the counts of the last run."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AnyMessage, HumanMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES

from planloop.state import AgentUpdate, EmptyRequest, ReactRun, ReactState, no_usage

from ._history import repaired
from ._node import Node


def make_prepare() -> Node:
    """The node `prepare`."""

    def prepare(state: ReactState) -> AgentUpdate:
        log: list[AnyMessage] = list(state.get("messages") or [])
        request = (state.get("request") or "").strip()
        asked = [HumanMessage(request)] if request else []
        if not asked and not any(_says_something(message) for message in log):
            raise EmptyRequest
        mended = repaired(log)
        update = AgentUpdate(status="RUNNING", run=new_run(_task_index([*mended, *asked])))
        if state.get("request"):
            update["request"] = ""
        if mended is not log:
            update["messages"] = [RemoveMessage(id=REMOVE_ALL_MESSAGES), *mended, *asked]  # type: ignore[list-item]  # the reducer takes removals
        elif asked:
            update["messages"] = list(asked)
        return update

    return Node(prepare)


def new_run(first: int) -> ReactRun:
    """The counts of a run that has not begun."""
    return ReactRun(
        first=first,
        usage=no_usage(),
    )


def _task_index(messages: Sequence[Any]) -> int:
    """Where this run's task stands: the newest human message that says something."""
    for place in range(len(messages) - 1, -1, -1):
        if isinstance(messages[place], HumanMessage) and _says_something(messages[place]):
            return place
    return 0


def _says_something(message: AnyMessage) -> bool:
    return bool(str(message.text).strip()) or not isinstance(message.content, str)
