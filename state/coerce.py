"""Turn what models send for lists of steps and texts into lists, and nothing else.

A value is only ever decoded because its field is declared a list: text that happens to hold JSON
in a text field stays text.
"""

import ast
import json
import re
import warnings
from typing import Any

_MARKER = re.compile(r"^\s*(?:[-*•]\s+|\(?\d+[.)]\s+)")
_LITERAL_LIMIT = 50_000  # characters; Python's parser is no place for a stranger's megabyte
_TEXT_KEYS = ("name", "title", "step", "text", "task", "description")


def decode(text: str) -> Any:
    """The list or object that a string encodes as JSON or as a Python literal, or the string."""
    if text.lstrip()[:1] not in ("[", "{", "(", '"'):
        return text
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:
        with warnings.catch_warnings(action="ignore"):  # Python warns of odd escapes in literals
            value = ast.literal_eval(text.strip()) if len(text) < _LITERAL_LIMIT else text
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return text
    return list(value) if isinstance(value, tuple) else value


def as_texts(value: Any) -> Any:
    """Read a list of short texts; a lone text is a list of one.

    >>> as_texts("['A', 'B']"), as_texts(None), as_texts("A")
    (['A', 'B'], [], ['A'])
    """
    if isinstance(value, str):
        value = decode(value)
    if value is None or value == "":
        return []
    if isinstance(value, str | int | float):
        return [str(value)]
    if isinstance(value, dict):
        value = list(value.values()) if value else []
    if isinstance(value, list):
        return [_text_of(item) for item in value if item is not None and item != ""]
    return value


def as_steps(value: Any) -> Any:
    """Read steps: a list of objects or texts, or a string that encodes or lists them.

    >>> [step["name"] for step in as_steps("1. A\\n2. B")]
    ['A', 'B']
    """
    if isinstance(value, str):
        decoded = decode(value)
        value = decoded if not isinstance(decoded, str) else _split_lines(decoded)
    if isinstance(value, dict):
        value = value.get("steps", [value])
    if not isinstance(value, list):
        return value
    return [step for item in value if (step := _as_step(item)) is not None]


def _split_lines(text: str) -> list[str]:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and all(_MARKER.match(line) for line in lines):
        return [_MARKER.sub("", line).strip() for line in lines]
    return [text]


def _as_step(item: Any) -> Any:
    """One step as an object with a name, `None` for a blank one, anything else as it came."""
    if isinstance(item, str):
        return {"name": item.strip()} if item.strip() else None
    if not isinstance(item, dict):
        return item
    if not (str(item.get("name") or "")).strip():
        text = next((t for key in _TEXT_KEYS if (t := _named_text(item, key))), "")
        if text:
            return {**item, "name": text}
    return item


def _named_text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value.strip() if isinstance(value, str) else ""


def _text_of(item: Any) -> str:
    if isinstance(item, dict):
        named = (t for key in (*_TEXT_KEYS, "id") if (t := _named_text(item, key)))
        return next(named, json.dumps(item, ensure_ascii=False, default=str))
    return item if isinstance(item, str) else str(item)
