"""Approve: a person decides on calls before anything happens. One interrupt, no effect here."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langgraph.types import interrupt

from planloop.state import AgentUpdate, ReactState
from planloop.tools import ToolPolicy, ToolRegistry

from ._decide import decision_on
from ._history import pending_calls, unanswered
from ._node import Node
from ._stops import own


def calls_to_approve(
    state: ReactState, registry: ToolRegistry, policy: ToolPolicy | None
) -> list[ToolCall]:
    """Pending calls for which the policy wants a person's word."""
    if policy is None:
        return []
    open_calls = (
        call
        for call in pending_calls(state["messages"])
        if call["id"] not in state["run"].get("approved", ())
    )
    return [call for call in open_calls if decision_on(policy, registry, call) == "ask"]


def make_approve(registry: ToolRegistry, policy: ToolPolicy | None) -> Node:
    """The node `approve`.

    The interrupt's value is `{"type": "tool_approval", "calls": [{id, name, args, effect}]}`.
    The answer is one decision for all calls or a mapping from call id to decision; a decision is
    true or "approve", or false, "reject", or `{"reject": "reason"}`. What is missing is rejected.
    """

    def approve(state: ReactState) -> AgentUpdate:
        waiting = calls_to_approve(state, registry, policy)
        shown = [_shown(call, registry) for call in waiting]
        answer = interrupt({"type": "tool_approval", "calls": shown})
        refusals = {str(call["id"]): _refusal(answer, call) for call in waiting}
        approved = [call_id for call_id, why in refusals.items() if why is None]
        return AgentUpdate(
            run={**state["run"], "approved": [*state["run"].get("approved", ()), *approved]},
            messages=[
                _rejected(call, why) for call in waiting if (why := refusals[str(call["id"])])
            ],
        )

    return Node(approve)


def _shown(call: ToolCall, registry: ToolRegistry) -> dict[str, Any]:
    traits = registry.traits(call["name"])
    effect = traits.effect if traits else "unknown"
    return {"id": call["id"], "name": call["name"], "args": call["args"], "effect": effect}


def _refusal(answer: Any, call: ToolCall) -> str | None:
    """Why the person refuses this call, or `None` if they approve it."""
    if isinstance(answer, Mapping) and call["id"] in answer:
        answer = answer[call["id"]]
    elif isinstance(answer, Mapping) and not {"reject", "approve"} & set(answer):
        return "no decision was given"
    if isinstance(answer, Mapping):
        if answer.get("approve") is True:
            return None
        return str(answer.get("reject") or "no reason given")
    if answer is True:
        return None
    word = str(answer).strip().lower()
    return None if word in ("approve", "approved", "yes", "y", "ok") else "no reason given"


def _rejected(call: ToolCall, why: str) -> ToolMessage:
    text = f"Rejected by the user: {why}. Do not make this call again."
    return own(unanswered(call, text))
