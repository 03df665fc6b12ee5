"""Approve the plan: a person accepts it, edits it, sends it back, or calls it off."""

from collections.abc import Mapping
from typing import Any, Final

from langgraph.types import interrupt

from planloop.state import (
    Approval,
    Halt,
    Plan,
    PlanError,
    PlanningState,
    PlanningUpdate,
    apply_patch,
    enter,
    plan_diff,
    plan_mark,
    read_plan_lines,
    update_plan,
    versions_of,
)

from ._inbox import CANCELLED
from ._node import Node
from .generate import PlanMaker

_YES: Final = frozenset({"accept", "accepted", "approve", "approved", "yes", "y", "ok"})
_NO: Final = frozenset({"reject", "rejected", "no", "n", "cancel", "stop"})
_EARLY: Final = ("PLAN_CREATED", "FALLBACK_PLAN")
"""Phases in which nothing of the plan has been done yet."""


def make_approve_plan(maker: PlanMaker) -> Node:
    """The node `approve_plan`.

    The interrupt's value is `{"type": "plan_approval", "plan": {...}, "text": "...", "reason":
    "...", "changes": "...", "problem": "..."}`; `text` shows the progress, `reason` and `changes`
    why the plan was made anew and what is different. Answers: true or "accept"; false or "reject"
    (ends the run); `{"action": "edit", "steps": [...]}` or `{"action": "edit", "text": "..."}`
    with a step a line; `{"action": "reject", "comment": "..."}` (plans again).
    Any other answer, and an edit that breaks a rule of plans, asks again with the problem named.
    """

    def approve_plan(state: PlanningState) -> PlanningUpdate:
        plan, before = state["plan"], state["approval"]
        answer = interrupt(_asked(plan, before))
        reason = before.get("reason", "")
        approval: Approval = {**read_approval(answer), "reason": reason}
        if isinstance(answer, Mapping) and answer.get("action") == "edit":
            try:
                edited = _edited(maker, plan, answer)
            except PlanError as error:
                return PlanningUpdate(approval=_said("unclear", str(error), reason))
            return PlanningUpdate(
                plan=edited.model_dump(mode="json"),
                plan_id=plan_mark(edited),
                approval=_said("accepted"),
            )
        update = PlanningUpdate(approval=approval)
        if approval["decision"] == "cancelled":
            update["halt"] = Halt(kind="cancelled", reason=CANCELLED)
        if approval["decision"] == "rejected" and state["phase"] in _EARLY:
            update["phase"] = enter(state["phase"], "NO_PLAN")
            update["plan"] = Plan().model_dump(mode="json")
        return update

    return Node(approve_plan)


def _asked(plan: Plan, before: Approval) -> dict[str, Any]:
    reason = before.get("reason", "")
    return {
        "type": "plan_approval",
        "plan": plan.model_dump(mode="json", exclude={"history"}),
        "text": plan.render(),
        "reason": reason,
        "changes": plan_diff(versions_of(plan)[-2].plan, plan) if reason and plan.history else "",
        "problem": before["comment"] if before["decision"] == "unclear" else "",
    }


def _edited(maker: PlanMaker, plan: Plan, answer: Mapping[str, Any]) -> Plan:
    """The plan with the person's steps, held against the same rules as a model's."""
    steps = answer.get("steps")
    if steps is None and isinstance(answer.get("text"), str):
        steps = read_plan_lines(plan, answer["text"])
    if not isinstance(steps, list):
        raise PlanError("An edit gives steps as a list, or a text with one step a line.")
    edited = update_plan(
        plan,
        {"steps": steps, "title": answer.get("title") or ""},
        reason="edited by a person",
        max_steps=max(maker.max_steps, len(plan.steps)),
        executors=maker.names,
        keep_completed=True,
    )
    again = {s.id: {"status": "not_started"} for s in edited.steps if s.status == "blocked"}
    return maker.checked(apply_patch(edited, again)).model_copy(update={"origin": "user"})


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


def _said(decision: Any, comment: str = "", reason: str = "") -> Approval:
    return Approval(decision=decision, comment=comment, reason=reason)
