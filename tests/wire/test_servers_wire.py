"""What a server cannot do is found out once, worked around, and written down in the usage."""

import base64
import json
from typing import Any

import pytest
from pydantic import BaseModel
from wire.conftest import Run
from wire.stub_server import (
    SERVERS,
    Request,
    StubServer,
    completion,
    error,
    raw_call,
    text,
    tool_call,
    tool_calls,
)

from planloop import RunContext, create_planner_graph, create_react_graph
from planloop.models import as_source

PIXEL = base64.b64encode(b"\x89PNG not really").decode()


class Weather(BaseModel):
    """The answer."""

    city: str
    sunny: bool


def shot(name: str) -> list[dict[str, Any]]:
    """Take a picture."""
    image = {"type": "image", "base64": PIXEL, "mime_type": "image/png"}
    return [{"type": "text", "text": f"picture of {name}"}, image]


def two_shots(request: Request) -> Any:
    """Call two tools at once, say something without a call, then answer."""
    turns = len(request.of_role("assistant"))
    if not request.of_role("tool"):
        arguments = [json.dumps({"name": name}) for name in ("a", "b")]
        return tool_calls(raw_call("shot", arguments[0], "1"), raw_call("shot", arguments[1], "2"))
    if "(Note: your last reply was empty" not in json.dumps(request.body) and turns < 3:
        return text("")
    return text("Both are there.")


@pytest.mark.parametrize("name", SERVERS)
async def test_a_run_gets_through_on_every_server_and_the_next_one_at_once(
    name: str, stub: StubServer, run: Run, tmp_path: Any
) -> None:
    stub.play(two_shots, refuse=SERVERS[name])
    graph = create_react_graph(as_source(stub.model(max_retries=2)), [shot])
    bound: Any = graph.with_config()
    given, outcome = {"request": "look"}, dict[str, Any]()
    for number in range(2):
        before = len(stub.requests)
        result = await run(_In(bound, str(tmp_path)), given)
        outcome = result["outcome"]
        assert outcome["reason"] == "final_answer", outcome["detail"]
        assert outcome["answer"] == "Both are there."
        refused = [r.refused for r in stub.requests[before:] if r.refused]
        assert len(refused) <= len(SERVERS[name])
        if number:
            assert refused == []
    learnt = {f"without {limit}" for limit in _LIMITS[name]}
    (spent,) = outcome["usage"]["models"].values()
    assert set(spent["modes"]) == {"tools"} | learnt
    shown = json.dumps(stub.requests[-1].body)
    assert ("data:image/png" in shown) == ("images" not in SERVERS[name])


class _In:
    """A graph that is run in a workspace."""

    def __init__(self, graph: Any, folder: str) -> None:
        self.graph, self.context = graph, RunContext(workspace=folder)

    def invoke(self, given: Any) -> Any:
        return self.graph.invoke(given, context=self.context)

    async def ainvoke(self, given: Any) -> Any:
        return await self.graph.ainvoke(given, context=self.context)


_LIMITS = {
    "openai": set(),
    "vllm": {"images", "a system message", "parallel calls"},
    "llama.cpp": {"images", "turns of one role in a row"},
    "ollama": {"images"},
    "deepseek": {"images", "content blocks"},
    "qwen": {"turns of one role in a row"},
}


@pytest.mark.parametrize("name", SERVERS)
async def test_c27_a_plan_is_made_on_every_server(name: str, stub: StubServer, run: Run) -> None:
    step = {"name": "a", "description": "do a", "requires_code": False}
    plan = json.dumps({"title": "T", "steps": [step]})
    stub.play([text(plan), text("[APPROVED]")], repeat=text(plan), refuse=SERVERS[name])
    result = await run(create_planner_graph(stub.model()), {"request": "do a"})
    assert [s.name for s in result["plan"].steps] == ["a"]
    assert result["plan"].origin == "model", result["problems"]
    modes = [mode for spent in result["usage"]["models"].values() for mode in spent["modes"]]
    assert result["form"] in modes


@pytest.mark.parametrize("name", SERVERS)
async def test_a_structured_answer_comes_from_every_server(
    name: str, stub: StubServer, run: Run
) -> None:
    def script(request: Request) -> Any:
        wanted = request.form != "plain" or "JSON schema" in request.last
        return text('{"city": "Rome", "sunny": true}' if wanted else "It is sunny in Rome.")

    stub.play(script, refuse=SERVERS[name])
    graph = create_react_graph(stub.model(), prompt="", answer_schema=Weather)
    result = await run(graph, {"request": "Weather in Rome?"})
    assert result["outcome"]["structured"] == {"city": "Rome", "sunny": True}
    assert result["outcome"]["reason"] == "final_answer"


async def test_a_server_without_tools_is_named(stub: StubServer, run: Run) -> None:
    stub.play(repeat=text("never"), refuse={"tools"})
    result = await run(create_react_graph(stub.model(max_retries=2), [shot]), {"request": "x"})
    assert result["outcome"]["reason"] == "error"
    assert "does not support tools" in result["outcome"]["detail"]
    assert len(stub.requests) == 1


async def test_a_refusal_by_the_model_is_an_answer_that_is_no_success(
    stub: StubServer, run: Run
) -> None:
    stub.play([completion({"role": "assistant", "content": None, "refusal": "I will not."})])
    result = await run(create_react_graph(stub.model(), [shot]), {"request": "x"})
    outcome = result["outcome"]
    assert (outcome["reason"], outcome["success"]) == ("final_answer", False)
    assert outcome["answer"] == "I will not."
    assert [m.text for m in result["messages"]] == ["x", "I will not."]


async def test_a_filtered_reply_is_no_success(stub: StubServer, run: Run) -> None:
    stub.play([completion({"role": "assistant", "content": ""}, "content_filter")])
    result = await run(create_react_graph(stub.model(), [shot]), {"request": "x"})
    assert result["outcome"]["success"] is False
    assert "content filter" in result["outcome"]["detail"]


async def test_the_next_model_answers_where_the_first_one_fails(stub: StubServer, run: Run) -> None:
    def script(request: Request) -> Any:
        if request.body["model"] == "first":
            return error(503, "down", {"Retry-After": "0"})
        return tool_call("shot", '{"name": "a"}') if not request.of_role("tool") else text("Seen.")

    stub.play(script)
    models = [stub.model(model="first", max_retries=1), stub.model(model="second")]
    result = await run(create_react_graph(models, [shot]), {"request": "x"})
    assert result["outcome"]["answer"] == "Seen."
    assert list(result["outcome"]["usage"]["models"]) == ["second"]
    asked = [request.body["model"] for request in stub.requests]
    assert asked == ["first", "first", "second"] * 2


async def test_langchains_own_fallbacks_are_taken_apart(stub: StubServer, run: Run) -> None:
    def script(request: Request) -> Any:
        return error(401, "no") if request.body["model"] == "first" else text("Yes.")

    stub.play(script)
    model: Any = stub.model(model="first").with_fallbacks([stub.model(model="second")])
    result = await run(create_react_graph(model, [shot]), {"request": "x"})
    assert result["outcome"]["answer"] == "Yes."
