"""What models, tools and servers send is input from strangers: none of it breaks a run or leaks."""

import base64
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from planloop import MemoryPolicy, RunContext, create_react_graph
from planloop.models import as_source
from planloop.testing import ScriptedModel, call
from planloop.tools import in_thread

CONFIG: Any = {"configurable": {"thread_id": "t"}}
PNG = b"\x89PNG and more"


def look(n: Any = 0) -> str:
    """Look."""
    return f"seen {n}"


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"x": value}
    return value


@pytest.mark.parametrize("args", [{"n": 2**70}, {"n": -(2**64)}, {"n": deep(300)}])
def test_arguments_that_no_checkpoint_can_hold_are_answered(args: dict[str, Any]) -> None:
    model = ScriptedModel([call("look", "c1", **args), call("look", n=2**62), "done"])
    graph = create_react_graph(model, [look], checkpointer=InMemorySaver())
    result = graph.invoke({"request": "x"}, CONFIG)
    assert result["outcome"]["answer"] == "done"
    results = [m for m in result["messages"] if isinstance(m, ToolMessage)]
    assert [m.status for m in results] == ["error", "success"]
    assert "64" in results[0].text


@pytest.mark.parametrize("levels", [300, 900, 5_000])
def test_raw_arguments_of_any_depth_are_answered(levels: int) -> None:
    bad: Any = {"name": "look", "args": '{"x":' * levels, "id": "c1", "error": "cut"}
    model = ScriptedModel([AIMessage("", invalid_tool_calls=[bad]), "done"])
    result = create_react_graph(model, [look]).invoke({"request": "x"})
    assert result["outcome"]["answer"] == "done"


@pytest.mark.parametrize("count", [2**70, True, -1, "7", None])
def test_a_count_that_is_none_is_estimated(count: Any) -> None:
    reply = AIMessage("done")
    reply.usage_metadata = {"input_tokens": count, "output_tokens": count, "total_tokens": 1}
    graph = create_react_graph(ScriptedModel([reply]), [look], checkpointer=InMemorySaver())
    usage = graph.invoke({"request": "x"}, CONFIG)["outcome"]["usage"]
    assert usage["estimated"] is True
    assert 0 < usage["input_tokens"] < 1_000


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "url": "workspace:tool_results/../.env", "file_id": "x"},
        {"type": "image", "url": "workspace:.env", "image_url": "https://e.com/x"},
        {"type": "image_url", "image_url": {"url": "workspace:tool_results/../.env"}},
        {"type": "image", "url": "http://169.254.169.254/latest"},
    ],
)
def test_a_tool_cannot_have_files_of_the_workspace_sent_away(block: Any, tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(PNG + b"SECRET=1")
    (tmp_path / "tool_results").mkdir()

    def point() -> list[dict[str, Any]]:
        """Point at something."""
        return [block]

    model = ScriptedModel([call("point"), "done"])
    context = RunContext(workspace=str(tmp_path))
    create_react_graph(model, [point]).invoke({"request": "x"}, context=context)
    sent = repr(model.requests[-1].messages)
    assert base64.b64encode(PNG + b"SECRET=1").decode() not in sent
    assert "169.254" not in sent


ENCODED = base64.b64encode(PNG).decode()
DATA_URL = f"data:image/png;base64,{ENCODED}"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "base64": ENCODED, "mime_type": "image/png"},
        {"type": "image", "data": ENCODED, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "data": ENCODED, "media_type": "image/png"}},
        {"type": "image_url", "image_url": {"url": DATA_URL}},
        {"type": "image_url", "image_url": DATA_URL},
        {"type": "input_image", "image_url": DATA_URL},
    ],
)
def test_an_image_in_any_form_is_kept_as_a_file_and_shown(block: Any, tmp_path: Path) -> None:
    def shot() -> list[dict[str, Any]]:
        """Take a picture."""
        return [block]

    model = ScriptedModel([call("shot"), "done"])
    context = RunContext(workspace=str(tmp_path))
    end = create_react_graph(model, [shot]).invoke({"request": "x"}, context=context)
    assert [file.read_bytes() for file in tmp_path.glob("tool_results/*.png")] == [PNG]
    assert ENCODED not in repr(end["messages"])
    assert ENCODED in repr(model.requests[-1].messages)


