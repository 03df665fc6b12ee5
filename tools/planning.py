"""The planning tool, with the commands that OpenManus gave it, on the state of its agent."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import (
    BaseTool,
    InjectedToolArg,
    InjectedToolCallId,
    ToolException,
    tool,
)
from langgraph.runtime import get_runtime
from langgraph.store.base import BaseStore
from langgraph.types import Command
from pydantic import WithJsonSchema

from planloop.state import PlanBook, PlanError, cut_middle, fold_book, run_command

from .agent_state import agent_state, stateful
from .traits import own, tool_traits

NAME: Final = "planning"
_WHOLE: Final = ("create", "update")
_SHOWN: Final = 8_000  # characters of an answer
_NO_PLACE: Final = (
    "This agent's state has no place for plans: build it with a state that mixes in "
    "`planloop.state.PlansState`, or use `planning_tool_for(namespace)` with a store."
)
Steps = Annotated[Any, WithJsonSchema({"type": "array", "items": {"type": "string"}})]
Index = Annotated[Any, WithJsonSchema({"type": "integer"})]
Status = Annotated[
    str | None,
    WithJsonSchema({"enum": ["not_started", "in_progress", "completed", "blocked"]}),
]


@own
@stateful
@tool_traits(effect="read", sequential=True)
@tool(NAME)
def planning_tool(
    command: Literal["create", "update", "list", "get", "set_active", "mark_step", "delete"],
    plan_id: str | None = None,
    title: str | None = None,
    steps: Steps = None,
    step_index: Index = None,
    step_status: Status = None,
    step_notes: str | None = None,
    tool_call_id: Annotated[str, InjectedToolCallId] = "",
    runtime: Annotated[Any, InjectedToolArg] = None,
) -> Command[Any]:
    """Keep plans: create one (title, steps), update its steps, list all, get one, set the active
    one, mark a step (step_index from 0, step_status, step_notes), delete one. Without plan_id the
    active plan is meant."""
    args = _given(plan_id, title, steps, step_index, step_status, step_notes)
    state: Mapping[str, Any] = runtime.state if runtime is not None else agent_state()
    if "plans" not in state:
        raise ToolException(_NO_PLACE)
    try:
        _check_turn(state.get("messages") or (), tool_call_id, command, args)
        change = run_command(fold_book(state["plans"], []), command, args)
    except PlanError as error:
        raise ToolException(str(error)) from error
    told = ToolMessage(cut_middle(change.text, _SHOWN), name=NAME, tool_call_id=tool_call_id)
    update: dict[str, Any] = {"messages": [told]}
    return Command(update={**update, "plans": change.patch} if change.patch else update)


# LangChain's own agents end on what a tool raises; to be told is of more use to a model.
planning_tool.handle_tool_error = True


def planning_tool_for(*namespace: str) -> BaseTool:
    """Make a planning tool whose plans are in the graph's store, beyond any thread.

    Args:
        namespace: Where they are, such as `"plans", "user-7"`; each plan is an item of its own.
    """
    place = namespace or ("plans",)

    @own
    @tool_traits(effect="write", sequential=True, on_replay="repeat")
    @tool(NAME, description=planning_tool.description)
    def kept_planning_tool(
        command: Literal["create", "update", "list", "get", "set_active", "mark_step", "delete"],
        plan_id: str | None = None,
        title: str | None = None,
        steps: Steps = None,
        step_index: Index = None,
        step_status: Status = None,
        step_notes: str | None = None,
    ) -> str:
        store = _store()
        args = _given(plan_id, title, steps, step_index, step_status, step_notes)
        try:
            change = run_command(read_book(store, place), command, args)
        except PlanError as error:
            raise ToolException(str(error)) from error
        write_book(store, place, change.patch)
        return cut_middle(change.text, _SHOWN)

    kept_planning_tool.handle_tool_error = True
    return kept_planning_tool


_ACTIVE: Final = "active"


def read_book(store: BaseStore, namespace: Sequence[str]) -> PlanBook:
    """The plans that are kept in a store under this name."""
    items = store.search((*namespace, NAME), limit=100)
    active = store.get((*namespace, _ACTIVE), _ACTIVE)
    plans = {item.key: item.value for item in reversed(items)}
    chosen = {"active": str(active.value.get("plan_id") or "")} if active else {}
    return fold_book(None, [{"put": plans, **chosen}])


def write_book(store: BaseStore, namespace: Sequence[str], patch: Mapping[str, Any]) -> None:
    """Write what has changed, each plan for itself."""
    place = (*namespace, NAME)
    for plan_id, plan in (patch.get("put") or {}).items():
        store.put(place, plan_id, plan)
    for plan_id, steps in (patch.get("steps") or {}).items():
        if item := store.get(place, plan_id):
            book = fold_book({"plans": {plan_id: item.value}}, [{"steps": {plan_id: steps}}])
            store.put(place, plan_id, book["plans"][plan_id])
    for plan_id in patch.get("drop") or ():
        store.delete(place, plan_id)
    if active := patch.get("active"):
        store.put((*namespace, _ACTIVE), _ACTIVE, {"plan_id": active})


def _store() -> BaseStore:
    try:
        store = get_runtime().store
    except (RuntimeError, KeyError):  # no graph around this code
        store = None
    if store is None:
        raise ToolException("The graph has no store to keep plans in: give it store=….")
    return store


def _given(
    plan_id: Any, title: Any, steps: Any, step_index: Any, step_status: Any, step_notes: Any
) -> dict[str, Any]:
    return {
        "plan_id": plan_id,
        "title": title,
        "steps": steps,
        "step_index": step_index,
        "step_status": step_status,
        "step_notes": step_notes,
    }


def _check_turn(
    messages: Sequence[Any], call_id: str, command: str, args: Mapping[str, Any]
) -> None:
    """Let one turn replace one plan once: calls side by side do not see what the others write.

    Raises:
        PlanError: An earlier call of the turn writes the same plan, or a new one too.
    """
    if command not in _WHOLE:
        return
    turn = next((m for m in reversed(messages) if isinstance(m, AIMessage)), None)
    for call in turn.tool_calls if turn else ():
        if call["id"] == call_id:
            return
        other = call["args"]
        same = (other.get("plan_id") or "") == (args.get("plan_id") or "")
        if call["name"] == NAME and other.get("command") in _WHOLE and same:
            raise PlanError(
                "An earlier call of this turn writes this plan already: look at its answer first, "
                "then call again."
            )
