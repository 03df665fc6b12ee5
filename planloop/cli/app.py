"""The commands with their options. What they do is imported when it is asked for."""

from typing import Annotated, Literal

import typer

from .options import Db, Json, Model, Request, Thread, command
from .past import past

app = typer.Typer(
    help="Plan-and-execute agents: plan, act, check, report; stop and go on at any point.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
models = typer.Typer(help="The small local models, and fetching them.", add_completion=False)
app.add_typer(models, name="models")
app.add_typer(past)


def _version(wanted: bool) -> None:
    if wanted:
        from planloop import __version__

        typer.echo(f"planloop {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@command(app, "run")
def run(
    request: Request,
    model: Model = "",
    workspace: Annotated[
        str | None, typer.Option(help="Folder that the tools read and write.", metavar="DIR")
    ] = None,
    thread: Annotated[str | None, typer.Option(help="Id for the run; default: a new one.")] = None,
    db: Db = None,
    clarify: Annotated[
        int, typer.Option(min=0, max=10, help="Questions before planning, at most.")
    ] = 0,
    approve_plan: Annotated[
        bool,
        typer.Option("--approve-plan", help="Ask before the first step, and after each replan."),
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Approve the plan and every tool call beforehand.")
    ] = False,
    as_json: Json = False,
    max_steps: Annotated[
        int | None, typer.Option(min=1, help="Steps that the plan may have.")
    ] = None,
    max_attempts: Annotated[int, typer.Option(min=1, help="Attempts at one step.")] = 2,
    max_replans: Annotated[int, typer.Option(min=0, help="New plans after failures.")] = 1,
    no_verify: Annotated[
        bool, typer.Option("--no-verify", help="Do not check success criteria.")
    ] = False,
    verify_task: Annotated[
        bool, typer.Option("--verify-task", help="Hold the results against the request.")
    ] = False,
    parallel: Annotated[
        int, typer.Option(min=1, max=64, help="Independent steps side by side.")
    ] = 1,
    seconds: Annotated[
        float | None, typer.Option(min=0, help="Begin no step after this time.")
    ] = None,
) -> int:
    """Plan, do each step, check it, and report."""
    from . import begin
    from .settings import RunSettings

    settings = RunSettings(
        model=model,
        yes=yes,
        clarify=clarify,
        approve_plan=approve_plan,
        verify=not no_verify,
        verify_task=verify_task,
        parallel=parallel,
        max_steps=max_steps,
        max_attempts=max_attempts,
        max_replans=max_replans,
        seconds=seconds,
    )
    return begin.run(request, settings, thread=thread, workspace=workspace, db=db, as_json=as_json)


@command(app, "plan")
def plan(request: Request, model: Model = "", as_json: Json = False) -> int:
    """Only plan. Exit code 1 means that no plan could be made."""
    from . import begin
    from .settings import RunSettings

    return begin.plan(request, RunSettings(model=model), as_json=as_json)


@command(app, "resume")
def resume(thread: Thread, model: Model = "", db: Db = None, as_json: Json = False) -> int:
    """Go on with a run that was cut off or waits."""
    from . import saved

    return saved.resume(thread, model=model, db=db, as_json=as_json)


@command(app, "answer")
def answer(
    thread: Thread,
    answer: Annotated[
        str | None, typer.Argument(help="Text or JSON; with --no, the reason.", metavar="ANSWER")
    ] = None,
    question: Annotated[
        str | None, typer.Option("--id", help="Which question, where several are open.")
    ] = None,
    yes: Annotated[bool | None, typer.Option("--yes/--no", help="Approve or refuse.")] = None,
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Answer what a run waits for, and go on with it."""
    from . import saved

    return saved.answer(thread, answer, question=question, yes=yes, db=db, as_json=as_json)


@command(app, "follow-up")
def follow_up(
    thread: Thread,
    request: Request,
    extend: Annotated[
        bool, typer.Option("--extend", help="Put the new steps behind those of the earlier plan.")
    ] = False,
    model: Model = "",
    db: Db = None,
    as_json: Json = False,
) -> int:
    """Give a finished run a further request, with its plan and results in sight."""
    from . import steer

    return steer.follow_up(thread, request, extend=extend, model=model, db=db, as_json=as_json)


@command(app, "note")
def note(
    thread: Thread,
    text: Annotated[str, typer.Argument(help="What it should take into account.", metavar="TEXT")],
    db: Db = None,
) -> int:
    """Tell a running plan something; its later steps are planned anew with it."""
    from . import steer

    return steer.note(thread, text, db=db)


@command(app, "pause")
def pause(thread: Thread, db: Db = None) -> int:
    """Let a running plan wait before its next step, until it is resumed."""
    from . import steer

    return steer.pause(thread, db=db)


@command(app, "cancel")
def cancel(
    thread: Thread,
    reason: Annotated[str, typer.Argument(help="Why; the report says it.", metavar="WHY")] = "",
    db: Db = None,
) -> int:
    """End a plan before its next step, with a report of what was done."""
    from . import steer

    return steer.cancel(thread, reason, db=db)


@command(app, "graph")
def graph(
    name: Annotated[
        Literal["react", "planner", "planning"], typer.Argument(help="Which graph.")
    ] = "planning",
    lifecycle: Annotated[
        bool, typer.Option("--lifecycle", help="The phases of a planning run instead.")
    ] = False,
    ascii_only: Annotated[
        bool, typer.Option("--ascii", help="As text instead of Mermaid.")
    ] = False,
) -> int:
    """Draw a graph as Mermaid, with the graphs inside it."""
    from . import draw

    return draw.graph(name, lifecycle=lifecycle, ascii_only=ascii_only)


@command(app, "demo")
def demo() -> int:
    """Show all of it in seconds, without a model: plan, retry, question, kill, resume."""
    from . import demo as show_demo

    return show_demo.run_demo()


@models.callback(invoke_without_command=True)
def _models(context: typer.Context) -> None:
    """The small local models, and fetching them."""
    if context.invoked_subcommand is None:
        from . import weights

        raise typer.Exit(weights.list_models())


@command(models, "fetch")
def fetch(name: Annotated[str, typer.Argument(help="As `planloop models` lists it.")]) -> int:
    """Fetch a local model, once."""
    from . import weights

    return weights.fetch_model(name)
