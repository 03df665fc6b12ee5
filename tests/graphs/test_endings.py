"""How a run ends: by which budget, with which answer, and never by the host's recursion limit."""

import threading
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from pydantic import BaseModel

from planloop import (
    Budget,
    Executor,
    Price,
    StepBrief,
    ToolPolicy,
    create_planning_graph,
    create_react_graph,
    tool_traits,
)
from planloop.state import Usage, cost_of, no_usage
from planloop.testing import ScriptedModel, call, calls

CONFIG: Any = {"configurable": {"thread_id": "t"}}
CLOSING = "end of the run"


def look(n: int) -> str:
    """Look."""
    return f"sight {n}"


def spending(read: int, written: int) -> Any:
    """A model that looks on and on at this price, and closes when it is told to."""

    def reply(messages: list[BaseMessage]) -> AIMessage:
        said = AIMessage("So far so good.")
        if CLOSING not in messages[-1].text:
            said = call("look", n=len(messages))
        total = read + written
        said.usage_metadata = {
            "input_tokens": read,
            "output_tokens": written,
            "total_tokens": total,
        }
        return said

    class Priced(ScriptedModel):
        model_name: str = "big"

    made: Any = Priced
    return made(repeat=reply)


TABLE = {"big": Price(input=1.0, output=10.0), "small": Price(input=0.1, output=0.5)}


@pytest.mark.parametrize(
    ("budget", "limit", "turns"),
    [
        (Budget(steps=3), "steps", 3),
        (Budget(steps=None, tool_calls=2), "tool_calls", 3),
        (Budget(steps=None, input_tokens=300_000), "input_tokens", 3),
        (Budget(steps=None, output_tokens=30_000), "output_tokens", 3),
        (Budget(steps=None, cost=0.6, prices=TABLE), "cost", 3),
        (Budget(steps=None, seconds=0), "seconds", 0),
    ],
)
def test_the_outcome_names_the_budget_that_ended_the_run(
    budget: Budget, limit: str, turns: int
) -> None:
    model = spending(100_000, 10_000)
    outcome = create_react_graph(model, [look], budget=budget).invoke({"request": "x"})["outcome"]
    assert (outcome["reason"], outcome["limit"]) == ("budget_exhausted", limit)
    assert outcome["success"] is False
    assert outcome["answer"] == "So far so good."
    assert len(model.requests) == turns + 1
    assert outcome["usage"]["estimated"] is False


def test_the_cost_is_in_the_usage_when_there_are_prices() -> None:
    model = spending(100_000, 10_000)
    budget = Budget(steps=2, prices=TABLE)
    outcome = create_react_graph(model, [look], budget=budget).invoke({"request": "x"})["outcome"]
    assert outcome["usage"]["cost"] == pytest.approx(3 * 0.2)
    assert outcome["usage"]["models"]["big"]["calls"] == 3


def test_a_model_that_the_table_does_not_name_counts_at_the_dearest_prices() -> None:
    spent: Usage = {
        **no_usage(),
        "models": {"new": {"calls": 1, "input_tokens": 1_000_000, "output_tokens": 0, "modes": []}},
    }
    assert cost_of(spent, TABLE) == 1.0
    assert cost_of(spent, {}) == 0.0


@pytest.mark.parametrize("wrong", [{"cost": 1.0}, {"cost": -1.0, "prices": TABLE}, {"steps": -1}])
def test_a_budget_that_cannot_be_kept_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"prices|negative"):
        Budget(**wrong)


def test_a_plan_has_a_cost_too() -> None:
    model = spending(100_000, 10_000)
    worker = create_react_graph(model, [look], budget=Budget(steps=1))
    plan: Any = {"request": "x", "plan": ["A", "B", "C"]}
    budget = Budget(steps=None, cost=0.3, prices=TABLE)
    graph = create_planning_graph(
        ScriptedModel(repeat="ok"), worker, budget=budget, verify=False, max_attempts=1
    )
    report = graph.invoke(plan)["report"]
    assert report["usage"]["cost"] > 0.3
    assert report["counts"]["not_started"] == 2
    assert any("cost has reached" in warning for warning in report["warnings"])


def test_time_spent_waiting_for_a_person_does_not_count() -> None:
    paying = tool_traits(effect="irreversible")(tool(look))
    model = ScriptedModel([call("look", n=1), "done"])
    graph = create_react_graph(
        model,
        [paying],
        budget=Budget(seconds=5),
        policy=ToolPolicy.workspace(),
        checkpointer=InMemorySaver(),
    )
    graph.invoke({"request": "x"}, CONFIG)
    outcome = graph.invoke(Command(resume=True), CONFIG)["outcome"]
    assert outcome["reason"] == "final_answer"
    assert outcome["usage"]["seconds"] < 5


