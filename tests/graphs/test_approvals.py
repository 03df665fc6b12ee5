"""People in the loop: plans approved, edited, sent back; calls approved or rejected by id."""

from typing import Any

import pytest
from helpers import APPROVED, plan_json, planner_of
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool

from planloop import Runs, StepBrief, create_planning_graph, create_react_graph, open_saver
from planloop.errors import AnswerError
from planloop.runs import RunView
from planloop.testing import ScriptedModel, call, calls
from planloop.tools import ToolPolicy, tool_traits


def done(brief: StepBrief) -> str:
    return "ok"


def waiting(*script: Any) -> tuple[Runs, RunView]:
    model = ScriptedModel(list(script))
    saver = open_saver("memory:")
    graph = create_planning_graph(
        model, done, approve_plan=True, max_reflections=0, checkpointer=saver
    )
    runs = Runs(graph)
    view = runs.start("x", thread="t")
    assert view.status == "waiting"
    assert view.pending[0].value["type"] == "plan_approval"
    assert "0. [ ] A" in view.pending[0].value["text"]
    return runs, view


@pytest.mark.parametrize("yes", [True, "accept", "Yes", {"action": "accept"}])
def test_an_accepted_plan_is_carried_out(yes: Any) -> None:
    runs, _ = waiting(plan_json("A"), "sum")
    view = runs.answer("t", yes)
    assert view.values["report"]["counts"]["completed"] == 1


@pytest.mark.parametrize("no", [False, "no", {"action": "reject"}])
def test_c84_a_refused_plan_ends_the_run_as_cancelled(no: Any) -> None:
    runs, _ = waiting(plan_json("A"), "sum")
    view = runs.answer("t", no)
    assert view.status == "finished"
    assert view.values["report"]["outcome"] == "cancelled"
    assert view.values["report"]["counts"]["not_started"] == 1


@pytest.mark.parametrize("unclear", ["", 0, [], {}, "perhaps", {"action": "edit", "steps": "[]"}])
def test_c61_c84_an_unclear_answer_or_a_bad_edit_asks_again(unclear: Any) -> None:
    runs, before = waiting(plan_json("A"), "sum")
    view = runs.answer("t", unclear)
    assert view.status == "waiting"
    assert view.pending[0].id != before.pending[0].id
    assert view.pending[0].value["problem"]
    assert runs.answer("t", "accept").values["report"]["counts"]["completed"] == 1


def test_c84_none_is_no_answer() -> None:
    runs, _ = waiting(plan_json("A"), "sum")
    with pytest.raises(AnswerError, match="true or false"):
        runs.answer("t", None)
    assert runs.status("t").status == "waiting"


def test_c61_an_edited_plan_is_the_persons_plan() -> None:
    runs, _ = waiting(plan_json("A"), "sum")
    view = runs.answer("t", {"action": "edit", "steps": ["A2", "B"], "title": "Mine"})
    assert view.values["plan"].title == "Mine"
    assert [s.name for s in view.values["plan"].steps] == ["A2", "B"]
    assert view.values["report"]["plan_origin"] == "user"
    assert view.values["plan"].history[0]["reason"] == "edited by a person"


