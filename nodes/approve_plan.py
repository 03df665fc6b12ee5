"""Approve the plan: a person accepts it, edits it, sends it back, or calls it off."""

from collections.abc import Mapping
from typing import Any

from langgraph.types import interrupt

from planloop.state import (
    Approval,
    Plan,
    PlanError,
    PlanningState,
    PlanningUpdate,
    enter,
    plan_mark,
    update_plan,
)

from ._node import Node
from .generate import PlanMaker

_YES = frozenset({"accept", "accepted", "approve", "approved", "yes", "y", "ok"})
_NO = frozenset({"reject", "rejected", "no", "n", "cancel", "stop"})


def make_approve_plan(maker: PlanMaker) -> Node:
    """The node `approve_plan`.

    The interrupt's value is `{"type": "plan_approval", "plan": {...}, "text": "...",
    "problem": "..."}`. Answers: true or "accept"; false or "reject" (ends the run);
    `{"action": "edit", "steps": [...]}`; `{"action": "reject", "comment": "..."}` (plans again).
    Any other answer, and an edit that breaks a rule of plans, asks again with the problem named.
    """

    def approve_plan(state: PlanningState) -> PlanningUpdate:
        plan, before = state["plan"], state["approval"]
        problem = before["comment"] if before["decision"] == "unclear" else ""
        answer = interrupt(
            {
                "type": "plan_approval",
                "plan": plan.model_dump(mode="json"),
                "text": plan.render(),
                "problem": problem,
            }
        )
        approval = read_approval(answer)
        if isinstance(answer, Mapping) and answer.get("action") == "edit":
            try:
                edited = _edited(maker, plan, answer)
            except PlanError as error:
                return PlanningUpdate(approval=_said("unclear", str(error)))
            return PlanningUpdate(
                plan=edited.model_dump(mode="json"),
                plan_id=plan_mark(edited),
                approval=_said("accepted"),
            )
        if approval["decision"] == "rejected":
            phase = enter(state["phase"], "NO_PLAN")
            return PlanningUpdate(phase=phase, approval=approval, plan=Plan().model_dump())
        return PlanningUpdate(approval=approval)

    return Node(approve_plan)


def _edited(maker: PlanMaker, plan: Plan, answer: Mapping[str, Any]) -> Plan:
    """The plan with the person's steps, held against the same rules as a model's."""
    edited = update_plan(
        plan,
        {"steps": answer.get("steps"), "title": answer.get("title") or ""},
        reason="edited by a person",
        max_steps=maker.max_steps,
        executors=maker.names,
    )
    return maker.checked(edited).model_copy(update={"origin": "user"})


def read_approval(answer: Any) -> Approval:
    """What an answer means; only a clear yes accepts."""
    comment = ""
    if isinstance(answer, Mapping):
        comment = str(answer.get("comment") or "").strip()
        answer = answer.get("action", "")
    word = answer.strip().lower() if isinstance(answer, str) else ""
    if answer is True or word in _YES:
        return _said("accepted", comment)
    if answer is False or word in _NO:
        return _said("rejected", comment) if comment else _said("cancelled")
    return _said("unclear", "Answer accept, reject, or give the edited steps.")


def _said(decision: Any, comment: str = "") -> Approval:
    return Approval(decision=decision, comment=comment)
