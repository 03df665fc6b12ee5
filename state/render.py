"""A plan as people and executors read it: lines with marks."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from .status import ASCII_MARKS, MARKS
from .text import one_line

if TYPE_CHECKING:
    from .plan import Plan, PlanStep


class Window(NamedTuple):
    """The steps of a plan that are drawn."""

    first: int
    """Index of the first of them: so many earlier ones are left out."""
    steps: list["PlanStep"]
    later: int
    """How many later ones are left out."""
    room: int
    """How many steps the plan within each of them may draw."""


def shown_steps(plan: "Plan", limit: int) -> Window:
    """Choose at most `limit` steps, the first open one among them; plans within share the rest."""
    opened = (n for n, step in enumerate(plan.steps) if step.status != "completed")
    total = len(plan.steps)
    first = max(0, min(next(opened, 0) - limit // 2, total - limit))
    steps = plan.steps[first : first + max(limit, 0)]
    inner = sum(step.sub_plan is not None for step in steps)
    # Half at most, so that plans within plans within plans soon have no room left.
    room = min((limit - len(steps)) // inner, limit // 2) if inner else 0
    return Window(first, steps, total - first - len(steps), room)


def progress_line(plan: "Plan") -> str:
    """How many steps are completed."""
    counts = plan.counts()
    done, total = counts["completed"], counts["total"]
    percent = 100 * done / total if total else 0.0
    return f"{done}/{total} steps completed ({percent:.1f}%)"


def render_text(plan: "Plan", *, ascii_only: bool, width: int, limit: int) -> str:
    """Title and id, progress, counts, then one line a step, with notes and its own plan beneath."""
    counts = plan.counts()
    title = f"Plan: {one_line(plan.title, width)} (ID: {plan.id})"
    lines = [
        title,
        "=" * min(len(title), 80),
        f"Progress: {progress_line(plan)}",
        "Status: " + ", ".join(f"{counts[s]} {s.replace('_', ' ')}" for s in MARKS),
        "",
        "Steps:",
        *_step_lines(plan, ascii_only, width, limit),
    ]
    text = "\n".join(lines)
    return text.replace("…", "...") if ascii_only else text


def _step_lines(plan: "Plan", ascii_only: bool, width: int, limit: int) -> Iterator[str]:
    marks = ASCII_MARKS if ascii_only else MARKS
    window = shown_steps(plan, limit)
    if window.first:
        yield f"   … {window.first} earlier steps …"
    for index, step in enumerate(window.steps, window.first):
        yield f"{index}. {marks[step.status]} {one_line(step.text, width)}"
        if step.notes:
            yield f"   Notes: {one_line(step.notes, width)}"
        if step.sub_plan is None:
            continue
        if window.room:
            inner = _step_lines(step.sub_plan, ascii_only, width, window.room)
            yield from (f"   {line}" for line in inner)
        else:
            yield f"   … within: {progress_line(step.sub_plan)} …"
    if window.later:
        yield f"   … {window.later} later steps …"
