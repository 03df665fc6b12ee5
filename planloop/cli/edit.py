"""Edit a plan as lines of text, in the person's editor or typed one by one."""

import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from planloop.errors import WrongUse
from planloop.state import Plan, StepFields, one_line

_HELP = """\
# One step a line: NAME -- DESCRIPTION. Change, move, add or remove lines.
# A line that begins with the id of a step (s1:) keeps what else is known of it.
"""
_LINE = re.compile(r"(?:(s\d+):\s*)?(.+?)(?:\s+--\s+(.*))?")


def edited_steps(plan: Plan, typed: Callable[[], str]) -> list[dict[str, Any]]:
    """The steps as a person wants them.

    Args:
        typed: Reads lines from the person where no editor is named by VISUAL or EDITOR.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return steps_of(plan, _in_editor(editor, text_of(plan)) if editor else typed())


def text_of(plan: Plan) -> str:
    """The plan as lines to edit."""
    lines = []
    for step in plan.steps:
        more = one_line(step.description, 2_000) if step.name else ""
        lines.append(f"{step.id}: {step.name or step.description}{f' -- {more}' if more else ''}")
    return _HELP + "\n".join(lines) + "\n"


def steps_of(plan: Plan, text: str) -> list[dict[str, Any]]:
    """Read edited lines back; a line with the id of a step keeps its criteria and the rest."""
    known = {step.id: step for step in plan.steps}
    fields = list(StepFields.model_fields)
    steps = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is None or line.lstrip().startswith("#"):
            continue
        step_id, name, description = match.groups()
        kept: dict[str, Any] = {}
        if step_id in known:
            kept = {"id": step_id, **known[step_id].model_dump(mode="json", include=set(fields))}
        steps.append({**kept, "name": name, "description": description or ""})
    return steps


def _in_editor(editor: str, text: str) -> str:
    with tempfile.TemporaryDirectory(prefix="planloop-") as folder:
        file = Path(folder) / "plan.txt"
        file.write_text(text, "utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(file)], check=True)
            return file.read_text("utf-8")
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise WrongUse(f"The editor '{editor}' did not edit the plan ({error}).") from error
