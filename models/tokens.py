"""Count tokens offline, for a model that nobody knows: near what real tokenizers give, rather more.

A count of characters is fooled by Chinese, code and base64; here a text is split about where
tokenizers split it. Calibrated against cl100k_base, o200k_base and DeepSeek's tokenizer.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from planloop.state import cut_middle, is_image

IMAGE_TOKENS: Final = 1_000
"""One image, whatever its bytes: servers scale it to tiles and charge some 250 to 1,600 tokens."""
MEDIA_TOKENS: Final = 2_000
"""One piece of audio or video, or one file that is sent as it is."""
OVERHEAD: Final = 4
"""Role and frame of one message, or of one call."""

_PIECES: Final = re.compile(
    r"[=\-_*#.~]{4,40}"  # rules and leaders are one token
    r"| ?[A-Z]?[a-z]{1,6}| ?[A-Z]{1,3}"  # words, with the space before them
    r"|\d{1,2}"  # between one and three digits a token
    r"|[ \t]{1,80}\n{0,16}|\n{1,16}"  # with bounds: a long run of blanks must not be quadratic
    r"|[!-/:-@\[-`{-~]{1,2}"  # punctuation often comes in pairs
    r"|[\u0400-\u04ff]{1,3}"  # Cyrillic
    r"|.",  # Chinese and most other scripts: a token a character
    re.DOTALL,
)
_A_NAME: Final = 2  # characters a token of names and ids, which is few
_SHORT: Final = 12  # characters: names, ids and keys are read as they are
_LONG_RUN: Final = re.compile(r"[A-Za-z0-9+/_-]{12,}")
_RANDOM: Final = re.compile(
    r"(?=\D*\d)(?=[^A-Z]*[A-Z])(?=[^a-z]*[a-z])"
    r"|(?=[^G-Zg-z]*[G-Zg-z])(?:[^0-9]*[0-9]+[A-Za-z]){3}"  # base32, random ids; not hex
)
_UNREADABLE: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{4}")  # no word: cut into smaller pieces
_MORE_FOR_RANDOM: Final = 0.22  # tokens a character: base64 has no words to find
_ASTRAL: Final = re.compile("[\U00010000-\U0010ffff]")
_MORE_FOR_ASTRAL: Final = 2  # emoji are cut into bytes
_SAMPLED_FROM: Final = 200_000  # characters; longer texts are counted in evenly spread slices
_SLICES: Final = 64
_SLICE: Final = 1_024
_DATA: Final = re.compile(r"[A-Za-z0-9+/=_\r\n-]{2000,}")  # base64, with or without lines


def count_text(text: str) -> int:
    """Tokens of a text; none for an empty one.

    >>> count_text("The file has twelve lines."), count_text("文件有十二行。")
    (6, 7)
    """
    if len(text) > _SAMPLED_FROM:
        step = len(text) / _SLICES
        starts = [int(n * step) for n in range(_SLICES)]
        sample = sum(count_text(text[at : at + _SLICE]) for at in starts)
        return sample * len(text) // (_SLICES * _SLICE)
    count = len(_PIECES.findall(text))
    if len(text) >= _SHORT:
        count += len(_UNREADABLE.findall(text))
        if runs := _LONG_RUN.findall(text):
            more = sum(len(run) for run in runs if _RANDOM.match(run))
            count += int(more * _MORE_FOR_RANDOM)
    if not text.isascii():
        count += _MORE_FOR_ASTRAL * len(_ASTRAL.findall(text))
    return count


def cut_to_tokens(text: str, tokens: int) -> str:
    """The text, or its beginning and end where it has more tokens than this."""
    count = count_text(text)
    if count <= tokens:
        return text
    return cut_middle(text, len(text) * max(tokens, 0) // count)


def count_tokens(messages: Iterable[Any]) -> int:
    """Tokens of messages; what is no message counts nothing."""
    return sum(count_message(m) for m in messages if isinstance(m, BaseMessage))


def count_message(message: BaseMessage) -> int:
    """Tokens of one message, with its calls; images and other media at a flat cost each."""
    content = message.content
    count = OVERHEAD
    count += count_text(content) if isinstance(content, str) else sum(map(_block, content))
    if isinstance(message, ToolMessage):
        return count + (len(message.tool_call_id) + len(message.name or "")) // _A_NAME
    if isinstance(message, AIMessage):
        for call in (*message.tool_calls, *message.invalid_tool_calls):
            count += OVERHEAD + len(f"{call['name']}{call['id']}") // _A_NAME
            count += _guarded(_value, call["args"])
        reasoning = message.additional_kwargs.get("reasoning_content")
        count += count_text(reasoning) if isinstance(reasoning, str) else 0
    return count


def _block(block: Any) -> int:
    return _guarded(_weight, block)


def _guarded(count: Callable[[Any], int], what: Any) -> int:
    try:
        return count(what)
    except Exception:  # whatever a server sends: cyclic, too deep, without a text
        return MEDIA_TOKENS


def _weight(block: Any) -> int:
    if not isinstance(block, Mapping):
        return count_text(str(block))
    if is_image(block):
        return IMAGE_TOKENS
    source = block.get("source")
    if isinstance(source, Mapping) and source.get("type") == "text":
        return _value(source.get("data"))  # a document in plain text, as long as it is
    if block.get("type") in ("audio", "input_audio", "video", "file", "document"):
        return MEDIA_TOKENS
    said = block.get("text") or block.get("thinking") or block.get("reasoning")
    return count_text(said) if isinstance(said, str) else _value(block)


def _value(value: Any) -> int:
    """Tokens of a value as JSON; a long string of base64 is data, at a flat cost."""
    if isinstance(value, str):
        return MEDIA_TOKENS if _DATA.fullmatch(value) else count_text(value)
    if isinstance(value, Mapping):
        return 2 + sum(count_text(str(key)) + _value(item) + 2 for key, item in value.items())
    if isinstance(value, list | tuple):
        return 2 + sum(map(_value, value))
    return count_text(json.dumps(value, default=str))
