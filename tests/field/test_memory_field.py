"""Failures that users of agent loops reported, by case id: memory and context."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError, ModelRateLimitError
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.checkpoint.memory import InMemorySaver

from planloop import Budget, MemoryPolicy, RunContext, create_react_graph
from planloop.models import IMAGE_TOKENS, ModelSource, as_source, count_tokens
from planloop.testing import ScriptedModel, call, calls

CONFIG: Any = {"configurable": {"thread_id": "t"}}
PIXELS = "A" * 400_000


def look(n: int = 0) -> str:
    """Look."""
    return f"sight {n} " + "and more " * 60


def tail_of(history: list[AnyMessage], window: int) -> list[BaseMessage]:
    """What a model is shown of a history, without the system message."""
    model = ScriptedModel(["done"])
    memory = MemoryPolicy(window_tokens=window, strategy="trim")
    create_react_graph(model, [look], memory=memory).invoke({"messages": history})
    return model.requests[0].messages[1:]


def pairs(messages: list[BaseMessage]) -> None:
    """Every call has its results right after it, every result its call."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
        else:
            assert not waiting
            waiting = [str(c["id"]) for c in getattr(message, "tool_calls", [])]
    assert not waiting


def parallel(n: int, ids: list[str], answered: list[str]) -> list[AnyMessage]:
    turn = calls(*(("look", {"n": n}) for _ in ids), ids=ids)
    return [turn, *(ToolMessage("seen " * 40, tool_call_id=i) for i in answered)]


@pytest.mark.parametrize("window", range(300, 900, 25))
def test_c65_c66_a_turn_of_several_calls_is_kept_or_left_as_a_unit(window: int) -> None:
    history: list[AnyMessage] = [
        HumanMessage("the task"),
        *parallel(1, ["1", "2"], ["1", "2"]),
        AIMessage("so far so good"),
        *parallel(2, ["3", "4", "5"], ["3", "5"]),  # one result is missing: repaired first
        HumanMessage("go on"),
    ]
    shown = tail_of(history, window)
    pairs(shown)
    assert any("go on" in m.text for m in shown)
    for turn in (m for m in shown if isinstance(m, AIMessage) and m.tool_calls):
        assert len(turn.tool_calls) in (2, 3)


def test_c67_one_system_message_and_the_task_in_every_request_of_300_turns() -> None:
    model = ScriptedModel(repeat=lambda ms: call("look", n=len(ms)))
    counted = {"n": 0}

    def look(n: int) -> str:
        """Look."""
        counted["n"] += 1
        return f"{counted['n']} " * 100

    graph = create_react_graph(
        model,
        [look],
        memory=MemoryPolicy(window_tokens=2_000, strategy="trim"),
        budget=Budget(steps=300),
    )
    graph.invoke({"messages": [SystemMessage("Be brief."), HumanMessage("find the key")]})
    assert len(model.requests) == 301
    for request in model.requests:
        assert [m.type for m in request.messages].count("system") == 1
        assert request.messages[0].text.endswith("Be brief.")
        assert "find the key" in request.messages[1].text


def test_c68_a_result_larger_than_the_window_is_cut_and_kept_as_a_file(tmp_path: Path) -> None:
    whole = "head " + "x" * 2_000_000 + " tail"

    def dump() -> str:
        """Dump all."""
        return whole

    model = ScriptedModel([call("dump"), "done"])
    graph = create_react_graph(model, [dump], memory=MemoryPolicy(window_tokens=8_000))
    context = RunContext(workspace=str(tmp_path))
    result = graph.invoke({"request": "x"}, context=context)
    shown = model.requests[1].messages[-1].text
    assert shown.startswith("head ") and shown.endswith(" tail") and len(shown) <= 8_000
    (kept,) = (tmp_path / "tool_results").iterdir()
    assert f"the whole text is in tool_results/{kept.name}" in shown
    assert kept.read_text() == whole
    assert result["outcome"]["reason"] == "final_answer"


