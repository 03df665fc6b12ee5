"""Where words go: results to stdout, progress to the terminal or to stderr."""

import json
import re
import sys
from dataclasses import dataclass
from typing import Any, TextIO

import typer
from rich.console import Console

from planloop.state import ASCII_MARKS, MARKS
from planloop.tools import clean

_IN_ASCII = {"→": "->", "…": "...", "·": "-", "›": ">", "█": "#"}
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Screen:
    """How this process talks to whoever started it."""

    as_json: bool = False

    @property
    def is_watched(self) -> bool:
        """Whether a person sees stdout, so that it may move."""
        return sys.stdout.isatty() and not self.as_json

    @property
    def asks(self) -> bool:
        """Whether there is a person to ask."""
        return self.is_watched and bool(sys.stdin and sys.stdin.isatty())

    @property
    def console(self) -> Console:
        """For what moves, and for questions."""
        return Console(highlight=False)

    def say(self, text: str) -> None:
        """Tell how it goes."""
        _write(text, sys.stdout if self.is_watched else sys.stderr)

    def result(self, text: str) -> None:
        """Hand out what was asked for."""
        _write(text, sys.stdout)

    def document(self, value: dict[str, Any]) -> None:
        """Hand out one JSON document, in UTF-8 whatever the console speaks."""
        text = json.dumps(value, ensure_ascii=False, indent=2) + "\n"
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()


def visible(text: str) -> str:
    """Text without anything that a terminal would obey."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", clean(text))


def shows_marks(encoding: str | None) -> bool:
    """Whether an encoding has the marks of plans."""
    try:
        "".join(MARKS.values()).encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def in_ascii(text: str) -> str:
    """Text with marks, arrows and ellipses that any console shows."""
    for status, mark in MARKS.items():
        text = text.replace(mark, ASCII_MARKS[status])
    for shown, plain in _IN_ASCII.items():
        text = text.replace(shown, plain)
    return text


def _write(text: str, stream: TextIO) -> None:
    text = visible(text)
    if not shows_marks(stream.encoding):
        known = stream.encoding or "ascii"
        text = in_ascii(text).encode(known, "replace").decode(known)
    typer.echo(text, file=stream)
