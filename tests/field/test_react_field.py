"""Failures that users of agent loops reported, by case id: one agent run."""

import time
from typing import Any

import pytest
from langchain_core.exceptions import ContextOverflowError
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command

from planloop import Budget, MemoryPolicy, create_react_graph, tool_traits
from planloop.testing import ScriptedModel, call, calls

SEEN: list[dict[str, Any]] = []


@pytest.fixture(autouse=True)
def _nothing_seen() -> None:
    SEEN.clear()


def search(q: str) -> str:
    """Search for something."""
    SEEN.append({"q": q})
    return "none"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    SEEN.append({"a": a, "b": b})
    return a + b


def run(*script: Any, repeat: Any = None, **options: Any) -> tuple[dict[str, Any], ScriptedModel]:
    model = ScriptedModel(list(script), repeat=repeat)
    result = create_react_graph(model, [search, add], **options).invoke({"request": "find x"})
    assert_replayable(result["messages"])
    return result, model


def assert_replayable(messages: list[BaseMessage]) -> None:
    """Every call is answered right after its turn, ids are unique, nothing empty is stored."""
    ids: list[str] = []
    waiting: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            waiting.remove(message.tool_call_id)
            continue
        assert not waiting
        if isinstance(message, AIMessage):
            assert message.text or message.tool_calls
            assert not message.invalid_tool_calls
            waiting = {str(c["id"]) for c in message.tool_calls}
            ids += [str(c["id"]) for c in message.tool_calls]
    assert not waiting
    assert len(ids) == len(set(ids))


def broken(args: str, call_id: str = "c1") -> AIMessage:
    return AIMessage(
        "", invalid_tool_calls=[{"name": "search", "args": args, "id": call_id, "error": "bad"}]
    )


def test_c05_broken_arguments_are_answered_and_the_loop_goes_on() -> None:
    result, _ = run(broken('{"q": "a", '), call("terminate", status="success"))
    answer = next(m for m in result["messages"] if isinstance(m, ToolMessage))
    assert answer.tool_call_id == "c1"
    assert answer.status == "error"
    assert '{"q": "a", ' in answer.text
    assert result["outcome"]["reason"] == "terminated"
    assert result["outcome"]["usage"]["steps"] == 2


def test_c05_a_valid_call_beside_a_broken_one_runs() -> None:
    both = AIMessage(
        "",
        tool_calls=[{"name": "search", "args": {"q": "ok"}, "id": "c2"}],
        invalid_tool_calls=broken("{").invalid_tool_calls,
    )
    result, _ = run(both, "done")
    assert SEEN == [{"q": "ok"}]
    answered = {m.tool_call_id for m in result["messages"] if isinstance(m, ToolMessage)}
    assert answered == {"c1", "c2"}


def test_c06_what_is_sent_back_has_valid_arguments() -> None:
    _, model = run(broken('{"q": "a", '), "done")
    (turn,) = [m for m in model.requests[1].messages if isinstance(m, AIMessage)]
    assert [c["args"] for c in turn.tool_calls] == [{}]


@pytest.mark.parametrize("raw", ["", "  ", '"{\\"q\\": \\"x\\"}"'])
def test_c07_c09_arguments_that_are_valid_after_all_are_used(raw: str) -> None:
    given = broken(raw)
    if not raw.strip():
        given.invalid_tool_calls[0]["name"] = "search"
    result, _ = run(given, "done")
    if raw.strip():
        assert SEEN == [{"q": "x"}]
    else:  # `search` needs `q`: the registry says so
        assert any("q" in m.text for m in result["messages"] if isinstance(m, ToolMessage))


def test_c11_terminate_beside_other_calls_is_not_executed() -> None:
    result, _ = run(calls(("search", {"q": "x"}), ("terminate", {"status": "success"})), "the end")
    assert SEEN == [{"q": "x"}]
    assert result["outcome"]["reason"] == "final_answer"
    texts = {m.name: m.text for m in result["messages"] if isinstance(m, ToolMessage)}
    assert "alone" in texts["terminate"]


def test_c11_of_two_terminates_the_first_counts_and_both_are_answered() -> None:
    result, _ = run(
        calls(
            ("terminate", {"status": "failure", "summary": "a"}),
            ("terminate", {"status": "success", "summary": "b"}),
        )
    )
    assert (result["outcome"]["success"], result["outcome"]["answer"]) == (False, "a")


def test_c12_a_text_answer_ends_the_run_after_one_call() -> None:
    result, model = run(repeat="The file is saved.")
    assert result["outcome"]["reason"] == "final_answer"
    assert result["outcome"]["success"] is None
    assert len(model.requests) == 1