def test_c68_without_a_workspace_the_result_is_cut_all_the_same() -> None:
    def dump() -> str:
        """Dump all."""
        return "x" * 2_000_000

    model = ScriptedModel([call("dump"), "done"])
    memory = MemoryPolicy(window_tokens=1_000)
    create_react_graph(model, [dump], memory=memory).invoke({"request": "x"})
    assert [m.type for m in model.requests[1].messages] == ["system", "human", "ai", "tool"]
    shown = model.requests[1].messages[-1].text
    assert "characters left out ..." in shown and len(shown) < 3_000


async def test_c68_a_file_is_written_off_the_loop_and_the_same_one_again(tmp_path: Path) -> None:
    async def dump() -> str:
        """Dump all."""
        return "y" * 20_000

    model = ScriptedModel([call("dump"), call("dump"), "done"])
    context = RunContext(workspace=str(tmp_path))
    await create_react_graph(model, [dump]).ainvoke({"request": "x"}, context=context)
    assert len(list((tmp_path / "tool_results").iterdir())) == 1


def long_run(failing: Any, steps: int = 12) -> tuple[ScriptedModel, dict[str, Any], Any]:
    """A run that outgrows its window; asked for a summary, the model does as it is told here."""

    def reply(messages: list[BaseMessage]) -> Any:
        if not messages[0].text.startswith("Summarise these turns"):
            return call("look", n=len(messages))
        return failing

    model = ScriptedModel(repeat=reply)
    memory = MemoryPolicy(window_tokens=1_500)
    graph = create_react_graph(
        model, [look], memory=memory, budget=Budget(steps=steps), checkpointer=InMemorySaver()
    )
    return model, graph.invoke({"request": "mind the milk"}, CONFIG), graph


def test_c69_a_summary_that_fails_leaves_history_and_run_as_they_were() -> None:
    model, result, graph = long_run(ModelRateLimitError("429 too many requests"))
    asked = [r for r in model.requests if r.messages[0].text.startswith("Summarise")]
    assert len(asked) > 1  # tried again in later turns, once in each
    assert "summary" not in graph.get_state(CONFIG).values
    assert sum(m.type == "tool" for m in result["messages"]) == 12
    assert "429" not in json.dumps([str(m.content) for m in result["messages"]])
    thinking = [r.messages for r in model.requests if r.tools]
    assert all("mind the milk" in messages[1].text for messages in thinking)


def test_a_long_summary_leaves_room_for_the_latest_turns() -> None:
    model, result, _ = long_run("很长的摘要" * 2_000)
    last = [r.messages for r in model.requests if r.tools][-1]
    assert last[-1].type == "tool" and "mind the milk" in last[1].text
    assert count_tokens(last) < 1_700
    assert result["outcome"]["reason"] == "budget_exhausted"


def test_the_summary_stands_in_its_own_key_and_the_log_stays_whole() -> None:
    _, result, graph = long_run("The milk is in the fridge.")
    kept = graph.get_state(CONFIG).values
    assert kept["summary"]["text"] == "The milk is in the fridge."
    assert sum(m.type == "tool" for m in result["messages"]) == 12
    assert not any("fridge" in m.text for m in result["messages"])


def test_c72_no_system_message_stands_in_the_middle() -> None:
    history: list[AnyMessage] = [
        HumanMessage("one"),
        SystemMessage("Speak French."),
        AIMessage("two"),
        SystemMessage("Be quick."),
        HumanMessage("three"),
    ]
    model = ScriptedModel(repeat=lambda _: call("look", n=1))
    create_react_graph(model, [look], budget=Budget(steps=8)).invoke({"messages": history})
    for request in model.requests:
        types = [m.type for m in request.messages]
        assert types[0] == "system" and "system" not in types[1:]
        assert request.messages[0].text.endswith("Speak French.\n\nBe quick.")


def test_c73_any_model_name_is_counted_offline() -> None:
    class Unknown(ScriptedModel):
        model_name: str = "qwen3-32b@local"

    made: Any = Unknown
    result = create_react_graph(made(["你好" * 100]), []).invoke({"request": "字" * 300})
    usage = result["outcome"]["usage"]
    assert usage["estimated"] is True
    assert usage["input_tokens"] >= 300 and usage["output_tokens"] >= 200
    assert list(usage["models"]) == ["qwen3-32b@local"]


