# Modules that planloop.models does not export: type checkers know the folders' stubs only.
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false
"""The local chat model as its users see it, over a scripted llama.cpp server on loopback."""

import asyncio
import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from pydantic import Field

from planloop.errors import ToolSetupError
from planloop.models.local_chat import LocalChat
from planloop.models.local_schema import LONGEST

Stub = Any  # the scripted server of conftest.py, which cannot be imported from here
LIST_FILES = {"tool": "list_files", "args": {"folder": "."}}


@tool
def list_files(folder: Annotated[str, Field(max_length=40)]) -> str:
    """List the files of a folder.

    Args:
        folder: This part is too long for a small model.
    """
    return folder


@tool
def write_file(path: str, content: str, mode: int = 0) -> str:
    """Write a file."""
    return f"{path}{content}{mode}"


async def by_invoke(model: Runnable[Any, Any], messages: list[BaseMessage]) -> AIMessage:
    result: AIMessage = model.invoke(messages)
    return result


async def by_ainvoke(model: Runnable[Any, Any], messages: list[BaseMessage]) -> AIMessage:
    result: AIMessage = await model.ainvoke(messages)
    return result


async def by_stream(model: Runnable[Any, Any], messages: list[BaseMessage]) -> AIMessage:
    first, *others = model.stream(messages)
    return sum(others, first)  # type: ignore[no-any-return]


async def by_astream(model: Runnable[Any, Any], messages: list[BaseMessage]) -> AIMessage:
    first, *others = [chunk async for chunk in model.astream(messages)]
    return sum(others, first)  # type: ignore[no-any-return]


Way = Callable[[Runnable[Any, Any], list[BaseMessage]], Any]
every_way = pytest.mark.parametrize("way", [by_invoke, by_ainvoke, by_stream, by_astream])
ASK: list[BaseMessage] = [SystemMessage("Be brief."), HumanMessage("Which files are there?")]


def called(call_id: str = "1") -> AIMessage:
    args = {"folder": "."}
    return AIMessage("", tool_calls=[{"name": "list_files", "args": args, "id": call_id}])


ASKED: list[BaseMessage] = [*ASK, called(), ToolMessage("a.txt", tool_call_id="1", name="ls")]


@every_way
async def test_a_decision_comes_back_as_an_ordinary_tool_call(stub: Stub, way: Way) -> None:
    stub.will_say(LIST_FILES)
    message = await way(stub.model.bind_tools([list_files, write_file]), ASK)
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [
        ("list_files", {"folder": "."})
    ]
    assert message.text == ""
    assert message.response_metadata["finish_reason"] == "tool_calls"
    assert message.usage_metadata["total_tokens"] == 12


@every_way
async def test_an_answer_comes_back_as_text(stub: Stub, way: Way) -> None:
    stub.will_say({"answer": "Two files."})
    message = await way(stub.model.bind_tools([list_files]), ASK)
    assert (message.text, message.tool_calls) == ("Two files.", [])


@every_way
async def test_a_repeated_call_is_asked_again_as_an_answer(stub: Stub, way: Way) -> None:
    stub.will_say(LIST_FILES, {"answer": "a.txt"})
    message = await way(stub.model.bind_tools([list_files]), ASKED)
    assert (message.text, message.tool_calls) == ("a.txt", [])
    assert list(stub.schema(1)["properties"]) == ["answer"]
    assert message.usage_metadata["input_tokens"] == 20


async def test_a_call_may_be_made_again_for_a_new_question(stub: Stub) -> None:
    stub.will_say(LIST_FILES)
    asked_anew = [*ASKED, AIMessage("a.txt"), HumanMessage("And now?")]
    assert stub.model.bind_tools([list_files]).invoke(asked_anew).tool_calls


async def test_equal_calls_have_ids_of_their_own(stub: Stub) -> None:
    stub.will_say(LIST_FILES, LIST_FILES)
    model = stub.model.bind_tools([list_files])
    ids = {model.invoke(ASK).tool_calls[0]["id"] for _ in "ab"}
    assert len(ids) == 2


@every_way
async def test_a_reply_cut_by_the_limit_is_text_and_says_so(stub: Stub, way: Way) -> None:
    stub.will_say('{"tool": "list_files", "ar', finish="length")
    message = await way(stub.model.bind_tools([list_files]), ASK)
    assert message.text == '{"tool": "list_files", "ar'
    assert message.response_metadata["finish_reason"] == "length"


@pytest.mark.parametrize(
    "odd",
    [
        "[1, 2]",
        "null",
        "",
        '{"tool": "rm", "args": {}}',
        '{"tool": "list_files", "args": "."}',
        '{"tool": ["list_files"], "args": {}}',
        '{"answer": 7}',
    ],
)
def test_a_reply_that_is_no_decision_stays_text(stub: Stub, odd: str) -> None:
    stub.will_say(odd)
    message = stub.model.bind_tools([list_files]).invoke(ASK)
    assert (message.text, message.tool_calls) == (odd, [])


