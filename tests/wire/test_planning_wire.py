"""The whole lifecycle with the real client: what is asked, how often, and how it ends."""

import json
from typing import Any

import pytest
from wire.conftest import Run
from wire.stub_server import Reply, Request, StubServer, error, hang, raw, text, tool_call

from planloop.graphs import create_planning_graph, create_react_graph
from planloop.state import PlanReport


def plan_text(*names: str, criteria: tuple[str, ...] = ()) -> str:
    step = {"description": "do it", "requires_code": False, "expected_outputs": []}
    steps = [{"name": name, **step, "success_criteria": list(criteria)} for name in names]
    return json.dumps({"steps": steps})


def verdict(word: str, evidence: str) -> Reply:
    judged = {"criterion": "the sum is 3", "verdict": word, "evidence": evidence}
    return text(json.dumps({"verdicts": [judged]}))


TWO = text(plan_text("a", "b"))
ONE_CHECKED = text(plan_text("a", criteria=("the sum is 3",)))
APPROVED = text('{"approved": true, "feedback": ""}')
ADD = tool_call("add", '{"a": 1, "b": 2}', "c1")
FALLBACK = ["Analyze the request", "Execute the task", "Verify the results"]


class Desk:
    """A planning graph with one worker that can add; all of it at the stub server."""

    def __init__(self, stub: StubServer, run: Run) -> None:
        self.stub, self._run = stub, run
        self.added: list[tuple[int, int]] = []
        self.result: dict[str, Any] = {}

    async def __call__(self, *, client: dict[str, Any] | None = None, **options: Any) -> PlanReport:
        def add(a: int, b: int) -> int:
            """Add two numbers."""
            self.added.append((a, b))
            return a + b

        model = self.stub.model(**(client or {}))
        graph = create_planning_graph(model, create_react_graph(model, [add]), **options)
        self.result = await self._run(graph, {"request": "do it"})
        assert self.result["phase"] == "DONE"
        assert self.result["summary"] == self.result["messages"][-1].text
        report: PlanReport = self.result["report"]
        assert report["counts"]["total"] == len(report["steps"]) > 0
        return report

    def asked_by_workers(self) -> list[Request]:
        """Requests of executors: they alone are offered `add`."""
        return [request for request in self.stub.requests if "add" in request.tools]

    def bodies(self) -> list[str]:
        return [json.dumps(request.body, sort_keys=True) for request in self.stub.requests]


@pytest.fixture
def desk(stub: StubServer, run: Run) -> Desk:
    return Desk(stub, run)


def statuses(report: PlanReport) -> list[str]:
    return [step["status"] for step in report["steps"]]


async def test_a_plan_is_made_reviewed_done_checked_and_told(desk: Desk) -> None:
    desk.stub.play(
        [ONE_CHECKED, APPROVED, ADD, text("the sum is 3"), verdict("met", "sum is 3"), text("Ok.")]
    )
    report = await desk()
    assert (report["outcome"], statuses(report)) == ("completed", ["completed"])
    assert report["steps"][0]["verified"] and report["warnings"] == []
    assert desk.added == [(1, 2)]
    assert desk.stub.unplayed == 0
    assert report["usage"]["steps"] == 6 and report["usage"]["input_tokens"] == 66
    assert desk.result["summary"].endswith("Ok.")


async def test_a_criterion_that_is_not_met_is_tried_again(desk: Desk) -> None:
    desk.stub.play(
        [
            ONE_CHECKED,
            APPROVED,
            text("the sum is 4"),
            verdict("not_met", "the sum is 4"),
            text("the sum is 3"),
            verdict("met", "the sum is 3"),
            text("Ok."),
        ]
    )
    report = await desk()
    assert report["outcome"] == "completed"
    assert report["steps"][0]["attempts"] == 2
    assert desk.stub.unplayed == 0


async def test_c01_c14_thoughts_and_fences_at_every_place_change_nothing(desk: Desk) -> None:
    def thought(reply: str) -> Reply:
        return text(f"<think>[APPROVED] maybe not</think>{reply}")

    judged = {"criterion": "the sum is 3", "verdict": "met", "evidence": "sum is 3"}
    desk.stub.play(
        [
            thought(f"```json\n{plan_text('a', criteria=('the sum is 3',))}\n```"),
            thought("[APPROVED]"),
            thought("the sum is 3"),
            thought(f"Here:\n```json\n{json.dumps({'verdicts': [judged]})}\n```"),
            thought("All is well."),
        ]
    )
    report = await desk()
    assert (report["outcome"], report["warnings"]) == ("completed", [])
    assert report["steps"][0]["result"] == "the sum is 3"
    assert "think" not in desk.result["summary"] and "maybe not" not in desk.result["summary"]


