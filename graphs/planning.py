"""The planning lifecycle: make a plan, have each step done and checked, report truthfully."""

from collections.abc import Mapping
from functools import partial
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from planloop.models import ModelLike, ModelSource, model_roles
from planloop.nodes import (
    Bounds,
    Briefing,
    Executor,
    ExecutorLike,
    Node,
    PlanMaker,
    Roster,
    Router,
    Verifier,
    as_executors,
    hand_over,
    make_approve_plan,
    make_ask_person,
    make_clarify,
    make_complete_step,
    make_create_plan,
    make_create_plan_by_tool,
    make_dispatch,
    make_fallback_plan,
    make_final_summary,
    make_intake,
    make_replan,
    make_report_error,
    make_run_executor,
    make_select_step,
    make_start_step,
    make_verify_step,
    make_verify_task,
    task_for,
)
from planloop.state import (
    Budget,
    PlanningInput,
    PlanningOutput,
    PlanningState,
    RunContext,
    WrongUse,
)
from planloop.tools import Check, checks_of

from ._dispatch import create_dispatch
from ._routes import (
    AFTER_APPROVAL,
    AFTER_COMPLETE,
    AFTER_ERROR,
    AFTER_FALLBACK,
    AFTER_PLAN,
    AFTER_REPLAN,
    AFTER_VERIFY,
    Routes,
)
from .planner import create_planner_graph

PlanningGraph = CompiledStateGraph[PlanningState, RunContext, PlanningInput, PlanningOutput]
_Builder = StateGraph[PlanningState, RunContext, PlanningInput, PlanningOutput]


def create_planning_graph(
    model: ModelLike | Mapping[str, ModelLike] = None,
    executors: ExecutorLike | Mapping[str, ExecutorLike] | None = None,
    *,
    default_executor: str | None = None,
    planner: Literal["reflect", "tool"] = "reflect",
    max_reflections: int = 1,
    clarify: int = 0,
    approve_plan: bool = False,
    verify: bool = True,
    checks: Mapping[str, Check] | None = None,
    verify_task: bool = False,
    max_attempts: int = 2,
    max_replans: int = 1,
    stop_on_blocked: bool = False,
    max_parallel_steps: int = 1,
    max_plan_steps: int = 50,
    strict_tags: bool = False,
    show_future_steps: bool = True,
    budget: Budget = Budget(steps=None),
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
) -> PlanningGraph:
    """Build the lifecycle graph: in goes a `request`, out come `plan`, `report` and `summary`.

    Each phase of `planloop.TRANSITIONS` is a node. A step is completed only by an executor's
    outcome that is really done and by criteria of which none is known to be unmet; it is called
    verified only if all were shown to be met. A failed step is tried again, then the plan is made
    anew, then the step is blocked with what depends on it; each is bounded.

    Args:
        model: A chat model, `"provider:name"`, `None` for the default of the environment, or a
            mapping of roles (`planner`, `reviewer`, `judge`, `summary`, `default`) to these.
        executors: One executor or a mapping of names to executors. An executor is a compiled
            graph with `messages`, a function `(brief) -> str | Outcome`, or an `Executor`.
        default_executor: Who does steps that name nobody; default is the first.
        planner: `reflect`: generate and review; `tool`: one call of the planning tool.
        max_reflections: Reviews of a plan at most.
        clarify: Questions to a person before planning, at most.
        approve_plan: Ask a person before the first step, and again when the plan was made anew.
        verify: Have success criteria checked by code where they name a check, else judged by the
            model of role `judge`, which may also change steps that have not begun.
        checks: Checks by name, besides `file` and `regex`: a criterion `name: argument` is
            decided by the check of that name. `command_check("pytest")` makes one that runs
            programs; without one no plan runs a command.
        verify_task: Have the results of a completed plan held against the request, and plan anew
            where they do not answer it.
        max_attempts: Executor runs for one step at most.
        max_replans: New plans after failures at most.
        stop_on_blocked: End the run when a step is blocked; else what needs it is blocked, and
            the other steps go on.
        max_parallel_steps: Independent steps that may run side by side.
        max_plan_steps: Steps that a plan may have.
        strict_tags: Refuse a plan that names an unknown executor in a tag.
        show_future_steps: Let executors see the steps that come after theirs.
        budget: What the whole plan may spend; each executor has its own besides.
        checkpointer: Where runs are saved; `None` inherits that of a graph around this one.
        store: LangGraph's store; with one, a running plan hears `Runs.note`, `pause`, `cancel`.

    Raises:
        WrongUse: No executor, an unknown default executor, an unknown role.
    """
    workers = as_executors(executors)
    default = default_executor or next(iter(workers))
    if default not in workers:
        raise WrongUse(f"default_executor '{default}' is none of {', '.join(workers)}.")
    roles = model_roles(model, ("planner", "reviewer", "judge", "summary"))
    known_checks = checks_of(checks)
    maker = PlanMaker(
        roles["planner"],
        {n: e.description for n, e in workers.items()},
        max_plan_steps,
        strict_tags,
        known_checks if verify else {},
    )
    verifier = Verifier(roles["judge"], known_checks, verify, may_revise=not approve_plan)
    brief = partial(task_for, show_future_steps=show_future_steps)
    bounds = Bounds(max_attempts, max_replans, stop_on_blocked)
    routes = Routes(approve_plan, budget, max_replans, verify_task)
    after_complete = [*AFTER_COMPLETE, "verify_task"] if verify_task else AFTER_COMPLETE
    builder: _Builder = (
        StateGraph(
            PlanningState,
            context_schema=RunContext,
            input_schema=PlanningInput,
            output_schema=PlanningOutput,
        )
        .add_node("intake", make_intake(maker))
        .add_node("create_plan", _plan_node(roles, maker, planner, max_reflections))
        .add_node("fallback_plan", make_fallback_plan())
        .add_node("approve_plan", make_approve_plan(maker))
        .add_node("select_step", make_select_step(max_parallel_steps))
        .add_node("start_step", make_start_step(Roster(workers, default, max_attempts)))
        .add_node("run_executor", _executor_node(workers, budget, brief))
        .add_node("verify_step", make_verify_step(verifier))
        .add_node("complete_step", make_complete_step())
        .add_node("report_error", make_report_error(bounds))
        .add_node("replan", make_replan(maker))
        .add_node("final_summary", make_final_summary(roles["summary"], budget))
        .add_edge(START, "intake")
        .add_edge("intake", "clarify" if clarify else "create_plan")
        .add_conditional_edges("create_plan", Router(routes.after_plan), AFTER_PLAN)
        .add_conditional_edges("fallback_plan", Router(routes.after_fallback), AFTER_FALLBACK)
        .add_conditional_edges("approve_plan", Router(routes.after_approval), AFTER_APPROVAL)
        .add_edge("select_step", "start_step")
        .add_edge("run_executor", "verify_step")
        .add_conditional_edges("verify_step", Router(routes.after_verify), AFTER_VERIFY)
        .add_conditional_edges("complete_step", Router(routes.after_complete), after_complete)
        .add_conditional_edges("report_error", Router(routes.after_error), AFTER_ERROR)
        .add_conditional_edges("replan", Router(routes.after_replan), AFTER_REPLAN)
        .add_edge("final_summary", END)
    )
    if max_parallel_steps > 1:
        builder.add_conditional_edges("start_step", Router(hand_over(brief)), ["run_executor"])
    else:
        builder.add_edge("start_step", "run_executor")
    if clarify:
        _add_questions(builder, routes, roles["planner"], clarify)
    if verify_task:
        _add_task_check(builder, routes, roles["judge"])
    graph: PlanningGraph = builder.compile(checkpointer=checkpointer, store=store, name="planning")
    return graph