class Refused(ValueError):
    """A server's 400."""

    status_code = 400


def test_one_bad_image_neither_ends_the_thread_nor_blinds_the_model(tmp_path: Path) -> None:
    def shot(good: bool) -> list[dict[str, Any]]:
        """Take a picture."""
        data = base64.b64encode(PNG if good else b"no picture").decode()
        return [{"type": "image", "base64": data, "mime_type": "image/png"}]

    def pictures(messages: list[BaseMessage]) -> list[str]:
        blocks = [b for m in messages if isinstance(m.content, list) for b in m.content]
        return [b["base64"] for b in blocks if isinstance(b, dict) and "base64" in b]

    def reply(messages: list[BaseMessage]) -> Any:
        if any(not base64.b64decode(data).startswith(b"\x89PNG") for data in pictures(messages)):
            return Refused("Could not process image")
        if messages[-1].type == "human" and messages[-1].text.startswith("bad"):
            return call("shot", good=False)
        return call("shot", good=True) if messages[-1].text == "good" else "done"

    source = as_source(ScriptedModel(repeat=reply))
    graph = create_react_graph(source, [shot], checkpointer=InMemorySaver())
    context = RunContext(workspace=str(tmp_path))
    for request in ("bad", "hello"):
        outcome = graph.invoke({"request": request}, CONFIG, context=context)["outcome"]
        assert outcome["answer"] == "done", outcome["detail"]
    assert source.cannot == set()


def long_history() -> list[Any]:
    return [m for _ in range(30) for m in (("user", "x " * 300), ("ai", "y " * 300))]


def taking(limit: int) -> ScriptedModel:
    """A model whose server takes requests up to this many characters."""

    def reply(messages: list[BaseMessage]) -> Any:
        if sum(len(str(m.text)) for m in messages) > limit:
            return ContextOverflowError("the request is too long")
        return "done"

    return ScriptedModel(repeat=reply)


def test_a_model_with_a_larger_window_is_asked_where_the_first_ones_is_too_small() -> None:
    small, large = taking(100), taking(10**6)
    source = as_source([small, large])
    memory = MemoryPolicy(strategy="trim")
    given: Any = {"messages": [*long_history(), ("user", "go")]}
    result = create_react_graph(source, [look], memory=memory).invoke(given)
    assert result["outcome"]["answer"] == "done"
    assert (len(small.requests), len(large.requests)) == (2, 1)
    assert source.window is not None and source.fallbacks[0].window is None


def test_the_small_window_of_a_fallback_is_not_that_of_the_first_model() -> None:
    down = ScriptedModel(repeat=lambda _: RuntimeError("down"))  # type: ignore[arg-type]
    source = as_source([down, taking(25_000)])
    memory = MemoryPolicy(strategy="trim")
    given: Any = {"messages": [*long_history(), ("user", "go")]}
    result = create_react_graph(source, [look], memory=memory).invoke(given)
    assert result["outcome"]["answer"] == "done"
    assert source.window is None and source.fallbacks[0].window is not None


def test_what_does_not_help_is_not_remembered_as_a_limit() -> None:
    model = ScriptedModel(
        repeat=lambda _: Refused("'name' of the system message is not valid, not supported here")  # type: ignore[arg-type]
    )
    source = as_source(model)
    outcome = create_react_graph(source, [look]).invoke({"request": "x"})["outcome"]
    assert outcome["reason"] == "error"
    assert source.cannot == set()


