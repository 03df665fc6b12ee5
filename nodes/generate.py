"""Generate: draft the plan, or draft it anew after a review."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from planloop.models import ModelSource, Steps, Structured, structured
from planloop.state import (
    ModelSetupError,
    Plan,
    PlanDraft,
    PlanError,
    PlannerState,
    PlannerUpdate,
    ShortDraft,
    add_usage,
    create_plan,
    fallback_plan,
    unknown_tags,
)
from planloop.tools import Check

from ._node import Node
from ._prompts import prompt
from ._request import asked_for, described


@dataclass(frozen=True)
class PlanMaker:
    """What a planner is built from."""

    source: ModelSource
    executors: Mapping[str, str]
    """Names and descriptions."""
    max_steps: int
    strict_tags: bool = False
    checks: Mapping[str, Check] = field(default_factory=dict)
    """Checks that criteria may name; the planner is told of them."""

    @property
    def names(self) -> tuple[str, ...]:
        """The executors a step may name."""
        return tuple(self.executors)

    def plan(self, draft: Any, request: str) -> Plan:
        """Make the plan, or raise `PlanError` with the rule that the draft breaks."""
        plan = create_plan(draft, request=request, max_steps=self.max_steps, executors=self.names)
        return self.checked(plan)

    def checked(self, plan: Plan) -> Plan:
        """The plan, unless a tag names an unknown executor and tags are strict."""
        for step in plan.steps if self.strict_tags else ():
            if unknown := unknown_tags(step, self.names):
                raise PlanError(
                    f"{step.id} names '{unknown[0]}': use one of {', '.join(self.names)}."
                )
        return plan


def make_generate(maker: PlanMaker) -> Node:
    """The node `generate`."""

    def generate(state: PlannerState) -> Steps[PlannerUpdate]:
        revising = state.get("revising", False)
        request = state["task"] if revising else asked_for(state)
        wanted = yield from _schema(maker)
        result: Structured[Any] = yield from structured(
            maker.source,
            draft_request(maker, request, state if revising else None),
            wanted,
            check=lambda draft: maker.plan(draft.model_dump(), request),
        )
        begun = state if revising else None
        problems = [*(begun["problems"] if begun else []), *result.problems]
        if result.problem and result.problem not in problems:
            problems.append(result.problem)
        # Where no new draft comes, the reviewed one is better than none.
        keep = begun is not None and result.value is None
        update = PlannerUpdate(
            request="",
            task=request,
            revising=False,
            reviews=begun["reviews"] if begun else 0,
            review=begun["review"] if begun else "",
            approved=False,
            reviewed=keep,
            problems=problems,
            form=result.form,
            usage=add_usage(begun["usage"] if begun else None, result.usage),
        )
        if keep:
            return update
        plan = (
            fallback_plan(request)
            if result.value is None
            else maker.plan(result.value.model_dump(), request)
        )
        if result.value is not None and result.reasked:
            plan = plan.model_copy(update={"origin": "repaired"})
        update["plan"] = plan.model_dump(mode="json")
        update["messages"] = [AIMessage(str(plan), name="planner")]
        return update

    return Node(generate)


def _schema(maker: PlanMaker) -> Steps[type[PlanDraft] | type[ShortDraft]]:
    """What to ask for: a tiny model fills fields that it does not understand with noise."""
    try:
        yield from maker.source.load()
    except ModelSetupError:  # `structured` meets it again and says so
        return PlanDraft
    return PlanDraft if maker.source.judges else ShortDraft


def draft_request(maker: PlanMaker, request: str, state: PlannerState | None) -> list[BaseMessage]:
    """The planner's request: always the task; after a review also the plan and what it said."""
    told = described(maker.executors, maker.checks if maker.source.judges else None)
    system = prompt("planner", max_steps=str(maker.max_steps), executors=told)
    parts = [f"Task:\n{request}"]
    if state is not None:
        draft = PlanDraft.model_validate(state["plan"].model_dump(mode="json"))
        parts += [f"Your plan:\n{draft.model_dump_json()}", f"Review:\n{state['review']}"]
        parts.append("Write the whole plan again with what the review asks for.")
    return [SystemMessage(system), HumanMessage("\n\n".join(parts))]