def shot(n: int) -> list[dict[str, Any]]:
    """Take a picture."""
    picture = base64.b64encode(bytes([n]) * 300_000).decode()
    return [
        {"type": "text", "text": f"picture {n}"},
        {"type": "image", "base64": picture, "mime_type": "image/png"},
    ]


def images(messages: list[BaseMessage]) -> list[Any]:
    return [
        block
        for message in messages
        if isinstance(message.content, list)
        for block in message.content
        if isinstance(block, dict) and block.get("type") == "image"
    ]


def test_c75_images_cost_a_flat_price_and_no_checkpoint_holds_them(tmp_path: Path) -> None:
    model = ScriptedModel([call("shot", n=n) for n in range(5)] + ["done"])
    saver = InMemorySaver()
    graph = create_react_graph(model, [shot], checkpointer=saver)
    result = graph.invoke({"request": "x"}, CONFIG, context=RunContext(workspace=str(tmp_path)))
    assert result["outcome"]["reason"] == "final_answer"
    assert result["outcome"]["usage"]["input_tokens"] < 6 * 5 * IMAGE_TOKENS
    assert len(list((tmp_path / "tool_results").iterdir())) == 5
    assert len(repr((saver.writes, saver.blobs))) < 200_000
    shown = images(model.requests[-1].messages)
    assert len(shown) == 4  # the oldest one is only named
    assert all(block["base64"] for block in shown)
    types = [m.type for m in model.requests[-1].messages]
    assert types == ["system", "human", "ai", "tool", *["ai", "tool", "human"] * 4]
    assert "[image tool_results/shot-" in model.requests[-1].messages[3].text


def test_c75_a_model_that_sees_nothing_is_told_the_name(tmp_path: Path) -> None:
    model = ScriptedModel([call("shot", n=1), "done"])
    model.profile = {"image_inputs": False}
    graph = create_react_graph(model, [shot])
    graph.invoke({"request": "x"}, context=RunContext(workspace=str(tmp_path)))
    assert images(model.requests[-1].messages) == []
    assert "[image tool_results/" in model.requests[-1].messages[-1].text


def test_c75_an_image_that_cannot_be_kept_or_read_is_said_to_be_so(tmp_path: Path) -> None:
    def broken() -> list[dict[str, Any]]:
        """Give no picture."""
        return [{"type": "image", "base64": "", "mime_type": "image/png"}]

    model = ScriptedModel([calls(("shot", {"n": 1}), ("broken", {})), "done"])
    result = create_react_graph(model, [shot, broken]).invoke({"request": "x"})
    texts = [m.text for m in result["messages"] if m.type == "tool"]
    assert "not kept" in texts[0] and "cannot be read" in texts[1]


def test_a_tool_cannot_name_files_of_the_workspace_to_be_shown(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"secret")

    def point() -> list[dict[str, Any]]:
        """Point at somebody else's file."""
        return [{"type": "image", "url": f"workspace:{name}"} for name in ("secret.png", "../x")]

    model = ScriptedModel([call("point"), "done"])
    graph = create_react_graph(model, [point], checkpointer=InMemorySaver())
    context = RunContext(workspace=str(tmp_path))
    graph.invoke({"request": "x"}, CONFIG, context=context)
    assert "cannot be read" in model.requests[1].messages[-1].text
    # Nor can a state that was edited by hand, beyond the folder for results.
    forged: Any = [{"type": "image", "url": "workspace:secret.png", "mime_type": "image/png"}]
    history: Any = [HumanMessage("x"), call("point", "c1"), ToolMessage(forged, tool_call_id="c1")]
    model = ScriptedModel(["done"])
    given: Any = {"messages": [*history, HumanMessage("and?")]}
    create_react_graph(model, [point]).invoke(given, context=context)
    assert images(model.requests[0].messages) == []


