"""What tiny models really sent, played back: every run ends, and says truthfully how.

`weird_outputs.jsonl` holds replies of SmolLM2 and Qwen2.5-Coder (both Apache-2.0) as a llama.cpp
server gave them, one JSON object a line; `kind` and `expect` were written by a person.
"""

import ast
import asyncio
import json
from pathlib import Path
from typing import Any, Final

import pytest
from wire.stub_server import Reply, StubServer, completion, sse, status, tool_call

from planloop.graphs import create_planner_graph, create_react_graph
from planloop.state import Outcome, Plan, StopReason

ROWS: Final[list[dict[str, Any]]] = [
    json.loads(line)
    for line in (Path(__file__).parent / "weird_outputs.jsonl").read_text("utf-8").splitlines()
]
MOST_REQUESTS: Final = 6
CALLS_AS_TEXT: Final = frozenset(
    {
        "tool_call_in_text",
        "several_calls_in_text",
        "wrong_key",
        "unknown_tool",
        "bad_args_type",
        "missing_arguments",
        "schema_echo",
        "react_text_no_input",
        "valid_wrong_decision",
        "plan_wrong_envelope",
    }
)


def rows(*kinds: str) -> list[Any]:
    """Replies of these kinds, or of all but the traces."""
    found = [r for r in ROWS if r["kind"] in kinds or not (kinds or "trace" in r)]
    assert found
    return [pytest.param(row, id=f"{row['id']}-{row['kind']}") for row in found]


def reasons(row: dict[str, Any]) -> set[StopReason]:
    """How an agent may end that gets nothing but this reply."""
    kind, whole = row["kind"], row["finish_reason"] != "length"
    if kind in CALLS_AS_TEXT:
        return {"no_tool_calls"}
    if kind == "raw_sse":
        return {"empty_response" if "no content delta" in row["expect"] else "no_tool_calls"}
    if kind == "http_error":
        return {"context_overflow" if row["expect"] == "context overflow" else "error"}
    if kind == "empty_content":
        return {"empty_response"}
    if kind == "required_never_ends":
        return {"no_tool_calls", "output_truncated"}
    return {"final_answer"} if whole else {"output_truncated"}


def reply_of(row: dict[str, Any]) -> Reply:
    if "sse" in row:
        return sse(row["sse"])
    if "status" in row:
        return status(row["status"], row["body"])
    return completion(row["message"], row["finish_reason"])


def traced_calls(row: dict[str, Any]) -> list[Reply]:
    """The calls of a trace such as `read_file('a.txt')`, as real tool calls."""
    replies = []
    for number, entry in enumerate(row["trace"]):
        name, paren, given = entry.partition("(")
        if not paren or not given.endswith(")") or ":" in name:
            continue
        value = ast.literal_eval(given[:-1])
        path = value[0] if isinstance(value, list) else value
        replies.append(tool_call(name, json.dumps({"path": path}), f"c{number}"))
    return replies


class Bench:
    """An agent with the tools that the rows speak of, and a planner; both at the stub server.

    Agents are awaited and planners run in a thread, so that both ways are gone.
    """

    def __init__(self, stub: StubServer) -> None:
        self.stub = stub
        self.ran: list[tuple[str, str]] = []

    async def react(self, row: dict[str, Any], file: str = "some text") -> Outcome:
        def calculator(expression: str) -> str:
            """Compute an expression."""
            self.ran.append(("calculator", expression))
            return "1"

        def read_file(path: str) -> str:
            """Read a file."""
            self.ran.append(("read_file", path))
            return file

        graph = create_react_graph(
            self.stub.model(streaming="sse" in row),
            [calculator, read_file],
            tool_choice="required" if "tool_choice=required" in row["how"] else "auto",
        )
        result = await graph.ainvoke({"request": row["user"] or "go on"})
        outcome: Outcome = result["outcome"]
        assert outcome["detail"].strip()
        return outcome

    async def plan(self, row: dict[str, Any]) -> tuple[Plan, str]:
        """The plan, and what went wrong on the way."""
        graph: Any = create_planner_graph(self.stub.model(streaming="sse" in row))
        result = await asyncio.to_thread(graph.invoke, {"request": row["user"] or "go on"})
        plan: Plan = result["plan"]
        assert plan.steps and all(step.text for step in plan.steps)
        return plan, " | ".join(result["problems"])


@pytest.fixture
def bench(stub: StubServer) -> Bench:
    return Bench(stub)


