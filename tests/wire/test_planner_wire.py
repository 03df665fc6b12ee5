"""The planner with the real client: every rung of the ladder, and what servers put on it."""

import json
import time
from typing import Any

import pytest
from wire.conftest import Run
from wire.stub_server import (
    Feature,
    Reply,
    StubServer,
    completion,
    error,
    hang,
    raw,
    raw_call,
    status,
    text,
    tool_call,
)

from planloop.graphs import create_planner_graph
from planloop.state import Plan

APPROVED = text("[APPROVED]")


def plan_of(*names: str, **fields: Any) -> dict[str, Any]:
    return {"steps": [{"name": name, "description": f"do {name}", **fields} for name in names]}


PLAN = plan_of("a", requires_code=False, expected_outputs=[], success_criteria=[])
JSON = json.dumps(PLAN)
CUT = '{"steps": [{"name": "s1", "description": "whole"}, {"name": "s2", "descr'


class Desk:
    """A planner at the stub server."""

    def __init__(self, stub: StubServer, run: Run) -> None:
        self.stub, self._run = stub, run
        self.result: dict[str, Any] = {}

    async def __call__(self, reviews: int = 0, *, graph: Any = None, **options: Any) -> Plan:
        graph = graph or self.graph(reviews, **options)
        self.result = await self._run(graph, {"request": "do it"})
        plan: Plan = self.result["plan"]
        assert isinstance(plan, Plan) and plan.steps
        assert all(problem.strip() for problem in self.result["problems"])
        return plan

    def graph(self, reviews: int = 0, **options: Any) -> Any:
        return create_planner_graph(self.stub.model(**options), max_reflections=reviews)

    @property
    def forms(self) -> list[str]:
        """How each request asked for its object."""
        return [request.form for request in self.stub.requests]

    @property
    def verdict(self) -> tuple[bool, bool]:
        """Approved, reviewed."""
        return self.result["approved"], self.result["reviewed"]

    def problems(self) -> str:
        return " | ".join(self.result["problems"])


@pytest.fixture
def desk(stub: StubServer, run: Run) -> Desk:
    return Desk(stub, run)


def names(plan: Plan) -> list[str]:
    return [step.name for step in plan.steps]


@pytest.mark.parametrize(
    "said",
    [
        f"Sure! Here is the plan:\n```json\n{JSON}\n```\nLet me know!",
        f"```\n{JSON}\n```",
        f"Here:\n~~~\n{JSON}\n~~~",
        f"Here:\n```json\n{JSON}",
        f"The plan is {JSON} and that is all.",
    ],
    ids=["json fence", "bare fence", "tildes", "open fence", "prose"],
)
async def test_c01_a_wrapped_plan_costs_one_request(desk: Desk, said: str) -> None:
    desk.stub.play([text(said)])
    plan = await desk()
    assert (names(plan), plan.origin) == (["a"], "model")
    assert len(desk.stub.requests) == 1
    assert desk.result["problems"] == []


@pytest.mark.parametrize(
    "said",
    [
        f'<think>maybe {{"steps": ["wrong"]}}?</think>{JSON}',
        f'thinking… {{"steps": ["wrong"]}}</think>\n{JSON}',
    ],
)
async def test_c14_the_plan_stands_after_the_thought(desk: Desk, said: str) -> None:
    desk.stub.play([text(said)])
    assert names(await desk()) == ["a"]


async def test_c14_a_thought_without_an_end_holds_no_plan(desk: Desk) -> None:
    desk.stub.play(repeat=text(f"<think>perhaps {JSON}"))
    plan = await desk()
    assert plan.origin == "fallback"
    assert len(desk.stub.requests) <= 3
    assert "think" not in str(plan)


async def test_c15_a_plan_in_blocks_is_read(desk: Desk) -> None:
    blocks = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": JSON}]
    desk.stub.play([text(blocks)])
    plan = await desk()
    assert (names(plan), plan.origin) == (["a"], "model")
    assert len(desk.stub.requests) == 1


