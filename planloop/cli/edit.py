"""Edit a plan as lines of text, in the person's editor or typed one by one."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from planloop.errors import WrongUse
from planloop.state import Plan, plan_lines


def edited_text(plan: Plan, typed: Callable[[], str]) -> str:
    """The plan as lines, as a person wants them.

    Args:
        typed: Reads lines from the person where no editor is named by VISUAL or EDITOR.
    """
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    return _in_editor(editor, plan_lines(plan)) if editor else typed()


def _in_editor(editor: str, text: str) -> str:
    with tempfile.TemporaryDirectory(prefix="planloop-") as folder:
        file = Path(folder) / "plan.txt"
        file.write_text(text, "utf-8")
        try:
            subprocess.run([*shlex.split(editor), str(file)], check=True)
            return file.read_text("utf-8")
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            raise WrongUse(f"The editor '{editor}' did not edit the plan ({error}).") from error
