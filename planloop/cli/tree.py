"""A plan as a tree: each step with its record, and beneath it the plan by which it was done."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from rich.text import Text
from rich.tree import Tree

from planloop.state import MARKS, Plan, PlanStep, one_line, shown_steps

from .live import STYLES
from .screen import Screen, in_ascii, shows_marks, visible

_NAME = 100
_NOTES = 160
_LIMIT = 300  # steps, those of plans within counted


@dataclass(frozen=True)
class Branch:
    """A line of the tree, and what hangs on it."""

    text: str
    style: str = ""
    branches: list["Branch"] = field(default_factory=list)


def print_tree(screen: Screen, plan: Plan) -> None:
    """Print the tree: drawn on a terminal, indented elsewhere."""
    trunk = tree_of(plan)
    if not screen.is_watched:
        screen.result("\n".join(plain(trunk)))
        return
    console = screen.console
    console.print(drawn(trunk, ascii_only=not shows_marks(console.encoding)))


def tree_of(plan: Plan) -> Branch:
    """The tree of a plan."""
    counts = plan.counts()
    head = f"{one_line(plan.title, _NAME)} ({counts['completed']}/{counts['total']})"
    return Branch(head, "bold", list(_branches(plan, _LIMIT)))


def _branches(plan: Plan, limit: int) -> Iterator[Branch]:
    window = shown_steps(plan, limit)
    if window.first:
        yield Branch(f"{window.first} earlier steps", "dim")
    for step in window.steps:
        beneath = [Branch(one_line(step.notes, _NOTES), "dim")] if step.notes else []
        if step.sub_plan is not None:
            beneath += _branches(step.sub_plan, window.room)
        yield Branch(_line(step), STYLES[step.status], beneath)
    if window.later:
        yield Branch(f"{window.later} later steps", "dim")


def _line(step: PlanStep) -> str:
    """Mark, id and name, then what is known of it."""
    known = []
    if step.depends_on:
        known.append(f"after {one_line(', '.join(step.depends_on), _NAME)}")
    if executor := step.routed_to or step.executor:
        known.append(f"by {one_line(executor, _NAME)}")
    if step.attempts:
        known.append(f"{step.attempts} attempt{'s' if step.attempts > 1 else ''}")
    if step.status == "completed":
        known.append("verified" if step.verified else "not verified")
    record = f" ({'; '.join(known)})" if known else ""
    return f"{MARKS[step.status]} {one_line(f'{step.id} {step.text}', _NAME)}{record}"


def plain(branch: Branch, indent: str = "") -> Iterator[str]:
    """The tree as lines, indented."""
    yield indent + branch.text
    for inner in branch.branches:
        yield from plain(inner, indent + "  ")


def drawn(branch: Branch, *, ascii_only: bool) -> Tree:
    """The tree as rich draws it."""
    text = visible(in_ascii(branch.text) if ascii_only else branch.text)
    tree = Tree(Text(text, style=branch.style), guide_style="dim")
    tree.children += [drawn(inner, ascii_only=ascii_only) for inner in branch.branches]
    return tree
