"""Act: run one tool call. Each call is a task of its own, saved as soon as it is finished."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.config import get_config
from langgraph.types import Command

from planloop.models import Steps, emit
from planloop.state import ActInput, MemoryPolicy, ReactState
from planloop.tools import LEDGER, ToolPolicy, ToolRegistry, keyed, lending

from . import _hints
from ._decide import decision_on
from ._doubt import at_most_once
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
    """Also that of whatever the tool calls."""
    limit: int
    state: ReactState | None = None
    """Lent to tools that work on it."""

    def run(self) -> ToolMessage | Command[Any]:
        self._tell()
        token = var_child_runnable_config.set(self.config)
        try:
            if self.state is None:
                return self.registry.run(self.call, self.config, limit=self.limit)
            with lending(self.state):
                return self.registry.run(self.call, self.config, limit=self.limit)
        finally:
            var_child_runnable_config.reset(token)

    async def arun(self) -> ToolMessage | Command[Any]:
        self._tell()
        token = var_child_runnable_config.set(self.config)
        try:
            if self.state is None:
                return await self.registry.arun(self.call, self.config, limit=self.limit)
            with lending(self.state):
                return await self.registry.arun(self.call, self.config, limit=self.limit)
        finally:
            var_child_runnable_config.reset(token)

    def _tell(self) -> None:
        call = self.call
        emit("tool_call", name=call["name"], args=call["args"], id=call["id"])


def make_act(registry: ToolRegistry, memory: MemoryPolicy, policy: ToolPolicy | None) -> Node:
    """The node `act`. What the policy denies is answered here, wherever the call came from."""

    def act(task: ActInput | ReactState) -> Steps[Any]:
        call: Any = task.get("call")  # a task of its own, or the one call of the state
        if call is None:
            call = due_calls(cast(ReactState, task), registry)[0]
        if policy is not None and decision_on(policy, registry, call) == "deny":
            return {"messages": [answer_call(call, _hints.DENIED)]}
        began = time.monotonic()
        lent = cast(ReactState, task) if registry.lends_state and "messages" in task else None
        config, traits = get_config(), registry.traits(call["name"])
        ledger = None
        if traits is not None and traits.effect != "read":
            config = keyed(config, call)
            ledger = config.get("configurable", {}).get(LEDGER)
        run = RunTool(registry, call, config, memory.max_observation, lent)
        if ledger is None or traits is None:
            result = yield run
        else:
            result = yield from at_most_once(run, call, traits, config, ledger)
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
        traits = registry.traits(call["name"])
        if traits is not None and traits.sequential:
            return due or [call]
        due.append(call)
    return due[:SIDE_BY_SIDE]
