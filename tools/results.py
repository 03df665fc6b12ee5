"""Whatever a tool returns, as clean text of bounded length."""

import dataclasses
import json
import re
from typing import Any, Final

from pydantic import BaseModel

from planloop.state import IMAGE_BLOCKS, cut_middle, is_image, join_ends

MAX_OUTPUT: Final = 8_000
"""Characters of a result that a model is shown, unless its tool declares another limit."""
NO_OUTPUT: Final = "(no output)"

_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)")
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
_BLOCKS: Final = IMAGE_BLOCKS | {"text", "audio", "video", "file", "document"}


def to_text(value: object) -> str:
    """Turn any value into clean text; never raises.

    >>> to_text(None), to_text(b"caf\\xc3\\xa9"), to_text({"n": 1})
    ('(no output)', 'café', '{"n": 1}')
    """
    match value:
        case None:
            text = ""
        case str():
            text = value
        case bytes() | bytearray() | memoryview():
            text = bytes(value).decode("utf-8", "replace")
        case list() if _is_blocks(value):
            text = "\n".join(map(_block_text, value))
        case dict() | list() | tuple() | BaseModel():
            text = _json(value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            text = _json(value)
        case _:
            text = safe_str(value)
    return clean(text) or NO_OUTPUT


def to_content(value: object) -> str | list[dict[str, Any]]:
    """Turn any value into clean text, or into blocks of text and images where it has images."""
    if not (isinstance(value, list) and _is_blocks(value) and any(map(is_image, value))):
        return to_text(value)
    return [
        block if is_image(block) else {"type": "text", "text": clean(_block_text(block))}
        for block in value
    ]


def clean(text: str) -> str:
    """Drop NULs and terminal colours; replace half characters that UTF-8 cannot hold."""
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", _ESCAPES.sub("", text).replace("\0", ""))


def cut_bytes(head: bytes, tail: bytes, total: int, limit: int) -> str:
    """Turn the ends of something too large to hold into text of at most `limit` characters.

    Args:
        head: Its first bytes; all of it where `total` is no more than both ends.
        tail: The bytes that end it, not overlapping `head`.
        total: Bytes it has altogether.
        limit: Characters of the answer.
    """
    if total <= len(head) + len(tail):
        return cut_middle(clean((head + tail).decode("utf-8", "replace")), limit)
    first, last = (clean(end.decode("utf-8", "replace")) for end in (head, tail))
    return join_ends(first, last, total, "bytes", limit)


def safe_str(value: object) -> str:
    """`str(value)`, or the name of its type where that fails."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _is_blocks(value: list[Any]) -> bool:
    """Whether a list is message content: blocks, with or without plain strings between them."""
    blocks = [item for item in value if not isinstance(item, str)]
    return bool(blocks) and all(
        isinstance(block, dict) and block.get("type") in _BLOCKS for block in blocks
    )


def _block_text(block: str | dict[str, Any]) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text")
    return text if isinstance(text, str) else f"[{'image' if is_image(block) else block['type']}]"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=_plain)
    except Exception:  # keys that are no text, a cycle, a field that cannot be read
        return safe_str(value)


def _plain(value: object) -> object:
    """What `json` is given for a value it does not know."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return to_text(value)
