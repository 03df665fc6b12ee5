"""What a model is shown is valid for a strict server, whatever the history and the window."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from planloop import Budget, MemoryPolicy, create_react_graph
from planloop.testing import ScriptedModel, call

NUMBER = st.integers(0, 3)


@st.composite
def histories(draw: st.DrawFn) -> list[AnyMessage]:
    """Turns of all kinds, with results missing, orphaned, or out of order."""
    log: list[AnyMessage] = []
    for turn in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(["user", "ai", "calls", "system", "orphan"]))
        text = draw(st.sampled_from(["x", "words " * 20, "字" * 30]))
        if kind == "user":
            log.append(HumanMessage(text))
        elif kind == "ai":
            log.append(AIMessage(text))
        elif kind == "system":
            log.append(SystemMessage(text))
        elif kind == "orphan":
            log.append(ToolMessage(text, tool_call_id=f"lost{turn}"))
        else:
            ids = [f"c{turn}-{n}" for n in range(draw(st.integers(1, 3)))]
            calls: Any = [{"name": "look", "args": {}, "id": i, "type": "tool_call"} for i in ids]
            log.append(AIMessage("", tool_calls=calls))
            answered = draw(st.lists(st.sampled_from(ids), unique=True))
            log += [ToolMessage(text, tool_call_id=i) for i in answered]
    return [*log, HumanMessage("the task")]


def look() -> str:
    """Look."""
    return "seen"


@given(histories(), st.sampled_from([50, 200, 400, 100_000]))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_every_request_is_valid_and_holds_the_task(history: list[AnyMessage], window: int) -> None:
    model = ScriptedModel(["done"])
    memory = MemoryPolicy(window_tokens=window, strategy="trim")
    result = create_react_graph(model, [look], memory=memory).invoke({"messages": history})
    (request,) = model.requests
    kinds = [m.type for m in request.messages]
    assert kinds[0] == "system" and "system" not in kinds[1:]
    assert kinds[-1] in ("human", "tool")
    assert any("the task" in m.text for m in request.messages)
    waiting: set[str] = set()
    for message in request.messages:
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting
            waiting = {str(c["id"]) for c in getattr(message, "tool_calls", [])}
    assert not waiting
    kept = [m for m in result["messages"] if not isinstance(m, ToolMessage)]
    assert [m.text for m in kept[:-1]] == [
        m.text for m in history if not isinstance(m, ToolMessage)
    ]


def test_c67_a_long_run_keeps_its_task_in_a_small_window() -> None:
    model = ScriptedModel(
        repeat=lambda messages: AIMessage(
            "", tool_calls=[{"name": "look", "args": {}, "id": None, "type": "tool_call"}]
        )
    )
    number = {"n": 0}

    def look() -> str:
        """Look."""
        number["n"] += 1
        return f"{number['n']} " * 100

    memory = MemoryPolicy(window_tokens=1_000, strategy="trim")
    graph = create_react_graph(model, [look], memory=memory, budget=Budget(steps=60))
    result = graph.invoke({"request": "remember the milk"})
    assert all("remember the milk" in r.messages[1].text for r in model.requests)
    assert max(len(r.messages) for r in model.requests) < 30
    assert len(result["messages"]) == 1 + 2 * 60


def summarising(summary: Any) -> tuple[ScriptedModel, list[str]]:
    """A model that looks again and again; what it answers to a summariser is given."""
    asked: list[str] = []

    def reply(messages: list[BaseMessage]) -> Any:
        if messages[0].text.startswith("Summarise these turns"):
            asked.append(messages[1].text)
            return summary
        return call("look", n=len(asked))

    return ScriptedModel(repeat=reply), asked


def long_run(model: ScriptedModel) -> Any:
    seen = {"n": 0}

    def look(n: int) -> str:
        """Look."""
        seen["n"] += 1
        return f"sight {seen['n']} " + "and more " * 60

    memory = MemoryPolicy(window_tokens=2_000)
    graph = create_react_graph(model, [look], memory=memory, budget=Budget(steps=40))
    return graph.invoke({"request": "remember the milk"})


def test_old_turns_are_summed_up_and_the_log_stays_whole() -> None:
    model, asked = summarising("The milk is in the fridge.")
    result = long_run(model)
    thinking = [r.messages for r in model.requests if r.tools]
    assert len(asked) < 15
    assert "sight 1 " in asked[0]
    assert "Summary so far:\nThe milk is in the fridge." in asked[1]
    assert "The milk is in the fridge." in thinking[-1][1].text
    assert all("remember the milk" in messages[1].text for messages in thinking)
    assert sum(m.type == "tool" for m in result["messages"]) == 40
    assert result["outcome"]["usage"]["steps"] == 41  # and one to close


@pytest.mark.parametrize("failing", [RuntimeError("429"), AIMessage(""), "<think>hm"])
def test_c69_a_summariser_that_fails_costs_nothing_but_the_summary(failing: Any) -> None:
    def reply(messages: list[BaseMessage]) -> Any:
        if not messages[0].text.startswith("Summarise these turns"):
            return call("look", n=1)
        if isinstance(failing, Exception):
            raise failing
        return failing

    model = ScriptedModel(repeat=reply)
    result = long_run(model)
    assert result["outcome"]["reason"] == "budget_exhausted"
    assert sum(m.type == "tool" for m in result["messages"]) == 40
    assert not any("429" in m.text for r in model.requests for m in r.messages)
    assert all("remember the milk" in r.messages[1].text for r in model.requests if r.tools)


def test_c76_tool_schemas_count() -> None:
    def look(n: int) -> str:
        """Look."""
        return ""

    look.__doc__ = "Look. " * 2_000  # some 3,000 tokens
    history: Any = [m for n in range(30) for m in (("user", "x " * 200), ("ai", "y " * 200))]
    sizes = []
    for tools in ([], [look]):
        model = ScriptedModel(["done"])
        memory = MemoryPolicy(window_tokens=6_000, strategy="trim")
        graph: Any = create_react_graph(model, tools, memory=memory)
        graph.invoke({"messages": [*history, ("user", "go")]})
        sizes.append(len(model.requests[0].messages))
    assert sizes[1] < 0.7 * sizes[0]
