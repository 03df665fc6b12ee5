"""The brief: what an executor is told about its step, and what it is not asked to do."""

import time
from collections.abc import Sequence
from typing import cast

from langgraph.config import get_config

from planloop.state import (
    ExecutorTask,
    Plan,
    PlanningState,
    PlanStep,
    StepBrief,
    Usage,
    cut_middle,
    one_line,
)

RESULTS_ROOM = 6_000  # characters of earlier results
STEP_ROOM = 20_000  # characters of the step itself
LATEST = 5  # earlier results that are told where a step names no dependencies
SHOWN_STEPS = 30
ADVICE = 5  # latest notes of the person


def task_for(
    state: PlanningState, step: PlanStep, *, show_future_steps: bool = True
) -> ExecutorTask:
    """The step with its brief, as plain data; and what the plan has spent so far."""
    plan = state["plan"]
    shown = plan if show_future_steps else _so_far(plan)
    plan_text = shown.render(limit=SHOWN_STEPS, width=120)
    brief = make_brief(plan, step, plan_text, state.get("advice") or ())
    spent = {**state["usage"], "seconds": time.time() - state["started"]}
    spent.pop("models", None)
    return ExecutorTask(brief=brief.to_dict(), executor=step.routed_to, spent=cast(Usage, spent))


def _so_far(plan: Plan) -> Plan:
    """The plan without the steps that have not begun: who cannot see them cannot run ahead."""
    begun = [step for step in plan.steps if step.status != "not_started" or step.attempts]
    return plan.model_copy(update={"steps": begun})


def make_brief(plan: Plan, step: PlanStep, plan_text: str, advice: Sequence[str] = ()) -> StepBrief:
    """Brief an executor on one step of a plan."""
    results = earlier_results(plan, step)
    thread = get_config().get("configurable", {}).get("thread_id", "")
    return StepBrief(
        request=plan.request,
        step=step,
        attempt=step.attempts,
        results=results,
        plan_text=plan_text,
        prompt=_text(plan, step, results, plan_text, advice),
        idempotency_key=f"{thread}:{plan.id}:{step.id}:{step.attempts}",
    )


def earlier_results(plan: Plan, step: PlanStep) -> dict[str, str]:
    """Results of what the step depends on, else the latest ones, within a budget of characters."""
    done = [s for s in plan.steps if s.status == "completed" and s.result]
    wanted = [s for s in done if s.id in step.depends_on] if step.depends_on else done[-LATEST:]
    share = RESULTS_ROOM // max(len(wanted), 1)
    return {s.id: cut_middle(s.result, share) for s in wanted}


def _text(
    plan: Plan, step: PlanStep, results: dict[str, str], plan_text: str, advice: Sequence[str]
) -> str:
    title = step.name if step.name == step.description else f"{step.name}\n{step.description}"
    parts = [f"The request:\n{plan.request}"]
    if advice:
        parts.append("The person adds:\n" + "\n".join(f"- {note}" for note in advice[-ADVICE:]))
    if results:
        told = (
            f"[{key}] {one_line(plan.step(key).text, 200)}:\n{text}"
            for key, text in results.items()
        )
        parts.append("Results of earlier steps:\n" + "\n".join(told))
    parts.append(f"The plan so far (context only, others do the other steps):\n{plan_text}")
    if step.attempts > 1 and step.notes:
        parts.append(f"The last attempt at your step failed:\n{step.notes}")
    parts.append(f"Your step ({step.id}):\n{cut_middle(title.strip(), STEP_ROOM)}")
    for heading, items in (
        ("It should leave", step.expected_outputs),
        ("It is done when", step.success_criteria),
    ):
        if items:
            listed = "\n".join(f"- {item}" for item in items)
            parts.append(f"{heading}:\n{cut_middle(listed, STEP_ROOM)}")
    parts.append("Do only this step. Then say what you did and what came out.")
    return "\n\n".join(parts)