async def test_c15_blocks_from_the_worker_and_the_summary_are_read(desk: Desk) -> None:
    def blocks(said: str) -> Reply:
        return text([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": said}])

    desk.stub.play([text(plan_text("a")), APPROVED, blocks("done a"), blocks("All is well.")])
    report = await desk()
    assert report["steps"][0]["result"] == "done a"
    assert desk.result["summary"].endswith("All is well.")
    assert "thinking" not in desk.result["summary"]


async def test_c29_a_summary_that_calls_tools_is_dropped(desk: Desk) -> None:
    desk.stub.play([TWO, APPROVED, text("a done"), text("b done"), ADD])
    report = await desk()
    assert statuses(report) == ["completed", "completed"]
    assert desk.added == []
    assert "2 of 2 steps completed" in desk.result["summary"]
    assert not getattr(desk.result["messages"][-1], "tool_calls", [])


async def test_c29_only_workers_are_offered_tools(desk: Desk) -> None:
    desk.stub.play(
        [ONE_CHECKED, APPROVED, text("the sum is 3"), verdict("met", "the sum is 3"), text("Ok.")]
    )
    await desk()
    assert [request.form for request in desk.stub.requests] == [
        "json_schema",
        "json_schema",
        "tools",
        "json_schema",
        "plain",
    ]


async def test_c29_a_judge_that_calls_tools_proves_nothing(desk: Desk) -> None:
    desk.stub.play(
        [ONE_CHECKED, APPROVED, text("the sum is 3"), ADD, ADD, ADD, text("Ok.")],
    )
    report = await desk()
    assert (report["outcome"], desk.added) == ("completed_unverified", [])
    assert not report["steps"][0]["verified"]
    assert any("s1 was not checked" in warning for warning in report["warnings"])


async def test_c16_a_model_that_says_nothing_ends_the_plan_as_failed(desk: Desk) -> None:
    desk.stub.play(repeat=text(""))
    report = await desk()
    assert (report["outcome"], report["plan_origin"]) == ("failed", "fallback")
    assert {step["reason"] for step in report["steps"]} <= {"empty_response", None}
    assert len(desk.stub.requests) <= 30


async def test_c12_a_model_that_only_chats_is_not_called_verified(desk: Desk) -> None:
    desk.stub.play(repeat=text("Hello! How can I help?"))
    report = await desk()
    assert [step["name"] for step in report["steps"]] == FALLBACK
    assert report["outcome"] == "completed_unverified"
    assert len(desk.stub.requests) <= 8


async def test_a_model_that_always_makes_the_same_call_is_stopped(desk: Desk) -> None:
    desk.stub.play(repeat=ADD)
    report = await desk()
    assert report["outcome"] == "failed"
    assert {step["reason"] for step in report["steps"]} == {"stuck"}
    assert len(desk.stub.requests) <= 41  # six runs, each with a closing answer


async def test_c27_a_ladder_learnt_by_the_planner_serves_reviewer_and_judge(desk: Desk) -> None:
    desk.stub.play(
        [ONE_CHECKED, APPROVED, text("the sum is 3"), verdict("met", "the sum is 3"), text("Ok.")],
        refuse=["json_schema", "forced_tools"],
    )
    report = await desk()
    assert report["outcome"] == "completed"
    assert [bool(r.refused) for r in desk.stub.requests] == [True, True, *[False] * 5]


async def test_c27_a_server_without_a_tool_parser_ends_the_plan_at_once(desk: Desk) -> None:
    desk.stub.play([TWO, APPROVED], refuse=["auto_tools"], repeat=text("never"))
    report = await desk()
    assert report["outcome"] == "failed"
    assert "--enable-auto-tool-choice" in report["steps"][0]["notes"]
    assert len(desk.asked_by_workers()) == 1


@pytest.mark.parametrize("code", [401, 403, 404, 400])
async def test_c127_what_cannot_get_better_ends_the_plan_at_once(desk: Desk, code: int) -> None:
    desk.stub.play([TWO, APPROVED], repeat=error(code, "It is refused."))
    report = await desk(client={"max_retries": 2})
    assert report["outcome"] == "failed"
    assert "It is refused." in report["steps"][0]["notes"]
    assert len(desk.asked_by_workers()) == 1
    assert len(desk.stub.requests) <= 4, "plan, review, worker, summary"


async def test_c127_a_refused_key_is_told_from_the_first_request_on(desk: Desk) -> None:
    desk.stub.play(repeat=error(401, "Incorrect API key provided"))
    report = await desk()
    assert (report["outcome"], report["plan_origin"]) == ("failed", "fallback")
    assert "OPENAI_API_KEY" in report["warnings"][0]
    assert len(desk.stub.requests) <= 3


async def test_c127_a_busy_server_costs_no_attempt(desk: Desk) -> None:
    busy = error(429, "busy", {"Retry-After": "0.01"})
    desk.stub.play(
        [busy, TWO, busy, APPROVED, busy, text("a done"), busy, text("b done"), busy, text("Ok.")]
    )
    report = await desk(client={"max_retries": 1})
    assert statuses(report) == ["completed", "completed"]
    assert [step["attempts"] for step in report["steps"]] == [1, 1]
    assert desk.stub.unplayed == 0


async def test_c127_a_server_that_is_down_is_asked_a_bounded_number_of_times(desk: Desk) -> None:
    desk.stub.play([TWO, APPROVED], repeat=error(503, "down", {"Retry-After": "0.01"}))
    report = await desk(client={"max_retries": 1}, max_attempts=2, max_replans=1)
    assert report["outcome"] == "failed"
    assert len(desk.asked_by_workers()) <= 2 * 2 * 2, "steps, attempts, the client's own retry"
    assert len(desk.stub.requests) <= 16


async def test_c127_a_server_that_never_answers_is_left(desk: Desk) -> None:
    desk.stub.play([text(plan_text("a")), APPROVED], repeat=hang())
    report = await desk(client={"timeout": 0.2}, max_attempts=1, max_replans=0)
    assert report["outcome"] == "failed"
    assert "did not answer in time" in report["steps"][0]["notes"]
    assert len(desk.stub.requests) == 4


async def test_c78_an_overflow_in_a_step_is_never_sent_twice(desk: Desk) -> None:
    overflow = error(400, "This model's maximum context length is 4096 tokens.")
    desk.stub.play([TWO, APPROVED], repeat=overflow)
    report = await desk(client={"max_retries": 2})
    assert report["outcome"] == "failed"
    assert {step["reason"] for step in report["steps"]} == {"context_overflow"}
    assert len(set(desk.bodies())) == len(desk.bodies())
    assert len(desk.stub.requests) <= 10


async def test_c78_an_overflow_of_the_summary_leaves_the_counted_one(desk: Desk) -> None:
    overflow = error(400, "This model's maximum context length is 4096 tokens.")
    desk.stub.play([TWO, APPROVED, text("a done"), text("b done"), overflow])
    report = await desk()
    assert statuses(report) == ["completed", "completed"]
    assert "2 of 2 steps completed" in desk.result["summary"]
    assert any("No summary by the model" in warning for warning in report["warnings"])


async def test_a_reply_that_is_no_completion_fails_its_step_only(desk: Desk) -> None:
    desk.stub.play([TWO, APPROVED, raw({"id": "x", "choices": []}), *[text("fine")] * 3])
    report = await desk()
    assert statuses(report) == ["completed", "completed"]
    assert [step["attempts"] for step in report["steps"]] == [2, 1]
    assert desk.stub.unplayed == 0


async def test_a_streaming_client_ends_in_the_same_way(desk: Desk) -> None:
    desk.stub.play(
        [ONE_CHECKED, APPROVED, ADD, text("the sum is 3"), verdict("met", "sum is 3"), text("Ok.")]
    )
    report = await desk(client={"streaming": True})
    assert report["outcome"] == "completed"
    assert desk.added == [(1, 2)]


async def test_c30_the_planning_tool_makes_the_plan(desk: Desk) -> None:
    created = tool_call("planning", json.dumps({"command": "create", "steps": '["A", "B"]'}))
    desk.stub.play([created, text("A done"), text("B done"), text("Ok.")])
    report = await desk(planner="tool")
    assert [step["name"] for step in report["steps"]] == ["A", "B"]
    assert desk.stub.unplayed == 0


@pytest.mark.parametrize(
    "reply",
    [
        tool_call("planning", '{"command": "get"}'),
        tool_call("planning", "[]"),
        tool_call("planning", '{"command": "create", "steps": ["A"'),
        tool_call("search", '{"q": "x"}'),
        text("1. A\n2. B"),
        error(400, "stub-model does not support tools"),
    ],
    ids=["get", "list", "broken", "other tool", "prose", "refused"],
)
async def test_c30_what_is_no_plan_gives_the_fallback(desk: Desk, reply: Reply) -> None:
    desk.stub.play([reply, *[text("fine")] * 4])
    report = await desk(planner="tool")
    assert [step["name"] for step in report["steps"]] == FALLBACK
    assert report["plan_origin"] == "fallback"
    assert any(warning.startswith("Planning: ") for warning in report["warnings"])
    assert desk.stub.unplayed == 0
