"""The commands that look at saved runs, with their options."""

from typing import Annotated

import typer

from .options import Db, Json, Thread, command, ending

past = typer.Typer()
saved_runs = typer.Typer(add_completion=False)
past.add_typer(saved_runs, name="runs")
Moment = Annotated[str, typer.Argument(help="Number or id of a moment, see `planloop history`.")]


@command(past, "show")
def show(
    thread: Thread,
    db: Db = None,
    as_json: Json = False,
    tree: Annotated[
        bool, typer.Option("--tree", help="The plan as a tree, with plans within it.")
    ] = False,
    timeline: Annotated[
        bool, typer.Option("--timeline", help="When each step ran, and what it cost.")
    ] = False,
    changes: Annotated[
        bool, typer.Option("--changes", help="Every version of the plan, with its reason.")
    ] = False,
    mermaid: Annotated[
        bool, typer.Option("--mermaid", help="The plan as a Mermaid flowchart.")
    ] = False,
) -> int:
    """Show a run: its plan, its report, what it waits for."""
    from . import saved

    forms = {
        "json": as_json,
        "tree": tree,
        "timeline": timeline,
        "changes": changes,
        "mermaid": mermaid,
    }
    return saved.show(thread, db=db, forms=[form for form, wanted in forms.items() if wanted])


@saved_runs.callback(invoke_without_command=True)
def _runs(context: typer.Context, db: Db = None) -> None:
    """List the runs, newest first; `planloop runs prune` gives back space."""
    if context.invoked_subcommand is None:
        list_runs(db=db)


@ending
def list_runs(db: str | None) -> int:
    """List the runs."""
    from . import saved

    return saved.list_runs(db=db)


@command(saved_runs, "prune")
def prune(
    keep_last: Annotated[
        int, typer.Option("--keep-last", help="Moments of each run that are kept.", min=1)
    ] = 1,
    db: Db = None,
) -> int:
    """Delete all but the newest moments of every run, and make the file smaller."""
    from . import branches

    return branches.prune(keep_last, db=db)


@command(past, "history")
def history(thread: Thread, db: Db = None) -> int:
    """List the saved moments of a run, oldest first."""
    from . import branches

    return branches.history(thread, db=db)


@command(past, "fork")
def fork(
    thread: Thread,
    at: Annotated[str, typer.Option("--at", help="Number or id of a moment.", metavar="MOMENT")],
    plan: Annotated[
        str | None,
        typer.Option("--plan", help="File with the steps from here on, one a line or as JSON."),
    ] = None,
    db: Db = None,
) -> int:
    """Go back to a moment: a branch, with which `resume` goes on."""
    from . import branches

    return branches.fork(thread, at, plan=plan, db=db)


@command(past, "compare")
def compare(
    thread: Thread,
    old: Moment,
    new: Annotated[str, typer.Argument(help="Another; left out, the run as it is.")] = "",
    db: Db = None,
) -> int:
    """Say what two moments of a run differ in."""
    from . import branches

    return branches.compare(thread, old, new, db=db)


@command(past, "delete")
def delete(thread: Thread, db: Db = None) -> int:
    """Forget a run with its branches; its workspace stays."""
    from . import branches

    return branches.delete(thread, db=db)
