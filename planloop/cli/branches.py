"""`planloop history`, `fork`, `compare`, `delete`, `runs prune`: the past, and ways from there."""

import json
from pathlib import Path
from typing import Any

from planloop.errors import WrongUse

from .build import saved_runs
from .database import opened
from .questions import command
from .saved import print_table
from .screen import Screen

_LARGEST = 1_000_000
"""Bytes of a plan file that are read."""


def history(thread: str, *, db: str | None) -> int:
    """List the moments of a run."""
    with opened(db, must_exist=True) as database:
        moments = saved_runs(*database).history(thread)
    rows = [
        [str(m.number), m.phase, *map(" ".join, (m.steps, m.next)), m.at[:19].replace("T", " ")]
        for m in moments
    ]
    print_table(Screen(), ["moment", "phase", "steps", "next", "saved (UTC)"], rows)
    return 0


def fork(thread: str, at: str, *, plan: str | None, db: str | None) -> int:
    """Go back to a moment."""
    steps = None if plan is None else _steps_in(Path(plan))
    with opened(db, must_exist=True) as database:
        view = saved_runs(*database).fork(thread, at, plan=steps)
    screen = Screen()
    screen.result(view.values["plan"].render() if "plan" in view.values else view.thread)
    screen.say(f"The run is at moment {at} again. Go on with: {command('resume', thread, db)}")
    return 0


def compare(thread: str, old: str, new: str, *, db: str | None) -> int:
    """Say what two moments differ in."""
    with opened(db, must_exist=True) as database:
        Screen().result(saved_runs(*database).compare(thread, old, new))
    return 0


def prune(keep_last: int, *, db: str | None) -> int:
    """Give back the space of old moments."""
    with opened(db, must_exist=True) as database:
        gone = saved_runs(*database).prune(keep_last)
    Screen().say(f"{gone:,} moments are gone, with what only they needed.")
    return 0


def delete(thread: str, *, db: str | None) -> int:
    """Forget a run."""
    with opened(db, must_exist=True) as database:
        saved_runs(*database).delete(thread)
    Screen().say(f"Run {thread} is gone. Its workspace is where it was.")
    return 0


def _steps_in(file: Path) -> Any:
    """The steps in a file: JSON, or one a line.

    Raises:
        WrongUse: The file cannot be read, or has none.
    """
    try:
        with file.open("rb") as opened_file:
            text = opened_file.read(_LARGEST).decode("utf-8")
    except (OSError, ValueError) as error:
        raise WrongUse(f"The plan file {file} cannot be read: {error}") from error
    if not text.strip():
        raise WrongUse(f"The plan file {file} has no steps.")
    try:
        return json.loads(text)
    except ValueError:
        return text
