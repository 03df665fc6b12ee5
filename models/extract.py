"""Find what a model meant in what it wrote: text without thoughts, JSON among prose."""

import json
import re
from collections.abc import Iterator
from typing import Any

from langchain_core.utils.json import parse_partial_json

from planloop.state import decode

_THINK = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_CLOSED = re.compile(r"^.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_OPEN = re.compile(r"<think(?:ing)?>.*$", re.DOTALL | re.IGNORECASE)
_BRACKET = re.compile(r"[{\[]")
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]', re.DOTALL)
_FENCE = re.compile(r"(?:```|~~~)[ \t]*[\w+-]*[ \t]*\n?(.*?)(?:```|~~~|\Z)", re.DOTALL)


def without_thoughts(text: str) -> str:
    """What stands outside a leading think block.

    Some servers give only the closing tag; an unclosed block means that nothing was said. A tag
    in the middle of an answer is text about tags and stays.

    >>> without_thoughts("<think>hm</think> yes"), without_thoughts("hm</think>yes")
    ('yes', 'yes')
    >>> without_thoughts("Use the <think> tag.")
    'Use the <think> tag.'
    """
    stripped = text.lstrip()
    if stripped.lower().startswith(("<think>", "<thinking>")):
        text = _OPEN.sub("", _CLOSED.sub("", _THINK.sub("", stripped)))
    elif re.search(r"</think(?:ing)?>", text, re.IGNORECASE) and not re.search(
        r"<think(?:ing)?>", text, re.IGNORECASE
    ):
        text = _CLOSED.sub("", text)
    return text.strip()


def find_json(text: str) -> Iterator[Any]:
    """Objects and lists in a model's text, the likeliest first; nothing is invented.

    The whole text, then fenced blocks, then what stands balanced in the prose. Fragments of
    something that was cut off are not offered, nor lists out of something unreadable.
    """
    text = without_thoughts(text)
    seen = []
    for candidate in (text, *(match.strip() for match in _FENCE.findall(text))):
        value = decode(candidate)
        if isinstance(value, dict | list):
            seen.append(value)
            yield value
    for value in _in_prose(text):
        if value not in seen:
            yield value


def _in_prose(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(strict=False)
    place = unreadable_until = 0
    while (found := _BRACKET.search(text, place)) is not None:
        start = found.start()
        try:
            value, place = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = _closing(text, start)
            if end is None:
                return
            place, unreadable_until = start + 1, max(unreadable_until, end)
            continue
        if isinstance(value, dict) or start >= unreadable_until:
            yield value


def _closing(text: str, start: int) -> int | None:
    """Where the bracket that opens at `start` is closed, strings skipped; `None` if nowhere."""
    depth = 0
    for found in _STRING_OR_BRACKET.finditer(text, start):
        mark = found.group()
        depth += (mark in "{[") - (mark in "}]")
        if depth == 0 and len(mark) == 1:
            return found.end()
    return None


def cut_off_json(text: str) -> Any:
    """The part of a JSON text that arrived before it was cut off, or `None`."""
    start = min((n for n in (text.find("{"), text.find("[")) if n >= 0), default=-1)
    if start < 0:
        return None
    try:
        return parse_partial_json(text[start:])
    except ValueError:
        return None
