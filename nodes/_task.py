"""The task as a planner is told it: the request with all that was said about it since."""

from planloop.state import Plan, PlanningState, as_plan, cut_middle, extended

_EARLIER = 6_000  # characters of an earlier plan
_RESULT = 600  # characters of one earlier result


def task_of(state: PlanningState) -> str:
    """The request, the person's notes, an earlier plan, and why the last draft was sent back."""
    parts = [state["task"]]
    if notes := state.get("advice"):
        parts.append("The person adds:\n" + "\n".join(f"- {note}" for note in notes))
    if earlier := state.get("earlier"):
        parts.append(f"This follows up an earlier request:\n{told_plan(as_plan(earlier))}")
        parts.append(
            "Plan further steps only; what is completed stays done."
            if state.get("follow_up") == "extend"
            else "Plan anew for the new request; use what came out of the earlier one."
        )
    if state["approval"]["decision"] == "rejected":
        parts.append(f"The last plan was sent back: {state['approval']['comment']}")
    return "\n\n".join(parts)


def told_plan(plan: Plan) -> str:
    """A plan with what came out of it."""
    steps = [
        f"[{step.id}] ({step.status}) {step.text}\n{cut_middle(step.result or step.notes, _RESULT)}"
        for step in plan.steps
    ]
    return cut_middle(f"{plan.request}\n\n" + "\n".join(steps), _EARLIER)


def placed(state: PlanningState, plan: Plan) -> Plan:
    """A new plan, put behind the earlier one if the request extends that."""
    if state.get("follow_up") != "extend" or not (earlier := state.get("earlier")):
        return plan
    base = as_plan(earlier)
    longer = extended(base, plan, request=plan.request or state["task"])
    return longer.model_copy(update={"origin": plan.origin})