async def test_c15_a_review_in_blocks_counts(desk: Desk) -> None:
    blocks = [{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "[APPROVED]"}]
    desk.stub.play([text(JSON), text(blocks)])
    await desk(1)
    assert desk.verdict == (True, True)
    assert "[{" not in str(desk.result["messages"])


async def test_c16_a_model_that_says_nothing_gives_the_fallback(desk: Desk) -> None:
    desk.stub.play(repeat=text(""))
    plan = await desk(1)
    assert (plan.origin, len(plan.steps)) == ("fallback", 3)
    assert "empty" in desk.problems()
    assert len(desk.stub.requests) <= 3


async def test_c24_an_empty_review_approves_nothing(desk: Desk) -> None:
    desk.stub.play([text(JSON), text("  \n")])
    plan = await desk(1)
    assert names(plan) == ["a"]
    assert desk.verdict == (False, False)
    assert "not reviewed" in desk.problems()


@pytest.mark.parametrize(
    ("review", "approved"),
    [
        ("[APPROVED]", True),
        ("Good.\n**[approved]**", True),
        ('{"approved": true, "feedback": ""}', True),
        ("<think>[APPROVED]</think>Step 2 has no criteria.", False),
        ("This cannot be marked [APPROVED] until step 2 has success criteria.", False),
        ("Not [APPROVED]", False),
        ('{"approved": false, "feedback": "too coarse"}', False),
    ],
)
async def test_c25_only_a_clear_verdict_approves(desk: Desk, review: str, approved: bool) -> None:
    again = plan_of("b")
    desk.stub.play([text(JSON), text(review), *([] if approved else [text(json.dumps(again))])])
    plan = await desk(1)
    assert names(plan) == (["a"] if approved else ["b"])
    assert desk.verdict == (approved, approved)
    assert desk.stub.unplayed == 0


@pytest.mark.parametrize(
    ("refuse", "forms"),
    [
        (["json_schema"], ["json_schema", "tools"]),
        (["json_schema", "forced_tools"], ["json_schema", "tools", "json_object"]),
        (["json_schema", "tools"], ["json_schema", "tools", "json_object"]),
        (
            ["json_schema", "forced_tools", "json_object"],
            ["json_schema", "tools", "json_object", "plain"],
        ),
    ],
)
async def test_c27_the_ladder_is_climbed_down_once(
    desk: Desk, refuse: list[Feature], forms: list[str]
) -> None:
    desk.stub.play(repeat=text(JSON), refuse=refuse)
    graph = desk.graph()
    plan = await desk(graph=graph)
    assert (names(plan), plan.origin) == (["a"], "model")
    assert desk.forms == forms
    await desk(graph=graph)
    assert desk.forms == [*forms, forms[-1]], "the rung that worked is remembered"


async def test_c27_reviewer_and_planner_share_what_was_learnt(desk: Desk) -> None:
    desk.stub.play([text(JSON), APPROVED], refuse=["json_schema"])
    await desk(1)
    assert desk.verdict == (True, True)
    assert desk.forms == ["json_schema", "tools", "tools"]


@pytest.mark.parametrize(
    "message",
    [
        "'response_format' of type 'json_schema' is not supported with this model.",
        "Invalid schema for response_format 'PlanDraft': 'additionalProperties' is required",
        "This response_format type is unavailable now",
    ],
)
async def test_c27_the_words_of_a_refusal_do_not_matter(desk: Desk, message: str) -> None:
    desk.stub.play([error(400, message), text(JSON)])
    plan = await desk()
    assert (names(plan), plan.origin) == (["a"], "model")
    assert len(desk.stub.requests) == 2


async def test_c27_a_plan_as_a_call_is_read(desk: Desk) -> None:
    desk.stub.play([tool_call("PlanDraft", JSON)], refuse=["json_schema"])
    assert names(await desk()) == ["a"]


