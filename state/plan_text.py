"""A plan as lines that a person edits: one step a line, `s1: NAME -- DESCRIPTION`."""

import re
from typing import Any, Final

from .draft import StepFields
from .errors import PlanError
from .plan import Plan
from .text import one_line

HELP: Final = """\
# One step a line: NAME -- DESCRIPTION. Change, move, add or remove lines.
# A line that begins with the id of a step (s1:) keeps what else is known of it.
"""
_LINE: Final = re.compile(r"(?:(s\d+):\s*)?(.+?)(?:\s+--\s+(.*))?")
_MOST: Final = 100_000
"""Characters of an edited plan."""


def plan_lines(plan: Plan) -> str:
    """The plan as lines to edit."""
    lines = []
    for step in plan.steps:
        more = one_line(step.description, 2_000) if step.name else ""
        name = one_line(step.name or step.description, 2_000)
        lines.append(f"{step.id}: {name}{f' -- {more}' if more else ''}")
    return HELP + "\n".join(lines) + "\n"


def read_plan_lines(plan: Plan, text: str) -> list[dict[str, Any]]:
    """Read edited lines back; a line with the id of a step keeps its criteria and the rest.

    Raises:
        PlanError: The text is too long.
    """
    if len(text) > _MOST:
        raise PlanError(f"The edited plan has {len(text):,} characters, at most {_MOST:,} can be.")
    known = {step.id: step for step in plan.steps}
    fields = set(StepFields.model_fields)
    steps = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or line.lstrip().startswith("#"):
            continue
        step_id, name, description = match.groups()
        kept: dict[str, Any] = {}
        if step_id in known:
            old = known[step_id]
            kept = {"id": step_id, **old.model_dump(mode="json", include=fields)}
            if one_line(old.description, 2_000) == (description or ""):
                description = old.description  # only shown on one line, not changed
        steps.append({**kept, "name": name, "description": description or ""})
    return steps