def test_time_that_tools_take_counts_and_side_by_side_only_once() -> None:
    gate = threading.Event()

    def nap(n: int) -> str:
        """Wait a little."""
        gate.wait(0.25)
        return "up"

    napping = tool_traits(effect="read")(tool(nap))
    model = ScriptedModel([calls(("nap", {"n": 1}), ("nap", {"n": 2})), "done"])
    graph = create_react_graph(model, [napping])
    outcome = graph.invoke({"request": "x"})["outcome"]
    assert 0.25 <= outcome["usage"]["seconds"] < 0.5  # two of them, one after the other, take more


class City(BaseModel):
    """The answer."""

    name: str
    people: int


ROME = '{"name": "Rome", "people": 2800000}'


@pytest.mark.parametrize(
    ("script", "asked"),
    [
        ([ROME], 1),
        ([f"Here:\n```json\n{ROME}\n```"], 1),
        (["It is Rome.", ROME], 2),
        ([call("terminate", status="success", summary="It is Rome."), ROME], 2),
        (["It is Rome.", '{"name": "Rome"}', ROME], 3),
    ],
)
def test_the_answer_comes_as_its_schema_wants_it(script: list[Any], asked: int) -> None:
    model = ScriptedModel(script)
    graph = create_react_graph(model, [look], answer_schema=City)
    result = graph.invoke({"request": "Which city?"})
    assert result["outcome"]["structured"] == {"name": "Rome", "people": 2_800_000}
    assert City.model_validate(result["outcome"]["structured"]).name == "Rome"
    assert result["outcome"]["success"] is not False
    assert len(model.requests) == asked
    assert '"people"' in model.requests[0].messages[0].text


def test_an_answer_that_never_fits_is_no_success_but_kept() -> None:
    graph = create_react_graph(ScriptedModel(repeat="It is Rome."), [look], answer_schema=City)
    outcome = graph.invoke({"request": "Which city?"})["outcome"]
    assert outcome["structured"] is None
    assert (outcome["reason"], outcome["success"]) == ("final_answer", False)
    assert outcome["answer"] == "It is Rome."
    assert "City" in outcome["detail"]


def test_a_run_that_is_out_of_budget_is_not_asked_again_for_its_schema() -> None:
    model = spending(1, 1)
    graph = create_react_graph(model, [look], answer_schema=City, budget=Budget(steps=1))
    outcome = graph.invoke({"request": "x"})["outcome"]
    assert outcome["structured"] is None
    assert len(model.requests) == 2


def host_of(node: Any) -> Any:
    builder: Any = StateGraph(MessagesState)
    return builder.add_node("work", node).add_edge(START, "work").compile()


@pytest.mark.parametrize("limit", range(4, 30))
@pytest.mark.parametrize("sequential", [False, True])
def test_c133_a_small_recursion_limit_of_the_host_takes_nothing(
    limit: int, sequential: bool
) -> None:
    looking = tool_traits(effect="read", sequential=sequential)(tool(look))

    def reply(messages: list[BaseMessage]) -> AIMessage:
        if CLOSING in messages[-1].text:
            return AIMessage("So far so good.")
        return calls(("look", {"n": len(messages)}), ("look", {"n": -len(messages)}))

    model = ScriptedModel(repeat=reply)
    worker = create_react_graph(model, [looking], budget=Budget(steps=100))
    ended: dict[str, Any] = {}

    def keep(state: Any) -> Any:
        ended.update(worker.invoke(state))
        return {"messages": ended["messages"]}

    host = host_of(keep)
    config: Any = {"recursion_limit": limit}
    result = host.invoke({"messages": [("user", "x")]}, config)
    assert result["messages"][-1].text == "So far so good."
    assert ended["outcome"]["reason"] == "recursion_limit"
    assert "recursion_limit" in ended["outcome"]["detail"]


@pytest.mark.parametrize("limit", [25, 40, 60])
def test_c133_a_plan_ends_early_with_its_finished_steps(limit: int) -> None:
    def work(brief: StepBrief) -> str:
        return f"done {brief.step.id}"

    graph = create_planning_graph(ScriptedModel(repeat="ok"), work, verify=False)
    plan: Any = {"request": "x", "plan": [f"Step {n}" for n in range(30)]}
    report = graph.invoke(plan, {"recursion_limit": limit})["report"]
    assert report["outcome"] == "partial"
    assert 2 <= report["counts"]["completed"] < 30
    said = "\n".join(report["warnings"])
    assert said.startswith("The plan has 30 steps")  # said before any step was begun
    assert "too small for all of them" in said and "The plan was ended early" in said


def test_c133_an_executor_has_room_of_its_own() -> None:
    script = [call("look", n=n) for n in range(15)]
    worker = create_react_graph(ScriptedModel([*script, "Seen."]), [look])
    graph = create_planning_graph(
        ScriptedModel(repeat="ok"), Executor(worker), verify=False, max_attempts=1
    )
    plan: Any = {"request": "x", "plan": ["A"]}
    report = graph.invoke(plan, {"recursion_limit": 25})["report"]
    assert report["steps"][0]["result"] == "Seen."
