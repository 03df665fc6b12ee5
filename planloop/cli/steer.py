"""`planloop note`, `pause`, `cancel` and `follow-up`: speak to a run, or take it further."""

from planloop.errors import EmptyRequest
from planloop.runs import Runs

from .build import saved_runs
from .database import opened
from .outcome import exit_code
from .questions import command
from .saved import working_runs
from .screen import Screen
from .session import Session


def note(thread: str, text: str, *, db: str | None) -> int:
    """Tell a running plan something."""
    with opened(db, must_exist=True) as database:
        saved_runs(*database).note(thread, text)
    Screen().say("The plan reads it before its next step.")
    return 0


def pause(thread: str, *, db: str | None) -> int:
    """Let a running plan wait before its next step."""
    with opened(db, must_exist=True) as database:
        saved_runs(*database).pause(thread)
    go_on = command("resume", thread, db)
    Screen().say(f"The plan waits before its next step. Go on with: {go_on}")
    return 0


def cancel(thread: str, reason: str, *, db: str | None) -> int:
    """End a plan; one that waits for an answer is ended here and now."""
    screen = Screen()
    with opened(db, must_exist=True) as database:
        view = saved_runs(*database).cancel(thread, reason)
    if view.status != "finished":
        resume = command("resume", thread, db)
        screen.say(f"It ends before its next step; if nothing works on it, with: {resume}")
        return 0
    screen.result(str(view.values.get("summary") or ""))
    return exit_code(view)


def follow_up(
    thread: str, request: str, *, extend: bool, model: str, db: str | None, as_json: bool
) -> int:
    """Give a finished run a further request; return the exit code."""
    if not request.strip():
        raise EmptyRequest
    screen = Screen(as_json)
    with opened(db, must_exist=True) as database:
        view = saved_runs(*database).status(thread)
        runs: Runs = working_runs(database, view, model, screen)
        return Session(runs, thread, screen, db).go(
            lambda on_event: runs.afollow_up(thread, request, extend=extend, on_event=on_event)
        )