def test_c13_a_call_written_as_text_is_never_run_and_never_the_answer() -> None:
    leaked = '<tool_call>\n{"name": "search", "arguments": {"q": "x"}}\n</tool_call>'
    result, model = run(repeat=leaked)
    assert result["outcome"]["reason"] == "no_tool_calls"
    assert "tool parser" in result["outcome"]["detail"]
    assert SEEN == []
    assert len(model.requests) == 2


@pytest.mark.parametrize("reply", [AIMessage(""), AIMessage([]), AIMessage("\n\n"), "<think>hm"])
def test_c14_c16_an_empty_turn_is_asked_again_and_never_stored(reply: Any) -> None:
    result, model = run(repeat=reply)
    assert result["outcome"]["reason"] == "empty_response"
    assert result["outcome"]["success"] is False
    assert 1 < len(model.requests) <= 3
    assert [m.type for m in result["messages"]] == ["human"]
    hint = model.requests[1].messages[-1]
    assert "empty" in hint.text


def test_c16_blocks_without_text_are_nothing() -> None:
    holes: Any = [{"type": "text", "text": None}, {"type": "text"}]
    result, _ = run(AIMessage(holes), AIMessage([*holes, {"type": "text", "text": "here"}]))
    assert result["outcome"]["answer"] == "here"
    assert [m.type for m in result["messages"]] == ["human", "ai"]


def test_turns_with_one_message_id_do_not_replace_each_other() -> None:
    turns = [call("search", str(n), q=str(n)) for n in range(3)]
    for turn in turns:
        turn.id = "same"
    result, _ = run(*turns, "done")
    assert [m.type for m in result["messages"]] == ["human", *["ai", "tool"] * 3, "ai"]


def test_results_are_cut_as_the_memory_policy_says() -> None:
    def long(q: str) -> str:
        """Give much."""
        return "x" * 5_000

    model = ScriptedModel([call("long", q="x"), "done"])
    memory = MemoryPolicy(max_observation=300)
    result = create_react_graph(model, [long], memory=memory).invoke({"request": "x"})
    assert len(result["messages"][2].text) == 300
    assert "left out" in result["messages"][2].text


def test_sequential_tools_run_one_after_another_around_the_others() -> None:
    order: list[str] = []

    def step(name: str) -> Any:
        @tool(f"do_{name}")
        def work(n: int) -> str:
            """Work."""
            order.append(f"{name}{n} begins")
            time.sleep(0.01)
            order.append(f"{name}{n} ends")
            return "ok"

        return tool_traits(effect="write", sequential=True)(work)

    three = calls(("do_a", {"n": 1}), ("do_b", {"n": 2}), ("do_a", {"n": 3}))
    model = ScriptedModel([three, "done"])
    create_react_graph(model, [step("a"), step("b")]).invoke({"request": "x"})
    assert order == [f"{c} {w}" for c in ("a1", "b2", "a3") for w in ("begins", "ends")]
    assert len(model.requests) == 2


def test_a_tool_that_steers_the_graph_has_its_call_answered() -> None:
    @tool
    def steer(q: str) -> Any:
        """Steer."""
        return Command(update={"status": "RUNNING"})

    model = ScriptedModel([call("steer", q="x"), "done"])
    result = create_react_graph(model, [steer]).invoke({"request": "x"})
    assert_replayable(result["messages"])
    assert result["outcome"]["reason"] == "final_answer"


def test_c16_a_nudge_that_helps_leaves_no_trace() -> None:
    result, _ = run(AIMessage(""), "here it is")
    assert result["outcome"]["answer"] == "here it is"
    assert [m.type for m in result["messages"]] == ["human", "ai"]


def test_c14_thoughts_are_not_part_of_the_answer() -> None:
    result, _ = run("<think>is it 41? no.</think>42")
    assert result["outcome"]["answer"] == "42"


def test_c15_only_text_blocks_are_the_answer() -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "42"}]
    result, _ = run(AIMessage(blocks))  # type: ignore[arg-type]
    assert result["outcome"]["answer"] == "42"


def test_c19_a_call_without_id_gets_one_and_runs_once() -> None:
    call_ = AIMessage("", tool_calls=[{"name": "add", "args": {"a": 1, "b": 2}, "id": None}])
    result, _ = run(call_, "3")
    assert SEEN == [{"a": 1, "b": 2}]
    turn, answer = result["messages"][1:3]
    assert answer.tool_call_id == turn.tool_calls[0]["id"]


def test_c20_the_same_id_every_turn_still_runs_every_call() -> None:
    result, _ = run(call("search", "call_0", q="a"), call("search", "call_0", q="b"), "done")
    assert [item["q"] for item in SEEN] == ["a", "b"]
    assert result["outcome"]["reason"] == "final_answer"


