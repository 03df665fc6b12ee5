"""Plans as people see them: text with marks, Markdown, a Mermaid flowchart."""

from typing import TYPE_CHECKING

from .status import ASCII_MARKS, MARKS
from .text import one_line

if TYPE_CHECKING:
    from .plan import Plan


def render_text(plan: "Plan", *, ascii_only: bool, width: int, limit: int) -> str:
    """Title and id, progress, counts, then one line a step, with notes beneath."""
    marks = ASCII_MARKS if ascii_only else MARKS
    counts = plan.counts()
    done, total = counts["completed"], counts["total"]
    percent = 100 * done / total if total else 0.0
    title = f"Plan: {one_line(plan.title, width)} (ID: {plan.id})"
    lines = [
        title,
        "=" * min(len(title), 80),
        f"Progress: {done}/{total} steps completed ({percent:.1f}%)",
        "Status: " + ", ".join(f"{counts[s]} {s.replace('_', ' ')}" for s in MARKS),
        "",
        "Steps:",
    ]
    first = first_shown(plan, limit)
    if first:
        lines.append(f"   … {first} earlier steps …")
    for index, step in enumerate(plan.steps[first : first + limit], first):
        lines.append(f"{index}. {marks[step.status]} {one_line(step.text, width)}")
        if step.notes:
            lines.append(f"   Notes: {one_line(step.notes, width)}")
    if (left := total - first - limit) > 0:
        lines.append(f"   … {left} later steps …")
    text = "\n".join(lines)
    return text.replace("…", "...") if ascii_only else text


def first_shown(plan: "Plan", limit: int) -> int:
    """Index of the first drawn step, so that the first open one is among them."""
    opened = (n for n, step in enumerate(plan.steps) if step.status != "completed")
    wanted = next(opened, 0) - limit // 2
    return max(0, min(wanted, len(plan.steps) - limit))


def render_markdown(plan: "Plan", *, ascii_only: bool) -> str:
    """What is written of each step: a heading, its description, outputs and criteria."""
    return str(plan.title)  # drawn next


def render_mermaid(plan: "Plan") -> str:
    """A flowchart: an arrow a dependency, a colour a status."""
    return str(plan.title)  # drawn next
