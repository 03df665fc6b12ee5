"""Whatever model, tools and history do, each request is valid for a strict server, and the log
never loses a message."""

import json
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.exceptions import ContextOverflowError, ModelAPIError, ModelRateLimitError
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_openai_messages,
)
from langgraph.checkpoint.memory import InMemorySaver
from wire.stub_server import violations

from planloop import Budget, MemoryPolicy, create_react_graph
from planloop.models import as_source
from planloop.testing import ScriptedModel

CONFIG: Any = {"configurable": {"thread_id": "t"}}
WORDS = st.sampled_from(["ok", "words " * 40, "字" * 60, "x" * 4_000])
IDS = st.sampled_from(["a", "b", "call_0", "", None])


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    with mock.patch("time.sleep"):
        yield


NAMES = ["look", "boom", "huge", "nothing", "look ", "terminate", "查"]


@st.composite
def turns(draw: st.DrawFn) -> Any:
    """One reply of a model: as it should be, or odd in one of many ways."""
    kind = draw(st.sampled_from(["calls", "calls", "broken", "text", "empty", "leaked", "fails"]))
    if kind == "fails":
        errors = [ModelRateLimitError("429"), ModelAPIError("500"), RuntimeError("bug")]
        errors += [ContextOverflowError("maximum context length is 900 tokens")]
        return draw(st.sampled_from(errors))
    if kind in ("text", "empty", "leaked"):
        said = {"text": draw(WORDS), "empty": "", "leaked": '<tool_call>{"name": "look"}'}[kind]
        return AIMessage(said)
    made: Any = []
    for _ in range(draw(st.integers(1, 4))):
        name = draw(st.sampled_from(NAMES))
        args = draw(st.sampled_from([{}, {"n": 1}, {"n": "x"}, {"more": [1]}]))
        made.append({"name": name, "args": args, "id": draw(IDS), "type": "tool_call"})
    reply = AIMessage(draw(st.sampled_from(["", "Let me see."])), tool_calls=made)
    if kind == "broken":
        bad = {"name": "look", "args": '{"n": ', "id": draw(IDS), "error": "cut"}
        reply.invalid_tool_calls = [bad]  # type: ignore[list-item]  # as parsers leave it
    return reply


@st.composite
def histories(draw: st.DrawFn) -> list[AnyMessage]:
    """What was said before: results missing or without a call, system messages anywhere."""
    log: list[AnyMessage] = []
    for turn in range(draw(st.integers(0, 6))):
        kind = draw(st.sampled_from(["user", "ai", "calls", "system", "orphan"]))
        text = draw(WORDS)
        if kind == "calls":
            ids = [f"h{turn}-{n}" for n in range(draw(st.integers(1, 3)))]
            calls: Any = [{"name": "look", "args": {}, "id": i, "type": "tool_call"} for i in ids]
            log.append(AIMessage("", tool_calls=calls))
            answered = draw(st.lists(st.sampled_from(ids), unique=True))
            log += [ToolMessage(text, tool_call_id=i) for i in answered]
        else:
            orphan = ToolMessage(text, tool_call_id=f"lost{turn}")
            kinds: dict[str, AnyMessage] = {
                "user": HumanMessage(text),
                "ai": AIMessage(text),
                "orphan": orphan,
            }
            log.append(kinds.get(kind, SystemMessage(text)))
    return [*log, HumanMessage("the task")]


def look(n: int = 0) -> str:
    """Look."""
    return "seen " * 20


def boom(n: int = 0) -> str:
    """Fail."""
    raise RuntimeError("boom")


def huge(n: int = 0) -> str:
    """Give much."""
    return "y" * 30_000


def check(request: list[BaseMessage]) -> None:
    """A strict server takes the request, and the task is in it."""
    body = {"messages": convert_to_openai_messages(request)}
    assert violations(body) == []
    json.dumps(body)
    if not request[0].text.startswith("Summarise"):
        assert any("task" in str(m.text) for m in request if m.type == "human")


@given(
    history=histories(),
    script=st.lists(turns(), max_size=12),
    window=st.sampled_from([300, 900, 3_000, 100_000]),
    strategy=st.sampled_from(["summarize", "trim"]),
    limits=st.sets(st.sampled_from(["parallel calls", "turns of one role in a row"])),
)
@settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_request_is_valid_and_no_message_is_lost(
    history: list[AnyMessage], script: list[Any], window: int, strategy: Any, limits: set[str]
) -> None:
    model = ScriptedModel(script, repeat="That is all.")
    source = as_source(model)
    source.cannot |= limits
    graph = create_react_graph(
        source,
        [look, boom, huge],
        memory=MemoryPolicy(window_tokens=window, strategy=strategy),
        budget=Budget(steps=8),
        checkpointer=InMemorySaver(),
    )
    log: list[str] = []
    state: Any = {}
    inputs: list[Any] = [{"messages": history}, {"request": "a second task"}]
    for number, given_input in enumerate(inputs):
        states = graph.stream(given_input, CONFIG, stream_mode="values")
        for step, state in enumerate(states):
            ids = [str(m.id) for m in state.get("messages", [])]
            if number or step > 1:  # `prepare` may mend what was given
                assert ids[: len(log)] == log
            log = ids
        assert state["outcome"]["detail"]
    for request in model.requests:
        check(request.messages)
    said = [m.text for m in state["messages"] if m.type != "tool"]
    given_words = [m.text for m in history if m.type != "tool"]
    assert said[: len(given_words)] == given_words
