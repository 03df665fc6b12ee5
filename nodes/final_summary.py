"""The final summary: counted from the record first, the model's words second, if they come."""

import time
from collections.abc import Sequence
from typing import Final

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from planloop.models import Blocking, ModelSource, Steps, ask, text_of
from planloop.state import (
    Budget,
    PlanningState,
    PlanningUpdate,
    PlanReport,
    Usage,
    add_usage,
    build_report,
    cut_middle,
    enter,
    no_usage,
    overclaim,
    plan_mark,
    ready_steps,
    report_text,
)

from ._budget import priced, reached
from ._checks import missing_files
from ._nesting import capped, tell
from ._node import Node
from ._prompts import prompt
from ._saved_report import save_report

_PROSE: Final = 4_000  # characters of the model's words
_RECURSION: Final = (
    "The plan was ended early: the recursion limit of the graph around it leaves no room for "
    'another step. Call that graph with a larger one, as in config={"recursion_limit": 1000}.'
)


def make_final_summary(source: ModelSource, budget: Budget) -> Node:
    """The node `final_summary`. The report is saved beside the workspace, if there is one."""

    def final_summary(state: PlanningState) -> Steps[PlanningUpdate]:
        plan, phase = state["plan"], enter(state["phase"], "FINAL_SUMMARY")
        tell("phase", phase=phase)
        missing = yield Blocking(missing_files, (state["task"],))
        facts = report_text(plan, _report(state, budget, no_usage(), missing))
        prose, problem, spent = yield from _prose(source, state["task"], facts)
        report = _report(state, budget, spent, missing)
        if claim := overclaim(prose, report):
            prose, problem = "", f"The model's summary was left out. {claim}"
        report["warnings"] += [problem] if problem else []
        files, problem = yield from save_report(plan, report, prose)
        report["warnings"] += [problem] if problem else []
        done = enter(phase, "DONE")
        tell("phase", phase=done, report=dict(report), files=files)
        summary = _summary(report_text(plan, report), prose)
        return PlanningUpdate(
            phase=done,
            plan_id=plan_mark(plan),
            report=report,
            summary=summary,
            messages=[AIMessage(summary)],
            usage=spent,
            active=[],
            follow_up="",  # the next run on this thread begins anew, unless it says so again
        )

    return Node(final_summary)


def _summary(facts: str, prose: str) -> str:
    return f"{facts}\n\nSummary by the model:\n{prose}" if prose else facts


def _report(
    state: PlanningState, budget: Budget, spent: Usage, missing: Sequence[str]
) -> PlanReport:
    usage = add_usage(state["usage"], spent)
    usage = priced({**usage, "seconds": time.time() - state["started"]}, budget)
    warnings = list(state["warnings"])
    halt, task = state.get("halt"), state.get("task_check")
    opened = any(step.status == "not_started" for step in state["plan"].steps)
    ready = ready_steps(state["plan"]) if opened else []
    if halt:
        warnings.append(halt["reason"])
    elif opened and (limit := reached(capped(budget), usage)):
        warnings.append(f"The plan was ended early. {limit.detail}")
    elif ready and state["recovery"] != "stop":
        warnings.append(_RECURSION)
    if task and task["verdict"] == "not_met":
        warnings.append(f"The results do not answer the request: {task['evidence']}")
    elif task and task["verdict"] == "unknown":
        warnings.append("It is not shown that the results answer the request.")
    if missing:
        warnings.append(f"Named in the request, not in the workspace: {', '.join(missing)}.")
    return build_report(
        state["plan"],
        usage=usage,
        replans=state["replans"],
        warnings=warnings,
        cancelled=halt is not None,
        task=task,
        facts=state.get("facts"),
        root_causes=state.get("root_causes", ()),
    )


def _prose(source: ModelSource, task: str, facts: str) -> Steps[tuple[str, str, Usage]]:
    """The model's words, a warning if it failed, and what it cost."""
    request = [
        SystemMessage(prompt("summary")),
        HumanMessage(f"The request:\n{task}\n\nThe report:\n{cut_middle(facts, 12_000)}"),
    ]
    if source.is_loaded and not source.judges:  # a tiny model would only invent
        return "", "", no_usage()
    answer = yield from ask(source, request, internal=True)
    if answer.message is None:
        return "", f"No summary by the model: {answer.problem}", no_usage()
    return cut_middle(text_of(answer.message), _PROSE), "", answer.usage
