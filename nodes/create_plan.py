"""Create the plan, by the planner's graph or by the planning tool; or take the caller's."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langgraph.pregel import Pregel

from planloop.models import Invoke, Reply, Steps, ask, read_reply
from planloop.state import (
    Plan,
    PlanError,
    PlanningState,
    PlanningUpdate,
    add_usage,
    enter,
    no_usage,
    plan_mark,
    read_draft,
)
from planloop.tools import planning_tool

from ._history import unanswered
from ._inbox import read_inbox
from ._nesting import tell
from ._node import Node
from ._prompts import prompt
from ._request import described
from ._task import placed, task_of
from .generate import PlanMaker

SUPER_STEPS_A_STEP: Final = 5
"""Select, start, run, verify, complete."""
MAX_REASKS: Final = 2


def make_create_plan(planner: Pregel[Any, Any, Any, Any], *, max_reflections: int) -> Node:
    """The node `create_plan` that asks the planner's graph."""

    def create_plan(state: PlanningState) -> Steps[PlanningUpdate]:
        if state["plan"].steps:
            return (yield from created(state, state["plan"]))
        result = yield Invoke(planner, {"request": task_of(state)})
        plan: Plan = result["plan"]
        warnings = [f"Planning: {problem}" for problem in result["problems"]]
        if plan.origin == "fallback":
            return PlanningUpdate(usage=result["usage"], warnings=warnings)
        if max_reflections and not result["approved"]:
            how = "reviewed, but not approved" if result["reviewed"] else "not reviewed"
            warnings.append(f"The plan was {how}.")
        tell("planner", form=result["form"], reviewed=result["reviewed"])
        return (yield from created(state, plan, result["usage"], warnings))

    return Node(create_plan, inner=planner)


def make_create_plan_by_tool(maker: PlanMaker) -> Node:
    """The node `create_plan` that offers the model the planning tool, as OpenManus does.

    The first usable `create` call wins. A `create` call that breaks a rule of plans is answered
    with the rule, at most twice; text, other commands and other tools count for nothing.
    """

    def create_plan(state: PlanningState) -> Steps[PlanningUpdate]:
        if state["plan"].steps:
            return (yield from created(state, state["plan"]))
        system = prompt(
            "plan_tool", max_steps=str(maker.max_steps), executors=described(maker.executors)
        )
        request: list[BaseMessage] = [SystemMessage(system), HumanMessage(task_of(state))]
        usage, problem, reasks = no_usage(), "", 0
        while True:
            answer = yield from ask(maker.source, request, tools=[planning_tool], internal=True)
            if answer.message is None:
                problem = problem or answer.problem
                break
            usage = add_usage(usage, answer.usage)
            reply = read_reply(answer.message)
            plan, problem, broken = _read_calls(reply, maker, state["task"], problem)
            if plan is not None:
                origin = "repaired" if reasks else plan.origin
                plan = plan.model_copy(update={"origin": origin})
                return (yield from created(state, plan, usage))
            if not broken or reasks == MAX_REASKS:
                break
            reasks += 1
            request += _told(reply, broken)
        return PlanningUpdate(usage=usage, warnings=[f"Planning: {problem}"])

    return Node(create_plan)


def _read_calls(
    reply: Reply, maker: PlanMaker, request: str, before: str
) -> tuple[Plan | None, str, str]:
    """The plan of the first usable call; else what went wrong, and the rule that a call broke."""
    broken = ""
    for call in reply.calls:
        args = call["args"]
        if call["name"].strip() != planning_tool.name or args.get("command") != "create":
            continue
        try:
            draft = read_draft({"title": args.get("title"), "steps": args.get("steps") or []})
            if draft.steps:  # asked again, a model that sees no steps sees none
                return maker.plan(draft, request), "", ""
        except PlanError as error:
            broken = broken or str(error)
    nothing = "the model made no usable call of the planning tool."
    return None, broken or before or nothing, broken


def _told(reply: Reply, broken: str) -> Sequence[BaseMessage]:
    """The model's turn, each of its calls answered with what is wrong."""
    text = f"That cannot be used: {broken} Call the tool again with the whole corrected plan."
    message: AIMessage = reply.message
    return [message, *(unanswered(call, text) for call in reply.calls), *reply.answers]


def created(
    state: PlanningState,
    plan: Plan,
    usage: Any = None,
    warnings: Sequence[str] = (),
) -> Steps[PlanningUpdate]:
    """Enter `PLAN_CREATED` with this plan."""
    plan = placed(state, plan.model_copy(update={"request": state["task"]}))
    phase = enter(state["phase"], "PLAN_CREATED")
    tell("phase", phase=phase, plan=plan.model_dump(mode="json"))
    heard = yield from read_inbox(state)
    warned = list(warnings)
    if state["remaining_steps"] < SUPER_STEPS_A_STEP * len(plan.steps):
        warned.append(
            f"The plan has {len(plan.steps)} steps, and the recursion limit of the graph around it "
            'is too small for all of them: call it with config={"recursion_limit": 1000}.'
        )
    update = PlanningUpdate(
        plan=plan.model_dump(mode="json"), plan_id=plan_mark(plan), phase=phase, warnings=warned
    )
    if usage is not None:
        update["usage"] = usage
    return {**update, **heard}
