"""A plan as a Markdown page, with all that is written of each step, as URSA prints plans."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from .markup import in_markdown
from .render import progress_line, shown_steps
from .status import ASCII_MARKS, MARKS
from .text import cut_middle, one_line

if TYPE_CHECKING:
    from .plan import Plan, PlanStep

_NAME: Final = 200
_LINE: Final = 500
_TEXT: Final = 4_000
"""Characters of a name, of a sentence, of a description."""
_ITEMS: Final = 50
"""Items of a list."""


def render_markdown(plan: "Plan", *, ascii_only: bool, limit: int) -> str:
    """What is written of each step: a heading, its description, outputs and criteria."""
    blocks = [
        f"# {in_markdown(plan.title, _NAME) or 'Plan'}",
        f"Progress: {progress_line(plan)}",
        *_sections(plan, "", ascii_only, limit),
    ]
    text = "\n\n".join(blocks)
    return text.replace("…", "...") if ascii_only else text


def _sections(plan: "Plan", path: str, ascii_only: bool, limit: int) -> Iterator[str]:
    """The steps; those of a plan within step 1 are headed 1.0, 1.1 and so on, a level deeper."""
    marks = ASCII_MARKS if ascii_only else MARKS
    level = "#" * min(2 + path.count("."), 6)
    window = shown_steps(plan, limit)
    if window.first:
        yield f"… {window.first} earlier steps …"
    for index, step in enumerate(window.steps, window.first):
        name = in_markdown(one_line(step.text), _NAME)
        yield f"{level} {path}{index}. {marks[step.status]} {name}"
        yield from _written(step)
        if step.sub_plan is None:
            continue
        yield f"Done by a plan of its own: {progress_line(step.sub_plan)}"
        if window.room:
            yield from _sections(step.sub_plan, f"{path}{index}.", ascii_only, window.room)
    if window.later:
        yield f"… {window.later} later steps …"


def _written(step: "PlanStep") -> Iterator[str]:
    facts = [
        f"* **Step:** {in_markdown(step.id, _NAME)}",
        f"* **Requires code:** {'yes' if step.requires_code else 'no'}",
    ]
    if step.executor:
        facts.append(f"* **Executor:** {in_markdown(step.executor, _NAME)}")
    if step.depends_on:
        facts.append(f"* **After:** {in_markdown(', '.join(step.depends_on), _LINE)}")
    if step.notes:
        facts.append(f"* **Notes:** {in_markdown(step.notes, _LINE)}")
    yield "\n".join(facts)
    if step.name and step.description.strip():
        lines = cut_middle(step.description.strip(), _TEXT).splitlines()
        yield "\n".join(in_markdown(line, _TEXT) for line in lines)
    yield from _list("Expected outputs", step.expected_outputs)
    yield from _list("Success criteria", step.success_criteria)


def _list(title: str, texts: Sequence[str]) -> Iterator[str]:
    if not texts:
        return
    yield f"**{title}:**"
    items = [f"* {in_markdown(text, _LINE)}" for text in texts[:_ITEMS]]
    if (left := len(texts) - _ITEMS) > 0:
        items.append(f"* … {left} more …")
    yield "\n".join(items)
