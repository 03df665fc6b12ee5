"""The scripted model does what users' tests need of it."""

import pytest
from langchain_core.messages import AIMessage
from pydantic import BaseModel

from planloop.testing import ScriptedModel, ScriptExhausted, call, calls


class Answer(BaseModel):
    n: int


def test_replies_come_in_order_and_requests_are_kept() -> None:
    model = ScriptedModel(["a", AIMessage("b"), lambda messages: messages[-1].text.upper()])
    assert [model.invoke(text).text for text in ("x", "y", "z")] == ["a", "b", "Z"]
    assert [r.messages[0].text for r in model.requests] == ["x", "y", "z"]
    assert model.left == 0


def test_one_reply_too_many_is_said_with_the_last_message() -> None:
    model = ScriptedModel(["a"])
    model.invoke("x")
    with pytest.raises(
        ScriptExhausted, match=r"1 replies and was asked for number 2.*'last words'"
    ):
        model.invoke("last words")


def test_an_exception_in_the_script_is_raised() -> None:
    model = ScriptedModel([ValueError("no"), "yes"])
    with pytest.raises(ValueError, match="no"):
        model.invoke("x")
    assert model.invoke("x").text == "yes"


def test_tools_that_were_offered_are_recorded() -> None:
    def look(n: int) -> str:
        """Look."""
        return ""

    model = ScriptedModel([call("look", n=1)])
    reply = model.bind_tools([look], tool_choice="required").invoke("x")
    assert reply.tool_calls[0]["args"] == {"n": 1}
    assert model.requests[0].tools == ["look"]
    assert model.requests[0].options == {"tool_choice": "required"}


def test_structured_output_reads_the_next_reply() -> None:
    model = ScriptedModel(['{"n": 1}', "no json", call("Answer", n=2)])
    assert model.with_structured_output(Answer).invoke("x") == Answer(n=1)
    raw = model.with_structured_output(Answer, include_raw=True).invoke("x")
    assert raw["parsed"] is None and raw["raw"].text == "no json"
    assert model.with_structured_output(Answer).invoke("x") == {"n": 2}


async def test_async_and_streaming_play_the_same_script() -> None:
    model = ScriptedModel(["one two three", "one two three"])
    chunks = [chunk.text for chunk in model.stream("x")]
    assert len(chunks) >= 3 and "".join(chunks) == "one two three"
    assert "".join([c.text async for c in model.astream("x")]) == "one two three"
    assert (await ScriptedModel(["a"]).ainvoke("x")).text == "a"


def test_streamed_calls_arrive_whole() -> None:
    model = ScriptedModel([calls(("a", {"x": 1}), ("b", {}))])
    whole = None
    for chunk in model.stream("x"):
        whole = chunk if whole is None else whole + chunk
    assert whole is not None
    assert [(c["name"], c["args"]) for c in whole.tool_calls] == [("a", {"x": 1}), ("b", {})]


def test_a_reply_is_a_copy() -> None:
    reply = AIMessage("a")
    model = ScriptedModel([reply, reply])
    first, second = model.invoke("x"), model.invoke("x")
    assert first is not second and first.id != second.id
