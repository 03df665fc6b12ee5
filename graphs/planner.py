"""The planner: generate a plan, have it reviewed, generate it anew until it is approved."""

from collections.abc import Callable, Mapping
from typing import Literal

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import Checkpointer

from planloop.models import ModelLike, as_source, model_roles
from planloop.nodes import Executor, PlanMaker, Router, as_executors, make_generate, make_reflect
from planloop.state import PlannerInput, PlannerOutput, PlannerState, RunContext
from planloop.tools import Check

PlannerGraph = CompiledStateGraph[PlannerState, RunContext, PlannerInput, PlannerOutput]


def create_planner_graph(
    model: ModelLike | Mapping[str, ModelLike] = None,
    *,
    max_reflections: int = 1,
    max_plan_steps: int = 20,
    executors: Mapping[str, "str | Executor"] | None = None,
    reviewer: ModelLike = None,
    checks: Mapping[str, Check] | None = None,
    checkpointer: Checkpointer = None,
) -> PlannerGraph:
    """Build a planner: in goes a `request`, out comes a `Plan` and what a reviewer says of it.

    After URSA's PlanningAgent: N reflections are at most N reviews and N+1 drafts. `approved`
    and `reviewed` speak of the plan that is handed out, so a last draft that nobody reviewed is
    neither. A model that cannot write a plan gives the fallback plan, never an exception.

    Args:
        model: A chat model, `"provider:name"`, `None` for the default of the environment, or a
            mapping of roles (`planner`, `reviewer`, `default`) to these.
        max_reflections: Reviews at most; 0 makes none.
        max_plan_steps: A plan with more steps is sent back to the model.
        executors: Names a step may be given to, with descriptions.
        reviewer: Another model for reviews.
        checks: Checks that a success criterion may name, as `planloop.tools.checks_of` gives them.
        checkpointer: Where runs are saved; `None` inherits that of a graph around this one.
    """
    if reviewer is not None:
        roles = model_roles(model, ("planner",)) | {"reviewer": as_source(reviewer)}
    else:
        roles = model_roles(model, ("planner", "reviewer"))
    described = {
        name: value if isinstance(value, str) else as_executors({name: value})[name].description
        for name, value in (executors or {}).items()
    }
    maker = PlanMaker(roles["planner"], described, max_plan_steps, checks=checks or {})
    graph: PlannerGraph = (
        StateGraph(
            PlannerState,
            context_schema=RunContext,
            input_schema=PlannerInput,
            output_schema=PlannerOutput,
        )
        .add_node("generate", make_generate(maker))
        .add_node("reflect", make_reflect(roles["reviewer"]))
        .add_edge(START, "generate")
        .add_conditional_edges(
            "generate", Router(after_generate(max_reflections)), ["reflect", END]
        )
        .add_conditional_edges("reflect", Router(after_reflect), ["generate", END])
        .compile(checkpointer=checkpointer, name="planner")
    )
    return graph


def after_generate(
    max_reflections: int,
) -> Callable[[PlannerState], Literal["reflect", "__end__"]]:
    """Review a draft that nobody has seen, while reviews are left."""

    def route(state: PlannerState) -> Literal["reflect", "__end__"]:
        seen = state["reviewed"] or state["plan"].origin == "fallback"
        return "__end__" if seen or state["reviews"] >= max_reflections else "reflect"

    return route


def after_reflect(state: PlannerState) -> Literal["generate", "__end__"]:
    """Draft anew what a reviewer sent back."""
    return "generate" if state["revising"] else "__end__"