async def test_c05_broken_arguments_of_a_plan_are_asked_again(desk: Desk) -> None:
    desk.stub.play([tool_call("PlanDraft", JSON[:-3]), tool_call("PlanDraft", JSON)])
    plan = await desk()
    assert (names(plan), plan.origin) == (["a"], "repaired")


async def test_c08_a_plan_as_an_object_is_read(desk: Desk) -> None:
    desk.stub.play([tool_call("PlanDraft", PLAN)], refuse=["json_schema"], repeat=text(JSON))
    assert names(await desk()) == ["a"]
    assert len(desk.stub.requests) <= 3


async def test_c07_a_plan_encoded_twice_is_read(desk: Desk) -> None:
    twice = tool_call("PlanDraft", json.dumps(JSON))
    desk.stub.play([twice], refuse=["json_schema"], repeat=text(JSON))
    assert names(await desk()) == ["a"]
    assert len(desk.stub.requests) <= 3


@pytest.mark.parametrize("steps", ['["A", "B"]', "['A', 'B']", "1. A\n2. B"])
async def test_c02_steps_as_a_text_are_a_list(desk: Desk, steps: str) -> None:
    desk.stub.play([text(json.dumps({"steps": steps}))])
    assert names(await desk()) == ["A", "B"]


@pytest.mark.parametrize("said", ['{"steps": []}', '{"steps": ["", " "]}', "[]"])
async def test_c43_an_empty_plan_is_no_plan(desk: Desk, said: str) -> None:
    desk.stub.play(repeat=text(said))
    assert (await desk()).origin == "fallback"
    assert len(desk.stub.requests) <= 3


async def test_c29_a_reviewer_that_calls_tools_approves_nothing(desk: Desk) -> None:
    desk.stub.play([text(JSON), tool_call("search", '{"q": "x"}')])
    plan = await desk(1)
    assert names(plan) == ["a"]
    assert desk.verdict == (False, False)


async def test_c29_a_planner_that_calls_another_tool_is_asked_again(desk: Desk) -> None:
    desk.stub.play([tool_call("search", '{"q": "x"}'), text(JSON)])
    plan = await desk()
    assert (names(plan), plan.origin) == (["a"], "repaired")


@pytest.mark.parametrize("refuse", [[], ["json_schema"], ["json_schema", "tools"]])
async def test_c23_a_plan_cut_off_is_never_the_plan(desk: Desk, refuse: list[Feature]) -> None:
    desk.stub.play(repeat=text(CUT, "length"), refuse=refuse)
    plan = await desk()
    assert plan.origin == "fallback" and "s1" not in names(plan)
    assert "cut off" in desk.problems() and "1 complete step" in desk.problems()
    assert len([r for r in desk.stub.requests if not r.refused]) <= 3


@pytest.mark.parametrize("streaming", [False, True])
async def test_c23_a_call_cut_off_is_never_the_plan(desk: Desk, streaming: bool) -> None:
    call = completion({"role": "assistant", "tool_calls": [raw_call("PlanDraft", CUT)]}, "length")
    desk.stub.play([call, text(JSON)], refuse=["json_schema"])
    plan = await desk(streaming=streaming)
    assert (names(plan), plan.origin) == (["a"], "repaired")
    assert "cut off" in desk.problems()


async def test_c23_a_whole_plan_before_the_cut_is_taken(desk: Desk) -> None:
    desk.stub.play([text(JSON + "\n" * 40, "length")])
    assert names(await desk()) == ["a"]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (error(401, "Incorrect API key provided"), "OPENAI_API_KEY"),
        (error(404, "The model does not exist"), "--model"),
        (error(429, "slow down", {"Retry-After": "0.01"}), "rate"),
        (error(500, "oops"), "500"),
        (error(400, "maximum context length is 4096 tokens"), "window"),
    ],
    ids=["401", "404", "429", "500", "overflow"],
)
async def test_c127_a_failing_server_gives_the_fallback_after_one_request(
    desk: Desk, reply: Reply, says: str
) -> None:
    desk.stub.play(repeat=reply)
    plan = await desk(1)
    assert plan.origin == "fallback"
    assert says in desk.problems()
    assert len(desk.stub.requests) == 1


