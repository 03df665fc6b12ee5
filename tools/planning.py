"""The planning tool, with the commands that OpenManus gave it, on the state of its agent."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from langchain_core.messages import AIMessage, AnyMessage, ToolCall, ToolMessage
from langchain_core.tools import InjectedToolArg, InjectedToolCallId, ToolException, tool
from langgraph.types import Command
from pydantic import WithJsonSchema

from planloop.state import BookChange, PlanBook, PlanError, cut_middle, fold_book, run_command

from .agent_state import agent_state, stateful
from .traits import own, tool_traits

NAME: Final = "planning"
MAX_SHOWN: Final = 8_000
"""Characters of an answer."""
_WHOLE: Final = ("create", "update")
_MOST_CALLS: Final = 32  # in one turn of an agent that runs them side by side
_NO_PLACE: Final = (
    "This agent's state has no place for plans: build it with a state that mixes in "
    "`planloop.state.PlansState`, or use `planning_tool_for(namespace)` with a store."
)
_TWICE: Final = (
    "An earlier call of this turn writes this plan already: look at its answer first, then call "
    "again."
)
CommandName = Literal["create", "update", "list", "get", "set_active", "mark_step", "delete"]
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
    command: CommandName,
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
    args = given(plan_id, title, steps, step_index, step_status, step_notes)
    state: Mapping[str, Any] = runtime.state if runtime is not None else agent_state()
    if "plans" not in state:
        raise ToolException(_NO_PLACE)
    try:
        book, written = _so_far(state, tool_call_id)
        change = _run(book, written, command, args)
    except PlanError as error:
        raise ToolException(str(error)) from error
    told = ToolMessage(cut_middle(change.text, MAX_SHOWN), name=NAME, tool_call_id=tool_call_id)
    update: dict[str, Any] = {"messages": [told]}
    return Command(update={**update, "plans": change.patch} if change.patch else update)


# LangChain's own agents end on what a tool raises; to be told is of more use to a model.
planning_tool.handle_tool_error = True


def given(
    plan_id: Any, title: Any, steps: Any, step_index: Any, step_status: Any, step_notes: Any
) -> dict[str, Any]:
    """The arguments of a command, by name."""
    return {
        "plan_id": plan_id,
        "title": title,
        "steps": steps,
        "step_index": step_index,
        "step_status": step_status,
        "step_notes": step_notes,
    }


def _run(
    book: PlanBook, written: Sequence[str], command: str, args: Mapping[str, Any]
) -> BookChange:
    """Do a command; `written` are the plans that the turn has replaced, empty for the active one.

    Raises:
        PlanError: The command cannot be done, or replaces a plan that the turn has replaced.
    """
    aim = args.get("plan_id") or book["active"]
    if command in _WHOLE and any(aim == (plan_id or book["active"]) for plan_id in written):
        raise PlanError(_TWICE)
    return run_command(book, command, args)


def _so_far(state: Mapping[str, Any], call_id: str) -> tuple[PlanBook, list[str]]:
    """The book as this call finds it, and the plans that its turn has replaced.

    Where calls of one turn run side by side, none sees in the state what those before it write:
    they are done again here. Those with an answer are in the state.
    """
    book, written = fold_book(state["plans"], []), list[str]()
    calls = _earlier_calls(state.get("messages") or (), call_id)
    for call, answer in calls:
        command, args = str(call["args"].get("command")), call["args"]
        if answer is None:
            try:
                book = fold_book(book, [_run(book, written, command, args).patch])
            except PlanError:
                continue
        elif answer.status == "error":
            continue
        if command in _WHOLE:
            written.append(str(args.get("plan_id") or ""))
    return book, written


def _earlier_calls(
    messages: Sequence[AnyMessage], call_id: str
) -> list[tuple[ToolCall, ToolMessage | None]]:
    """The planning calls of this turn before this one, each with its answer if there is one.

    Raises:
        PlanError: They are too many.
    """
    answers: dict[str, ToolMessage] = {}
    calls: list[ToolCall] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            calls = message.tool_calls
            break
        if isinstance(message, ToolMessage):
            answers[message.tool_call_id] = message
    ids = [call["id"] for call in calls]
    before = calls[: ids.index(call_id)] if call_id in ids else []
    found = [(c, answers.get(str(c["id"]))) for c in before if c["name"].strip() == NAME]
    if len([answer for _, answer in found if answer is None]) >= _MOST_CALLS:
        raise PlanError(f"Make at most {_MOST_CALLS} planning calls in one turn.")
    return found
