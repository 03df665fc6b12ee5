"""Replan: ask for new steps after a failure. What is finished stays, put in front by code."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from planloop.models import Steps, emit, structured
from planloop.state import (
    Plan,
    PlanDraft,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    apply_patch,
    blocked_dependents,
    cut_middle,
    no_usage,
    plan_mark,
    update_plan,
)

from ._node import Node
from ._prompts import prompt
from ._request import described
from .generate import PlanMaker


def make_replan(maker: PlanMaker) -> Node:
    """The node `replan`."""

    def replan(state: PlanningState) -> Steps[PlanningUpdate]:
        plan = state["plan"]
        failed = [step for step in plan.steps if step.id in state["active"]]
        failed = [step for step in failed if step.status == "blocked"]
        reason = "; ".join(f"{step.id}: {step.notes}" for step in failed)

        def changed(draft: PlanDraft) -> Plan:
            return _new_version(maker, plan, draft, failed, reason)

        result = yield from structured(
            maker.source, _request(maker, plan, failed), PlanDraft, check=changed
        )
        update = PlanningUpdate(
            replans=state["replans"] + 1, recovery="none", usage=result.usage or no_usage()
        )
        if result.value is None:
            patch: dict[str, Any] = {}
            for step in failed:
                patch |= blocked_dependents(apply_patch(plan, patch), step.id)
            why = f"No new plan could be made after the failure: {result.problem}"
            return {**update, "plan": patch, "warnings": [why]}
        new = changed(result.value)
        emit("replan", reason=reason, plan=new.model_dump(mode="json"))
        return {**update, "plan": new.model_dump(mode="json"), "plan_id": plan_mark(new)}

    return Node(replan)


def _new_version(
    maker: PlanMaker, plan: Plan, draft: PlanDraft, failed: Sequence[PlanStep], reason: str
) -> Plan:
    """The next version: finished steps in front, blocked ones that are kept are open again."""
    new = update_plan(
        plan,
        draft,
        reason=f"replanned: {reason}",
        max_steps=max(maker.max_steps, len(plan.steps)),
        executors=tuple(maker.executors),
        keep_completed=True,
    )
    again = {step.id for step in failed} & {step.id for step in new.steps}
    return apply_patch(new, {step_id: {"status": "not_started"} for step_id in again})


def _request(maker: PlanMaker, plan: Plan, failed: Sequence[PlanStep]) -> list[BaseMessage]:
    left = max(maker.max_steps - plan.counts()["completed"], 1)
    system = prompt("replan", max_steps=str(left), executors=described(maker.executors))
    done = [
        f"[{step.id}] {step.text}\n{cut_middle(step.result, 800)}"
        for step in plan.steps
        if step.status == "completed"
    ]
    wrong = [f"[{step.id}] {step.text}\n{step.notes}" for step in failed]
    open_steps = [f"[{s.id}] {s.text}" for s in plan.steps if s.status == "not_started"]
    parts = [f"The request:\n{plan.request}"]
    for heading, items in (
        ("Finished steps with their results", done),
        ("Failed", wrong),
        ("Steps that were still to come", open_steps),
    ):
        if items:
            parts.append(f"{heading}:\n" + "\n".join(items))
    return [SystemMessage(system), HumanMessage("\n\n".join(parts))]
