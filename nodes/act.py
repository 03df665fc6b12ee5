"""Act: run one tool call. Each call is a task of its own, saved as soon as it is finished."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config
from langgraph.types import Command

from planloop.models import Steps, emit
from planloop.state import ActInput, MemoryPolicy, ReactState
from planloop.tools import ToolPolicy, ToolRegistry, lending, traits_of

from . import _hints
from ._decide import decision_on
from ._history import pending_calls
from ._node import Node
from ._stops import SECONDS, answer_call, result_id

SIDE_BY_SIDE: Final = 16
"""Calls of one turn that run at the same time; the others follow when these have ended."""


@dataclass(frozen=True, slots=True)
class RunTool:
    """The effect of one call."""

    registry: ToolRegistry
    call: Any
    config: RunnableConfig
    limit: int
    state: ReactState | None = None
    """Lent to tools that work on it."""

    def run(self) -> ToolMessage | Command[Any]:
        if self.state is not None:
            with lending(self.state):
                return self.registry.run(self.call, self.config, limit=self.limit)
        return self.registry.run(self.call, self.config, limit=self.limit)

    async def arun(self) -> ToolMessage | Command[Any]:
        if self.state is not None:
            with lending(self.state):
                return await self.registry.arun(self.call, self.config, limit=self.limit)
        return await self.registry.arun(self.call, self.config, limit=self.limit)


def make_act(registry: ToolRegistry, memory: MemoryPolicy, policy: ToolPolicy | None) -> Node:
    """The node `act`. What the policy denies is answered here, wherever the call came from."""

    def act(task: ActInput | ReactState) -> Steps[Any]:
        call: Any = task.get("call")  # a task of its own, or the one call of the state
        if call is None:
            call = due_calls(cast(ReactState, task), registry)[0]
        if decision_on(policy, registry, call) == "deny":
            return {"messages": [answer_call(call, _hints.DENIED)]}
        emit("tool_call", name=call["name"], args=call["args"], id=call["id"])
        began = time.monotonic()
        lent = cast(ReactState, task) if registry.lends_state and "messages" in task else None
        result = yield RunTool(registry, call, get_config(), memory.max_observation, lent)
        took = round(time.monotonic() - began, 3)
        status = result.status if isinstance(result, ToolMessage) else "success"
        emit("tool_result", name=call["name"], id=call["id"], status=status)
        if isinstance(result, ToolMessage):
            own: dict[str, Any] = {"id": result_id()}
            if took:
                own["response_metadata"] = {**result.response_metadata, SECONDS: took}
            return {"messages": [result.model_copy(update=own)]}
        return result if _answers(result, str(call["id"])) else [result, _answer(call)]

    return Node(act)


def _answers(command: Command[Any], call_id: str) -> bool:
    """Whether a tool that steers the graph has also answered its call."""
    update = command.update if isinstance(command.update, Mapping) else {}
    messages = update.get("messages") or []
    return any(getattr(message, "tool_call_id", None) == call_id for message in messages)


def _answer(call: ToolCall) -> dict[str, Any]:
    return {"messages": [answer_call(call, "Done.", status="success")]}


def due_calls(state: ReactState, registry: ToolRegistry) -> list[ToolCall]:
    """The pending calls that run next: side by side up to a tool that must run in order."""
    due: list[ToolCall] = []
    for call in pending_calls(state["messages"]):
        tool = registry.get(call["name"])
        if tool is not None and traits_of(tool).sequential:
            return due or [call]
        due.append(call)
    return due[:SIDE_BY_SIDE]
