"""Text of strangers within Markdown and Mermaid: it is shown, and is never part of the form."""

import re
from typing import Final

from .text import one_line

_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_MEANT: Final = re.compile(r"([\\`*_{}\[\]<>#|~!&$])")
"""What Markdown takes for markup, wherever it stands in a line."""
_LEADS: Final = re.compile(r"^(?:([-+=])|(\d{1,9})([.)]))")
"""What Markdown takes for markup at the beginning of a line."""
_PLAIN: Final = frozenset(" ,./_-()…")
"""What means nothing in a quoted label of Mermaid, besides letters and digits."""


def in_markdown(text: str, width: int) -> str:
    """One line of text, at most `width` characters before escaping.

    >>> in_markdown("# a | b\\n`c`", 40)
    '\\\\# a \\\\| b \\\\`c\\\\`'
    """
    line = _MEANT.sub(r"\\\1", one_line(_CONTROLS.sub("", text), width))
    return _LEADS.sub(lambda m: f"\\{m[1]}" if m[1] else f"{m[2]}\\{m[3]}", line)


def in_mermaid(text: str, width: int) -> str:
    """One line of text for a quoted label, at most `width` characters before escaping.

    Marks that mean something are written by their numbers, so that nothing closes the
    label or begins a comment, a directive, or Markdown.

    >>> in_mermaid('say "end"; %% x', 40)
    'say #34;end#34;#59; #37;#37; x'
    """
    line = one_line("".join(c if c.isprintable() else " " for c in text), width)
    return "".join(c if c.isalnum() or c in _PLAIN else f"#{ord(c)};" for c in line)
