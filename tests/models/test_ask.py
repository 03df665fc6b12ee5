"""Asking a model: tried again where that can help, in one layer and in bounded time."""

import time
from typing import Any

import pytest
from helpers import Limiter
from langchain_core.exceptions import (
    ContextOverflowError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelRateLimitError,
    ModelTimeoutError,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from planloop.errors import WrongUse
from planloop.models import Answer, Effect, Pause, Steps, as_source, ask, perform
from planloop.testing import ScriptedModel, calls

ASKED = [HumanMessage("hello")]


class Waited(ModelRateLimitError):
    """A rate limit with what its server asks for."""

    def __init__(self, **headers: str) -> None:
        super().__init__("slow down")
        self.response = type("Response", (), {"headers": headers})()


def answered(steps: Steps[Answer]) -> tuple[Answer, list[float]]:
    """Perform all but the waiting, which is noted."""
    waits: list[float] = []
    try:
        effect: Effect = next(steps)
        while True:
            try:
                if isinstance(effect, Pause):
                    waits.append(effect.seconds)
                    result: Any = None
                else:
                    result = effect.run()
            except Exception as error:
                effect = steps.throw(error)
            else:
                effect = steps.send(result)
    except StopIteration as end:
        return end.value, waits


@pytest.mark.parametrize(
    "error", [ModelAPIError("500"), ModelTimeoutError("slow"), ConnectionError("x")]
)
def test_what_may_pass_is_tried_again_after_a_growing_wait(error: Exception) -> None:
    answer, waits = answered(ask(as_source(ScriptedModel([error, error, "ready"])), ASKED))
    assert answer.message is not None and answer.message.text == "ready"
    assert 0.3 < waits[0] <= 0.5 < waits[1] <= 1.0


@pytest.mark.parametrize(
    "error", [ModelAuthenticationError("key"), RuntimeError("bug"), ValueError("x")]
)
def test_what_will_not_pass_is_not_tried_again(error: Exception) -> None:
    model = ScriptedModel(repeat=lambda _: error)  # type: ignore[arg-type]  # raised by the model
    answer, waits = answered(ask(as_source(model), ASKED))
    assert answer.message is None and answer.problem
    assert len(model.requests) == 1 and waits == []


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Tue, 01 Dec 2020 00:00:00 GMT"}, 0.0),
    ],
)
def test_c127_the_wait_is_what_the_server_asks_for(headers: dict[str, str], wait: float) -> None:
    model = ScriptedModel([Waited(**headers), "ready"])
    answer, waits = answered(ask(as_source(model), ASKED))
    assert answer.message is not None
    assert waits == [wait]


def test_c127_a_wait_beyond_all_patience_is_not_begun() -> None:
    model = ScriptedModel([Waited(**{"retry-after": "3600"})])
    answer, waits = answered(ask(as_source(model), ASKED))
    assert waits == []
    assert "try again in 3600 s" in answer.problem


def test_c127_all_waiting_for_one_reply_together_is_bounded() -> None:
    class Patient(ScriptedModel):
        retries_taken_over: int = 9

    made: Any = Patient
    model = made(repeat=lambda _: Waited(**{"retry-after": "25"}))
    answer, waits = answered(ask(as_source(model), ASKED))
    assert answer.message is None
    assert waits == [25.0, 25.0]


def test_no_try_is_begun_when_the_time_is_over() -> None:
    model = ScriptedModel([ModelTimeoutError("slow")])
    answer, waits = answered(ask(as_source(model), ASKED, seconds=0.1))
    assert answer.message is None and waits == []


@pytest.mark.parametrize("header", ["soon", "nan", "inf", "-5", ""])
def test_a_header_that_is_no_time_does_no_harm(header: str) -> None:
    model = ScriptedModel([Waited(**{"retry-after": header}), "ready"])
    answer, waits = answered(ask(as_source(model), ASKED))
    assert answer.message is not None
    assert 0 <= waits[0] <= 1


def test_what_can_be_left_out_is_asked_once() -> None:
    model = ScriptedModel([ModelAPIError("500")])
    answer, waits = answered(ask(as_source(model), ASKED, once=True))
    assert answer.message is None and waits == []


def test_retries_are_counted_for_each_model_and_the_next_one_follows() -> None:
    first = ScriptedModel([ModelAPIError("500")] * 3)
    second = ScriptedModel(["from the second"])
    answer, waits = answered(ask(as_source([first, second]), ASKED))
    assert answer.message is not None and answer.message.text == "from the second"
    assert len(first.requests) == 3 and len(waits) == 2


def test_a_client_with_retries_of_its_own_is_left_to_them() -> None:
    class Patient(ScriptedModel):
        max_retries: int = 5

    patient: Any = Patient
    model = patient([ModelAPIError("500")])
    answer, waits = answered(ask(as_source(model), ASKED))
    assert answer.message is None and waits == []


@pytest.mark.parametrize("wrong", [[], object(), [object()], ScriptedModel().bind(x=1)])
def test_what_is_no_model_is_told_at_once(wrong: Any) -> None:
    with pytest.raises(WrongUse):
        as_source(wrong)


