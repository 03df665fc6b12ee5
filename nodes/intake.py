"""Intake: read the request and forget what belongs to an earlier run on this thread."""

import time

from langgraph.types import Overwrite

from planloop.models import emit
from planloop.state import Plan, PlanningState, PlanningUpdate, adopt_plan, no_usage, plan_mark

from ._node import Node
from ._request import asked_for
from .generate import PlanMaker


def make_intake(maker: PlanMaker) -> Node:
    """The node `intake`. A plan given by the caller is held against the rules and taken over."""

    def intake(state: PlanningState) -> PlanningUpdate:
        request = asked_for(state)
        plan = state["plan"]
        given = plan.steps and plan_mark(plan) != state.get("plan_id")
        plan = _adopted(maker, plan, request) if given else Plan()
        emit("phase", phase="NO_PLAN")
        return PlanningUpdate(
            request="",
            task=request,
            plan=plan.model_dump(mode="json"),
            plan_id=plan_mark(plan),
            phase="NO_PLAN",
            active=[],
            recovery="none",
            replans=0,
            approval={"decision": "accepted", "comment": ""},
            started=time.time(),
            usage=Overwrite(no_usage()),  # type: ignore[typeddict-item]  # for the reducer
            warnings=Overwrite([]),  # type: ignore[typeddict-item]  # for the reducer
        )

    return Node(intake)


def _adopted(maker: PlanMaker, plan: Plan, request: str) -> Plan:
    plan = adopt_plan(plan, request=request, max_steps=maker.max_steps, executors=maker.names)
    return maker.checked(plan)
