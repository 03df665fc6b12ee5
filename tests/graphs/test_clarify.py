"""Questions to the person before planning."""

import json
from typing import Any, ClassVar

import pytest
from helpers import plan_json

from planloop import Runs, StepBrief, create_planning_graph, open_saver
from planloop.testing import ScriptedModel

ASKED = json.dumps(
    {"questions": [{"question": "Which colour?", "options": ["red", "blue"]}, "How large?", "Why?"]}
)


def asking(*script: Any, clarify: int = 2) -> tuple[Runs, ScriptedModel, list[str]]:
    prompts: list[str] = []

    def work(brief: StepBrief) -> str:
        prompts.append(brief.prompt)
        return "ok"

    model = ScriptedModel(list(script))
    graph = create_planning_graph(
        model, work, clarify=clarify, max_reflections=0, checkpointer=open_saver("memory:")
    )
    return Runs(graph), model, prompts


def test_answers_are_told_to_the_planner_and_to_every_step() -> None:
    runs, model, prompts = asking(ASKED, plan_json("A"), "sum")
    view = runs.start("paint it", thread="t")
    assert view.pending[0].value == {
        "type": "question", "question": "Which colour?", "options": ["red", "blue"],
    }  # fmt: skip
    view = runs.answer("t", "red")
    assert view.pending[0].value["question"] == "How large?"
    assert len(model.requests) == 1
    view = runs.answer("t", {"answer": "2 m"})
    assert view.status == "finished"
    for told in (model.requests[1].messages[-1].text, prompts[0]):
        assert "paint it" in told and "- Which colour? red\n- How large? 2 m" in told
        assert "Why?" not in told  # two questions at most
    assert view.values["plan"].request.startswith("paint it")
    assert view.values["report"]["usage"]["steps"] == 3  # the questions, the plan, the summary


@pytest.mark.parametrize(
    ("answer", "said"),
    [("", "(no answer)"), (" \n", "(no answer)"), (False, "false"), (0, "0"), ([], "[]")],
)
def test_c84_a_falsy_answer_is_an_answer(answer: Any, said: str) -> None:
    runs, model, _ = asking(json.dumps({"questions": ["Really?"]}), plan_json("A"), "sum")
    runs.start("x", thread="t")
    assert runs.answer("t", answer).status == "finished"
    assert f"- Really? {said}" in model.requests[1].messages[-1].text.replace("False", "false")


@pytest.mark.parametrize(
    "reply", ['{"questions": []}', "none", '{"questions": "no"}', RuntimeError("down"), ""]
)
def test_a_model_that_asks_nothing_or_fails_holds_nobody_up(reply: Any) -> None:
    runs, _, _ = asking(reply, plan_json("A"), "sum")
    view = runs.start("x", thread="t")
    assert view.status == "finished"
    assert [s.name for s in view.values["plan"].steps] == ["A"]


def test_a_blank_question_is_not_asked_and_takes_no_place() -> None:
    asked = json.dumps({"questions": [" ", {"question": ""}, "Which?"]})
    runs, _, _ = asking(asked, plan_json("A"), "sum", clarify=1)
    assert runs.start("x", thread="t").pending[0].value["question"] == "Which?"
    assert runs.answer("t", "this").status == "finished"


def test_a_question_has_a_bounded_number_of_answers_to_choose_from() -> None:
    asked = {"questions": [{"question": "Which?", "options": [*range(100)]}]}
    runs, _, _ = asking(json.dumps(asked), plan_json("A"), "sum")
    view = runs.start("x", thread="t")
    assert view.pending[0].value["options"] == [str(n) for n in range(8)]


def test_nobody_is_asked_by_default_or_about_a_plan_that_is_given() -> None:
    runs, model, _ = asking(plan_json("A"), "sum", clarify=0)
    assert runs.start("x", thread="t").status == "finished"
    assert model.left == 0
    runs, model, _ = asking("sum", clarify=3)
    assert runs.start({"request": "x", "plan": ["A"]}, thread="t").status == "finished"
    assert model.left == 0


def test_a_second_run_on_the_thread_asks_anew() -> None:
    one = json.dumps({"questions": ["Which?"]})
    runs, model, _ = asking(one, plan_json("A"), "sum", one, plan_json("B"), "sum")
    runs.start("x", thread="t")
    runs.answer("t", "this")
    view = runs.start("y", thread="t")
    assert view.status == "waiting"
    runs.answer("t", "that")
    told = model.requests[4].messages[-1].text
    assert "- Which? that" in told and "this" not in told


def test_a_model_that_is_too_small_to_be_trusted_asks_nothing() -> None:
    class Small(ScriptedModel):
        judges: ClassVar[bool] = False

    model = Small(script=[plan_json("A")])
    graph = create_planning_graph(model, lambda _: "ok", clarify=2, max_reflections=0)
    assert graph.invoke({"request": "x"})["report"]["counts"]["completed"] == 1
    assert model.left == 0
