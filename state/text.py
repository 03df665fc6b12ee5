"""Small changes to text that several layers need."""

import re
from typing import Final

NAMELESS: Final = "unnamed_tool"
_ILLEGAL: Final = re.compile(r"[^a-zA-Z0-9_-]")


def legal_name(name: str) -> str:
    """A name that servers accept in a replayed call, and file systems in a path.

    >>> legal_name("functions.add"), legal_name("查询")
    ('functions_add', '__')
    """
    return _ILLEGAL.sub("_", name)[:64] or NAMELESS


def one_line(text: str, width: int = 0) -> str:
    """Collapse white space; with a width, cut to it with an ellipsis.

    >>> one_line("a\\n  b", 2)
    'a…'
    """
    line = " ".join(text.split())
    return line[: width - 1] + "…" if 0 < width < len(line) else line


def cut_middle(text: str, limit: int, note: str = "") -> str:
    """Keep the beginning and the end of a text that is longer than `limit` characters.

    Args:
        note: Goes into the gap, after the count.

    >>> cut_middle("a" * 500 + "z" * 500, 80)
    'aaaaaaaaaaaaaaaaaaaaaa\\n[... 957 characters left out ...]\\nzzzzzzzzzzzzzzzzzzzzz'
    """
    if len(text) <= limit:
        return text
    return join_ends(text, text, len(text), "characters", limit, note)


def join_ends(first: str, last: str, total: int, unit: str, limit: int, note: str = "") -> str:
    """The beginning of `first` and the end of `last` around a note on what is left out.

    Args:
        total: Size of the whole, in `unit` (`characters` or `bytes`).
        limit: Characters of the answer.
    """
    room = max(limit - len(_marker(total, unit, note)), 0)
    head, tail = first[: room - room // 2], last[len(last) - room // 2 :]
    shown = len(head) + len(tail) if unit == "characters" else len((head + tail).encode())
    return f"{head}{_marker(total - shown, unit, note)}{tail}"[:limit]


def _marker(left_out: int, unit: str, note: str) -> str:
    return f"\n[... {left_out:,} {unit} left out{note} ...]\n"
