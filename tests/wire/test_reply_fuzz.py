"""Whatever a server sends, a run ends with an outcome and sends nothing illegal back."""

from collections.abc import Iterator
from typing import Any, Final, get_args

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, ToolMessage
from wire.stub_server import Reply, StubServer, completion, raw

from planloop.graphs import create_planner_graph, create_react_graph
from planloop.state import Budget, StopReason

STEPS: Final = 4
QUICK: Final = settings(  # the same examples every time; a failure is shrunk, not explained
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.generate, Phase.shrink],
)

odd = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


def mostly(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Now and then something else: a reply that is odd everywhere is only refused."""
    return st.integers(0, 19).flatmap(lambda drawn: odd if drawn == 19 else usual)


words = st.sampled_from(
    [
        "hello",
        "<think>hm</think>yes",
        "<think>hm",
        '{"name": "echo", "arguments": {}}',
        '```json\n{"steps": ["a"]}\n```',
        '{"steps": [{"name": "a"}, {"na',
        "[APPROVED]",
        "\n \n",
    ]
)
block = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "text", "thinking", "tool_use", "image_url", "refusal"])},
    optional={"text": mostly(words), "thinking": odd, "input": odd, "id": odd, "name": odd},
)
content = mostly(words | st.lists(block | words, max_size=3) | st.none())
arguments = mostly(
    st.sampled_from(
        [
            '{"word": "a"}',
            '{"word": 1, "other": null}',
            '{"status": "success", "summary": "end"}',
            '{"status": [], "summary": {}}',
            '{"steps": ["a"]}',
            '{"word": ',
            "{'word': 'x'}",
            '"{\\"word\\": 1}"',
            "[1]",
            "null",
            "",
        ]
    )
)
function = st.fixed_dictionaries(
    {"name": mostly(st.sampled_from(["echo", "echo", "terminate", "Echo ", "unknown", ""]))},
    optional={"arguments": arguments},
)
call = st.fixed_dictionaries(
    {"type": mostly(st.just("function")), "function": mostly(function)},
    optional={"id": mostly(st.sampled_from(["call_0", "call_1", "", "x" * 80])), "index": odd},
)
message = st.fixed_dictionaries(
    {"role": st.just("assistant")},
    optional={
        "content": content,
        "tool_calls": mostly(st.lists(mostly(call), max_size=3)),
        "reasoning_content": words | odd,
        "function_call": mostly(st.none() | function),
        "refusal": mostly(st.none() | words),
    },
)
finish = st.sampled_from(["stop", "length", "tool_calls", "content_filter", None])
count = mostly(st.integers(0, 99))
usage = mostly(
    st.none()
    | st.fixed_dictionaries(
        {"prompt_tokens": count, "completion_tokens": count}, optional={"total_tokens": count}
    )
)
completions = st.builds(completion, message, finish, usage=usage)
bodies = st.fixed_dictionaries(
    {}, optional={"id": odd, "choices": st.lists(odd, max_size=2) | odd, "usage": odd, "error": odd}
).map(raw)
replies = st.integers(0, 9).flatmap(lambda drawn: bodies if drawn == 9 else completions)
scripts = st.lists(replies, min_size=1, max_size=3)


class Agents:
    """Compiled once: an agent and a planner, for a whole and for a streamed reply each."""

    def __init__(self, server: StubServer) -> None:
        def echo(word: str) -> str:
            """Say a word."""
            return word

        models = {streaming: server.model(streaming=streaming) for streaming in (False, True)}
        self.server = server
        self.react = {
            key: create_react_graph(model, [echo], budget=Budget(steps=STEPS))
            for key, model in models.items()
        }
        self.planner = {key: create_planner_graph(model) for key, model in models.items()}


@pytest.fixture(scope="module")
def agents(server: StubServer) -> Iterator[Agents]:
    yield Agents(server)


def check_history(messages: list[Any]) -> None:
    """Every call that is stored has its result straight after it."""
    for place, stored in enumerate(messages):
        if isinstance(stored, AIMessage):
            after = messages[place + 1 : place + 1 + len(stored.tool_calls)]
            assert all(isinstance(result, ToolMessage) for result in after)
            answered = [result.tool_call_id for result in after]
            assert sorted(answered) == sorted(str(made["id"]) for made in stored.tool_calls)


@settings(QUICK, max_examples=150)
@given(script=scripts, streaming=st.booleans())
def test_an_agent_always_ends_with_an_outcome(
    agents: Agents, script: list[Reply], streaming: bool
) -> None:
    agents.server.play(script, repeat=script[-1])
    result: dict[str, Any] = agents.react[streaming].invoke({"request": "go"})
    outcome = result["outcome"]
    assert outcome["reason"] in get_args(StopReason)
    assert outcome["detail"].strip() and "\n" not in outcome["detail"]
    assert outcome["success"] is not True or outcome["reason"] == "terminated"
    assert 1 <= len(agents.server.requests) <= STEPS + 1  # one more for the closing answer
    check_history(result["messages"])
    agents.server.verify()


@settings(QUICK, max_examples=60)
@given(script=scripts, streaming=st.booleans())
def test_a_planner_always_ends_with_a_plan(
    agents: Agents, script: list[Reply], streaming: bool
) -> None:
    agents.server.play(script, repeat=script[-1])
    result: dict[str, Any] = agents.planner[streaming].invoke({"request": "go"})
    assert result["plan"].steps
    assert result["plan"].origin in ("model", "repaired", "fallback")
    assert not result["approved"] or result["reviewed"]
    assert len(agents.server.requests) <= 8
    agents.server.verify()
