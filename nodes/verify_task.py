"""Verify the task: hold what came out of the whole plan against the request."""

from typing import Final

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage

from planloop.models import ModelSource, Steps, structured
from planloop.state import (
    ModelSetupError,
    Plan,
    PlanningState,
    PlanningUpdate,
    Verdict,
    cut_middle,
    no_usage,
    one_line,
)

from ._judge import JudgedCriterion, fenced, occurs
from ._nesting import tell
from ._node import Node
from ._prompts import prompt

CRITERION: Final = "the results answer the request"
_RESULTS: Final = 16_000  # characters of results that the judge is told


def make_verify_task(source: ModelSource) -> Node:
    """The node `verify_task`. A judge who cannot be heard leaves the task unverified."""

    def verify_task(state: PlanningState) -> Steps[PlanningUpdate]:
        plan = state["plan"]
        unknown = Verdict(criterion=CRITERION, verdict="unknown", evidence="")
        try:
            yield from source.load()
        except ModelSetupError as error:
            return PlanningUpdate(task_check=unknown, warnings=[f"Not checked: {error}"])
        if not source.judges:
            return PlanningUpdate(task_check=unknown)
        result = yield from structured(source, _request(plan, state["task"]), JudgedCriterion)
        update = PlanningUpdate(usage=result.usage or no_usage())
        said, check = result.value, unknown
        if said is None:
            untold = f"The results were not held against the task: {result.problem}"
            return {**update, "task_check": unknown, "warnings": [untold]}
        shown = "\n".join(step.result for step in plan.steps)
        if said.verdict == "not_met" or (said.verdict == "met" and occurs(said.evidence, shown)):
            evidence = one_line(said.evidence, 500) or "it says not what is missing"
            check = Verdict(criterion=CRITERION, verdict=said.verdict, evidence=evidence)
        tell("verify_task", verdict=check)
        return {**update, "task_check": check}

    return Node(verify_task)


def _request(plan: Plan, task: str) -> list[BaseMessage]:
    share = _RESULTS // max(len(plan.steps), 1)
    results = "\n".join(
        f"[{s.id}] ({s.status}) {one_line(s.text, 200)}\n{cut_middle(s.result or s.notes, share)}"
        for s in plan.steps
    )
    text = f"The request:\n{task}\n\n<results>\n{fenced(results)}\n</results>"
    return [SystemMessage(prompt("judge_task")), HumanMessage(text)]