def test_tools_of_one_name_in_two_graphs_are_each_their_own() -> None:
    offered: list[Any] = []

    class Noting(ScriptedModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            offered.append(sorted(next(iter(tools)).args))
            return super().bind_tools(tools, **options)

    def named(function: Any) -> Any:
        function.__name__ = "search"
        return function

    def by_word(q: str) -> str:
        """Search."""
        return q

    def by_number(number: int) -> str:
        """Search."""
        return str(number)

    made: Any = Noting
    source = as_source(made(repeat="done"))
    for function in (by_word, by_number):
        create_react_graph(source, [named(function)]).invoke({"request": "x"})
    assert offered == [["q"], ["number"]]


def test_many_blocks_share_one_limit_and_nothing_vanishes_silently(tmp_path: Path) -> None:
    def many() -> list[dict[str, Any]]:
        """Give much."""
        image = {"type": "image", "base64": base64.b64encode(PNG).decode()}
        texts = [{"type": "text", "text": "t" * 9_000} for _ in range(30)]
        return [*texts, *[image] * 60, {"type": "text", "text": "IMPORTANT"}]

    model = ScriptedModel([call("many"), "done"])
    context = RunContext(workspace=str(tmp_path))
    result = create_react_graph(model, [many]).invoke({"request": "x"}, context=context)
    text = result["messages"][2].text
    assert len(text) <= 8_000
    assert "IMPORTANT" in text and "40 more images left out" in text


@pytest.mark.parametrize("noted", ["fast", float("nan"), -5.0, None, 10**400])
def test_times_that_are_none_count_nothing(noted: Any) -> None:
    def steer() -> Any:
        """Steer."""
        metadata = {"planloop_seconds": noted}
        return Command(
            update={"messages": [ToolMessage("ok", tool_call_id="c1", response_metadata=metadata)]}
        )

    model = ScriptedModel([call("steer", "c1"), "done"])
    outcome = create_react_graph(model, [steer]).invoke({"request": "x"})["outcome"]
    assert outcome["answer"] == "done"
    assert 0 <= outcome["usage"]["seconds"] < 5


def test_a_cut_reply_is_no_answer_where_calls_are_not_wanted() -> None:
    cut = call("look", n=1)
    cut.content, cut.response_metadata = "It is", {"finish_reason": "length"}
    graph = create_react_graph(ScriptedModel([cut]), [look], tool_choice="none")
    outcome = graph.invoke({"request": "x"})["outcome"]
    assert (outcome["reason"], outcome["success"]) == ("output_truncated", False)


def test_an_answer_that_speaks_of_an_action_is_an_answer() -> None:
    said = "Incident closed.\nAction: restart the service on Monday."
    outcome = create_react_graph(ScriptedModel([said]), [look]).invoke({"request": "x"})["outcome"]
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", said)


def test_a_call_that_was_left_as_text_is_followed_by_a_turn_that_alternates() -> None:
    def reply(messages: list[BaseMessage]) -> Any:
        roles = [m.type for m in messages if m.type in ("human", "ai")]
        if any(pair == ("ai", "ai") for pair in pairwise(roles)):
            return Refused("Conversation roles must alternate user/assistant")
        turns = sum(m.type == "tool" for m in messages)
        if turns == 0 and not any("(Note:" in m.text for m in messages):
            return '<tool_call>{"name": "look"}</tool_call>'
        return "done" if turns else call("look", n=1)

    result = create_react_graph(ScriptedModel(repeat=reply), [look]).invoke({"request": "x"})
    assert result["outcome"]["answer"] == "done", result["outcome"]["detail"]


async def test_a_thread_that_cannot_begin_holds_up_no_later_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: Any) -> None:
        raise RuntimeError("can't start new thread")

    gate = threading.Event()
    with monkeypatch.context() as patch:
        patch.setattr("planloop.tools.workers.WORKERS._idle", 0)
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            await in_thread(gate.wait, 0)
    assert await in_thread(lambda: HumanMessage("ok").text) == "ok"
