"""The planning lifecycle: make a plan, have each step done and checked, report truthfully."""

from collections.abc import Mapping
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer

from planloop.models import ModelLike, ModelSource, model_roles
from planloop.nodes import (
    Bounds,
    Executor,
    ExecutorLike,
    Node,
    PlanMaker,
    Router,
    as_executors,
    hand_over,
    make_approve_plan,
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
)
from planloop.state import (
    Budget,
    PlanningInput,
    PlanningOutput,
    PlanningState,
    RunContext,
    WrongUse,
)

from ._dispatch import create_dispatch
from ._routes import (
    AFTER_APPROVAL,
    AFTER_COMPLETE,
    AFTER_ERROR,
    AFTER_PLAN,
    AFTER_REPLAN,
    AFTER_VERIFY,
    Routes,
)
from .planner import create_planner_graph

PlanningGraph = CompiledStateGraph[PlanningState, RunContext, PlanningInput, PlanningOutput]


def create_planning_graph(
    model: ModelLike | Mapping[str, ModelLike] = None,
    executors: ExecutorLike | Mapping[str, ExecutorLike] | None = None,
    *,
    default_executor: str | None = None,
    planner: Literal["reflect", "tool"] = "reflect",
    max_reflections: int = 1,
    approve_plan: bool = False,
    verify: bool = True,
    max_attempts: int = 2,
    max_replans: int = 1,
    stop_on_blocked: bool = False,
    max_parallel_steps: int = 1,
    max_plan_steps: int = 50,
    strict_tags: bool = False,
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
        approve_plan: Ask a person before the first step.
        verify: Have success criteria judged by the model of role `judge`.
        max_attempts: Executor runs for one step at most.
        max_replans: New plans after failures at most.
        stop_on_blocked: End the run when a step is blocked.
        max_parallel_steps: Independent steps that may run side by side.
        max_plan_steps: Steps that a plan may have.
        strict_tags: Refuse a plan that names an unknown executor in a tag.
        budget: What the whole plan may spend; each executor has its own besides.
        checkpointer: Where runs are saved; `None` inherits that of a graph around this one.
        store: LangGraph's store.

    Raises:
        WrongUse: No executor, an unknown default executor, an unknown role.
    """
    workers = as_executors(executors)
    default = default_executor or next(iter(workers))
    if default not in workers:
        raise WrongUse(f"default_executor '{default}' is none of {', '.join(workers)}.")
    names = tuple(workers)
    roles = model_roles(model, ("planner", "reviewer", "judge", "summary"))
    maker = PlanMaker(
        roles["planner"],
        {n: e.description for n, e in workers.items()},
        max_plan_steps,
        strict_tags,
    )
    routes = Routes(approve_plan=approve_plan, budget=budget)
    graph: PlanningGraph = (
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
        .add_node("start_step", make_start_step(names, default))
        .add_node("run_executor", _executor_node(workers))
        .add_node("verify_step", make_verify_step(roles["judge"], verify=verify))
        .add_node("complete_step", make_complete_step())
        .add_node(
            "report_error", make_report_error(Bounds(max_attempts, max_replans, stop_on_blocked))
        )
        .add_node("replan", make_replan(maker))
        .add_node("final_summary", make_final_summary(roles["summary"], budget))
        .add_edge(START, "intake")
        .add_edge("intake", "create_plan")
        .add_conditional_edges("create_plan", Router(routes.after_plan), AFTER_PLAN)
        .add_conditional_edges("fallback_plan", Router(routes.after_fallback), AFTER_PLAN[:2])
        .add_conditional_edges("approve_plan", Router(routes.after_approval), AFTER_APPROVAL)
        .add_edge("select_step", "start_step")
        .add_conditional_edges("start_step", Router(hand_over), ["run_executor"])
        .add_edge("run_executor", "verify_step")
        .add_conditional_edges("verify_step", Router(routes.after_verify), AFTER_VERIFY)
        .add_conditional_edges("complete_step", Router(routes.after_complete), AFTER_COMPLETE)
        .add_conditional_edges("report_error", Router(routes.after_error), AFTER_ERROR)
        .add_conditional_edges("replan", Router(routes.next_step), AFTER_REPLAN)
        .add_edge("final_summary", END)
        .compile(checkpointer=checkpointer, store=store, name="planning")
    )
    return graph


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
    )
    return make_create_plan(graph, max_reflections=max_reflections)


def _executor_node(workers: Mapping[str, Executor]) -> Node:
    """A lone executor is drawn as itself; several as a graph with a node for each."""
    if len(workers) == 1:
        return make_run_executor(next(iter(workers.values())))
    return make_dispatch(create_dispatch(workers))
