"""The estimate of tokens stays near real tokenizers, for any script and any kind of text."""

import base64
import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from planloop.models import IMAGE_TOKENS, count_message, count_text, count_tokens

NOISE = b"".join(hashlib.sha256(bytes([n])).digest() for n in range(60))
USERS = [
    {"id": n, "name": f"user{n}", "email": f"user{n}@example.com", "tags": ["a", "b"]}
    for n in range(10)
]
# Sample, and what cl100k_base, o200k_base and DeepSeek's tokenizer make of it.
SAMPLES: dict[str, tuple[str, tuple[int, int, int]]] = {
    "english": (
        "The committee met on Tuesday to discuss the proposals that had been submitted by the "
        "regional offices. Several members expressed doubts about the schedule.",
        (26, 26, 26),
    ),
    "chinese": (
        "委员会星期二开会，讨论了各地区办事处提交的提案。请先搜索资料，然后写一份报告。",
        (41, 28, 21),
    ),
    "japanese": (
        "委員会は火曜日に会合を開き、地域事務所から提出された提案について議論しました。",
        (43, 27, 22),
    ),
    "korean": (
        "위원회는 화요일에 회의를 열어 지역 사무소에서 제출한 제안을 논의했습니다.",
        (38, 23, 27),
    ),
    "russian": (
        "Комитет собрался во вторник, чтобы обсудить предложения региональных отделений.",
        (33, 19, 21),
    ),
    "code": (
        "def run(self, call, config=None, *, limit=None):\n    try:\n        entry, request = "
        "self._accept(call)\n    except ToolException as error:\n        return failure(call)\n",
        (38, 38, 40),
    ),
    "json": (json.dumps(USERS), (321, 321, 331)),
    "log": (
        "2026-11-12T10:15:09.120Z INFO [worker-3] request_id=9f86d081-884c-7d65-9a2f took 12ms\n",
        (46, 46, 46),
    ),
    "numbers": ("412.34,17.2,905.1177,3.5,88\n" * 10, (190, 190, 190)),
    "base64": (base64.b64encode(NOISE).decode(), (1844, 1744, 1793)),
    "hex": (NOISE.hex(), (2164, 2182, 2202)),
    "html": (
        '<div class="card" id="x1"><a href="https://example.com/a?c=1">More</a></div>\n',
        (29, 29, 29),
    ),
    "emoji": ("😀🎉🚀 done ✅ 🤖🔥 " * 5, (82, 51, 56)),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_cjk_code_and_base64_are_counted_near_real_tokenizers(kind: str) -> None:
    text, real = SAMPLES[kind]
    assert 0.85 * max(real) <= count_text(text) <= 1.5 * max(real)


def test_c73_the_count_needs_no_model_and_no_network() -> None:
    assert count_tokens([HumanMessage("hello"), "no message", None]) == 5
    assert count_text("") == 0


def test_c75_an_image_has_a_flat_cost_whatever_its_bytes() -> None:
    image: Any = {"type": "image", "base64": "A" * 400_000, "mime_type": "image/png"}
    message = ToolMessage([image] * 5, tool_call_id="c1")
    assert 5 * IMAGE_TOKENS <= count_message(message) < 5 * IMAGE_TOKENS + 20
    url: Any = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    assert count_message(HumanMessage([url])) < IMAGE_TOKENS + 20
    unknown: Any = {"type": "scan", "data": "A" * 400_000}
    assert count_message(HumanMessage([unknown])) < 3_000


def test_calls_and_reasoning_count() -> None:
    plain = count_message(AIMessage(""))
    calls: Any = [{"name": "write", "args": {"text": "words " * 100}, "id": "c1"}]
    assert count_message(AIMessage("", tool_calls=calls)) > plain + 100
    broken: Any = [{"name": "write", "args": "{" + "words " * 100, "id": "c1", "error": "cut"}]
    assert count_message(AIMessage("", invalid_tool_calls=broken)) > plain + 100
    thought = AIMessage("", additional_kwargs={"reasoning_content": "words " * 100})
    assert count_message(thought) > plain + 100


@given(st.text(), st.text())
def test_more_text_never_counts_less_than_either_part(left: str, right: str) -> None:
    assert count_text(left + right) >= max(count_text(left), count_text(right)) - 1
    assert (count_text(left) == 0) == (left == "")


BLOCK = st.dictionaries(
    st.sampled_from(["type", "text", "data", "image_url"]),
    st.none() | st.integers() | st.text(max_size=5) | st.lists(st.none(), max_size=2),
)


@given(st.lists(BLOCK | st.text(max_size=5), max_size=3))
def test_odd_blocks_are_counted_without_a_fuss(blocks: Any) -> None:
    messages: list[BaseMessage] = [HumanMessage(blocks), ToolMessage(blocks, tool_call_id="x")]
    assert count_tokens(messages) > 0


@pytest.mark.parametrize("blank", [" ", "\t", "\n", " \n", "=", "x"])
def test_long_runs_are_counted_in_a_line_and_near_what_they_cost(blank: str) -> None:
    short, long = count_text(blank * 10_000), count_text(blank * 100_000)
    assert 9 * short <= long <= 11 * short
    assert short >= 10_000 // 160


def test_a_very_long_text_is_sampled_and_still_right() -> None:
    part = "The file has twelve lines.\n" + "文件有十二行。" + "a1B2c3D4" * 4 + "\n"
    whole = sum(count_text(part) for _ in range(10_000))
    assert 0.9 * whole < count_text(part * 10_000) < 1.1 * whole


def test_a_document_in_plain_text_costs_what_it_is_long() -> None:
    source = {"type": "text", "data": "twelve lines " * 2_000}
    block: Any = {"type": "document", "source": source}
    assert count_message(HumanMessage([block])) > 4_000


def test_long_chinese_arguments_are_no_data() -> None:
    calls: Any = [{"name": "write", "args": {"text": "文件有十二行" * 1_500}, "id": "c1"}]
    assert count_message(AIMessage("", tool_calls=calls)) > 8_000


def test_a_block_that_cannot_be_read_has_a_flat_cost() -> None:
    class Mute:
        def __str__(self) -> str:
            raise ValueError("no words")

    block: Any = {"type": "odd", "value": Mute()}
    assert 0 < count_message(HumanMessage([block])) < 3_000
