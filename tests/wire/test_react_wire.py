"""The ReAct graph with the real client against a server that answers as real ones do."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import openai
import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatResult
from langchain_openai import ChatOpenAI
from wire.conftest import Run
from wire.stub_server import (
    Reply,
    Request,
    StubServer,
    completion,
    done,
    error,
    hang,
    raw,
    raw_call,
    sse,
    status,
    text,
    tool_call,
    tool_calls,
)

from planloop.graphs import create_react_graph
from planloop.state import Outcome

HTML = "<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


class Bench:
    """Tools that note what they were called with, and an agent that has them."""

    def __init__(self, stub: StubServer, run: Run) -> None:
        self.stub, self._run = stub, run
        self.ran: list[Any] = []
        self.messages: list[BaseMessage] = []

    def tools(self) -> list[Any]:
        def add(a: int, b: int) -> int:
            """Add two numbers."""
            self.ran.append((a, b))
            return a + b

        def weather(city: str) -> str:
            """Tell the weather in a city."""
            self.ran.append(city)
            return "sunny"

        def list_files() -> str:
            """List the files."""
            self.ran.append("list_files")
            return "a.txt"

        return [add, weather, list_files]

    async def __call__(
        self, model: ChatOpenAI | None = None, request: str = "do it", **options: Any
    ) -> Outcome:
        graph = create_react_graph(model or self.stub.model(), self.tools(), **options)
        result = await self._run(graph, {"request": request})
        self.messages = result["messages"]
        outcome: Outcome = result["outcome"]
        assert result["status"] == ("ERROR" if outcome["reason"] == "error" else "FINISHED")
        assert outcome["detail"].strip()
        return outcome

    @property
    def ai(self) -> list[AIMessage]:
        """What is stored of the model's turns."""
        return [message for message in self.messages if isinstance(message, AIMessage)]


@pytest.fixture
def bench(stub: StubServer, run: Run) -> Bench:
    return Bench(stub, run)


def replayed(request: Request) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of every call in a request's history, as they went out."""
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for message in request.of_role("assistant")
        for call in message.get("tool_calls") or []
    ]


def answers(request: Request) -> dict[str, str]:
    """The results in a request's history, by call id."""
    return {message["tool_call_id"]: message["content"] for message in request.of_role("tool")}


async def test_a_call_runs_and_its_result_goes_back(bench: Bench) -> None:
    bench.stub.play([tool_call("add", '{"a": 1, "b": 2}', "c1"), text("It is 3.")])
    outcome = await bench(request="add 1 and 2")
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "It is 3.")
    assert bench.ran == [(1, 2)]
    first, second = bench.stub.requests
    assert set(first.tools) == {"add", "weather", "list_files", "terminate"}
    assert first.headers["authorization"] == "Bearer x"
    assert replayed(second) == [("c1", "add", '{"a": 1, "b": 2}')]
    assert answers(second) == {"c1": "3"}
    usage = outcome["usage"]
    assert (usage["steps"], usage["tool_calls"]) == (2, 1)
    assert (usage["input_tokens"], usage["output_tokens"]) == (22, 14)
    assert not usage["estimated"]


async def test_c05_c06_broken_arguments_are_answered_and_replayed_valid(bench: Bench) -> None:
    bench.stub.play([tool_call("add", '{"a": 1, ', "c1"), done("gave up")])
    outcome = await bench()
    assert (outcome["reason"], outcome["success"]) == ("terminated", True)
    assert bench.ran == []
    second = bench.stub.requests[1]
    assert replayed(second) == [("c1", "add", "{}")]
    assert '{"a": 1, ' in answers(second)["c1"]
    assert "Send the call again" in answers(second)["c1"]
    assert outcome["usage"]["steps"] == 2


