"""The ReAct loop: think, act, until the run ends by decision."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Checkpointer, Send
from pydantic import BaseModel

from planloop.models import ModelLike, as_source
from planloop.nodes import (
    Router,
    Thinker,
    ToolChoice,
    calls_to_approve,
    due_calls,
    make_act,
    make_approve,
    make_compact,
    make_finish,
    make_prepare,
    make_think,
)
from planloop.nodes import (
    prompt as load_prompt,
)
from planloop.state import (
    Budget,
    MemoryPolicy,
    ReactInput,
    ReactOutput,
    ReactPlansInput,
    ReactPlansOutput,
    ReactPlansState,
    ReactState,
    RunContext,
)
from planloop.tools import ToolPolicy, ToolRegistry, terminate

ReactGraph = CompiledStateGraph[ReactState, RunContext, ReactInput, ReactOutput]


def create_react_graph(
    model: ModelLike = None,
    tools: Sequence[BaseTool | Callable[..., Any]] = (),
    *,
    name: str = "react",
    description: str = "",
    prompt: str | None = None,
    tool_choice: ToolChoice = "auto",
    budget: Budget = Budget(),
    memory: MemoryPolicy = MemoryPolicy(),
    answer_schema: type[BaseModel] | None = None,
    policy: ToolPolicy | None = None,
    checkpointer: Checkpointer = None,
    store: BaseStore | None = None,
) -> ReactGraph:
    """Build a ReAct agent: in goes `messages` or `request`, out come `messages` and `outcome`.

    The loop is Yao et al.'s ReAct (2022) with native tool calls. It ends by decision: a text
    answer, the `terminate` tool, a budget, a loop that a hint did not break, an error.

    Args:
        model: A chat model, `"provider:name"`, or `None` for the default of the environment; or a
            list of these, of which the next one is asked where the one before it fails.
        tools: LangChain tools or plain functions; `terminate` is added.
        name: The graph's name, shown where it is a node of another graph.
        description: What it is good for; a planner reads this.
        prompt: The system prompt; default is a short general one.
        tool_choice: `auto`; `required`: a text answer is asked again once; `none`: tools are
            neither offered nor run.
        budget: What one run may spend.
        memory: How much of the history the model is shown.
        answer_schema: A pydantic model for the answer. `outcome["structured"]` then holds it as
            plain data; where the model gives none that fits, it is `None` and `success` is false.
        policy: Which calls may run; `None` allows all.
        checkpointer: Where runs are saved; `None` inherits that of a graph around this one.
        store: LangGraph's store, for tools that use one.

    Raises:
        ToolSetupError: A tool's name is illegal, reserved or repeated.
    """
    registry = ToolRegistry([*tools, terminate] if tool_choice != "none" else [])
    thinker = Thinker(
        source=as_source(model),
        registry=registry,
        system=instructions(prompt, answer_schema),
        tool_choice=tool_choice,
        budget=budget,
        memory=memory,
        answer_schema=answer_schema,
    )
    graph: ReactGraph = (
        StateGraph(
            ReactPlansState if registry.lends_state else ReactState,
            context_schema=RunContext,
            input_schema=ReactPlansInput if registry.lends_state else ReactInput,
            output_schema=ReactPlansOutput if registry.lends_state else ReactOutput,
        )
        .add_node("prepare", make_prepare())
        .add_node("think", make_think(thinker))
        .add_node("approve", make_approve(registry, policy))
        .add_node("act", make_act(registry, memory, policy))
        .add_node("compact", make_compact(thinker))
        .add_node("finish", make_finish(thinker))
        .add_edge(START, "prepare")
        .add_edge("prepare", "think")
        .add_conditional_edges("think", Router(after_think(registry, policy)), _AFTER_THINK)
        .add_conditional_edges("approve", Router(after_approve(registry)), ["act", "think"])
        .add_edge("act", "think")
        .add_edge("compact", "think")
        .add_edge("finish", END)
        .compile(checkpointer=checkpointer, store=store, name=name)
    )
    graph.description = description  # type: ignore[attr-defined]  # read by `Executor`
    return graph


_AFTER_THINK = ["act", "approve", "compact", "think", "finish"]


def instructions(prompt: str | None, answer_schema: type[BaseModel] | None) -> str:
    """The system prompt: the caller's or a general one, and what the answer is to look like."""
    told = load_prompt("agent") if prompt is None else prompt
    if answer_schema is None:
        return told
    schema = json.dumps(answer_schema.model_json_schema(), ensure_ascii=False)
    return f"{told}\n\n{load_prompt('answer')}\n{schema}".strip()


def after_think(
    registry: ToolRegistry, policy: ToolPolicy | None
) -> Callable[[ReactState], str | list[Send]]:
    """Stop, make room, ask a person, run what was called, or think again."""

    def route(state: ReactState) -> str | list[Send]:
        if state["run"].get("stop"):
            return "finish"
        if state["run"].get("compacting"):
            return "compact"
        if calls_to_approve(state, registry, policy):
            return "approve"
        return calls_due(state, registry)

    return route


def after_approve(registry: ToolRegistry) -> Callable[[ReactState], str | list[Send]]:
    """Run what is left to run; if all was rejected, think again."""

    def route(state: ReactState) -> str | list[Send]:
        return calls_due(state, registry)

    return route


def calls_due(state: ReactState, registry: ToolRegistry) -> str | list[Send]:
    """To `act`: one call by a plain edge, calls side by side as a task each; else to `think`."""
    due = due_calls(state, registry)
    if len(due) == 1:
        return "act"
    return [Send("act", {"call": call}) for call in due] or "think"
