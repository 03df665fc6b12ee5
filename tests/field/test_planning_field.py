"""Failures that users of planners reported, by case id: plans and their lifecycle."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from helpers import APPROVED, plan_json, planner_of, verdicts
from langchain_core.messages import AIMessage, ToolMessage

from planloop import (
    Budget,
    Outcome,
    Plan,
    StepBrief,
    create_planner_graph,
    create_planning_graph,
    create_react_graph,
    open_saver,
)
from planloop.errors import EmptyRequest, PlanError, WrongUse
from planloop.state import create_plan, mark_step, update_plan
from planloop.testing import ScriptedModel, call, calls


def done(brief: StepBrief) -> str:
    return f"did {brief['step'].name}"


def planned(*script: Any, **options: Any) -> tuple[dict[str, Any], ScriptedModel]:
    model = ScriptedModel(list(script))
    options = {"max_reflections": 0, **options}
    return create_planner_graph(model, **options).invoke({"request": "build it"}), model


ONE_STEP = plan_json("a")


@pytest.mark.parametrize(
    "reply",
    [
        f"Sure! Here is the plan:\n```json\n{ONE_STEP}\n```\nLet me know!",
        f"```\n{ONE_STEP}\n```",
        f"~~~json\n{ONE_STEP}\n~~~",
        f"```json\n{ONE_STEP}",
        f"The plan is {ONE_STEP} and that is all.",
    ],
)
def test_c01_a_plan_in_a_fence_or_in_prose_costs_one_call(reply: str) -> None:
    result, model = planned(reply)
    assert [s.name for s in result["plan"].steps] == ["a"]
    assert result["plan"].origin == "model"
    assert len(model.requests) == 1


@pytest.mark.parametrize("steps", ['["A","B"]', "['A', 'B']", "1. A\n2. B", "- A\n- B"])
def test_c02_steps_sent_as_one_string_are_read(steps: str) -> None:
    result, _ = planned(json.dumps({"steps": steps}))
    assert [s.name for s in result["plan"].steps] == ["A", "B"]


def test_c02_a_lone_text_is_one_step_and_a_text_field_stays_text() -> None:
    result, _ = planned(json.dumps({"steps": "A"}))
    assert [s.name for s in result["plan"].steps] == ["A"]
    result, _ = planned(json.dumps({"steps": [{"name": "A", "description": '["x"]'}]}))
    assert result["plan"].steps[0].description == '["x"]'


def test_c03_steps_as_objects_or_as_a_bare_list() -> None:
    odd = [{"step": 1, "description": "[CODE] build"}, {"title": "check"}]
    result, _ = planned(json.dumps({"steps": odd}))
    assert [s.name for s in result["plan"].steps] == ["[CODE] build", "check"]
    result, _ = planned(json.dumps([{"name": "a"}, {"name": "b"}]))
    assert [s.name for s in result["plan"].steps] == ["a", "b"]


def test_c03_steps_without_any_text_fall_back_after_counted_repairs() -> None:
    useless = json.dumps({"steps": [{"x": 1}]})
    result, model = planned(useless, useless, useless)
    assert result["plan"].origin == "fallback"
    assert len(result["plan"].steps) == 3
    assert len(model.requests) == 3
    assert any("steps[0].name" in m.text for m in model.requests[1].messages)


def test_c04_missing_fields_get_their_documented_defaults() -> None:
    steps = [{"name": "a", "description": "x", "requires_code": True}, {"name": "b"}]
    result, model = planned(json.dumps({"steps": steps}))
    assert result["plan"].steps[1].requires_code is False
    assert result["plan"].steps[1].success_criteria == []
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "reply",
    [
        f'<think>maybe {{"steps":[]}}?</think>{ONE_STEP}',
        f"thinking…</think>{ONE_STEP}",
        AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": ONE_STEP}]),
    ],
)
def test_c14_c15_the_plan_is_what_stands_outside_the_thoughts(reply: Any) -> None:
    result, model = planned(reply)
    assert [s.name for s in result["plan"].steps] == ["a"]
    assert len(model.requests) == 1


@pytest.mark.parametrize("reply", ["", "<think>cut off", AIMessage([])])
def test_c16_an_empty_reply_is_repaired_or_falls_back(reply: Any) -> None:
    result, _ = planned(reply, ONE_STEP)
    assert result["plan"].origin == "repaired"
    result, model = planned(reply, reply, reply)
    assert result["plan"].origin == "fallback"
    assert all(m.text for r in model.requests for m in r.messages)


def test_c23_a_plan_that_was_cut_off_is_never_taken_for_the_whole() -> None:
    text = '{"steps":[{"name":"s1","expected_outputs":["x","y"]},{"name":"s2","descr'
    cut = AIMessage(text, response_metadata={"finish_reason": "length"})
    result, model = planned(cut, ONE_STEP)
    assert [s.name for s in result["plan"].steps] == ["a"]
    told = model.requests[1].messages[-1].text
    assert "cut off by the token limit after 1 complete steps" in told


def test_c24_an_empty_review_keeps_the_plan_and_calls_it_unreviewed() -> None:
    result, model = planned(ONE_STEP, "  \n", max_reflections=2)
    assert (result["approved"], result["reviewed"]) == (False, False)
    assert [s.name for s in result["plan"].steps] == ["a"]
    assert len(model.requests) == 2
    assert all(m.text.strip() for m in result["messages"])


@pytest.mark.parametrize(
    ("review", "approved"),
    [
        ("This cannot be marked [APPROVED] until step 2 has success criteria.", False),
        ("Not [APPROVED]", False),
        ("I would write [APPROVED] only if tests existed.\nRevisions needed: …", False),
        ("[approved]", True),
        ("**[APPROVED]**", True),
        ("Good.\n\n[APPROVED]\n", True),
        ('{"approved": true, "feedback": ""}', True),
        ('{"approved": false, "feedback": "not [APPROVED] yet"}', False),
        (AIMessage([{"type": "text", "text": "[APPROVED]"}]), True),
    ],
)
def test_c25_only_a_decision_approves(review: Any, approved: bool) -> None:
    result, model = planned(ONE_STEP, review, plan_json("a", "b"), max_reflections=1)
    assert result["approved"] is approved
    assert len(model.requests) == (2 if approved else 3)


def test_c29_calls_in_a_summary_are_dropped_and_the_deterministic_one_stands() -> None:
    model = ScriptedModel([ONE_STEP, APPROVED, call("search", q="x")])
    result = create_planning_graph(model, done).invoke({"request": "x"})
    assert "1 of 1 steps completed" in result["summary"]
    assert not any(getattr(m, "tool_calls", None) for m in result["messages"])
    assert model.requests[-1].tools == []


@pytest.mark.parametrize(
    "reply",
    [
        call("planning", command="get"),
        AIMessage("", tool_calls=[{"name": "planning", "args": {}, "id": "1"}]),
        call("search", command="create", steps=["A"]),
        call("planning", command="create", title="t", steps=[]),
        "I would first look around.",
    ],
)
def test_c30_without_a_usable_planning_call_there_is_the_fallback_plan(reply: Any) -> None:
    model = ScriptedModel([reply, "sum"])
    result = create_planning_graph(model, done, planner="tool").invoke({"request": "x"})
    assert result["report"]["plan_origin"] == "fallback"
    assert result["report"]["counts"]["total"] == 3
    assert any("fallback" in w for w in result["report"]["warnings"])


def test_c30_usable_steps_win_and_the_title_comes_from_the_request() -> None:
    two = calls(
        ("planning", {"command": "create", "steps": ["A"]}),
        ("planning", {"command": "create", "title": "t", "steps": ["B"]}),
    )
    model = ScriptedModel([two, "sum"])
    result = create_planning_graph(model, done, planner="tool").invoke({"request": "tidy up"})
    assert [s.name for s in result["plan"].steps] == ["A"]
    assert result["plan"].title == "tidy up"
    assert model.requests[0].tools == ["planning"]


def test_c33_a_failing_step_is_tried_within_bounds_then_blocked() -> None:
    attempts: list[str] = []

    def boom(brief: StepBrief) -> str:
        attempts.append(brief["step"].name)
        raise RuntimeError("boom")

    model = ScriptedModel([plan_json("A", "B"), APPROVED, "sum"])
    graph = create_planning_graph(model, boom, max_attempts=2, max_replans=0)
    result = graph.invoke({"request": "x"})
    assert attempts == ["A", "A", "B", "B"]
    assert result["report"]["outcome"] == "failed"
    assert all(s["status"] == "blocked" and "boom" in s["notes"] for s in result["report"]["steps"])


def test_c33_stop_on_blocked_ends_at_once() -> None:
    def boom(_: StepBrief) -> str:
        raise RuntimeError("boom")

    model = ScriptedModel([plan_json("A", "B"), APPROVED, "sum"])
    graph = create_planning_graph(model, boom, max_attempts=1, max_replans=0, stop_on_blocked=True)
    report = graph.invoke({"request": "x"})["report"]
    assert [s["status"] for s in report["steps"]] == ["blocked", "not_started"]


def test_c34_an_exhausted_budget_completes_no_step_and_loses_no_finding() -> None:
    def search(q: str) -> str:
        """Search."""
        return f"found {q}"

    def searching(n: int) -> AIMessage:
        turn = call("search", str(n), q=str(n))
        turn.content = "so far: 7"
        return turn

    worker = ScriptedModel([searching(n) for n in range(4)])
    react = create_react_graph(worker, [search], budget=Budget(steps=2))
    model = ScriptedModel([ONE_STEP, APPROVED, "All done!"])
    graph = create_planning_graph(model, react, max_attempts=1, max_replans=0)
    report = graph.invoke({"request": "x"})["report"]
    (step,) = report["steps"]
    assert (step["status"], step["reason"]) == ("blocked", "budget_exhausted")
    assert "so far: 7" in step["notes"]
    assert report["outcome"] == "failed"


def test_c35_the_report_is_right_whatever_the_prose_says() -> None:
    def half(brief: StepBrief) -> str:
        if brief["step"].name == "A":
            raise RuntimeError("no disk")
        return "ok"

    model = ScriptedModel([plan_json("A", "B"), APPROVED, "All steps completed successfully!"])
    graph = create_planning_graph(model, half, max_attempts=1, max_replans=0)
    result = graph.invoke({"request": "x"})
    assert result["report"]["outcome"] == "partial"
    counts = result["report"]["counts"]
    assert (counts["completed"], counts["blocked"]) == (1, 1)
    assert not result["summary"].startswith("Plan completed")
    assert "no disk" in model.requests[-1].messages[-1].text


def test_c36_statuses_follow_the_step_when_the_plan_is_updated() -> None:
    plan = create_plan(["A", "B", "C"], request="r")
    plan = mark_step(mark_step(plan, 0, "completed", notes="kept"), 1, "in_progress")
    new = update_plan(plan, ["Z", "A", "B", "C"], reason="test")
    assert [(s.name, s.status) for s in new.steps] == [
        ("Z", "not_started"), ("A", "completed"), ("B", "in_progress"), ("C", "not_started"),
    ]  # fmt: skip
    assert [s.id for s in new.steps] == ["s4", "s1", "s2", "s3"]
    assert new.step("s1").notes == "kept"


def test_c36_a_removed_step_stays_in_the_history() -> None:
    plan = mark_step(create_plan(["A", "B"], request="r"), 0, "completed")
    new = update_plan(plan, ["B"], reason="A is not needed")
    assert [s["name"] for s in new.history[0]["steps"]] == ["A", "B"]
    assert new.history[0]["reason"] == "A is not needed"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[code] x", "code"),
        ("[Agent_2] x", "agent_2"),
        ("**[DATA_ANALYSIS]** x", "data_analysis"),
        ("[CODE ] x", "code"),
        ("[data-analysis]: x", "data_analysis"),
        ("[TODO] x [code]", "code"),
        ("【搜索】查资料", "搜索"),
        ("[搜索] 查资料", "搜索"),
        ("［CODE］写代码", "code"),
    ],
)
def test_c38_c41_a_tag_in_any_form_reaches_its_executor(text: str, wanted: str) -> None:
    names = ("general", "code", "agent_2", "data_analysis", "搜索")
    executors: Any = dict.fromkeys(names, done)
    result = create_planning_graph(planner_of(text), executors).invoke({"request": "x"})
    (step,) = result["report"]["steps"]
    assert step["executor"] == wanted
    assert step["name"] == " ".join(text.split())


def test_c40_an_unknown_tag_goes_to_the_default_and_is_said() -> None:
    result = create_planning_graph(planner_of("[DEPLOY] ship it"), done).invoke({"request": "x"})
    assert result["report"]["counts"]["completed"] == 1
    assert any("DEPLOY" in w for w in result["report"]["warnings"])


def test_c40_strict_tags_refuse_the_plan_before_any_step() -> None:
    model = ScriptedModel([plan_json("[DEPLOY] ship it"), plan_json("[search] ship it"), "sum"])
    executors = {"search": done, "code": done}
    graph = create_planning_graph(model, executors, strict_tags=True, max_reflections=0)
    result = graph.invoke({"request": "x"})
    assert "search, code" in model.requests[1].messages[-1].text
    assert result["report"]["steps"][0]["executor"] == "search"


@pytest.mark.parametrize("steps", [[], ["", "  "]])
def test_c43_a_plan_without_steps_is_no_plan(steps: list[str]) -> None:
    empty = json.dumps({"steps": steps})
    result, _ = planned(empty, empty, empty)
    assert result["plan"].origin == "fallback"
    with pytest.raises(PlanError, match="no steps"):
        create_plan(steps, request="r")


def test_c44_too_many_steps_are_named_and_many_run_when_allowed() -> None:
    names = [f"n{n}" for n in range(60)]
    with pytest.raises(PlanError, match="60 steps, at most 50"):
        create_plan(names, request="r")
    graph = create_planning_graph(ScriptedModel(["sum"]), done, max_plan_steps=60, verify=False)
    report = graph.invoke({"request": "x", "plan": names})["report"]
    assert report["counts"]["completed"] == 60
    assert report["plan_origin"] == "user"


def test_c47_terminate_ends_its_own_step_only() -> None:
    worker = ScriptedModel([call("terminate", status="success", summary="a"), "b"])
    graph = create_planning_graph(planner_of("A", "B"), create_react_graph(worker))
    report = graph.invoke({"request": "x"})["report"]
    assert [s["status"] for s in report["steps"]] == ["completed", "completed"]
    assert [s["result"] for s in report["steps"]] == ["a", "b"]


def test_c48_c49_each_step_starts_fresh() -> None:
    def look(n: int) -> str:
        """Look."""
        return str(n)

    worker = ScriptedModel([call("look", n=1), "a", call("look", n=2), "b"])
    react = create_react_graph(worker, [look], budget=Budget(steps=2))
    report = create_planning_graph(planner_of("A", "B"), react).invoke({"request": "x"})["report"]
    assert report["counts"]["completed"] == 2
    kinds = [m.type for m in worker.requests[2].messages]
    assert kinds == ["system", "human"]


def test_c55_synonyms_are_read_and_unknown_words_refused() -> None:
    plan = create_plan(["A"], request="r")
    for word, status in (
        ("done", "completed"),
        ("In-Progress", "in_progress"),
        ("failed", "blocked"),
    ):
        assert mark_step(plan, 0, word).steps[0].status == status
    with pytest.raises(PlanError, match="not_started, in_progress"):
        mark_step(plan, 0, "maybe")


def test_c56_circles_and_missing_dependencies_are_named() -> None:
    with pytest.raises(PlanError, match="circle"):
        create_plan(
            [{"name": "A", "depends_on": ["B"]}, {"name": "B", "depends_on": ["A"]}], request="r"
        )
    with pytest.raises(PlanError, match="'nope'"):
        create_plan([{"name": "C", "depends_on": ["nope"]}], request="r")


def test_c59_two_runs_have_two_plans() -> None:
    graph = create_planning_graph(
        ScriptedModel([ONE_STEP, APPROVED, "1", plan_json("z"), APPROVED, "2"]),
        done,
        checkpointer=open_saver("memory:"),
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    first = graph.invoke({"request": "one"}, config)
    again: Any = {"messages": [("user", "two")]}
    second = graph.invoke(again, config)
    assert first["plan"].id != second["plan"].id
    assert [s.name for s in second["plan"].steps] == ["z"]
    assert second["plan"].request == "two"
    assert second["report"]["usage"]["steps"] == first["report"]["usage"]["steps"]


def test_c60_an_empty_request_is_refused_before_any_call() -> None:
    model = ScriptedModel([])
    for graph in (create_planning_graph(model, done), create_planner_graph(model)):
        with pytest.raises(EmptyRequest):
            graph.invoke({"request": "  "})
    blocks: Any = {"messages": [("user", [{"type": "text", "text": "do x"}])]}
    result = create_planning_graph(planner_of("a"), done).invoke(blocks)
    assert result["plan"].request == "do x"


@pytest.mark.parametrize("summary", [RuntimeError("429"), AIMessage("")])
def test_c62_the_run_has_its_summary_without_the_model(summary: Any) -> None:
    ran: list[str] = []

    def once(brief: StepBrief) -> str:
        ran.append(brief["step"].id)
        return "ok"

    graph = create_planning_graph(ScriptedModel([ONE_STEP, APPROVED, summary]), once)
    result = graph.invoke({"request": "x"})
    assert "1 of 1 steps completed" in result["summary"]
    assert result["messages"][-1].text == result["summary"]
    assert ran == ["s1"]


@pytest.mark.parametrize(("reflections", "drafts", "reviews"), [(0, 1, 0), (1, 2, 1), (2, 3, 2)])
def test_c63_reviews_are_counted_and_the_last_draft_is_not_approved(
    reflections: int, drafts: int, reviews: int
) -> None:
    script = [ONE_STEP]
    for n in range(reflections):
        script += ["Please add a step.", plan_json("a", f"b{n}")]
    model = ScriptedModel([*script, *script])
    graph = create_planner_graph(
        model, max_reflections=reflections, checkpointer=open_saver("memory:")
    )
    config: Any = {"configurable": {"thread_id": "t"}}
    for run in (1, 2):
        result = graph.invoke({"request": "x"}, config)
        assert (result["approved"], result["reviewed"]) == (False, False)
        assert len(model.requests) == run * (drafts + reviews)


def test_c64_every_draft_and_review_sees_the_task_the_plan_and_the_review() -> None:
    _, model = planned(ONE_STEP, "Add a test step.", plan_json("a", "t"), max_reflections=1)
    review, redraft = model.requests[1].messages, model.requests[2].messages
    assert "build it" in review[-1].text and '"a"' in review[-1].text
    assert all(t in redraft[-1].text for t in ("build it", '"a"', "Add a test step."))
    assert {m[-1].type for m in (review, redraft)} == {"human"}


def test_a_failed_reviewer_loses_nothing() -> None:
    result, _ = planned(ONE_STEP, RuntimeError("down"), max_reflections=1)
    assert (result["approved"], result["reviewed"]) == (False, False)
    assert any("down" in p for p in result["problems"])


def test_a_failed_judge_means_unverified_never_met() -> None:
    text = plan_json("a", success_criteria=["is green"])
    model = ScriptedModel([text, APPROVED, RuntimeError("down"), "sum"])
    report = create_planning_graph(model, done).invoke({"request": "x"})["report"]
    assert report["outcome"] == "completed_unverified"
    assert any("not checked" in w for w in report["warnings"])


def test_an_unmet_criterion_sends_the_step_back_with_the_finding() -> None:
    seen: list[str] = []

    def paint(brief: StepBrief) -> str:
        seen.append(brief["prompt"])
        return "it is red" if len(seen) == 1 else "it is green"

    model = ScriptedModel(
        [
            plan_json("a", success_criteria=["is green"]),
            APPROVED,
            verdicts(("is green", "not_met", "it is red")),
            verdicts(("is green", "met", "it is green")),
            "sum",
        ]
    )
    report = create_planning_graph(model, paint).invoke({"request": "x"})["report"]
    assert report["outcome"] == "completed"
    assert report["steps"][0]["attempts"] == 2
    assert "The last attempt at your step failed:\nnot met: is green (it is red)" in seen[1]
    assert "last attempt" not in seen[0]


def test_a_local_model_neither_judges_nor_sums_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ScriptedModel, "judges", False, raising=False)
    model = ScriptedModel([plan_json("a", depends_on=["noise"], executor="noise")])
    graph = create_planning_graph(model, done, max_reflections=0)
    assert graph.invoke({"request": "x"})["report"]["plan_origin"] == "model"
    given: Any = json.loads(plan_json("a", success_criteria=["is green"]))
    result = graph.invoke({"request": "x", "plan": given})
    assert result["report"]["outcome"] == "completed_unverified"
    assert any("local model's word" in w for w in result["report"]["warnings"])
    assert model.left == 0 and len(model.requests) == 1
    assert "Summary by the model" not in result["summary"]


def test_evidence_that_does_not_occur_shows_nothing() -> None:
    text = plan_json("a", success_criteria=["is green"])
    invented = verdicts(("is green", "met", "the tests all pass"))
    model = ScriptedModel([text, APPROVED, invented, "sum"])
    result = create_planning_graph(model, done).invoke({"request": "x"})
    assert result["report"]["outcome"] == "completed_unverified"
    assert result["plan"].steps[0].verdicts[0]["verdict"] == "unknown"


def test_verify_false_is_said_aloud() -> None:
    text = plan_json("a", success_criteria=["is green"])
    model = ScriptedModel([text, APPROVED, "sum"])
    report = create_planning_graph(model, done, verify=False).invoke({"request": "x"})["report"]
    assert report["outcome"] == "completed_unverified"
    assert any("verify=False" in w for w in report["warnings"])


def test_a_replan_keeps_finished_steps_whatever_the_model_numbers_them() -> None:
    def worker(brief: StepBrief) -> str | Outcome:
        if brief["step"].name == "B":
            raise RuntimeError("no such host")
        return f"did {brief['step'].name}"

    model = ScriptedModel([plan_json("A", "B", "C"), APPROVED, plan_json("B2", "C"), "sum"])
    result = create_planning_graph(model, worker, max_attempts=1).invoke({"request": "x"})
    plan: Plan = result["plan"]
    assert [(s.id, s.name, s.status) for s in plan.steps] == [
        ("s1", "A", "completed"), ("s4", "B2", "completed"), ("s3", "C", "completed"),
    ]  # fmt: skip
    assert result["report"]["replans"] == 1
    assert "no such host" in plan.history[0]["reason"]
    told = model.requests[2].messages[-1].text
    assert "did A" in told and "no such host" in told
    (gone,) = result["report"]["replaced"]
    assert (gone["name"], gone["status"]) == ("B", "blocked")
    assert "s2 B (blocked, replaced): error: RuntimeError: no such host" in result["summary"]


def test_a_new_plan_may_number_its_steps_from_one_again() -> None:
    def worker(brief: StepBrief) -> str:
        if brief.step.name == "B":
            raise RuntimeError("no")
        return f"did {brief.step.name}"

    steps = [
        {"name": "C", "depends_on": ["s1"]},
        {"name": "D"},
        {"name": "E", "depends_on": ["s2", "C"]},
    ]
    model = ScriptedModel([plan_json("A", "B"), APPROVED, json.dumps({"steps": steps}), "sum"])
    with pytest.raises(PlanError):
        create_plan(steps, request="r")  # s1 would need itself
    plan = create_planning_graph(model, worker, max_attempts=1).invoke({"request": "x"})["plan"]
    assert {s.id: (s.name, s.depends_on) for s in plan.steps[1:]} == {
        "s3": ("C", ["s1"]),  # that is A, which is finished
        "s4": ("D", []),
        "s5": ("E", ["s4", "s3"]),  # the second of the new ones
    }


def test_what_depends_on_a_blocked_step_is_blocked_and_nothing_else() -> None:
    def worker(brief: StepBrief) -> str:
        if brief["step"].name == "A":
            raise RuntimeError("no")
        return "ok"

    steps = [{"name": "A"}, {"name": "B", "depends_on": ["s1"]}, {"name": "C"}]
    model = ScriptedModel([json.dumps({"steps": steps}), APPROVED, "sum"])
    graph = create_planning_graph(model, worker, max_attempts=1, max_replans=0)
    report = graph.invoke({"request": "x"})["report"]
    assert [s["status"] for s in report["steps"]] == ["blocked", "blocked", "completed"]
    assert "s1" in report["steps"][1]["notes"]


def test_a_model_that_refuses_the_key_ends_the_plan_at_once() -> None:
    from langchain_core.exceptions import ModelAuthenticationError

    refused = ScriptedModel(repeat=ModelAuthenticationError("401"))
    graph = create_planning_graph(planner_of("A", "B"), create_react_graph(refused))
    report = graph.invoke({"request": "x"})["report"]
    assert report["outcome"] == "failed"
    assert len(refused.requests) == 1
    assert "key" in report["steps"][0]["notes"]


def test_c83_an_interrupt_in_an_executor_pauses_the_plan() -> None:
    from langgraph.types import Command, interrupt

    def asks(_: StepBrief) -> str:
        return f"answer: {interrupt('ok?')}"

    graph = create_planning_graph(planner_of("A"), asks, checkpointer=open_saver("memory:"))
    config: Any = {"configurable": {"thread_id": "t"}}
    assert graph.invoke({"request": "x"}, config)["__interrupt__"][0].value == "ok?"
    result = graph.invoke(Command(resume=False), config)
    assert result["report"]["steps"][0]["result"] == "answer: False"


def test_c95_a_plan_comes_back_as_a_plan_without_a_log_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config: Any = {"configurable": {"thread_id": "t"}}
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with open_saver(url) as saver:
        graph = create_planning_graph(planner_of("A", "B"), done, checkpointer=saver)
        graph.invoke({"request": "x"}, config, durability="sync")
    with caplog.at_level(logging.DEBUG, "langgraph"), open_saver(url) as saver:
        graph = create_planning_graph(planner_of("A"), done, checkpointer=saver)
        graph.update_state(config, {"plan": {"s2": {"notes": "by hand"}}})
        older = list(graph.get_state_history(config))[3].config
        forked = graph.update_state(older, {"plan": {"s1": {"notes": "forked"}}})
        for state in (graph.get_state(forked), graph.get_state(config)):
            assert isinstance(state.values["plan"], Plan)
            assert state.values["plan"].steps[0].notes == "forked"
    assert caplog.records == []


def test_an_edit_that_no_plan_can_take_is_refused_and_breaks_nothing() -> None:
    graph = create_planning_graph(planner_of("A"), done, checkpointer=open_saver("memory:"))
    config: Any = {"configurable": {"thread_id": "t"}}
    graph.invoke({"request": "x"}, config)
    for edit in (
        {"s9": {"status": "blocked"}},
        {"s1": {"status": "half"}},
        {"s1": {"id": "s7"}},
        3,
    ):
        with pytest.raises(PlanError):
            graph.update_state(config, {"plan": edit})
        assert graph.get_state(config).values["plan"].steps[0].status == "completed"


def test_without_executors_or_with_odd_ones_it_is_said_at_build() -> None:
    for executors in ({}, None, 3, {"a": "text"}):
        with pytest.raises(WrongUse, match="executor"):
            create_planning_graph(ScriptedModel(), executors)  # type: ignore[arg-type]
    with pytest.raises(WrongUse, match="cannot name an executor"):
        create_planning_graph(ScriptedModel(), {"a:b": done})
    with pytest.raises(WrongUse, match="default_executor"):
        create_planning_graph(ScriptedModel(), done, default_executor="nobody")


def test_c112_the_parents_messages_hold_no_chatter() -> None:
    worker = create_react_graph(ScriptedModel(["done"]))
    given: Any = {"messages": [("user", "go")]}
    result = create_planning_graph(planner_of("A"), worker).invoke(given)
    assert [m.type for m in result["messages"]] == ["human", "ai"]
    assert not any(isinstance(m, ToolMessage) for m in result["messages"])


def briefed(steps: list[Any], **options: Any) -> tuple[dict[str, Any], list[str]]:
    """A run of a given plan, and what its executor was told."""
    prompts: list[str] = []

    def work(brief: StepBrief) -> str:
        prompts.append(brief.prompt)
        return "I have done all five steps, they are completed."

    graph = create_planning_graph(ScriptedModel(["sum"]), work, **options)
    given: Any = {"request": "tidy", "plan": steps}
    return graph.invoke(given), prompts


def test_c46_the_current_step_is_told_apart_from_the_others() -> None:
    result, prompts = briefed(["make a", "delete a"])
    context, step = prompts[0].split("Your step (s1):")
    assert "context only" in context and "delete a" in context
    assert "delete a" not in step and "Do only this step" in step
    assert len(prompts) == 2  # what step 1 says of others changes nothing
    assert result["report"]["counts"]["completed"] == 2


def test_c46_steps_to_come_can_be_hidden_from_executors() -> None:
    _, prompts = briefed(["make a", "delete a"], show_future_steps=False)
    assert "delete a" not in prompts[0]
    assert "0. [✓] make a" in prompts[1]
    _, prompts = briefed(["make a", "delete a"], show_future_steps=False, max_parallel_steps=2)
    assert all("make a" in prompt for prompt in prompts)


def test_c44_a_thousand_steps_run_with_bounded_prompts() -> None:
    result, prompts = briefed(
        [f"step number {n}" for n in range(1_000)], max_plan_steps=1_000, verify=False
    )
    assert result["report"]["counts"] == {
        "completed": 1_000, "total": 1_000, "blocked": 0, "in_progress": 0, "not_started": 0,
    }  # fmt: skip
    assert max(map(len, prompts)) < 5_000


def test_c45_oversize_text_is_kept_up_to_a_limit_and_cut_in_prompts() -> None:
    huge = {"name": "E" * 100_000, "description": "D" * 500_000, "success_criteria": ["C" * 9_000]}
    result, prompts = briefed([huge, "B"], verify=False)
    assert len(result["plan"].steps[0].name) == 100_000
    assert len(result["plan"].steps[0].description) == 100_000
    assert len(prompts[0]) < 40_000 and len(prompts[1]) < 5_000