async def test_c05_the_valid_one_of_two_calls_runs_and_both_are_answered(bench: Bench) -> None:
    good, bad = raw_call("add", '{"a": 1, "b": 2}', "good"), raw_call("add", '{"a": ', "bad")
    bench.stub.play([tool_calls(bad, good), done()])
    assert (await bench())["reason"] == "terminated"
    assert bench.ran == [(1, 2)]
    said = answers(bench.stub.requests[1])
    assert said["good"] == "3"
    assert "could not be read" in said["bad"]


async def test_c05_a_model_that_only_sends_broken_arguments_is_stopped(bench: Bench) -> None:
    bench.stub.play(repeat=tool_call("add", '{"a": 1, '))
    outcome = await bench()
    assert outcome["reason"] == "stuck"
    assert bench.ran == []
    assert len(bench.stub.requests) <= 6


async def test_c07_double_encoded_arguments_do_not_end_the_run(bench: Bench) -> None:
    bench.stub.play([tool_call("weather", json.dumps('{"city": "Rome"}')), done()])
    outcome = await bench()
    assert outcome["reason"] == "terminated", outcome["detail"]
    if bench.ran != ["Rome"]:
        assert bench.ran == []
        assert "argument" in str(bench.stub.requests[1].messages[2:])


async def test_c07_arguments_that_are_a_list_do_not_end_the_run(bench: Bench) -> None:
    bench.stub.play([tool_call("weather", "[1]"), done()])
    outcome = await bench()
    assert outcome["reason"] == "terminated", outcome["detail"]
    assert bench.ran == []
    assert "argument" in str(bench.stub.requests[1].messages[2:])


async def test_c08_arguments_sent_as_an_object_run_and_go_back_as_text(bench: Bench) -> None:
    bench.stub.play([tool_call("weather", {"city": "Rome"}, "c1"), done()])
    outcome = await bench()
    assert outcome["reason"] == "terminated", outcome["detail"]
    assert bench.ran == ["Rome"]
    assert replayed(bench.stub.requests[1]) == [("c1", "weather", '{"city": "Rome"}')]


@pytest.mark.parametrize("arguments", ["", " ", "null", "{}", None])
async def test_c09_no_arguments_are_an_empty_object(bench: Bench, arguments: str | None) -> None:
    bench.stub.play([tool_call("list_files", arguments, "c1"), done()])
    assert (await bench())["reason"] == "terminated"
    assert bench.ran == ["list_files"]
    assert replayed(bench.stub.requests[1]) == [("c1", "list_files", "{}")]


async def test_c09_a_call_without_the_field_arguments_runs(bench: Bench) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "list_files"}}
    bench.stub.play([tool_calls(call), done()])
    assert (await bench())["reason"] == "terminated"
    assert bench.ran == ["list_files"]
    assert replayed(bench.stub.requests[1]) == [("c1", "list_files", "{}")]


async def test_c09_missing_arguments_that_are_needed_are_named(bench: Bench) -> None:
    bench.stub.play([tool_call("weather", "", "c1"), done()])
    assert (await bench())["reason"] == "terminated"
    assert bench.ran == []
    assert "city" in answers(bench.stub.requests[1])["c1"]


async def test_c12_a_text_ends_the_run_after_one_request(bench: Bench) -> None:
    bench.stub.play(repeat=text("The file is saved."))
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "The file is saved.")
    assert len(bench.stub.requests) == 1


@pytest.mark.parametrize(
    "leaked",
    [
        '<tool_call>\n{"name": "weather", "arguments": {"city": "x"}}\n</tool_call>',
        '```json\n{"name": "weather", "arguments": {"city": "x"}}\n```',
        'I will call {"name": "weather", "parameters": {"city": "x"}} now.',
        '<function=weather>{"city": "x"}</function>',
        '[TOOL_CALLS][{"name": "weather", "arguments": {"city": "x"}}]',
        '<|tool_call|>{"name": "weather", "arguments": {"city": "x"}}',
    ],
)
async def test_c13_a_call_in_text_is_never_run_nor_an_answer(bench: Bench, leaked: str) -> None:
    bench.stub.play(repeat=text(leaked))
    outcome = await bench()
    assert outcome["reason"] == "no_tool_calls"
    assert outcome["success"] is False
    assert "tool parser" in outcome["detail"]
    assert bench.ran == []
    first, second = bench.stub.requests
    assert "tool channel" in second.last and "tool channel" not in str(first.messages)
    assert not any("tool channel" in str(message.text) for message in bench.messages)


