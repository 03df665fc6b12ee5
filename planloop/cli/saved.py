"""`planloop resume`, `answer`, `show` and `runs`: what becomes of saved runs."""

from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from planloop.errors import AnswerError, FinishedThread, WrongUse
from planloop.runs import Runs, RunView, is_paused
from planloop.savers import open_saver
from planloop.state import Plan

from .answers import read_answer
from .build import planning_graph, saved_runs
from .database import Database, opened
from .model import ready_model, remarks
from .outcome import changes_text, described, document, row
from .paths import database_file, database_url
from .questions import waiting_text
from .screen import Screen, visible
from .session import Session
from .settings import RunSettings
from .timeline import print_timeline
from .tree import print_tree

_PIPE_WIDTH = 200
_GAP = 3  # characters between two columns
_LEAST = 10  # characters of a request


def resume(thread: str, *, model: str, db: str | None, as_json: bool) -> int:
    """Take up a run that was cut off or waits; return the exit code."""
    screen = Screen(as_json)
    with opened(db, must_exist=True) as database:
        view = saved_runs(*database).status(thread)
        if view.status == "finished":
            raise FinishedThread(
                thread, "has ended: start a new run, or give it a further request by `follow-up`."
            )
        needs_model = not view.pending or is_paused(view) or screen.asks
        known = saved_runs(*database)
        runs = working_runs(database, view, model, screen) if needs_model else known
        return Session(runs, thread, screen, db).go(
            lambda on_event: runs.aresume(thread, on_event=on_event)
        )


def answer(
    thread: str,
    text: str | None,
    *,
    question: str | None,
    yes: bool | None,
    db: str | None,
    as_json: bool,
) -> int:
    """Answer a question and go on; return the exit code."""
    screen = Screen(as_json)
    with opened(db, must_exist=True) as database:
        view = saved_runs(*database).status(thread)
        found = [item for item in view.pending if question in (None, item.id)]
        if not view.pending:
            raise AnswerError(thread, "waits for no answer.")
        given = read_answer(found[0].asked if found else {}, text, yes)
        runs = working_runs(database, view, "", screen)
        return Session(runs, thread, screen, db).go(
            lambda on_event: runs.aanswer(thread, given, id=question, on_event=on_event)
        )


def working_runs(database: Database, view: RunView, model: str, screen: Screen) -> Runs:
    """The run's graph as it was started, with its model."""
    settings = RunSettings.of(view.notes)
    name, loaded = ready_model(model or settings.model, screen)
    screen.say(f"Model {name}, thread {view.thread}, workspace {view.workspace}")
    for line in remarks(name):
        screen.say(line)
    return Runs(planning_graph(replace(settings, model=name), loaded, *database))


def show(thread: str, *, db: str | None, forms: Sequence[str]) -> int:
    """Show one run.

    Args:
        forms: How: `json`, `tree`, `timeline`, `changes` or `mermaid`; empty: in words.
    """
    if len(forms) > 1:
        raise WrongUse(f"Ask for one of {', '.join(f'--{form}' for form in forms)} at a time.")
    form = next(iter(forms), "")
    screen = Screen(as_json=form == "json")
    with open_saver(database_url(db, must_exist=True)) as saver:
        view = saved_runs(saver).status(thread)
    if form == "json":
        screen.document(document(view))
    elif form:
        _show_plan(screen, view, form)
    else:
        screen.result(described(view))
        if view.pending:
            screen.result(f"\n{waiting_text(view, db)}")
    return 0


def _show_plan(screen: Screen, view: RunView, form: str) -> None:
    """Only the plan, drawn in one way."""
    plan = view.values.get("plan") or Plan()
    if not plan.steps:
        screen.say(f"Run {view.thread} has no plan yet.")
    elif form == "tree":
        print_tree(screen, plan)
    elif form == "timeline":
        print_timeline(screen, plan)
    else:
        screen.result(plan.to_mermaid() if form == "mermaid" else changes_text(plan))


def list_runs(*, db: str | None) -> int:
    """List all runs, newest first."""
    screen = Screen()
    file = database_file(db)
    if file is not None and not file.exists():
        screen.say(f"No runs are saved in {file} yet.")
        return 0
    with open_saver(database_url(db)) as saver:
        rows = [row(view) for view in saved_runs(saver).list()]
    if not rows:
        screen.say("No runs are saved yet.")
        return 0
    print_table(screen, ["thread", "status", "phase", "progress", "request", "updated"], rows)
    return 0


def print_table(screen: Screen, names: list[str], rows: list[list[str]]) -> None:
    """A table in which the request gives way where the console is narrow."""
    console = Console(highlight=False, width=None if screen.is_watched else _PIPE_WIDTH)
    columns = [[name, *cells] for name, *cells in zip(names, *rows, strict=True)]
    widths = {column[0]: max(map(len, column)) for column in columns}
    others = sum(widths.values()) - widths.get("request", 0) + _GAP * (len(names) - 1)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in names:
        room = max(console.width - others, _LEAST) if name == "request" else widths[name]
        least = widths[name] if name == "thread" else None
        table.add_column(name, min_width=least, max_width=room, no_wrap=True, overflow="ellipsis")
    for cells in rows:
        table.add_row(*(Text(visible(cell)) for cell in cells))
    console.print(table)
