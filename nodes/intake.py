"""Intake: read the request and forget what belongs to an earlier run on this thread."""

import time

from langgraph.types import Overwrite

from planloop.models import Steps
from planloop.state import (
    Plan,
    PlanningState,
    PlanningUpdate,
    adopt_plan,
    no_usage,
    plan_mark,
)

from ._inbox import old_words
from ._nesting import check_depth, tell
from ._node import Node
from ._request import asked_for
from .generate import PlanMaker


def make_intake(maker: PlanMaker) -> Node:
    """The node `intake`. A plan given by the caller is held against the rules and taken over."""

    def intake(state: PlanningState) -> Steps[PlanningUpdate]:
        check_depth()
        request = asked_for(state)
        former, follow_up = state["plan"], state.get("follow_up") or ""
        given = former.steps and plan_mark(former) != state.get("plan_id")
        plan = _adopted(maker, _alone(former, state), request) if given else Plan()
        earlier = former if follow_up and former.steps and not given else None
        heard = yield from old_words()
        tell("phase", phase="NO_PLAN")
        return PlanningUpdate(
            request="",
            task=request,
            plan=plan.model_dump(mode="json"),
            plan_id=plan_mark(plan),
            phase="NO_PLAN",
            follow_up=follow_up if earlier else "",
            earlier=earlier.model_dump(mode="json") if earlier else None,
            active=[],
            recovery="none",
            replans=0,
            failures=[],
            revisions=0,
            facts={},
            root_causes=[],
            approval={"decision": "accepted", "comment": ""},
            questions=[],
            advice=[],
            steer="",
            heard=heard,
            paused=False,
            halt=None,
            task_check=None,
            started=time.time(),
            usage=Overwrite(no_usage()),  # type: ignore[typeddict-item]  # for the reducer
            warnings=Overwrite([]),  # type: ignore[typeddict-item]  # for the reducer
        )

    return Node(intake)


def _alone(given: Plan, state: PlanningState) -> Plan:
    """A plan without an id is put on the earlier run's: what it has of that is taken off."""
    if not str(state.get("plan_id") or "").startswith(f"{given.id}#"):
        return given
    title = "" if given.title == given.request else given.title
    return given.model_copy(update={"title": title, "history": [], "version": 1})


def _adopted(maker: PlanMaker, plan: Plan, request: str) -> Plan:
    plan = adopt_plan(plan, request=request, max_steps=maker.max_steps, executors=maker.names)
    return maker.checked(plan)