async def test_c13_a_model_that_heeds_the_hint_goes_on(bench: Bench) -> None:
    leaked = '<tool_call>{"name": "add", "arguments": {"a": 1, "b": 2}}</tool_call>'
    bench.stub.play([text(leaked), tool_call("add", '{"a": 1, "b": 2}'), text("3")])
    assert (await bench())["answer"] == "3"
    assert bench.ran == [(1, 2)]


@pytest.mark.parametrize("said", ["<think>maybe 41?</think>42", "hm, 41?</think>\n42"])
async def test_c14_thoughts_are_no_part_of_the_answer(bench: Bench, said: str) -> None:
    bench.stub.play([text(said)])
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "42")


async def test_c14_a_thought_that_never_ends_is_an_empty_reply(bench: Bench) -> None:
    bench.stub.play(repeat=text("<think>cut off"))
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("empty_response", "")
    assert len(bench.stub.requests) == 3


async def test_c14_a_request_that_speaks_of_think_tags_arrives_whole(bench: Bench) -> None:
    asked = "Explain what <think>a thought</think> means."
    bench.stub.play([text("The tag <think> opens a thought.")])
    outcome = await bench(request=asked)
    assert outcome["answer"] == "The tag <think> opens a thought."
    assert bench.stub.requests[0].last == asked


@pytest.mark.parametrize(
    "content",
    [
        [{"type": "thinking", "thinking": "41?"}, {"type": "text", "text": "42"}],
        [{"type": "text", "text": "4"}, {"type": "text", "text": "2"}],
        ["42"],
    ],
)
async def test_c15_a_list_of_blocks_is_read_as_its_text(bench: Bench, content: list[Any]) -> None:
    bench.stub.play([text(content)])
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "42")


async def test_c15_blocks_beside_a_call_do_not_disturb_it(bench: Bench) -> None:
    blocks = [{"type": "thinking", "thinking": "add"}, {"type": "text", "text": "I add."}]
    bench.stub.play([tool_call("add", '{"a": 1, "b": 2}', "c1", content=blocks), text("3")])
    assert (await bench())["answer"] == "3"
    assert replayed(bench.stub.requests[1]) == [("c1", "add", '{"a": 1, "b": 2}')]


@pytest.mark.parametrize("content", ["", None, [], "\n\n"])
async def test_c16_nothing_at_all_is_asked_again_and_never_stored(
    bench: Bench, content: Any
) -> None:
    bench.stub.play(repeat=text(content))
    outcome = await bench()
    assert (outcome["reason"], outcome["success"]) == ("empty_response", False)
    assert len(bench.stub.requests) == 3
    assert "empty" in bench.stub.requests[1].last
    assert bench.ai == []


async def test_c16_reasoning_alone_is_no_answer(bench: Bench) -> None:
    reply = text("\n\n", reasoning_content="the answer is 42")
    bench.stub.play([reply, text("42")])
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "42")
    assert len(bench.stub.requests) == 2


@pytest.mark.parametrize("call_id", [None, "", "absent"])
async def test_c19_a_call_without_an_id_gets_one(bench: Bench, call_id: str | None) -> None:
    call = raw_call("add", '{"a": 1, "b": 2}', call_id)
    if call_id == "absent":
        del call["id"]
    bench.stub.play([tool_calls(call), done()])
    assert (await bench())["reason"] == "terminated"
    assert bench.ran == [(1, 2)]
    [(own, _, _)] = replayed(bench.stub.requests[1])
    assert own and answers(bench.stub.requests[1]) == {own: "3"}