def test_c20_two_calls_of_one_turn_with_one_id_both_run() -> None:
    run(calls(("search", {"q": "a"}), ("search", {"q": "b"}), ids=["x", "x"]), "done")
    assert sorted(item["q"] for item in SEEN) == ["a", "b"]


def test_c34_the_step_budget_ends_the_run_as_what_it_is() -> None:
    replies = [call("search", q=str(n)) for n in range(5)]
    result, model = run(*replies, budget=Budget(steps=2))
    assert result["outcome"]["reason"] == "budget_exhausted"
    assert result["outcome"]["success"] is False
    assert "2 steps" in result["outcome"]["detail"]
    assert len(model.requests) == 3
    assert len(SEEN) == 2


def test_c80_a_run_that_is_out_of_budget_may_still_say_what_it_found() -> None:
    script = [call("search", q="1"), call("search", q="2"), "Found so far: nothing."]
    result, model = run(*script, budget=Budget(steps=2))
    assert result["outcome"]["reason"] == "budget_exhausted"
    assert result["outcome"]["answer"] == "Found so far: nothing."
    assert model.requests[2].tools == []
    assert "end of the run" in model.requests[2].messages[-1].text
    assert [m.type for m in result["messages"]][-2:] == ["tool", "ai"]


def test_c80_calls_beyond_the_budget_are_answered_not_run() -> None:
    three = calls(*(("search", {"q": str(n)}) for n in range(3)))
    result, _ = run(three, "done", budget=Budget(tool_calls=2))
    assert sorted(item["q"] for item in SEEN) == ["0", "1"]
    assert any("budget" in m.text for m in result["messages"] if isinstance(m, ToolMessage))
    assert result["outcome"]["usage"]["tool_calls"] == 2


def test_c80_a_run_that_is_out_of_calls_may_still_say_what_it_found() -> None:
    script = [call("search", q="1"), call("search", q="2"), "Found so far: nothing."]
    result, model = run(*script, budget=Budget(tool_calls=1))
    assert SEEN == [{"q": "1"}]
    assert result["outcome"]["reason"] == "budget_exhausted"
    assert result["outcome"]["answer"] == "Found so far: nothing."
    assert [m.type for m in model.requests[2].messages][-3:] == ["ai", "tool", "human"]


def overflowing(times: int) -> Any:
    left = {"n": times}

    def reply(messages: list[BaseMessage]) -> Any:
        left["n"] -= 1
        if left["n"] >= 0:
            raise ContextOverflowError("maximum context length is 4096 tokens")
        return "done"

    return reply


@pytest.mark.parametrize(("times", "reason"), [(1, "final_answer"), (9, "context_overflow")])
def test_c78_a_request_that_is_too_long_is_sent_once_more_at_half_its_size(
    times: int, reason: str
) -> None:
    history = [m for n in range(40) for m in (("user", f"{n} " * 100), ("ai", f"{n} " * 100))]
    model = ScriptedModel(repeat=overflowing(times))
    given: Any = {"messages": [*history, ("user", "go")]}
    result = create_react_graph(model, [search]).invoke(given)
    assert result["outcome"]["reason"] == reason
    assert len(model.requests) == 2
    assert len(model.requests[1].messages) < 0.7 * len(model.requests[0].messages)
    assert len(result["messages"]) >= 81


def test_c50_the_same_call_with_the_same_result_ends_stuck_after_one_hint() -> None:
    result, model = run(repeat=lambda _: call("search", q="x"))
    assert result["outcome"]["reason"] == "stuck"
    hints = [m for r in model.requests for m in r.messages if "repeat the same" in m.text]
    assert len(hints) == 1
    assert len(SEEN) <= 5
    assert not any("repeat the same" in m.text for m in result["messages"])


def test_c51_an_alternating_loop_is_noticed() -> None:
    turns = {"n": 0}

    def alternate(_: list[BaseMessage]) -> AIMessage:
        turns["n"] += 1
        return call("search", q="x") if turns["n"] % 2 else call("add", a=1, b=1)

    result, _ = run(repeat=alternate, budget=Budget(steps=40))
    assert result["outcome"]["reason"] == "stuck"
    assert turns["n"] <= 10


def test_paging_is_not_a_loop() -> None:
    replies = [call("search", q=f"page {n}") for n in range(12)]
    result, _ = run(*replies, "done")
    assert result["outcome"]["reason"] == "final_answer"