def test_no_tools_go_on_the_wire_and_the_system_message_is_one(stub: Stub) -> None:
    stub.will_say({"answer": "ok"})
    messages = [*ASK, SystemMessage("Stay in the folder.")]
    stub.model.bind_tools([list_files, write_file], parallel_tool_calls=False).invoke(messages)
    body = stub.bodies[0]
    assert not {"tools", "tool_choice", "parallel_tool_calls", "response_format"} & body.keys()
    system, *others = body["messages"]
    assert "- list_files(folder): List the files of a folder.\n" in system["content"]
    assert "too long" not in system["content"]
    assert system["content"].endswith("Be brief.\n\nStay in the folder.")
    assert "system" not in {message["role"] for message in others}
    assert body["max_completion_tokens"] >= LONGEST / 3


def test_examples_are_marked_and_the_task_stands_last(stub: Stub) -> None:
    stub.will_say({"answer": "ok"})
    stub.model.bind_tools([list_files]).invoke(ASK)
    users = [m["content"] for m in stub.bodies[0]["messages"] if m["role"] == "user"]
    *examples, task = users
    assert task == "Which files are there?"
    assert all(text.startswith(("Example: ", "Result of lookup: ")) for text in examples)


def test_the_prompt_begins_as_the_turn_before_so_that_the_cache_holds(stub: Stub) -> None:
    stub.will_say(LIST_FILES, {"answer": "a.txt"})
    model = stub.model.bind_tools([list_files])
    model.invoke(ASK)
    model.invoke(ASKED)
    first, second = (body["messages"] for body in stub.bodies)
    assert second[: len(first)] == first


def test_history_goes_out_as_turns_that_alternate(stub: Stub) -> None:
    stub.will_say("ok")
    history = [
        *ASKED,
        AIMessage(""),
        HumanMessage([{"type": "text", "text": "Thanks."}]),
        AIMessage("Bye."),
        HumanMessage("Bye?"),
    ]
    stub.model.invoke(history)
    assert [(m["role"], m["content"]) for m in stub.bodies[0]["messages"]] == [
        ("system", "Be brief."),
        ("user", "Which files are there?"),
        ("assistant", json.dumps(LIST_FILES)),
        ("user", "Result of ls: a.txt\nThanks."),
        ("assistant", "Bye."),
        ("user", "Bye?"),
    ]


def test_tool_choice_none_asks_for_plain_text(stub: Stub) -> None:
    stub.will_say("Hello.")
    message = stub.model.bind_tools([list_files], tool_choice="none").invoke(ASK)
    assert message.text == "Hello."
    assert "json_schema" not in stub.bodies[0]
    assert "list_files" not in json.dumps(stub.bodies[0])


@pytest.mark.parametrize("choice", ["required", "any", True])
def test_a_required_call_leaves_no_way_to_answer(stub: Stub, choice: str | bool) -> None:
    stub.will_say(LIST_FILES)
    model = stub.model.bind_tools([list_files, write_file], tool_choice=choice)
    assert model.invoke(ASKED).tool_calls
    assert offered(stub.schema()) == ["list_files", "write_file"]


def test_a_named_tool_is_the_only_one_offered(stub: Stub) -> None:
    stub.will_say({"tool": "write_file", "args": {"path": "a", "content": "b"}})
    model = stub.model.bind_tools([list_files, write_file], tool_choice="write_file")
    assert model.invoke(ASK).tool_calls[0]["name"] == "write_file"
    assert offered(stub.schema()) == ["write_file"]


def test_a_named_tool_that_is_not_bound_is_refused(stub: Stub) -> None:
    model = stub.model.bind_tools([list_files], tool_choice="format_disk")
    with pytest.raises(ToolSetupError, match="format_disk"):
        model.invoke(ASK)


def offered(schema: dict[str, Any]) -> list[str]:
    return [variant["properties"]["tool"]["const"] for variant in schema["anyOf"]]


def test_plain_text_streams_in_pieces(stub: Stub) -> None:
    stub.will_say("one two three")
    pieces = [chunk.text for chunk in stub.model.stream("count") if chunk.text]
    assert pieces == ["one ", "two ", "three "]


def test_a_proxy_of_the_machine_is_passed_by(stub: Stub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    model = LocalChat.for_endpoint(stub.url, "key", model="local:stub")
    stub.will_say("hi", "hi")
    assert model.invoke("hi").text == "hi"
    assert asyncio.run(model.ainvoke("hi")).text == "hi"


def test_one_model_serves_event_loops_that_come_and_go(stub: Stub) -> None:
    stub.will_say("one", "two")
    assert asyncio.run(stub.model.ainvoke("hi")).text == "one"
    assert asyncio.run(stub.model.ainvoke("hi")).text == "two"


def test_a_local_model_says_that_it_does_not_judge(stub: Stub) -> None:
    assert stub.model.judges is False