async def test_c20_ids_used_again_are_told_apart(bench: Bench) -> None:
    one, two = (raw_call("add", f'{{"a": 1, "b": {n}}}', "call_0") for n in (2, 3))
    bench.stub.play([tool_calls(one, two), tool_call("add", '{"a": 1, "b": 4}', "call_0"), done()])
    assert (await bench())["reason"] == "terminated"
    assert sorted(bench.ran) == [(1, 2), (1, 3), (1, 4)]
    last = bench.stub.requests[2]
    assert len({call_id for call_id, _, _ in replayed(last)}) == 3
    assert sorted(answers(last).values()) == ["3", "4", "5"]


@pytest.mark.parametrize("name", [None, "", "no_such_tool", "functions.add"])
async def test_c17_a_name_that_is_no_tool_is_answered(bench: Bench, name: str | None) -> None:
    bench.stub.play([tool_call(name, '{"a": 1, "b": 2}', "c1"), done()])
    outcome = await bench()
    assert outcome["reason"] == "terminated", outcome["detail"]
    assert bench.ran == []
    said = answers(bench.stub.requests[1])["c1"]
    assert "no tool named" in said and "weather" in said


async def test_c27_a_server_without_a_tool_parser_is_named_after_one_request(bench: Bench) -> None:
    bench.stub.play(repeat=text("never"), refuse={"auto_tools"})
    outcome = await bench(bench.stub.model(max_retries=2))
    assert (outcome["reason"], outcome["success"]) == ("error", False)
    assert "--enable-auto-tool-choice" in outcome["detail"]
    assert len(bench.stub.requests) == 1


async def test_c27_a_server_that_cannot_be_made_to_call_is_asked_to(bench: Bench) -> None:
    bench.stub.play(repeat=text("never"), refuse={"forced_tools"})
    outcome = await bench(tool_choice="required")
    assert outcome["reason"] == "no_tool_calls"
    assert [request.body.get("tool_choice") for request in bench.stub.requests] == [
        "required",
        None,
        None,
    ]
    assert outcome["usage"].get("models", {})["stub-model"]["modes"] == [
        "tools",
        "without forced tools",
    ]


async def test_c28_a_stored_turn_keeps_all_that_the_client_gave(bench: Bench) -> None:
    reply = tool_call(
        "add", '{"a": 1, "b": 2}', content="I add.", reasoning_content="r", refusal="half"
    )
    bench.stub.play([reply, reply, text("3")])
    given = bench.stub.model().invoke("add")
    await bench()
    stored = bench.ai[0]
    assert stored.content == given.content
    assert stored.additional_kwargs == given.additional_kwargs != {}
    assert stored.usage_metadata == given.usage_metadata
    ours, theirs = stored.response_metadata, given.response_metadata
    assert ours["finish_reason"] == theirs["finish_reason"] == "tool_calls"


class ReasoningChat(ChatOpenAI):
    """As the classes for thinking models do: the reasoning is kept, and sent back."""

    def _create_chat_result(
        self,
        response: dict[str, Any] | openai.BaseModel,
        generation_info: dict[str, Any] | None = None,
    ) -> ChatResult:
        result = super()._create_chat_result(response, generation_info)
        if not isinstance(response, openai.BaseModel):
            return result
        for generation, choice in zip(result.generations, response.choices, strict=True):  # type: ignore[attr-defined]  # a ChatCompletion
            thought = getattr(choice.message, "reasoning_content", None)
            generation.message.additional_kwargs["reasoning_content"] = thought
        return result

    def _get_request_payload(
        self, input_: Any, *, stop: list[str] | None = None, **kwargs: Any
    ) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(input_, stop=stop, **kwargs)
        messages = self._convert_input(input_).to_messages()
        for message, sent in zip(messages, payload["messages"], strict=True):
            if thought := message.additional_kwargs.get("reasoning_content"):
                sent["reasoning_content"] = thought
        return payload


