"""The state of the agent that calls a tool, for the few tools that work on it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

from langchain_core.tools import BaseTool

_STATE: ContextVar[Mapping[str, Any] | None] = ContextVar("planloop_agent_state", default=None)
_STATEFUL: Final = "planloop.stateful"
T = TypeVar("T", bound=BaseTool)


def agent_state() -> Mapping[str, Any]:
    """The state of the agent whose call is running; empty outside one."""
    return _STATE.get() or {}


@contextmanager
def lending(state: Mapping[str, Any]) -> Iterator[None]:
    """Let the tools that are called in here see this state."""
    token = _STATE.set(state)
    try:
        yield
    finally:
        _STATE.reset(token)


def stateful(tool: T) -> T:
    """Mark a tool as one that works on the state of the agent that calls it."""
    tool.metadata = {**(tool.metadata or {}), _STATEFUL: True}
    return tool


def is_stateful(tool: BaseTool) -> bool:
    """Whether `stateful` has marked it."""
    return (tool.metadata or {}).get(_STATEFUL) is True