async def test_c127_a_request_that_is_refused_in_every_form_is_bounded(desk: Desk) -> None:
    desk.stub.play(repeat=error(400, "Invalid request"))
    plan = await desk(1, max_retries=2)
    assert plan.origin == "fallback"
    assert "Invalid request" in desk.problems()
    assert desk.forms == ["json_schema", "tools", "json_object", "plain"]


async def test_c127_a_busy_server_is_asked_again_by_the_client(desk: Desk) -> None:
    busy = error(429, "busy", {"Retry-After": "0.01"})
    desk.stub.play([busy, text(JSON), busy, APPROVED])
    await desk(1, max_retries=1)
    assert desk.verdict == (True, True)
    assert len(desk.stub.requests) == 4


async def test_c127_a_server_that_never_answers_is_left(desk: Desk) -> None:
    desk.stub.play(repeat=hang())
    began = time.monotonic()
    plan = await desk(timeout=0.2)
    assert time.monotonic() - began < 5
    assert plan.origin == "fallback"
    assert "did not answer in time" in desk.problems()
    assert len(desk.stub.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        raw({"id": "x", "choices": []}),
        raw({"id": "x", "choices": None}),
        raw("<html><body>moved</body></html>", content_type="text/html"),
        status(502, "<html><body>Bad Gateway</body></html>"),
    ],
    ids=["no choices", "choices null", "page", "bad gateway"],
)
async def test_a_reply_that_is_no_completion_gives_the_fallback(desk: Desk, reply: Reply) -> None:
    desk.stub.play(repeat=reply)
    plan = await desk()
    assert plan.origin == "fallback"
    assert "object has no attribute" not in desk.problems()
    assert "not iterable" not in desk.problems() and "out of range" not in desk.problems()
    assert len(desk.stub.requests) <= 4


@pytest.mark.parametrize("content", [1, True, {"steps": ["a"]}, [[]], [{"type": "text"}]])
@pytest.mark.parametrize("finish", ["stop", "length"])
async def test_content_of_an_odd_type_ends_with_a_plan(
    desk: Desk, content: Any, finish: str
) -> None:
    desk.stub.play(repeat=text(content, finish))
    await desk()
    assert len(desk.stub.requests) <= 4


async def test_a_count_that_is_none_does_no_harm(desk: Desk) -> None:
    odd: dict[str, Any] = {"prompt_tokens": [], "completion_tokens": {}, "total_tokens": []}
    desk.stub.play([completion({"role": "assistant", "content": JSON}, usage=odd)])
    assert names(await desk()) == ["a"]
    assert type(desk.result["usage"]["input_tokens"]) is int


@pytest.mark.parametrize("refuse", [[], ["json_schema"], ["json_schema", "tools", "json_object"]])
async def test_a_streaming_client_plans_as_well(desk: Desk, refuse: list[Feature]) -> None:
    desk.stub.play([text(f"Here:\n```json\n{JSON}\n```"), APPROVED], refuse=refuse)
    plan = await desk(1, streaming=True)
    assert (names(plan), desk.verdict) == (["a"], (True, True))


async def test_missing_usage_is_estimated(desk: Desk) -> None:
    desk.stub.play([completion({"role": "assistant", "content": JSON}, usage=None)])
    await desk()
    usage = desk.result["usage"]
    assert usage["estimated"] and usage["input_tokens"] > 0 and usage["output_tokens"] > 0


async def test_a_refusal_is_asked_again(desk: Desk) -> None:
    desk.stub.play([text(None, refusal="I cannot help with that."), text(JSON)])
    plan = await desk()
    assert (names(plan), plan.origin) == (["a"], "repaired")