def _add_questions(builder: _Builder, routes: Routes, source: ModelSource, most: int) -> None:
    """Questions before planning, one at a time."""
    after = Router(routes.after_clarify)
    builder.add_node("clarify", make_clarify(source, most))
    builder.add_node("ask_person", make_ask_person())
    for node in ("clarify", "ask_person"):
        builder.add_conditional_edges(node, after, ["ask_person", "create_plan"])


def _add_task_check(builder: _Builder, routes: Routes, source: ModelSource) -> None:
    """A check of the whole before the summary."""
    builder.add_node("verify_task", make_verify_task(source))
    builder.add_conditional_edges(
        "verify_task", Router(routes.after_task), ["replan", "final_summary"]
    )


def _plan_node(
    roles: Mapping[str, ModelSource], maker: PlanMaker, planner: str, max_reflections: int
) -> Node:
    if planner == "tool":
        return make_create_plan_by_tool(maker)
    if planner != "reflect":
        raise WrongUse(f"planner is 'reflect' or 'tool', not {planner!r}.")
    graph = create_planner_graph(
        roles,
        max_reflections=max_reflections,
        max_plan_steps=maker.max_steps,
        executors=maker.executors,
        checks=maker.checks,
    )
    return make_create_plan(graph, max_reflections=max_reflections)


def _executor_node(workers: Mapping[str, Executor], budget: Budget, brief: Briefing) -> Node:
    """A lone executor is drawn as itself; several as a graph with a node for each."""
    if len(workers) == 1:
        return make_run_executor(next(iter(workers.values())), budget, brief)
    return make_dispatch(create_dispatch(workers), budget, brief)