def test_a_plan_sent_back_is_made_again_with_the_comment() -> None:
    model = ScriptedModel([plan_json("A"), plan_json("A", "test"), "sum"])
    graph = create_planning_graph(
        model, done, approve_plan=True, max_reflections=0, checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    runs.start("x", thread="t")
    view = runs.answer("t", {"action": "reject", "comment": "where is the test?"})
    assert "1. [ ] test" in view.pending[0].value["text"]
    assert "where is the test?" in model.requests[1].messages[-1].text
    assert runs.answer("t", True).values["report"]["counts"]["completed"] == 2


RAN: list[str] = []


@tool_traits(effect="irreversible", sequential=True)
@tool
def delete(path: str) -> str:
    """Delete a file."""
    RAN.append(path)
    return f"{path} is gone"


@tool_traits(effect="read")
@tool
def read(path: str) -> str:
    """Read a file."""
    RAN.append(path)
    return "text"


def asking() -> tuple[Runs, RunView, ScriptedModel]:
    RAN.clear()
    model = ScriptedModel(
        [
            calls(
                ("delete", {"path": "a"}),
                ("delete", {"path": "b"}),
                ("read", {"path": "c"}),
                ids=["1", "2", "3"],
            ),
            "done",
        ]
    )
    graph = create_react_graph(
        model, [delete, read], policy=ToolPolicy.workspace(), checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    view = runs.start("tidy", thread="t")
    assert RAN == []
    assert [c["id"] for c in view.pending[0].value["calls"]] == ["1", "2"]
    return runs, view, model


def test_c88_decisions_go_by_the_id_of_the_call() -> None:
    runs, _, _ = asking()
    view = runs.answer("t", {"2": {"reject": "b is needed"}, "1": "approve"})
    assert sorted(RAN) == ["a", "c"]
    answers = {m.tool_call_id: m for m in view.values["messages"] if isinstance(m, ToolMessage)}
    assert set(answers) == {"1", "2", "3"}
    assert "b is needed" in answers["2"].text and answers["2"].status == "error"
    assert view.values["outcome"]["answer"] == "done"


@pytest.mark.parametrize("no", [False, "", "no", {}, [], {"1": None, "2": 0}, {"reject": "stop"}])
def test_only_a_clear_yes_runs_a_call(no: Any) -> None:
    runs, _, _ = asking()
    view = runs.answer("t", no)
    assert RAN == ["c"]
    assert view.status == "finished"


def test_one_yes_runs_all_and_asks_once() -> None:
    runs, _, model = asking()
    view = runs.answer("t", True)
    assert view.status == "finished"
    assert sorted(RAN) == ["a", "b", "c"]
    assert len(model.requests) == 2


def test_a_denied_call_is_answered_and_never_run() -> None:
    RAN.clear()
    model = ScriptedModel([call("delete", path="a"), "done"])
    graph = create_react_graph(model, [delete], policy=ToolPolicy.read_only())
    result = graph.invoke({"request": "x"})
    assert RAN == []
    assert "does not allow" in result["messages"][2].text


def test_a_denied_call_that_was_put_into_the_state_by_hand_is_not_run() -> None:
    RAN.clear()
    graph = create_react_graph(
        ScriptedModel(["thought", "done"]),
        [delete],
        policy=ToolPolicy.read_only(),
        checkpointer=open_saver("memory:"),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"request": "x"}, config, interrupt_before=["think"])
    given: Any = {"messages": [call("delete", path="a")]}
    graph.update_state(config, given, as_node="think")
    result = graph.invoke(None, config)
    assert RAN == []
    assert any("does not allow" in m.text for m in result["messages"])


def test_two_questions_at_once_are_answered_one_by_one() -> None:
    from planloop.tools import ask_human

    both = calls(("ask_human", {"question": "a?"}), ("ask_human", {"question": "b?"}))
    graph = create_react_graph(
        ScriptedModel([both, "done"]), [ask_human], checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    view = runs.start("x", thread="t")
    assert [p.value["question"] for p in view.pending] == ["a?", "b?"]
    with pytest.raises(AnswerError, match="several"):
        runs.answer("t", "yes")
    with pytest.raises(AnswerError, match="no question"):
        runs.answer("t", "yes", id="0" * 32)
    view = runs.answer("t", "B", id=view.pending[1].id)
    assert [p.value["question"] for p in view.pending] == ["a?"]
    view = runs.answer("t", "A")
    texts = [m.text for m in view.values["messages"] if isinstance(m, ToolMessage)]
    assert texts == ["A", "B"]


def test_a_question_deep_in_a_plan_reaches_the_top_and_its_answer_the_tool() -> None:
    from planloop.tools import ask_human

    worker = create_react_graph(
        ScriptedModel([call("ask_human", question="which file?"), "done"]), [ask_human]
    )
    model = planner_of("A")
    assert model.script[1] == APPROVED
    runs = Runs(create_planning_graph(model, worker, checkpointer=open_saver("memory:")))
    view = runs.start("x", thread="t")
    assert view.pending[0].value["question"] == "which file?"
    view = runs.answer("t", "a.txt")
    step = view.values["plan"].steps[0]
    assert step.attempts == 1
    assert "a.txt" in step.observations


def replanned(*answers: Any, new: Any, more: tuple[Any, ...] = ("sum",)) -> tuple[Runs, RunView]:
    """A plan whose second step fails, so that it is made anew and shown again."""

    def work(brief: StepBrief) -> str:
        if brief.step.name == "B":
            raise RuntimeError("no B")
        return f"did {brief.step.name}"

    model = ScriptedModel([plan_json("A", "B"), new, *more])
    graph = create_planning_graph(
        model,
        work,
        approve_plan=True,
        max_reflections=0,
        max_attempts=1,
        checkpointer=open_saver("memory:"),
    )
    runs = Runs(graph)
    runs.start("x", thread="t")
    return runs, runs.answer("t", True)


def test_a_plan_that_was_made_anew_is_shown_again_with_progress_reason_and_changes() -> None:
    runs, view = replanned(new=plan_json("C"))
    asked = view.pending[0].value
    assert asked["type"] == "plan_approval"
    assert "0. [✓] A" in asked["text"] and "1. [ ] C" in asked["text"]
    assert "no B" in asked["reason"]
    assert "C" in asked["changes"] and "B" in asked["changes"]
    view = runs.answer("t", True)
    assert [s["name"] for s in view.values["report"]["steps"]] == ["A", "C"]
    assert view.values["report"]["counts"]["completed"] == 2


def test_a_plan_that_is_the_same_again_is_not_shown_again() -> None:
    _, view = replanned(new=plan_json("B"))
    assert view.status == "finished"


def test_a_new_plan_that_is_sent_back_is_made_anew_and_what_is_finished_stays() -> None:
    runs, _ = replanned(new=plan_json("C"), more=(plan_json("D"), "sum"))
    view = runs.answer("t", {"action": "reject", "comment": "D is better"})
    assert view.status == "waiting"
    assert "D is better" in view.pending[0].value["reason"]
    assert "1. [ ] D" in view.pending[0].value["text"]
    report = runs.answer("t", True).values["report"]
    assert [s["name"] for s in report["steps"]] == ["A", "D"]
    assert report["replans"] == 1  # the wish of a person is no failure


def test_a_new_plan_that_cannot_be_made_is_said_where_the_old_one_is_shown() -> None:
    runs, _ = replanned(new=plan_json("C"), more=("no", "no", "no", "sum"))
    view = runs.answer("t", {"action": "reject", "comment": "D is better"})
    assert "No new plan could be made" in view.pending[0].value["problem"]
    assert "1. [ ] C" in view.pending[0].value["text"]
    assert runs.answer("t", True).values["report"]["counts"]["completed"] == 2


def test_an_edit_of_a_new_plan_loses_nothing_that_is_finished() -> None:
    runs, _ = replanned(new=plan_json("C"))
    view = runs.answer("t", {"action": "edit", "steps": ["D"]})
    plan = view.values["plan"]
    assert [(s.name, s.status) for s in plan.steps] == [("A", "completed"), ("D", "completed")]


def test_a_new_plan_may_be_called_off_with_what_was_done() -> None:
    runs, _ = replanned(new=plan_json("C"))
    report = runs.answer("t", False).values["report"]
    assert report["outcome"] == "cancelled"
    assert report["counts"]["completed"] == 1
    assert report["warnings"][0] == "A person cancelled the plan."


def test_c61_a_plan_is_edited_as_text_too() -> None:
    runs, _ = waiting(plan_json("A", "B"), "sum")
    text = "# mine\ns2: B -- as before\nC -- something new\n"
    plan = runs.answer("t", {"action": "edit", "text": text}).values["plan"]
    assert [(s.id, s.name, s.description) for s in plan.steps] == [
        ("s2", "B", "as before"), ("s3", "C", "something new"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "edit",
    [
        {"steps": "broken"},
        {"steps": None},
        {"text": ""},
        {"text": "# only a remark"},
        {"text": 7},
        {"steps": [{"name": "A", "depends_on": ["nobody"]}]},
        {"steps": [{"name": "A", "executor": "nobody"}]},
        {"steps": ["x"] * 51},
        {},
    ],
)
def test_c61_an_edit_that_is_no_plan_asks_again(edit: dict[str, Any]) -> None:
    runs, _ = waiting(plan_json("A"), "sum")
    view = runs.answer("t", {"action": "edit", **edit})
    assert view.status == "waiting" and view.pending[0].value["problem"]
    assert [s.name for s in view.values["plan"].steps] == ["A"]
