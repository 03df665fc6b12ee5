"""Create the plan, by the planner's graph or by the planning tool; or take the caller's."""

from typing import Any, Final

from langchain_core.messages import HumanMessage, SystemMessage
from langgraph.pregel import Pregel

from planloop.models import Invoke, Steps, ask, emit, read_reply
from planloop.state import Plan, PlanError, PlanningState, PlanningUpdate, enter, plan_mark
from planloop.tools import planning_tool

from ._node import Node
from ._prompts import prompt
from ._request import described
from .generate import PlanMaker

SUPER_STEPS_A_STEP: Final = 5
"""Select, start, run, verify, complete."""


def make_create_plan(planner: Pregel[Any, Any, Any, Any], *, max_reflections: int) -> Node:
    """The node `create_plan` that asks the planner's graph."""

    def create_plan(state: PlanningState) -> Steps[PlanningUpdate]:
        if state["plan"].steps:
            return created(state, state["plan"])
        result = yield Invoke(planner, {"request": task_of(state)})
        plan: Plan = result["plan"]
        warnings = [f"Planning: {problem}" for problem in result["problems"]]
        if plan.origin == "fallback":
            return PlanningUpdate(usage=result["usage"], warnings=warnings)
        if max_reflections and not result["approved"]:
            how = "reviewed, but not approved" if result["reviewed"] else "not reviewed"
            warnings.append(f"The plan was {how}.")
        update = created(state, plan.model_copy(update={"request": state["task"]}))
        emit("planner", form=result["form"], reviewed=result["reviewed"])
        warnings += update.get("warnings", [])
        return {**update, "usage": result["usage"], "warnings": warnings}

    return Node(create_plan, inner=planner)


def make_create_plan_by_tool(maker: PlanMaker) -> Node:
    """The node `create_plan` that offers the model the planning tool, as OpenManus does.

    The first usable `create` call wins; text, other commands and broken calls count for nothing.
    """

    def create_plan(state: PlanningState) -> Steps[PlanningUpdate]:
        if state["plan"].steps:
            return created(state, state["plan"])
        system = prompt(
            "plan_tool", max_steps=str(maker.max_steps), executors=described(maker.executors)
        )
        request = [SystemMessage(system), HumanMessage(task_of(state))]
        answer = yield from ask(maker.source, request, tools=[planning_tool], internal=True)
        if answer.message is None:
            return PlanningUpdate(warnings=[f"Planning: {answer.problem}"])
        plan, problem = _read_calls(read_reply(answer.message).calls, maker, state["task"])
        if plan is None:
            return PlanningUpdate(usage=answer.usage, warnings=[f"Planning: {problem}"])
        return {**created(state, plan), "usage": answer.usage}

    return Node(create_plan)


def _read_calls(calls: Any, maker: PlanMaker, request: str) -> tuple[Plan | None, str]:
    problem = "the model made no usable call of the planning tool."
    for call in calls:
        args = call["args"]
        if call["name"].strip() != planning_tool.name or args.get("command") != "create":
            continue
        try:
            draft = {"title": args.get("title"), "steps": args.get("steps")}
            return maker.plan(draft, request), ""
        except PlanError as error:
            problem = str(error)
    return None, problem


def task_of(state: PlanningState) -> str:
    """The request, with what a person said when they sent the last plan back."""
    approval = state["approval"]
    if approval["decision"] != "rejected":
        return state["task"]
    return f"{state['task']}\n\nThe last plan was sent back: {approval['comment']}"


def created(state: PlanningState, plan: Plan) -> PlanningUpdate:
    """Enter `PLAN_CREATED` with this plan."""
    phase = enter(state["phase"], "PLAN_CREATED")
    emit("phase", phase=phase, plan=plan.model_dump(mode="json"))
    update = PlanningUpdate(plan=plan.model_dump(mode="json"), plan_id=plan_mark(plan), phase=phase)
    if state["remaining_steps"] < SUPER_STEPS_A_STEP * len(plan.steps):
        update["warnings"] = [
            f"The plan has {len(plan.steps)} steps, and the recursion limit of the graph around it "
            'is too small for all of them: call it with config={"recursion_limit": 1000}.'
        ]
    return update
