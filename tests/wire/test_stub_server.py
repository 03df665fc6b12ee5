"""The stub itself: what it refuses, and that a test cannot overlook it."""

import json
import urllib.error
import urllib.request
from typing import Any

import pytest
from wire.stub_server import MODEL, StubServer, done, text, tool_call, violations

USER = {"role": "user", "content": "hi"}


def post(server: StubServer, body: dict[str, Any]) -> tuple[int, str]:
    request = urllib.request.Request(
        f"{server.base_url}/chat/completions", json.dumps(body).encode(), method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def turn(*ids: str, arguments: str = "{}") -> dict[str, Any]:
    calls = [
        {"id": i, "type": "function", "function": {"name": "f", "arguments": arguments}}
        for i in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "1"}


def test_a_script_that_is_used_up_fails_the_test(server: StubServer) -> None:
    server.play([text("one")])
    assert post(server, {"messages": [USER]})[0] == 200
    code, said = post(server, {"messages": [USER]})
    assert code == 500 and "used up" in said
    with pytest.raises(AssertionError, match="1 requests more"):
        server.verify()


def test_a_strict_server_refuses_and_remembers(server: StubServer) -> None:
    server.play(repeat=text("one"))
    code, said = post(server, {"messages": [USER, {"role": "system", "content": "late"}]})
    assert code == 400 and "system message" in said
    with pytest.raises(AssertionError, match="system message is not the first"):
        server.verify()


def test_a_lenient_server_takes_anything(server: StubServer) -> None:
    server.play(repeat=text("one"), strict=False)
    assert post(server, {"messages": []})[0] == 200
    server.verify()


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "no messages"),
        ([USER, turn("a"), result("a"), {"role": "assistant", "content": "x"}], "last message"),
        ([{"role": "user", "content": " "}], "is empty"),
        ([USER, {"role": "assistant", "content": ""}, USER], "is empty"),
        ([USER, turn("a"), USER], "are answered by"),
        ([USER, turn("a", "b"), result("a")], "are answered by"),
        ([USER, result("a")], "are answered by"),
        ([USER, turn("a"), result("a"), turn("a"), result("a")], "used 2 times"),
        ([USER, turn("a", arguments='{"x": '), result("a")], "no JSON"),
        ([USER, turn("a", arguments="[1]"), result("a")], "no object"),
        ([USER, turn(""), result("")], "no id"),
    ],
)
def test_what_a_strict_server_calls_illegal(messages: list[dict[str, Any]], problem: str) -> None:
    assert problem in "; ".join(violations({"messages": messages}))


def test_a_good_history_is_legal() -> None:
    system = {"role": "system", "content": "s"}
    legal = [system, USER, turn("a", "b"), result("b"), result("a"), USER]
    assert violations({"messages": legal}) == []


def test_a_limited_server_names_what_it_lacks(server: StubServer) -> None:
    server.play([text("plain")], refuse={"json_schema"})
    code, said = post(
        server, {"messages": [USER], "response_format": {"type": "json_schema", "json_schema": {}}}
    )
    assert code == 400 and "response_format" in said
    assert post(server, {"messages": [USER]})[0] == 200
    assert server.unplayed == 0 and [bool(r.refused) for r in server.requests] == [True, False]
    server.verify()


def test_a_stream_carries_the_same_reply(server: StubServer) -> None:
    server.play([tool_call("f", '{"a": 1}'), done("end")])
    _, events = post(
        server, {"messages": [USER], "stream": True, "stream_options": {"include_usage": True}}
    )
    chunks = [json.loads(line[6:]) for line in events.splitlines() if line.startswith("data: {")]
    assert chunks[0]["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert chunks[1]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[2]["choices"] == [] and chunks[2]["usage"]["total_tokens"] == 18
    assert events.endswith("data: [DONE]\n\n")


def test_the_models_are_listed(server: StubServer) -> None:
    with urllib.request.urlopen(f"{server.base_url}/models", timeout=10) as response:
        assert json.load(response)["data"][0]["id"] == MODEL
