"""What a model is shown is valid for a strict server, whatever the history and the window."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from planloop import Budget, MemoryPolicy, create_react_graph
from planloop.testing import ScriptedModel

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
    memory = MemoryPolicy(window_tokens=window)
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

    graph = create_react_graph(
        model, [look], memory=MemoryPolicy(window_tokens=1_000), budget=Budget(steps=60)
    )
    result = graph.invoke({"request": "remember the milk"})
    assert all("remember the milk" in r.messages[1].text for r in model.requests)
    assert max(len(r.messages) for r in model.requests) < 30
    assert len(result["messages"]) == 1 + 2 * 60
