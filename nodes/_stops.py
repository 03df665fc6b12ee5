"""How a run is ended, and how calls are answered that are not run."""

from secrets import token_hex
from typing import Any, Final, Literal

from langchain_core.messages import ToolCall, ToolMessage

from planloop.state import AgentUpdate, ReactRun, Stop, StopReason
from planloop.tools import ToolRegistry

from ._history import unanswered

SECONDS: Final = "planloop_seconds"
"""In the metadata of a result: how long its call took."""


def result_id() -> str:
    """A message id for a result. Call ids will not do: two agents may both say `call_0`."""
    return f"result-{token_hex(8)}"


def own(answer: ToolMessage) -> ToolMessage:
    """The answer with an id of its own."""
    return answer.model_copy(update={"id": result_id()})


def refused_name(registry: ToolRegistry, call: ToolCall) -> ToolMessage:
    """The registry's answer to a name that no tool can have; nothing is run."""
    said = registry.run(call)
    return said if isinstance(said, ToolMessage) else unanswered(call)


def answer_call(
    call: ToolCall, text: str, status: Literal["success", "error"] = "error"
) -> ToolMessage:
    """An answer to a call that is not run."""
    return own(unanswered(call, text).model_copy(update={"status": status}))


def make_stop(reason: StopReason, detail: str, answer: str = "", **more: Any) -> Stop:
    """The decision to end; `success` is false unless it is given."""
    stop = Stop(
        reason=reason,
        detail=detail,
        answer=answer,
        success=more.get("success", False),
        fatal=more.get("fatal", False),
        limit=more.get("limit", ""),
    )
    if more.get("abort"):
        stop["abort"] = True
    return stop


def stopped(
    run: ReactRun, reason: StopReason, detail: str, answer: str = "", **more: Any
) -> AgentUpdate:
    """The update that ends a run."""
    return AgentUpdate(run={**run, "stop": make_stop(reason, detail, answer, **more), "hint": ""})
