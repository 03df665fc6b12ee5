"""What verifying a step does to it and to the rest of the plan."""

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from helpers import APPROVED, plan_json, verdicts

from planloop import RunContext, StepBrief, create_planning_graph, create_react_graph
from planloop.testing import ScriptedModel, call

GREEN = {"criterion": "is green", "verdict": "met", "evidence": "it is green"}


def plan_of(*names: str) -> str:
    """A plan whose first step has a criterion."""
    steps: list[dict[str, Any]] = [{"name": name} for name in names]
    steps[0]["success_criteria"] = ["is green"]
    return json.dumps({"steps": steps})


def judgement(**more: Any) -> str:
    return json.dumps({"verdicts": [GREEN], **more})


def green(brief: StepBrief) -> str:
    return f"{brief.step.name}: it is green"


def run(*script: Any, **options: Any) -> tuple[dict[str, Any], ScriptedModel]:
    model = ScriptedModel([*script, "sum"])
    return create_planning_graph(model, green, **options).invoke({"request": "x"}), model


def test_a_request_that_is_met_already_ends_the_plan_early() -> None:
    met = judgement(request_met=True, request_evidence="it is green")
    result, model = run(plan_of("A", "B", "C"), APPROVED, met)
    report = result["report"]
    assert report["outcome"] == "completed"
    assert [s["name"] for s in report["steps"]] == ["A"]
    assert any("met already: it is green" in w for w in report["warnings"])
    (former,) = result["plan"].history
    assert [s["name"] for s in former["steps"]] == ["A", "B", "C"]
    assert model.left == 0


def test_a_request_that_is_met_by_invented_words_is_not() -> None:
    met = judgement(request_met=True, request_evidence="everything is done")
    result, _ = run(plan_of("A", "B"), APPROVED, met)
    assert result["report"]["counts"]["completed"] == 2


def test_a_verdict_may_change_and_drop_steps_that_have_not_begun() -> None:
    changes = [
        {"step": "s2", "name": "B2", "success_criteria": []},
        {"step": " s3 ", "drop": True},
        {"step": "s1", "drop": True},
        {"step": "s9", "name": "?"},
    ]
    result, _ = run(plan_of("A", "B", "C", "D"), APPROVED, judgement(changes=changes))
    assert [(s.id, s.name, s.status) for s in result["plan"].steps] == [
        ("s1", "A", "completed"), ("s2", "B2", "completed"), ("s4", "D", "completed"),
    ]  # fmt: skip
    warnings = " ".join(result["report"]["warnings"])
    assert "'s1' has begun" in warnings and "'s9'" in warnings


@pytest.mark.parametrize(
    "odd",
    [
        "s2",
        {"s2": "gone"},
        {"s2": {"drop": True}},
        {"step": "s2", "drop": "yes"},
        [3, None],
        "[]",
        None,
    ],
)
def test_changes_in_any_shape_harm_nothing(odd: Any) -> None:
    result, _ = run(plan_of("A", "B"), APPROVED, judgement(changes=odd))
    assert result["report"]["counts"]["completed"] == result["report"]["counts"]["total"] > 0


def test_a_verdict_that_sends_its_step_back_changes_no_other() -> None:
    bad = json.dumps(
        {
            "verdicts": [{**GREEN, "verdict": "not_met"}],
            "changes": [{"step": "s2", "drop": True}],
            "request_met": True,
            "request_evidence": "it is green",
        }
    )
    result, _ = run(plan_of("A", "B"), APPROVED, bad, max_attempts=1, max_replans=0)
    assert [s["status"] for s in result["report"]["steps"]] == ["blocked", "completed"]


def test_verdicts_change_a_plan_a_bounded_number_of_times() -> None:
    names = [f"n{n}" for n in range(20)]
    given: Any = {"steps": [{"name": n, "success_criteria": ["is green"]} for n in names]}

    def judge(messages: Any) -> str:
        begun = messages[-1].text.count("it is green")
        assert begun
        later = [f"s{n}" for n in range(1, 21) if f"[s{n}]" in messages[-1].text]
        changes = [{"step": later[-1], "name": f"again {len(later)}"}] if later else []
        return judgement(changes=changes)

    model = ScriptedModel(repeat=judge)
    result = create_planning_graph({"judge": model, "default": ScriptedModel(["sum"])}, green)
    plan = result.invoke({"request": "x", "plan": given})["plan"]
    assert plan.version == 11
    assert plan.counts()["completed"] == 20