def test_c75_a_picture_of_the_task_stays_when_the_task_has_left_the_window() -> None:
    image = {"type": "image", "base64": "AAAA", "mime_type": "image/png"}
    task = HumanMessage([{"type": "text", "text": "what is this?"}, image])
    model = ScriptedModel(repeat=lambda ms: call("look", n=len(ms)))
    memory = MemoryPolicy(window_tokens=4_000, strategy="trim")
    graph = create_react_graph(model, [look], memory=memory, budget=Budget(steps=20))
    graph.invoke({"messages": [task]})
    assert len(model.requests[-1].messages) < 40
    for request in model.requests:
        assert images(request.messages) == [image]
        assert "what is this?" in request.messages[1].text


def test_c76_sixty_tools_with_long_schemas_leave_less_room_for_the_history() -> None:
    def tool_of(n: int) -> Any:
        def work(x: int) -> str:
            return ""

        work.__name__, work.__doc__ = f"work_{n}", "Do something useful. " * 45
        return work

    history: Any = [m for _ in range(20) for m in (("user", "x " * 200), ("ai", "y " * 200))]
    shown = []
    for tools in ([], [tool_of(n) for n in range(60)]):
        model = ScriptedModel(["done"])
        memory = MemoryPolicy(window_tokens=20_000, strategy="trim")
        graph: Any = create_react_graph(model, tools, memory=memory)
        graph.invoke({"messages": [*history, ("user", "go")]})
        shown.append(len(model.requests[0].messages))
    assert shown[0] == 42
    assert shown[1] < 30


def test_c77_unknown_ids_and_messages_without_ids_do_no_harm() -> None:
    model = ScriptedModel(["one", "two"])
    graph = create_react_graph(model, [look], checkpointer=InMemorySaver())
    graph.invoke({"request": "x"}, CONFIG)
    added: Any = {"messages": [AIMessage("by hand"), RemoveMessage(id="nobody")]}
    graph.update_state(CONFIG, added)
    result = graph.invoke({"request": "y"}, CONFIG)
    assert [m.text for m in result["messages"]] == ["x", "one", "by hand", "y", "two"]
    assert all(m.id for m in result["messages"])


def test_c78_what_was_learnt_of_the_window_holds_for_later_turns_and_runs() -> None:
    limit = 1_500

    def reply(messages: list[BaseMessage]) -> Any:
        if messages[0].text.startswith("Summarise"):
            return "They looked."
        if sum(len(str(m.content)) for m in messages) > 4 * limit:
            raise ContextOverflowError(f"This model's maximum context length is {limit} tokens.")
        return call("look", n=len(messages))

    model = ScriptedModel(repeat=reply)
    source = as_source(model)
    graph = create_react_graph(source, [look], budget=Budget(steps=25))
    for _ in range(2):
        outcome = graph.invoke({"request": "go"})["outcome"]
        assert outcome["reason"] == "budget_exhausted"
    assert isinstance(source, ModelSource) and source.window is not None
    sizes = [sum(len(str(m.content)) for m in r.messages) for r in model.requests]
    refused = [size for size in sizes if size > 4 * limit]
    assert 1 <= len(refused) <= 2


def test_c80_with_tokens_used_up_the_closing_request_is_a_small_one() -> None:
    def reply(messages: list[BaseMessage]) -> Any:
        ends = "end of the run" in messages[-1].text
        return "Nothing yet." if ends else call("look", n=len(messages))

    model = ScriptedModel(repeat=reply)
    budget = Budget(steps=None, input_tokens=40_000)
    memory = MemoryPolicy(window_tokens=8_000)
    graph: Any = create_react_graph(model, [look], budget=budget, memory=memory)
    outcome = graph.invoke({"request": "x"})["outcome"]
    assert (outcome["reason"], outcome["limit"]) == ("budget_exhausted", "input_tokens")
    assert outcome["answer"] == "Nothing yet."
    last, before = (len(r.messages) for r in (model.requests[-1], model.requests[-2]))
    assert last < before