async def test_c28_a_server_that_wants_its_reasoning_back_gets_it(bench: Bench) -> None:
    def script(request: Request) -> Reply:
        turns = request.of_role("assistant")
        if any("reasoning_content" not in turn for turn in turns):
            return error(400, "The reasoning_content in the thinking mode must be passed back.")
        if len(turns) == 2:
            return text("7", reasoning_content="done")
        arguments = json.dumps({"a": len(turns), "b": 2})
        return tool_call("add", arguments, f"c{len(turns)}", reasoning_content=f"r{len(turns)}")

    bench.stub.play(script)
    model = ReasoningChat(
        model="thinker", base_url=bench.stub.base_url, api_key=bench.stub.key, max_retries=0
    )
    outcome = await bench(model)
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "7"), outcome["detail"]
    last = bench.stub.requests[-1].of_role("assistant")
    assert [turn["reasoning_content"] for turn in last] == ["r0", "r1"]


@pytest.mark.parametrize(
    ("message", "more"),
    [
        (
            "This model's maximum context length is 4096 tokens. However, you requested 9000.",
            {"type": "invalid_request_error", "code": "context_length_exceeded"},
        ),
        (
            "request (6030 tokens) exceeds the available context size (4096 tokens)",
            {"type": "exceed_context_size_error"},
        ),
        ("prompt is too long: 210000 tokens > 200000 maximum", {}),
    ],
)
async def test_c78_an_overflow_ends_typed_and_is_not_sent_again(
    bench: Bench, message: str, more: dict[str, Any]
) -> None:
    refused = status(400, {"error": {"message": message, **more}})
    bench.stub.play([tool_call("add", '{"a": 1, "b": 2}')], repeat=refused)
    outcome = await bench(bench.stub.model(max_retries=2))
    assert (outcome["reason"], outcome["success"]) == ("context_overflow", False)
    assert "window" in outcome["detail"]
    assert len(bench.stub.requests) <= 3
    assert bench.ran == [(1, 2)]
    assert [message.type for message in bench.messages] == ["human", "ai", "tool"]


@pytest.mark.parametrize(
    ("code", "message", "advice"),
    [
        (401, "Incorrect API key provided", "OPENAI_API_KEY"),
        (404, "The model `stub-model` does not exist", "--model"),
        (400, "Invalid tool_choice: bogus", "Invalid tool_choice: bogus"),
        (422, "messages.0.role is wrong", "messages.0.role is wrong"),
    ],
)
async def test_c127_what_cannot_get_better_is_not_tried_again(
    bench: Bench, code: int, message: str, advice: str
) -> None:
    bench.stub.play(repeat=error(code, message))
    outcome = await bench(bench.stub.model(max_retries=2))
    assert (outcome["reason"], outcome["success"]) == ("error", False)
    assert outcome.get("fatal") is True
    assert advice in outcome["detail"]
    assert len(bench.stub.requests) == 1


@pytest.mark.parametrize("code", [429, 500, 503])
async def test_c127_a_busy_server_is_asked_again_by_the_client(bench: Bench, code: int) -> None:
    busy = error(code, "busy", {"Retry-After": "0.01"})
    bench.stub.play([busy, busy, text("ready")])
    outcome = await bench(bench.stub.model(max_retries=2))
    assert outcome["answer"] == "ready"
    assert len(bench.stub.requests) == 3


@pytest.mark.parametrize(("code", "said"), [(429, "rate"), (500, "500"), (503, "503")])
async def test_c127_retries_are_not_multiplied_by_layers(
    bench: Bench, code: int, said: str
) -> None:
    bench.stub.play(repeat=error(code, "busy", {"Retry-After": "0.01"}))
    outcome = await bench(bench.stub.model(max_retries=1))
    assert outcome["reason"] == "error"
    assert said in outcome["detail"]
    assert not outcome.get("fatal")
    assert len(bench.stub.requests) == 2


