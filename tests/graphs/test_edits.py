"""State that is edited by hand, in Studio or in code: a run goes on as it would have gone."""

from typing import Any

import pytest
from helpers import planner_of
from langgraph.checkpoint.memory import InMemorySaver

from planloop import Plan, PlanDraft, StepBrief, create_planning_graph, create_react_graph
from planloop.errors import PlanError
from planloop.state import NODE_PHASES
from planloop.testing import ScriptedModel, call

CONFIG: Any = {"configurable": {"thread_id": "t"}}
ON_THE_WAY = sorted(
    set(NODE_PHASES) - {"intake", "create_plan", "fallback_plan", "approve_plan"}
    - {"report_error", "replan"}
)  # fmt: skip


@pytest.mark.parametrize("node", ON_THE_WAY)
def test_an_edit_before_any_node_changes_the_plan_and_nothing_else(node: str) -> None:
    ran: list[str] = []

    def worker(brief: StepBrief) -> str:
        ran.append(brief.step.name)
        return "ok"

    graph = create_planning_graph(planner_of("A", "B"), worker, checkpointer=InMemorySaver())
    graph.invoke({"request": "x"}, CONFIG, interrupt_before=[node])
    assert graph.get_state(CONFIG).next == (node,)
    graph.update_state(CONFIG, {"plan": {"s2": {"description": "by hand"}}})
    assert graph.get_state(CONFIG).next == (node,)
    result = graph.invoke(None, CONFIG)
    assert result["phase"] == "DONE"
    assert ran == ["A", "B"]
    assert result["plan"].steps[1].description == "by hand"
    assert result["report"]["counts"]["completed"] == 2


def test_an_edit_while_an_executor_waits_restarts_it_and_ends_nothing() -> None:
    from planloop.tools import ask_human

    worker = create_react_graph(ScriptedModel(repeat=call("ask_human", question="?")), [ask_human])
    graph = create_planning_graph(planner_of("A"), worker, checkpointer=InMemorySaver())
    graph.invoke({"request": "x"}, CONFIG)
    graph.update_state(CONFIG, {"plan": {"s1": {"description": "by hand"}}})
    assert graph.get_state(CONFIG).next == ("run_executor",)


def test_new_steps_by_hand_are_a_version_of_the_same_plan() -> None:
    ran: list[str] = []

    def worker(brief: StepBrief) -> str:
        ran.append(f"{brief.request} {brief.step.name}")
        return "ok"

    model = planner_of("A", "B")
    model.script += planner_of("Z").script
    graph = create_planning_graph(model, worker, checkpointer=InMemorySaver())
    first = graph.invoke({"request": "first"}, CONFIG, interrupt_before=["select_step"])
    graph.update_state(CONFIG, {"plan": {"steps": ["C", "D"]}})
    result = graph.invoke(None, CONFIG)
    assert result["plan"].id == first["plan"].id
    assert ran == ["first C", "first D"]
    ran.clear()
    second = graph.invoke({"request": "second"}, CONFIG)
    assert ran == ["second Z"]
    assert second["plan"].id != first["plan"].id


def test_a_plan_given_on_a_finished_thread_is_the_new_plan() -> None:
    ran: list[str] = []

    def worker(brief: StepBrief) -> str:
        ran.append(brief.step.name)
        return "ok"

    graph = create_planning_graph(planner_of("A"), worker, checkpointer=InMemorySaver())
    graph.invoke({"request": "first"}, CONFIG)
    result = graph.invoke({"request": "second", "plan": ["B", "C"]}, CONFIG)
    assert ran == ["A", "B", "C"]
    assert result["plan"].request == "second"


def test_a_draft_is_a_plan_to_be_carried_out() -> None:
    draft = PlanDraft.model_validate({"title": "T", "steps": ["A", "B"]})
    graph = create_planning_graph(planner_of("unused"), lambda brief: "ok")
    result = graph.invoke({"request": "x", "plan": draft})
    assert [s.name for s in result["plan"].steps] == ["A", "B"]
    assert result["report"]["plan_origin"] == "user"


def test_ids_are_numbered_around_those_that_are_given_and_never_twice() -> None:
    mixed = Plan.model_validate([{"id": "s2", "name": "a"}, {"name": "b"}, {"name": "c"}])
    assert [s.id for s in mixed.steps] == ["s2", "s4", "s3"]
    graph = create_planning_graph(planner_of("A"), lambda brief: "ok", checkpointer=InMemorySaver())
    graph.invoke({"request": "x"}, CONFIG)
    with pytest.raises(PlanError, match="two steps have the id s1"):
        graph.update_state(CONFIG, {"plan": {"steps": [{"id": "s1", "name": "a"}] * 2}})