def test_c92_a_second_run_on_the_thread_starts_with_fresh_counts() -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    model = ScriptedModel([call("search", q="1"), "one", call("search", q="2"), "two"])
    graph = create_react_graph(
        model, [search], budget=Budget(steps=2), checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"request": "first"}, config)
    second: Any = {"messages": [("user", "second")]}
    result = graph.invoke(second, config)
    assert result["outcome"]["answer"] == "two"
    assert [m.text for m in result["messages"] if m.type == "human"] == ["first", "second"]


def test_c104_dangling_calls_are_answered_in_place_before_the_next_request() -> None:
    model = ScriptedModel(["done"])
    graph = create_react_graph(model, [search])
    history: Any = [("user", "go"), call("search", "c9", q="x"), ("user", "and now?")]
    result = graph.invoke({"messages": history})
    assert_replayable(result["messages"])
    kinds = [m.type for m in model.requests[0].messages]
    assert kinds == ["system", "human", "ai", "tool", "human"]


@pytest.mark.parametrize("choice", ["none", "required"])
def test_tool_choice_means_what_it_says(choice: Any) -> None:
    if choice == "none":
        result, model = run(call("search", q="x"), repeat="text", tool_choice="none")
        assert model.requests[0].tools == []
        assert SEEN == []
        assert result["outcome"]["reason"] in ("final_answer", "empty_response")
    else:
        result, model = run(repeat="text only", tool_choice="required")
        assert result["outcome"]["reason"] == "no_tool_calls"
        assert len(model.requests) == 2


def test_c21_the_same_call_twice_in_one_turn_runs_once() -> None:
    same = calls(("search", {"q": "a"}), ("search", {"q": "a"}), ("search", {"q": "b"}))
    result, _ = run(same, "done")
    assert [item["q"] for item in SEEN] == ["a", "b"]
    answers = [m for m in result["messages"] if isinstance(m, ToolMessage)]
    assert sorted("same call as" in m.text for m in answers) == [False, False, True]
    assert result["outcome"]["usage"]["tool_calls"] == 2


def test_c21_the_same_call_in_the_next_turn_runs_again() -> None:
    run(call("search", q="a"), call("search", q="a"), "done")
    assert len(SEEN) == 2


class Refused(ValueError):
    """A server's 400."""

    status_code = 400


def test_c27_a_model_that_cannot_be_made_to_call_is_asked_to_once_refused() -> None:
    class Thinking(ScriptedModel):
        def _next(self, messages: list[BaseMessage], options: dict[str, Any]) -> AIMessage:
            if options.get("tool_choice") == "required":
                raise Refused("tool_choice does not support being set to required")
            return super()._next(messages, options)

    made: Any = Thinking
    model = made([call("search", q="a"), call("terminate", status="success")])
    graph = create_react_graph(model, [search], tool_choice="required")
    outcome = graph.invoke({"request": "x"})["outcome"]
    assert outcome["reason"] == "terminated"
    (spent,) = outcome["usage"]["models"].values()
    assert spent["modes"] == ["tools", "without forced tools"]


def test_c28_what_a_provider_added_to_a_turn_stays_through_saving_and_trimming() -> None:
    from langgraph.checkpoint.memory import InMemorySaver

    def turn(n: int) -> AIMessage:
        made = call("search", f"c{n}", q=str(n))
        made.additional_kwargs["reasoning_content"] = f"thought {n} " * 30
        return made

    model = ScriptedModel([*map(turn, range(8)), "done"])
    memory = MemoryPolicy(window_tokens=1_200, strategy="trim")
    graph = create_react_graph(model, [search], memory=memory, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"request": "find x"}, config)
    assert len(model.requests[-1].messages) < 18
    turns = [m for m in model.requests[-1].messages if isinstance(m, AIMessage)]
    turns += [m for m in graph.get_state(config).values["messages"] if m.type == "ai"][:-1]
    assert all(m.additional_kwargs["reasoning_content"].startswith("thought ") for m in turns)


def test_whoever_listens_hears_every_tool_call() -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    heard: list[str] = []

    class Ear(BaseCallbackHandler):
        def on_tool_start(self, serialized: Any, input_str: str, **_: Any) -> None:
            heard.append(f"{serialized['name']} {input_str}")

        def on_tool_end(self, output: Any, **_: Any) -> None:
            heard.append(str(output.content))

    model = ScriptedModel([call("search", q="a"), "done"])
    graph = create_react_graph(model, [search])
    graph.invoke({"request": "x"}, {"callbacks": [Ear()]})
    assert heard == ["search {'q': 'a'}", "none"]


def test_a_tracer_around_a_run_sees_every_tool_call() -> None:
    from langchain_core.tracers.context import collect_runs

    model = ScriptedModel([call("search", q="a"), "done"])
    with collect_runs() as collected:
        create_react_graph(model, [search]).invoke({"request": "x"})
    assert "search" in [run.name for run in collected.traced_runs]
