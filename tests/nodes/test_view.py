"""How a long history is shown: the task stays, old turns are summed up, schemas count."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage

from planloop import Budget, MemoryPolicy, create_react_graph
from planloop.testing import ScriptedModel, call


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
