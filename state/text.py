"""Small changes to text that several layers need."""


def one_line(text: str, width: int = 0) -> str:
    """Collapse white space; with a width, cut to it with an ellipsis.

    >>> one_line("a\\n  b", 2)
    'a…'
    """
    line = " ".join(text.split())
    return line[: width - 1] + "…" if 0 < width < len(line) else line


def cut_middle(text: str, limit: int) -> str:
    """Keep head and tail of a text that is longer than `limit` characters.

    >>> cut_middle("abcdef" * 20, 60)[-6:]
    'abcdef'
    """
    if len(text) <= limit:
        return text
    note = f"\n… {len(text) - limit} characters left out …\n"
    room = max(limit - len(note), 2)
    return text[: room - room // 3] + note + text[len(text) - room // 3 :]
