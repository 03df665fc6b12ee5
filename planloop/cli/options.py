"""What commands share: their common options, and how they end."""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, ParamSpec

import typer

P = ParamSpec("P")

Model = Annotated[
    str, typer.Option("--model", help="provider:name; default: PLANLOOP_MODEL, OpenAI, local.")
]
Db = Annotated[
    str | None, typer.Option("--db", help="File or URL of the database of runs.", metavar="PATH")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, and ask nothing.")]
Thread = Annotated[str, typer.Argument(help="Id of the run, see `planloop runs`.")]
Request = Annotated[str, typer.Argument(help="What should be done.", metavar="TEXT")]


def command(home: typer.Typer, name: str) -> Callable[[Callable[P, int]], Callable[P, None]]:
    """Register a command that returns its exit code, or fails with a sentence and 2."""

    def register(body: Callable[P, int]) -> Callable[P, None]:
        told = ending(body)
        home.command(name)(told)
        return told

    return register


def ending(body: Callable[P, int]) -> Callable[P, None]:
    """Let a function end the program with the exit code that it returns."""

    @wraps(body)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        from planloop.errors import PlanloopError

        from .screen import Screen

        try:
            code = body(*args, **kwargs)
        except PlanloopError as error:
            Screen(as_json=True).say(f"Error: {error}")
            code = 2
        except KeyboardInterrupt:
            code = 130
        raise typer.Exit(code)

    return told