def test_the_collection_is_whole_and_free_to_use() -> None:
    assert len({row["id"] for row in ROWS}) == len(ROWS) == 127
    assert not any("gemma" in json.dumps(row).lower() for row in ROWS)


@pytest.mark.parametrize("row", rows())
async def test_every_reply_ends_an_agent_as_it_should(bench: Bench, row: dict[str, Any]) -> None:
    bench.stub.play(repeat=reply_of(row))
    outcome = await bench.react(row)
    assert bench.ran == []
    assert len(bench.stub.requests) <= MOST_REQUESTS
    assert outcome["success"] is not True
    expected = reasons(row)
    if "required" in row["how"] and expected <= {"final_answer", "output_truncated"}:
        expected = {"no_tool_calls"}  # a call was asked for
    assert outcome["reason"] in expected
    if outcome["reason"] == "final_answer":
        assert outcome["answer"] == row["message"]["content"].strip()
    else:
        assert outcome["success"] is False


@pytest.mark.parametrize("row", rows())
async def test_every_reply_ends_a_planner_as_it_should(bench: Bench, row: dict[str, Any]) -> None:
    bench.stub.play(repeat=reply_of(row))
    plan, problems = await bench.plan(row)
    assert len(bench.stub.requests) <= MOST_REQUESTS
    if plan.origin == "fallback":
        assert len(plan.steps) == 3 and problems
    if row["kind"] in CALLS_AS_TEXT - {"plan_wrong_envelope"}:
        assert plan.origin == "fallback", "a call is no plan"
    if row["kind"] == "truncated_json":
        assert plan.origin == "fallback", "a part is not the plan"
        assert "cut off" in problems
    if row["kind"] in ("empty_content", "http_error", "no_json"):
        assert plan.origin == "fallback"


@pytest.mark.parametrize("row", rows("plan_missing_fields"))
async def test_missing_fields_of_a_plan_are_filled(bench: Bench, row: dict[str, Any]) -> None:
    bench.stub.play(repeat=reply_of(row))
    plan, _ = await bench.plan(row)
    said = json.loads(row["message"]["content"].strip().removeprefix("```json").removesuffix("```"))
    assert plan.origin in ("model", "repaired")
    assert [step.name for step in plan.steps] == [step["name"] for step in said["steps"]]
    for step, given in zip(plan.steps, said["steps"], strict=True):
        assert step.requires_code is given.get("requires_code", False)
        assert step.expected_outputs == given.get("expected_outputs", [])
        assert (step.id, step.status, step.attempts) == (step.id, "not_started", 0)


@pytest.mark.parametrize("row", rows("plan_wrong_envelope"))
async def test_a_plan_in_the_envelope_of_a_call_is_taken_out(
    bench: Bench, row: dict[str, Any]
) -> None:
    bench.stub.play(repeat=reply_of(row))
    plan, _ = await bench.plan(row)
    said = row["message"]["content"]
    inner = json.loads(said.strip().removeprefix("```json").removesuffix("```"))["arguments"]
    if "steps" in inner:
        assert [step.name for step in plan.steps] == [step["name"] for step in inner["steps"]]
    else:
        assert plan.origin == "fallback"


@pytest.mark.parametrize("row", rows("http_error"))
async def test_an_error_of_the_server_is_told(bench: Bench, row: dict[str, Any]) -> None:
    bench.stub.play(repeat=reply_of(row))
    outcome = await bench.react(row)
    assert row["body"]["error"]["message"].partition(",")[0] in outcome["detail"]
    assert len(bench.stub.requests) == 1


@pytest.mark.parametrize("row", rows("call_loop_trace"))
async def test_a_loop_of_calls_is_noticed(bench: Bench, row: dict[str, Any]) -> None:
    calls = traced_calls(row)
    bench.stub.play(calls, repeat=calls[-1])
    outcome = await bench.react(row, file="- buy milk\n- call Bob")
    assert (outcome["reason"], outcome["success"]) == ("stuck", False)
    assert len(calls) == 5 and len(bench.stub.requests) <= 6 < 20
    assert any("repeat the same calls" in str(r.messages) for r in bench.stub.requests)


@pytest.mark.parametrize("row", rows("raw_sse"))
async def test_a_stream_tells_what_it_cost(bench: Bench, row: dict[str, Any]) -> None:
    bench.stub.play(repeat=reply_of(row))
    usage = (await bench.react(row))["usage"]
    assert not usage["estimated"]
    assert usage["input_tokens"] >= 500