def test_a_rate_limiter_is_asked_before_every_try() -> None:
    limiter = Limiter()
    model = ScriptedModel([ModelAPIError("500"), "ready"])
    model.rate_limiter = limiter
    answered(ask(as_source(model), ASKED))
    assert limiter.taken == 2


class Refused(ValueError):
    """A server's 400."""

    status_code = 400


def strict(message: str, refuses: Any) -> ScriptedModel:
    """A model that refuses some requests in these words."""

    def reply(messages: list[BaseMessage]) -> Any:
        return Refused(message) if refuses(messages) else "fine"

    return ScriptedModel(repeat=reply)


TURNS: list[BaseMessage] = [
    SystemMessage("Be kind."),
    HumanMessage("one"),
    HumanMessage([{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]),
    calls(("look", {"n": 1}), ("look", {"n": 2}), ids=["a", "b"]),
    ToolMessage("first", tool_call_id="a"),
    ToolMessage("second", tool_call_id="b"),
    HumanMessage("(Note.)"),
]


def kinds(messages: list[BaseMessage]) -> list[str]:
    return [m.type for m in messages]


@pytest.mark.parametrize(
    ("words", "refuses", "sent"),
    [
        (
            "System role not supported",
            lambda ms: "system" in kinds(ms),
            ["human", "human", "ai", "tool", "tool", "human"],
        ),
        (
            "This model only supports single tool-calls at once!",
            lambda ms: any(len(getattr(m, "tool_calls", [])) > 1 for m in ms),
            ["system", "human", "human", "ai", "tool", "ai", "tool", "human"],
        ),
        (
            "Conversation roles must alternate user/assistant",
            lambda ms: kinds(ms)[-2:] == ["tool", "human"],
            ["system", "human", "ai", "tool", "tool", "ai", "human"],
        ),
    ],
)
def test_what_a_server_cannot_do_is_said_in_another_way(
    words: str, refuses: Any, sent: list[str]
) -> None:
    model = strict(words, refuses)
    source = as_source(model)
    for _ in range(2):
        answer, _waits = answered(ask(source, TURNS))
        assert answer.message is not None, answer.problem
    assert kinds(model.requests[-1].messages) == sent
    assert len(model.requests) == 3  # refused once, then never again
    said = " ".join(str(m.text) for m in model.requests[-1].messages)
    assert all(word in said for word in ("Be kind.", "one", "first", "second", "(Note.)"))


def test_a_refusal_that_explains_nothing_is_not_taken_for_a_limit() -> None:
    model = strict("Your account has no images left", lambda ms: True)
    source = as_source(model)
    answer, _ = answered(ask(source, [HumanMessage("hello")]))
    assert answer.failure is not None and answer.failure.refused
    assert source.cannot == set()
    assert len(model.requests) == 1


def test_the_usage_names_the_model_and_how_it_was_asked() -> None:
    class Named(ScriptedModel):
        model_name: str = "gpt-5-mini"

    named: Any = Named
    reply = AIMessage(
        "hi", usage_metadata={"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}
    )
    answer = perform(ask(as_source(named([reply])), ASKED))
    assert answer.usage.get("models") == {
        "gpt-5-mini": {"calls": 1, "input_tokens": 9, "output_tokens": 2, "modes": ["text"]}
    }


def test_a_request_that_is_too_long_is_not_sent_to_the_next_model() -> None:
    first = ScriptedModel([ContextOverflowError("maximum context length is 4096 tokens")])
    second = ScriptedModel(["from the second"])
    answer, _ = answered(ask(as_source([first, second]), ASKED))
    assert answer.failure is not None and answer.failure.overflow
    assert answer.failure.window == 4_096
    assert second.requests == []


def test_c27_a_server_that_refuses_every_tool_choice_is_asked_twice() -> None:
    @tool
    def look() -> str:
        """Look."""
        return "seen"

    model = strict("tool_choice is not supported here", lambda ms: True)
    source = as_source(model)
    answer, _ = answered(ask(source, ASKED, tools=[look], choice="required"))
    assert answer.message is None and answer.failure is not None and answer.failure.refused
    assert len(model.requests) == 2


def test_what_a_request_does_not_make_use_of_is_not_learnt_from_it() -> None:
    model = strict("This model does not support images.", lambda ms: True)
    source = as_source(model)
    answer, _ = answered(ask(source, ASKED))
    assert answer.failure is not None and source.cannot == set()


def test_instructions_for_a_server_without_system_messages_come_first_in_any_case() -> None:
    model = strict("System role not supported", lambda ms: "system" in kinds(ms))
    request = [SystemMessage("Be kind."), AIMessage("Hello."), HumanMessage("hi")]
    answered(ask(as_source(model), request))
    assert [str(m.text) for m in model.requests[-1].messages] == ["Be kind.", "Hello.", "hi"]
    assert kinds(model.requests[-1].messages) == ["human", "ai", "human"]


def test_a_refusal_as_long_as_a_book_is_read_in_no_time() -> None:
    model = strict("an image of an image " * 100_000, lambda ms: True)
    began = time.monotonic()
    answer, _ = answered(ask(as_source(model), TURNS))
    assert answer.failure is not None and len(answer.problem) < 500
    assert time.monotonic() - began < 5