async def test_c127_a_server_that_never_answers_is_left(bench: Bench) -> None:
    bench.stub.play(repeat=hang())
    began = time.monotonic()
    outcome = await bench(bench.stub.model(timeout=0.2))
    assert time.monotonic() - began < 5
    assert outcome["reason"] in ("error", "timed_out")
    assert "did not answer in time" in outcome["detail"]
    assert len(bench.stub.requests) == 1


@pytest.fixture
def dead_url() -> Iterator[str]:
    """An address that nobody listens on."""
    with closing(socket.socket()) as held:  # bound but not listening, so that nobody else takes it
        held.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{held.getsockname()[1]}/v1"


async def test_a_server_that_is_not_there_is_named(bench: Bench, dead_url: str) -> None:
    model = ChatOpenAI(model="m", base_url=dead_url, api_key=bench.stub.key, max_retries=0)
    outcome = await bench(model)
    assert outcome["reason"] == "error" and outcome.get("fatal") is True
    assert "cannot be reached" in outcome["detail"] and "OPENAI_BASE_URL" in outcome["detail"]


async def test_missing_usage_is_estimated(bench: Bench) -> None:
    bench.stub.play([completion({"role": "assistant", "content": "hello"}, usage=None)])
    usage = (await bench())["usage"]
    assert usage["estimated"]
    assert usage["input_tokens"] > 0 and usage["output_tokens"] > 0


@pytest.mark.parametrize(
    "usage",
    [
        {"prompt_tokens": [], "completion_tokens": {}, "total_tokens": []},
        {"prompt_tokens": None, "completion_tokens": None},
        {},
    ],
)
async def test_a_count_that_is_none_does_no_harm(bench: Bench, usage: Any) -> None:
    bench.stub.play([completion({"role": "assistant", "content": "hello"}, usage=usage)])
    outcome = await bench()
    assert outcome["answer"] == "hello", outcome["detail"]
    spent = (outcome["usage"]["input_tokens"], outcome["usage"]["output_tokens"])
    assert all(type(count) is int and count >= 0 for count in spent)


@pytest.mark.parametrize("content", [[{"type": "text", "text": None}], [{"type": "text"}], [None]])
async def test_c16_blocks_that_hold_nothing_are_nothing(bench: Bench, content: Any) -> None:
    bench.stub.play([completion({"role": "assistant", "content": content}, usage=None), text("42")])
    outcome = await bench()
    assert outcome["answer"] == "42", outcome["detail"]
    assert [stored.text for stored in bench.ai] == ["42"]


UNREADABLE = {
    "no choices": raw({"id": "x", "object": "chat.completion", "choices": []}),
    "choices null": raw({"id": "x", "object": "chat.completion", "choices": None}),
    "no such field": raw({"ok": True}),
    "message null": completion(None),
    "a page": raw(HTML, content_type="text/html"),
    "half an object": raw('{"id": "x", "cho'),
}


@pytest.mark.parametrize("reply", UNREADABLE.values(), ids=UNREADABLE)
async def test_a_reply_that_is_no_completion_ends_with_advice(bench: Bench, reply: Reply) -> None:
    bench.stub.play(repeat=reply)
    outcome = await bench()
    assert (outcome["reason"], outcome["success"]) == ("error", False)
    assert "OPENAI_BASE_URL" in outcome["detail"], outcome["detail"]
    assert len(bench.stub.requests) <= 3


async def test_an_error_page_is_told_in_one_line(bench: Bench) -> None:
    bench.stub.play(repeat=status(502, HTML))
    outcome = await bench()
    assert outcome["reason"] == "error"
    assert "502" in outcome["detail"]
    assert "\n" not in outcome["detail"] and len(outcome["detail"]) < 500


