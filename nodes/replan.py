"""Replan: ask for new steps. What is finished stays, put in front by code."""

from dataclasses import dataclass, field
from typing import Any, Final

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from pydantic import Field, field_validator

from planloop.models import Steps, structured
from planloop.state import (
    Approval,
    Facts,
    Plan,
    PlanDraft,
    PlanningState,
    PlanningUpdate,
    PlanStep,
    StepFields,
    apply_patch,
    blocked_dependents,
    cut_middle,
    no_usage,
    one_line,
    plan_mark,
    update_plan,
)

from ._nesting import tell
from ._node import Node
from ._prompts import prompt
from ._request import described
from .generate import PlanMaker
from .report_error import failure_key

_RESULTS: Final = 16_000  # characters of finished results that the planner is told
_LEAST: Final = 80  # of each


class Replanned(PlanDraft):
    """The steps still to be done, with what they rest on."""

    facts: Facts = Field(default_factory=Facts, description="What is known now")
    root_cause: str = Field(default="", description="Why it failed, in one sentence")

    @field_validator("facts", mode="before")
    @classmethod
    def _no_facts(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {}

    @field_validator("root_cause", mode="before")
    @classmethod
    def _one_line(cls, value: Any) -> str:
        return one_line(str(value or ""), 300)


@dataclass(frozen=True)
class _Cause:
    """Why there is to be another plan."""

    failed: list[PlanStep] = field(default_factory=list)
    wishes: list[str] = field(default_factory=list)
    """What the person says."""
    missing: str = ""
    """Why the results do not answer the request."""

    @property
    def is_ours(self) -> bool:
        """Whether this is a failure, of which there is a bounded number, and no person's wish."""
        return bool(self.failed or self.missing)

    def __str__(self) -> str:
        parts = [f"{step.id}: {step.notes}" for step in self.failed]
        parts += [f"the person says: {wish}" for wish in self.wishes]
        return "; ".join([*parts, *([self.missing] if self.missing else [])])


def make_replan(maker: PlanMaker) -> Node:
    """The node `replan`."""

    def replan(state: PlanningState) -> Steps[PlanningUpdate]:
        plan, cause = state["plan"], _cause(state)
        facts = Facts(**(state.get("facts") or {}))

        def changed(draft: Replanned) -> Plan:
            return _new_version(maker, plan, draft, str(cause))

        request = _request(maker, plan, cause, facts)
        result = yield from structured(maker.source, request, Replanned, check=changed)
        update = PlanningUpdate(
            replans=state["replans"] + cause.is_ours,
            failures=[*(state.get("failures") or []), *map(failure_key, cause.failed)],
            recovery="none",
            steer="",
            task_check=None,
            usage=result.usage or no_usage(),
        )
        if result.value is None:
            return {**update, **_given_up(state, cause, result.problem)}
        new = changed(result.value)
        tell("replan", reason=str(cause), plan=new.model_dump(mode="json"))
        if root := result.value.root_cause:
            update["root_causes"] = [*(state.get("root_causes") or []), root]
        update["facts"] = result.value.facts.merged(facts).model_dump()
        same = _words_of(new) == _words_of(plan)
        update["approval"] = _approval("accepted" if same else "pending", str(cause))
        return {**update, "plan": new.model_dump(mode="json"), "plan_id": plan_mark(new)}

    return Node(replan)


def _cause(state: PlanningState) -> _Cause:
    active = [step for step in state["plan"].steps if step.id in state["active"]]
    wishes = [wish] if (wish := state.get("steer")) else []
    if state["approval"]["decision"] == "rejected":
        wishes.append(state["approval"]["comment"])
    check = state.get("task_check")
    missing = check["evidence"] if check and check["verdict"] == "not_met" else ""
    return _Cause([step for step in active if step.status == "blocked"], wishes, missing)


def _given_up(state: PlanningState, cause: _Cause, problem: str) -> PlanningUpdate:
    """Without a new plan the old one goes on: what failed stays blocked, and what needs it."""
    patch: dict[str, Any] = {}
    for step in cause.failed:
        patch |= blocked_dependents(apply_patch(state["plan"], patch), step.id)
    why = f"No new plan could be made ({cause}): {problem}"
    update = PlanningUpdate(plan=patch, warnings=[why])
    if state["approval"]["decision"] == "rejected":
        update["approval"] = Approval(decision="unclear", comment=why, reason=str(cause))
    return update


def _approval(decision: Any, reason: str) -> Approval:
    return Approval(decision=decision, comment="", reason=reason)


def _words_of(plan: Plan) -> list[dict[str, Any]]:
    """What is written of the steps that are still to be done."""
    fields = set(StepFields.model_fields)
    return [step.model_dump(include=fields) for step in plan.steps if step.status != "completed"]


def _new_version(maker: PlanMaker, plan: Plan, draft: PlanDraft, reason: str) -> Plan:
    """The next version: finished steps in front, blocked ones that are kept are open again."""
    new = update_plan(
        plan,
        draft,
        reason=f"replanned: {reason}",
        max_steps=max(maker.max_steps, len(plan.steps)),
        executors=maker.names,
        keep_completed=True,
    )
    again = {s.id: {"status": "not_started"} for s in new.steps if s.status == "blocked"}
    return maker.checked(apply_patch(new, again))


def _request(maker: PlanMaker, plan: Plan, cause: _Cause, facts: Facts) -> list[BaseMessage]:
    finished = [step for step in plan.steps if step.status == "completed"]
    left = max(maker.max_steps - len(finished), 1)
    system = prompt(
        "replan", max_steps=str(left), executors=described(maker.executors, maker.checks)
    )
    share = max(_RESULTS // max(len(finished), 1), _LEAST)
    done = [f"[{s.id}] {one_line(s.text, 200)}\n{cut_middle(s.result, share)}" for s in finished]
    wrong = [f"[{s.id}] by {s.routed_to or '?'}: {s.text}\n{s.notes}" for s in cause.failed]
    later = [f"[{s.id}] {one_line(s.text, 200)}" for s in plan.steps if s.status == "not_started"]
    parts = [f"The request:\n{plan.request}"]
    for heading, text in (
        ("Facts so far", str(facts)),
        ("Finished steps with their results", "\n".join(done)),
        ("Failed", "\n".join(wrong)),
        ("Not answered yet", cause.missing),
        ("The person says", "\n".join(cause.wishes)),
        ("Steps that were still to come", "\n".join(later)),
    ):
        if text:
            parts.append(f"{heading}:\n{text}")
    return [SystemMessage(system), HumanMessage("\n\n".join(parts))]
