"""Several plans with one active: what the planning tool does, as pure functions on plain data.

The commands are those of OpenManus' PlanningTool; statuses follow a table of moves here, and a step
keeps its record by identity, wherever it goes in an update.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import TypedDict

from .changes import create_plan, find_step, mark_step, update_plan
from .errors import IllegalTransition, PlanError
from .plan import Plan, as_plan
from .status import STATUS_MOVES
from .text import one_line

MAX_PLANS: Final = 20
MAX_STEPS: Final = 50
_VERSIONS: Final = 5  # former versions that a plan of the book keeps
_NOTES: Final = 2_000  # characters


class PlanBook(TypedDict):
    """Plans by id, as plain data, and the id of the active one; empty if there is none."""

    plans: dict[str, dict[str, Any]]
    active: str


@dataclass(frozen=True)
class BookChange:
    """What a command gives: what changes in the book, and what is said."""

    patch: dict[str, Any]
    """For `fold_book`; empty if nothing changes."""
    text: str


def empty_book() -> PlanBook:
    """A book without plans."""
    return PlanBook(plans={}, active="")


def run_command(book: PlanBook, command: str, args: Mapping[str, Any]) -> BookChange:
    """Do one command: create, update, list, get, set_active, mark_step or delete.

    Args:
        args: `plan_id`, `title`, `steps`, `step_index`, `step_status`, `step_notes`; what a
            command does not need is not looked at.

    Raises:
        PlanError: What is wrong, and what may be given instead.
    """
    found = COMMANDS.get(str(command).strip().lower())
    if found is None:
        said = one_line(str(command), 40)
        raise PlanError(f"There is no command '{said}': use one of {', '.join(COMMANDS)}.")
    return found(book, args)


def _create(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    if len(book["plans"]) >= MAX_PLANS:
        raise PlanError(f"There are {MAX_PLANS} plans already: delete one first.")
    wanted = _text(args, "plan_id")
    if wanted in book["plans"]:
        raise PlanError(f"There is a plan '{wanted}' already: use `update` to change it.")
    title = _text(args, "title")
    draft = {"title": title, "steps": args.get("steps") or []}
    plan = create_plan(draft, request=title, max_steps=MAX_STEPS)
    named = plan.title or one_line(plan.steps[0].text, 80)
    plan = plan.model_copy(update={"id": wanted or _free_id(book), "title": named})
    return BookChange({**_put(plan), "active": plan.id}, f"Created.\n\n{plan.render()}")


def _update(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    plan = plan_of(book, _text(args, "plan_id"))
    title, steps = _text(args, "title"), args.get("steps")
    if not title and not steps:
        raise PlanError("Give a new title, or the whole list of steps as it should be.")
    if steps:
        wanted = {"steps": steps, "title": title}
        plan = update_plan(plan, wanted, reason="updated", max_steps=MAX_STEPS)
        plan = plan.model_copy(update={"history": plan.history[-_VERSIONS:]})
    else:
        plan = plan.model_copy(update={"title": title})
    return BookChange(_put(plan), f"Updated.\n\n{plan.render()}")


def _list(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    if not book["plans"]:
        return BookChange({}, "There are no plans: `create` makes one.")
    lines = []
    for plan_id in book["plans"]:
        plan = plan_of(book, plan_id)
        counts = plan.counts()
        mark = " (active)" if plan_id == book["active"] else ""
        progress = f"{counts['completed']}/{counts['total']} steps completed"
        lines.append(f"- {plan_id}{mark}: {one_line(plan.title, 100)}, {progress}")
    return BookChange({}, "\n".join(lines))


def _get(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    return BookChange({}, plan_of(book, _text(args, "plan_id")).render())


def _set_active(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    wanted = _text(args, "plan_id")
    if not wanted:
        raise PlanError(f"Give the plan_id: {_ids(book)}.")
    plan = plan_of(book, wanted)
    return BookChange({"active": plan.id}, f"'{plan.id}' is active.\n\n{plan.render()}")


def _mark_step(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    plan = plan_of(book, _text(args, "plan_id"))
    step = find_step(plan, _index(args.get("step_index")))
    status, notes = _text(args, "step_status"), args.get("step_notes")
    if not status and notes is None:
        raise PlanError(f"Give a step_status ({', '.join(STATUS_MOVES)}) or step_notes.")
    said = None if notes is None else str(notes)[:_NOTES]
    try:
        new = mark_step(plan, step.id, status or step.status, notes=said)
    except IllegalTransition as error:
        moves = ", ".join(sorted(STATUS_MOVES[step.status])) or "nothing else"
        raise PlanError(f"{error} From there it goes to {moves}.") from error
    marked = new.step(step.id)
    fields: dict[str, Any] = {"status": marked.status, "notes": marked.notes}
    return BookChange({"steps": {plan.id: {step.id: fields}}}, f"Marked.\n\n{new.render()}")


def _delete(book: PlanBook, args: Mapping[str, Any]) -> BookChange:
    wanted = _text(args, "plan_id")
    if not wanted:
        raise PlanError(f"Give the plan_id: {_ids(book)}.")
    plan = plan_of(book, wanted)
    patch: dict[str, Any] = {"drop": [plan.id]}
    return BookChange(patch, f"'{plan.id}' is deleted.")


COMMANDS: Final[dict[str, Callable[[PlanBook, Mapping[str, Any]], BookChange]]] = {
    "create": _create,
    "update": _update,
    "list": _list,
    "get": _get,
    "set_active": _set_active,
    "mark_step": _mark_step,
    "delete": _delete,
}


def plan_of(book: PlanBook, plan_id: str = "") -> Plan:
    """The plan with this id; without one the active plan.

    Raises:
        PlanError: There is none; those that there are are named.
    """
    wanted = plan_id or book["active"]
    if not wanted:
        raise PlanError(f"No plan is active: `create` one, or give the plan_id ({_ids(book)}).")
    if wanted not in book["plans"]:
        raise PlanError(f"There is no plan '{wanted}': {_ids(book)}.")
    return as_plan(book["plans"][wanted])


def _free_id(book: PlanBook) -> str:
    """An id that the book has not, by count: the same commands make the same book."""
    numbers = range(1, len(book["plans"]) + 2)
    return next(i for n in numbers if (i := f"plan_{n}") not in book["plans"])


def _ids(book: PlanBook) -> str:
    return f"there are {', '.join(book['plans'])}" if book["plans"] else "there are none"


def _put(plan: Plan) -> dict[str, Any]:
    return {"put": {plan.id: plan.model_dump(mode="json")}}


def _text(args: Mapping[str, Any], key: str) -> str:
    value = args.get(key)
    return "" if value is None else one_line(str(value), 200)


def _index(value: Any) -> str | int:
    """A place or an id, in the kinds that models send; what is neither fits no step."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) < 1_000 else ""
    return one_line(value, 40) if isinstance(value, str) else ""
