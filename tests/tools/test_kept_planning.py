"""The planning tool whose plans are in a store, beyond any thread."""

from pathlib import Path
from typing import Any

import pytest
from helpers import both_ways, valid
from langchain.agents import create_agent
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool
from langgraph.store.memory import InMemoryStore

from planloop import create_react_graph, open_store, planning_tool_for
from planloop.errors import ToolSetupError
from planloop.testing import ScriptedModel, call, calls

CREATE = {"command": "create", "plan_id": "p", "title": "T", "steps": ["A", "B"]}


def mark(place: int) -> tuple[str, dict[str, Any]]:
    return "planning", {"command": "mark_step", "step_index": place, "step_status": "done"}


async def told(
    tool: BaseTool, store: Any, *turns: Any, awaited: bool = False, factory: Any = None
) -> list[str]:
    """What an agent is told that makes these turns, on a thread of its own."""
    agent: Any = (factory or create_react_graph)(ScriptedModel([*turns, "x"]), [tool], store=store)
    given = {"messages": [("user", "plan it")]}
    result = await agent.ainvoke(given) if awaited else agent.invoke(given)
    valid(result["messages"])
    return [m.text for m in result["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize("factory", [create_react_graph, create_agent])
@both_ways
async def test_plans_in_a_store_outlive_the_thread(
    factory: Any, awaited: bool, tmp_path: Path
) -> None:
    ways: dict[str, Any] = {"awaited": awaited, "factory": factory}
    tool, look = planning_tool_for("plans", "me"), call("planning", command="get")
    with open_store(f"sqlite:///{tmp_path / 'plans.db'}") as store:
        await told(tool, store, call("planning", **CREATE), calls(mark(0)), **ways)
    with open_store(f"sqlite:///{tmp_path / 'plans.db'}") as store:
        answers = await told(tool, store, look, call("planning", command="list"), **ways)
        assert "0. [✓] A" in answers[0] and "- p (active): T, 1/2" in answers[1]
        await told(tool, store, call("planning", command="delete", plan_id="p"), **ways)
        assert "No plan is active" in (await told(tool, store, look, **ways))[0]


async def test_names_keep_plans_apart() -> None:
    store, look = open_store("memory:"), call("planning", command="list")
    await told(planning_tool_for("plans", "me"), store, call("planning", **CREATE))
    await told(planning_tool_for("planning"), store, call("planning", **{**CREATE, "plan_id": "q"}))
    assert await told(planning_tool_for("plans", "you"), store, look) == [
        "There are no plans: `create` makes one."
    ]
    assert "- p (active)" in (await told(planning_tool_for("plans", "me"), store, look))[0]
    assert "- q (active)" in (await told(planning_tool_for("planning"), store, look))[0]


async def test_a_name_within_another_is_not_part_of_it() -> None:
    store, look = open_store("memory:"), call("planning", command="list")
    await told(planning_tool_for("plans", "planning"), store, call("planning", **CREATE))
    assert "There are no plans" in (await told(planning_tool_for("plans"), store, look))[0]


async def test_writers_do_not_lose_each_others_plans() -> None:
    store, look = open_store("memory:"), call("planning", command="list")
    nameless = {"command": "create", "steps": ["A"]}
    made = [await told(planning_tool_for(), store, call("planning", **nameless)) for _ in "ab"]
    assert made[0] != made[1]
    elsewhere = await told(planning_tool_for(), open_store("memory:"), call("planning", **nameless))
    assert elsewhere[0] not in (made[0][0], made[1][0])
    assert (await told(planning_tool_for(), store, look))[0].count("0/1 steps") == 2


@both_ways
async def test_marks_side_by_side_all_land(awaited: bool) -> None:
    store, tool = open_store("memory:"), planning_tool_for()
    create = {**CREATE, "steps": [f"n{n}" for n in range(12)]}
    marks = calls(*[mark(n) for n in range(12)])
    look = call("planning", command="get")
    turns = [call("planning", **create), marks, look]
    answers = await told(tool, store, *turns, awaited=awaited, factory=create_agent)
    assert "12/12 steps completed" in answers[-1]


async def test_what_strangers_put_there_is_read_as_a_plan_or_refused() -> None:
    store, tool = open_store("memory:"), planning_tool_for()
    store.put(("plans", "planning"), "p", {"steps": ["A", "B"]})
    args = {**mark(1)[1], "plan_id": "p"}
    assert "1. [✓] B" in (await told(tool, store, call("planning", **args)))[0]
    store.put(("plans", "planning"), "p", {"steps": 7})
    assert "This is no plan" in (await told(tool, store, call("planning", **args)))[0]


async def test_an_answer_about_a_long_plan_is_bounded() -> None:
    steps = [f"{n} " + "x" * 300 for n in range(50)]
    create = call("planning", **{**CREATE, "steps": steps})
    (answer,) = await told(planning_tool_for(), open_store("memory:"), create, factory=create_agent)
    assert answer.startswith("Created.") and len(answer) <= 8_000


class Raced(InMemoryStore):
    """Another process deletes a plan between the look at it and its change."""

    def get(self, namespace: tuple[str, ...], key: str, **_: Any) -> Any:
        self.delete(namespace, key)
        return super().get(namespace, key)


async def test_a_mark_brings_no_plan_back_that_another_process_deletes_meanwhile() -> None:
    store, tool = Raced(), planning_tool_for()
    await told(tool, store, call("planning", **CREATE))
    marked = {**mark(0)[1], "plan_id": "p"}
    look = call("planning", command="list")
    assert (await told(tool, store, call("planning", **marked)))[0].startswith("Marked.")
    assert "There are no plans" in (await told(tool, store, look))[0]


async def test_without_a_store_the_tool_that_needs_one_says_so() -> None:
    answers = await told(planning_tool_for(), None, call("planning", **CREATE))
    assert "no store to keep plans in" in answers[0]


@pytest.mark.parametrize("namespace", [("plans", ""), ("user.name",)])
def test_a_name_that_stores_refuse_is_refused_at_once(namespace: tuple[str, ...]) -> None:
    with pytest.raises(ToolSetupError, match="no dots"):
        planning_tool_for(*namespace)