async def test_what_was_done_before_a_failure_is_kept(bench: Bench) -> None:
    bench.stub.play(
        [tool_call("add", '{"a": 1, "b": 2}', content="First I add."), error(500, "gone")]
    )
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("error", "First I add.")
    assert [message.type for message in bench.messages] == ["human", "ai", "tool"]
    assert outcome["usage"]["tool_calls"] == 1


def events(*deltas: dict[str, Any], finish: str | None = "stop", end: bool = True) -> Reply:
    """A stream of these deltas, the last with the reason to finish."""
    lines = []
    for number, delta in enumerate(deltas, 1):
        reason = finish if number == len(deltas) else None
        chunk = {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
        }
        lines.append(f"data: {json.dumps(chunk)}\n\n")
    return sse("".join(lines) + ("data: [DONE]\n\n" if end else ""))


def piece(**function: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": function}]}


async def test_a_streaming_client_ends_in_the_same_way(bench: Bench) -> None:
    bench.stub.play([tool_call("add", '{"a": 1, "b": 2}', "c1"), text("It is 3.")])
    outcome = await bench(bench.stub.model(streaming=True))
    assert (outcome["reason"], outcome["answer"]) == ("final_answer", "It is 3.")
    assert bench.ran == [(1, 2)]
    assert all(request.body["stream"] for request in bench.stub.requests)
    assert replayed(bench.stub.requests[1]) == [("c1", "add", '{"a": 1, "b": 2}')]


async def test_a_call_that_comes_in_pieces_is_put_together(bench: Bench) -> None:
    begin = {"index": 0, "id": "c1", "type": "function"}
    bench.stub.play(
        [
            events(
                {"role": "assistant", "content": None},
                {"tool_calls": [{**begin, "function": {"name": "add", "arguments": ""}}]},
                piece(arguments='{"a": 1,'),
                piece(arguments=' "b": 2}'),
                {},
                finish="tool_calls",
            ),
            text("3"),
        ]
    )
    assert (await bench(bench.stub.model(streaming=True)))["answer"] == "3"
    assert bench.ran == [(1, 2)]


async def test_c05_c19_a_cut_call_without_an_id_is_not_run_either(bench: Bench) -> None:
    cut = piece(name="weather", arguments='{"city": "San Fr')
    bench.stub.play([events(cut, finish="length"), done()])
    assert (await bench(bench.stub.model(streaming=True)))["reason"] == "terminated"
    assert bench.ran == []
    [said] = answers(bench.stub.requests[1]).values()
    assert "could not be read" in said


async def test_c05_a_stream_cut_in_its_second_call_runs_the_first(bench: Bench) -> None:
    whole = {**raw_call("add", '{"a": 1, "b": 2}', "c1"), "index": 0}
    cut = {**raw_call("weather", '{"city": "San Fr', "c2"), "index": 1}
    bench.stub.play([events({"tool_calls": [whole, cut]}, finish="length"), done()])
    assert (await bench(bench.stub.model(streaming=True)))["reason"] == "terminated"
    assert bench.ran == [(1, 2)]
    said = answers(bench.stub.requests[1])
    assert said["c1"] == "3" and "could not be read" in said["c2"]


@pytest.mark.parametrize("finish", ["length", "tool_calls", None])
async def test_c05_a_stream_cut_inside_the_arguments_runs_nothing(
    bench: Bench, finish: str | None
) -> None:
    begin = {"index": 0, "id": "c1", "type": "function"}
    call = {**begin, "function": {"name": "weather", "arguments": '{"city": "San Fr'}}
    bench.stub.play([events({"tool_calls": [call]}, finish=finish), done()])
    assert (await bench(bench.stub.model(streaming=True)))["reason"] == "terminated"
    assert bench.ran == []
    assert "could not be read" in answers(bench.stub.requests[1])["c1"]
    assert replayed(bench.stub.requests[1]) == [("c1", "weather", "{}")]


async def test_c14_a_streamed_thought_is_no_answer(bench: Bench) -> None:
    bench.stub.play([events({"content": "<thi"}, {"content": "nk>no</think>"}, {"content": "42"})])
    assert (await bench(bench.stub.model(streaming=True)))["answer"] == "42"


STREAMS = {
    "nothing": sse(""),
    "only the end": sse("data: [DONE]\n\n"),
    "an error": sse('data: {"error": {"message": "overloaded", "code": 500}}\n\n'),
    "half an event": sse('data: {"id": "x", "choices": [{"ind\n\n'),
    "no stream": raw(HTML, content_type="text/html"),
}


@pytest.mark.parametrize("reply", STREAMS.values(), ids=STREAMS)
async def test_a_broken_stream_ends_the_run_typed(bench: Bench, reply: Reply) -> None:
    bench.stub.play(repeat=reply)
    outcome = await bench(bench.stub.model(streaming=True))
    assert outcome["reason"] in ("error", "empty_response")
    assert outcome["success"] is False
    assert len(bench.stub.requests) <= 3


async def test_a_stream_without_a_reason_to_finish_keeps_its_text(bench: Bench) -> None:
    bench.stub.play([events({"content": "par"}, {"content": "tial"}, finish=None, end=False)])
    outcome = await bench(bench.stub.model(streaming=True))
    assert outcome["answer"] == "partial"
    assert len(bench.stub.requests) == 1


async def test_tokens_reach_whoever_streams_the_graph(stub: StubServer) -> None:
    stub.play([events({"role": "assistant", "content": None}, {"content": "4"}, {"content": "2"})])
    graph = create_react_graph(stub.model())
    parts = [
        message.text
        async for message, _ in graph.astream({"request": "?"}, stream_mode="messages")
        if isinstance(message, AIMessage)
    ]
    assert [part for part in parts if part][:2] == ["4", "2"]


async def test_the_environment_names_server_and_model(
    stub: StubServer, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PLANLOOP_MODEL", "OPENAI_API_KEY", "OPENAI_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", stub.base_url)
    stub.play([text("hello")])
    result = await run(create_react_graph(), {"request": "hi"})
    assert result["outcome"]["answer"] == "hello"
    assert stub.requests[0].body["model"] == "stub-model"


async def test_c11_terminate_beside_another_call_ends_nothing(bench: Bench) -> None:
    both = tool_calls(
        raw_call("list_files", "{}", "1"), raw_call("terminate", '{"status": "success"}', "2")
    )
    bench.stub.play([both, done("Seen.")])
    outcome = await bench()
    assert (outcome["reason"], outcome["answer"]) == ("terminated", "Seen.")
    assert bench.ran == ["list_files"]
    assert "alone" in answers(bench.stub.requests[1])["2"]


async def test_c21_the_same_call_twice_in_one_turn_runs_once(bench: Bench) -> None:
    twice = [raw_call("add", '{"a": 1, "b": 2}', "1"), raw_call("add", '{"b": 2, "a": 1}', "2")]
    bench.stub.play([tool_calls(*twice), text("3")])
    await bench()
    assert bench.ran == [(1, 2)]
    assert set(answers(bench.stub.requests[1])) == {"1", "2"}


async def test_c31_surplus_arguments_are_dropped_and_wrong_ones_named(bench: Bench) -> None:
    bench.stub.play(
        [
            tool_call("add", '{"a": 1, "b": 2, "unit": "m"}', "1"),
            tool_call("add", '{"a": "x", "b": null}', "2"),
            text("3"),
        ]
    )
    outcome = await bench()
    assert outcome["answer"] == "3"
    assert bench.ran == [(1, 2)]
    said = answers(bench.stub.requests[2])["2"]
    assert "a:" in said and "b:" in said and "Traceback" not in said
