import doctest
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from planloop.state import cut_middle
from planloop.tools import to_text

results: Any = import_module("planloop.tools.results")


class Point(BaseModel):
    x: int


@dataclass
class Pair:
    left: object
    right: object


class Unprintable:
    def __str__(self) -> str:
        raise RuntimeError("no text")


LOOP: list[Any] = []
LOOP.append(LOOP)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "(no output)"),
        ("", "(no output)"),
        (b"", "(no output)"),
        ("plain", "plain"),
        (b"\x00\xff", "\N{REPLACEMENT CHARACTER}"),
        ("a\x00b\udc81", "ab\N{REPLACEMENT CHARACTER}"),
        ("\x1b[31mred\x1b[0m \x1b]0;title\x07end", "red end"),
        (["a", "b"], '["a", "b"]'),
        ([], "[]"),
        ({"计划": [1, None]}, '{"计划": [1, null]}'),
        ([{"type": "text", "text": "one"}, "two"], "one\ntwo"),
        ([{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {}}], "see\n[image]"),
        ([{"type": "input_image", "image_url": "x"}], "[image]"),
        ([{"type": "circle"}], '[{"type": "circle"}]'),
        (Point(x=1), '{"x": 1}'),
        ([Pair({1}, Point(x=2))], '[{"left": "{1}", "right": {"x": 2}}]'),
        ({(1, 2): 3}, "{(1, 2): 3}"),
        (LOOP, "[[...]]"),
        (Unprintable(), "<Unprintable>"),
        ({"bad": Unprintable()}, '{"bad": "<Unprintable>"}'),
        (3.5, "3.5"),
        (False, "False"),
    ],
)
def test_every_value_becomes_text(value: object, text: str) -> None:
    assert to_text(value) == text


@given(st.text(), st.integers(min_value=0, max_value=200))
def test_a_cut_text_never_exceeds_its_limit(text: str, limit: int) -> None:
    cut = cut_middle(text, limit)
    assert len(cut) <= limit or cut == text
    assert cut == text or len(text) > limit


def test_a_cut_text_keeps_both_ends_and_counts_what_is_missing() -> None:
    text = "".join(f"{number:05}" for number in range(1000))
    cut = cut_middle(text, 200)
    head, marker, tail = cut.split("\n")
    assert text.startswith(head) and text.endswith(tail)
    assert marker == f"[... {5000 - len(head) - len(tail):,} characters left out ...]"


def test_the_ends_of_something_huge_are_joined() -> None:
    assert results.cut_bytes(b"abc", b"def", 6, 100) == "abcdef"
    text = results.cut_bytes(b"a" * 400, b"z" * 400, 10_000, 100)
    assert text.startswith("aaa") and text.endswith("zzz") and len(text) <= 100
    assert "bytes left out" in text


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(results).failed == 0