def test_where_a_person_approves_plans_a_verdict_only_shortens_them() -> None:
    from planloop import Runs, open_saver

    changes = judgement(changes=[{"step": "s2", "name": "B2"}])
    model = ScriptedModel([plan_of("A", "B"), APPROVED, changes, "sum"])
    graph = create_planning_graph(
        model, green, approve_plan=True, checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    runs.start("x", thread="t")
    plan = runs.answer("t", True).values["plan"]
    assert [s.name for s in plan.steps] == ["A", "B"]


def test_a_criterion_that_names_a_check_is_decided_by_code(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Total: 60")
    seen: list[str] = []

    def even(given: Any) -> bool:
        seen.append(given.argument)
        return int(given.argument) % 2 == 0

    criteria = ["file: a.txt", "looks good", r"regex: is \w+", "even: 4"]
    text = json.dumps({"steps": [{"name": "A", "success_criteria": criteria}]})
    good = verdicts(("looks good", "met", "it is green"))
    model = ScriptedModel([text, APPROVED, good, "sum"])
    graph = create_planning_graph(model, green, checks={"even": even})
    context = RunContext(workspace=str(tmp_path))
    result = graph.invoke({"request": "x"}, context=context)
    step = result["plan"].steps[0]
    assert [v["criterion"] for v in step.verdicts] == criteria
    assert {v["verdict"] for v in step.verdicts} == {"met"} and step.verified
    assert seen == ["4"]
    asked = model.requests[2].messages[-1].text
    assert "Criteria:\n1. looks good\n\n<result>" in asked


def test_what_code_shows_to_be_unmet_needs_no_judge() -> None:
    text = json.dumps({"steps": [{"name": "A", "success_criteria": ["regex: red", "looks good"]}]})
    result, model = run(text, APPROVED, max_attempts=1, max_replans=0)
    assert result["report"]["steps"][0]["status"] == "blocked"
    assert "regex: red" in result["report"]["steps"][0]["notes"]
    assert model.left == 0


def test_the_judge_may_quote_from_a_file_that_the_step_has_left(tmp_path: Path) -> None:
    step = {"name": "A", "expected_outputs": ["a.txt"], "success_criteria": ["has a total"]}

    def write(brief: StepBrief) -> str:
        (tmp_path / "a.txt").write_text("lamp 1\nTotal: 60\n")
        return "Written."

    quote = verdicts(("has a total", "met", "Total: 60"))
    model = ScriptedModel([json.dumps({"steps": [step]}), APPROVED, quote, "sum"])
    context = RunContext(workspace=str(tmp_path))
    graph = create_planning_graph(model, write)
    assert graph.invoke({"request": "x"}, context=context)["report"]["outcome"] == "completed"


@pytest.mark.parametrize(
    ("verdict", "outcome"),
    [("met", "completed"), ("unknown", "completed_unverified"), ("not_met", "partial")],
)
def test_the_results_are_held_against_the_request(verdict: str, outcome: str) -> None:
    check = json.dumps({"verdict": verdict, "evidence": "it is green"})
    result, model = run(plan_of("A"), APPROVED, judgement(), check, verify_task=True, max_replans=0)
    assert result["report"]["outcome"] == outcome
    assert model.left == 0
    assert "A: it is green" in model.requests[3].messages[-1].text
    warnings = " ".join(result["report"]["warnings"])
    assert (verdict == "not_met") == ("it is green" in warnings)
    assert (verdict == "unknown") == ("not shown that the results answer" in warnings)


def test_results_that_do_not_answer_the_request_are_planned_anew_once() -> None:
    missing = json.dumps({"verdict": "not_met", "evidence": "The price is missing."})
    met = json.dumps({"verdict": "met", "evidence": "it is green"})
    result, model = run(
        plan_of("A"), APPROVED, judgement(), missing, plan_json("B"), met, verify_task=True
    )
    report = result["report"]
    assert [s["name"] for s in report["steps"]] == ["A", "B"]
    assert "Not answered yet:\nThe price is missing." in model.requests[4].messages[-1].text
    assert report["replans"] == 1
    assert report["outcome"] == "completed_unverified"  # B has no criteria


def test_a_judge_of_the_whole_that_fails_leaves_it_unverified() -> None:
    result, _ = run(plan_of("A"), APPROVED, judgement(), RuntimeError("down"), verify_task=True)
    assert result["report"]["outcome"] == "completed_unverified"
    assert any("down" in w for w in result["report"]["warnings"])


def test_the_judge_sees_what_the_tools_of_an_agent_gave() -> None:
    def look(at: str) -> str:
        """Look."""
        return "it is green there"

    agent = create_react_graph(ScriptedModel([call("look", at="x"), "I looked."]), [look])
    script = [plan_of("A"), APPROVED, judgement(), "sum"]
    model = ScriptedModel(script)
    result = create_planning_graph(model, agent).invoke({"request": "x"})
    assert "it is green there" in model.requests[2].messages[-1].text
    assert result["report"]["outcome"] == "completed"


def test_verdicts_belong_to_the_criteria_that_they_name_in_whatever_order() -> None:
    step = {"name": "A", "success_criteria": ["is green", "is tall"]}
    tall = {"criterion": "Is tall.", "verdict": "not_met", "evidence": "A: it"}
    said = json.dumps({"verdicts": [tall, GREEN]})
    result, _ = run(json.dumps({"steps": [step]}), APPROVED, said, max_attempts=1, max_replans=0)
    verdicts_by_criterion = {v["criterion"]: v["verdict"] for v in result["plan"].steps[0].verdicts}
    assert verdicts_by_criterion == {"is green": "met", "is tall": "not_met"}


def test_who_watches_is_told_how_a_verdict_changes_the_plan() -> None:
    changes = judgement(changes=[{"step": "s2", "name": "B2"}])
    model = ScriptedModel([plan_of("A", "B"), APPROVED, changes, "sum"])
    stream: Any = create_planning_graph(model, green).stream({"request": "x"}, stream_mode="custom")
    (told,) = [event for event in stream if event["type"] == "revise"]
    assert told["reason"] == "changed after a verdict"
    assert [step["name"] for step in told["plan"]["steps"]] == ["A", "B2"]


def test_the_word_of_a_model_that_is_too_small_does_not_count() -> None:
    class Small(ScriptedModel):
        judges: ClassVar[bool] = False

    judge, model = Small(script=[judgement()]), ScriptedModel([plan_of("A"), APPROVED, "sum"])
    graph = create_planning_graph({"judge": judge, "default": model}, green, verify_task=True)
    report = graph.invoke({"request": "x"})["report"]
    assert report["outcome"] == "completed_unverified"
    assert any("word does not count" in w for w in report["warnings"])
    assert judge.left == 1 and model.left == 0


def test_what_judging_steps_side_by_side_costs_is_counted_for_each() -> None:
    given: Any = {
        "request": "x",
        "plan": [{"name": name, "success_criteria": ["is green"]} for name in "AB"],
    }
    model = ScriptedModel([judgement(), judgement(), "sum"])
    graph = create_planning_graph(model, green, max_parallel_steps=2)
    assert graph.invoke(given)["report"]["usage"]["steps"] == 3


def test_a_step_that_loses_what_it_depends_on_waits_for_it_no_longer() -> None:
    steps = [
        {"name": "A", "success_criteria": ["is green"]},
        {"name": "B"},
        {"name": "C", "depends_on": ["s1", "s2"]},
    ]
    dropped = judgement(changes=[{"step": "s2", "drop": True}])
    result, _ = run(json.dumps({"steps": steps}), APPROVED, dropped)
    assert [(s.name, s.status, s.depends_on) for s in result["plan"].steps] == [
        ("A", "completed", []), ("C", "completed", ["s1"]),
    ]  # fmt: skip
