"""What became of a plan: its versions, and what is different between two of them."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, Final, NamedTuple

from .draft import StepFields
from .plan import Plan, PlanStep, as_plan
from .text import one_line

_WIDTH: Final = 120
"""Characters of a step's text, or of one side of a change."""
_LINES: Final = 200
_AROUND: Final = 2
"""Unchanged steps that are shown before and after a change."""


class PlanEdition(NamedTuple):
    """A plan as it was, or as it is."""

    version: int
    reason: str
    """Why it took the place of the version before; empty for the first one."""
    plan: Plan


def versions_of(plan: Plan) -> list[PlanEdition]:
    """Every version of a plan, the oldest first and the plan itself last.

    Raises:
        PlanError: The history holds steps that cannot be read.
    """
    editions, reason = [], ""
    for place, former in enumerate(plan.history):
        steps = as_plan({"steps": former["steps"]}).steps
        update = {"steps": steps, "version": former["version"], "history": plan.history[:place]}
        editions.append(PlanEdition(former["version"], reason, plan.model_copy(update=update)))
        reason = former["reason"]
    return [*editions, PlanEdition(plan.version, reason, plan)]


def plan_diff(old: Plan, new: Plan) -> str:
    """What is written differently, a line a step by its id; empty if nothing is.

    `+` a new step, `-` one that is gone, `~` one that was moved or has other words, with what
    changed beneath, and a blank before a step that is as it was. What became of a step does not
    count: its status, its result.
    """
    lines = []
    if old.steps and old.title != new.title:
        lines.append(f"~ title: {_change(old.title, new.title)}")
    moved = _moved(old, new)
    for before, after in _pairs(old.steps, new.steps):
        step = after or before
        assert step is not None
        changes = _changes(before, after) if before and after else []
        if step.id in moved:
            changes.insert(0, "moved")
        mark = "+" if before is None else "-" if after is None else "~" if changes else " "
        lines.append(f"{mark} {one_line(f'{step.id} {step.text}', _WIDTH)}")
        lines += [f"    {change}" for change in changes]
    return "\n".join(_bounded(lines)) if any(line[0] != " " for line in lines) else ""


def _pairs(
    old: Sequence[PlanStep], new: Sequence[PlanStep]
) -> Iterator[tuple[PlanStep | None, PlanStep | None]]:
    """Steps by id in the new order; those that are gone behind the step that they stood behind."""
    left, kept = {step.id: step for step in old}, {step.id for step in new}

    def gone() -> Iterator[tuple[PlanStep, None]]:
        while left and (first := next(iter(left))) not in kept:
            yield left.pop(first), None

    yield from gone()
    for after in new:
        yield left.pop(after.id, None), after
        yield from gone()


def _moved(old: Plan, new: Plan) -> set[str]:
    """Ids of the steps that are in both plans, and not in the same order."""
    present = {step.id for step in old.steps} & {step.id for step in new.steps}
    before = [step.id for step in old.steps if step.id in present]
    after = [step.id for step in new.steps if step.id in present]
    if before == after:
        return set()
    same = SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    return present - {before[n] for block in same for n in range(block.a, block.a + block.size)}


def _changes(before: PlanStep, after: PlanStep) -> list[str]:
    """What is written differently of one step, a line a field."""
    return [
        f"{name}: {_change(_words(getattr(before, name)), _words(getattr(after, name)))}"
        for name in StepFields.model_fields
        if getattr(before, name) != getattr(after, name)
    ]


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "; ".join(value) if isinstance(value, list) else str(value or "")


def _change(before: str, after: str) -> str:
    """The words that differ, without those before and behind them that do not."""
    old, new = before.split(), after.split()
    if old == new:
        return "only blanks and line breaks"
    shorter = min(len(old), len(new))
    head = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    rest = shorter - head
    tail = next((n for n in range(rest) if old[-1 - n] != new[-1 - n]), rest)
    sides = (_quoted(words, head, len(words) - tail) for words in (old, new))
    return " → ".join(sides)


def _quoted(words: Sequence[str], start: int, end: int) -> str:
    part = one_line(" ".join(words[start:end]), _WIDTH)
    if not part:
        return "nothing"
    return f'{"… " if start else ""}"{part}"{" …" if end < len(words) else ""}'


def _bounded(lines: Sequence[str]) -> Iterator[str]:
    """Leave out long runs of steps that are as they were, and what is more than can be read."""
    shown: list[str] = []
    for same, group in groupby(lines, lambda line: line.startswith("  ") and line[2:3] != " "):
        run = list(group)
        if same and len(run) > 2 * _AROUND + 1:
            note = f"  … {len(run) - 2 * _AROUND} steps as before …"
            run = [*run[:_AROUND], note, *run[-_AROUND:]]
        shown += run
    yield from shown[:_LINES]
    if (left := len(shown) - _LINES) > 0:
        yield f"  … {left} more lines …"
