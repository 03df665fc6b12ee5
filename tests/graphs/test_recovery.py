"""What a plan does after a failure: told again, done by another, planned anew, blocked."""

import json
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from helpers import APPROVED, plan_json, verdicts

from planloop import (
    Executor,
    Outcome,
    Plan,
    RunContext,
    Runs,
    StepBrief,
    create_planning_graph,
    create_react_graph,
    open_saver,
)
from planloop.errors import WrongUse
from planloop.state import make_outcome
from planloop.testing import ScriptedModel, call
from planloop.tools import abort_plan

GREEN = plan_json("a", success_criteria=["is green"])
NOT_GREEN = verdicts(("is green", "not_met", "it is red"))


def run(script: list[Any], worker: Any, **options: Any) -> tuple[dict[str, Any], ScriptedModel]:
    model = ScriptedModel(script)
    return create_planning_graph(model, worker, **options).invoke({"request": "x"}), model


def failing(*names: str) -> Any:
    """An executor that fails at these steps."""

    def work(brief: StepBrief) -> str:
        if brief.step.name in names:
            raise RuntimeError(f"no {brief.step.name}")
        return f"did {brief.step.name}"

    return work


def test_a_new_plan_carries_facts_and_root_causes_from_one_to_the_next() -> None:
    first = {"facts": {"given": ["red"], "found": "did A"}, "root_cause": "No paint.\nNone."}
    second = {"facts": {"assumed": ["paint dries"]}, "root_cause": "No brush."}
    result, model = run(
        [
            plan_json("A", "B"),
            APPROVED,
            json.dumps({**first, "steps": ["C"]}),
            json.dumps({**second, "steps": ["D"]}),
            "sum",
        ],
        failing("B", "C"),
        max_attempts=1,
        max_replans=2,
    )
    told = model.requests[3].messages[-1].text
    assert "Given:\n- red" in told and "Found:\n- did A" in told
    assert "[s2] by work" not in told and "[s3] by work: C" in told
    report = result["report"]
    assert report["root_causes"] == ["No paint. None.", "No brush."]
    assert report["facts"]["assumed"] == ["paint dries"] and report["facts"]["given"] == ["red"]
    assert [s["name"] for s in report["steps"]] == ["A", "D"]


@pytest.mark.parametrize("odd", ["none", [], {"found": {"a": "b"}}, {"given": [None, 3]}, None])
def test_facts_in_any_shape_harm_nothing(odd: Any) -> None:
    new = json.dumps({"facts": odd, "root_cause": None, "steps": ["C"]})
    result, _ = run([plan_json("B"), APPROVED, new, "sum"], failing("B"), max_attempts=1)
    assert result["report"]["counts"]["completed"] == 1


def test_every_finished_result_is_told_to_the_replanner_within_bounds() -> None:
    names = [f"n{n}" for n in range(40)]

    def work(brief: StepBrief) -> str:
        if brief.step.name == "n39":
            raise RuntimeError("no")
        return f"found <{brief.step.name}> " + "x" * 5_000

    model = ScriptedModel([plan_json("C"), "sum"])
    graph = create_planning_graph(model, work, max_attempts=1)
    given: Any = {"request": "x", "plan": names}
    assert graph.invoke(given)["report"]["counts"]["completed"] == 40
    told = model.requests[0].messages[-1].text
    assert all(f"found <n{n}>" in told for n in range(39))
    assert len(told) < 40_000


def test_the_same_result_again_is_a_stall_whatever_the_judge_says() -> None:
    ran: list[int] = []

    def work(brief: StepBrief) -> str:
        ran.append(1)
        return "it is red"

    other = verdicts(("is green", "not_met", "red"))
    result, model = run(
        [GREEN, APPROVED, NOT_GREEN, other, "no", "no", "no", "sum"], work, max_attempts=5
    )
    assert len(ran) == 2
    assert result["report"]["steps"][0]["status"] == "blocked"
    assert model.left == 0


def test_another_result_is_progress_and_tried_within_the_attempts() -> None:
    ran: list[int] = []

    def work(brief: StepBrief) -> str:
        ran.append(1)
        return f"it is red, try {len(ran)}"

    script = [GREEN, APPROVED, *[NOT_GREEN] * 4, "sum"]
    result, _ = run(script, work, max_attempts=4, max_replans=0)
    assert len(ran) == 4
    assert result["report"]["steps"][0]["attempts"] == 4


def test_another_file_is_progress_though_the_step_says_the_same(tmp_path: Path) -> None:
    step = {"name": "A", "expected_outputs": ["a.txt"], "success_criteria": ["is green"]}

    def work(brief: StepBrief) -> str:
        (tmp_path / "a.txt").write_text(f"it is red, try {brief.attempt}")
        return "Written."

    model = ScriptedModel([json.dumps({"steps": [step]}), APPROVED, *[NOT_GREEN] * 4, "sum"])
    graph = create_planning_graph(model, work, max_attempts=4, max_replans=0)
    context = RunContext(workspace=str(tmp_path))
    report = graph.invoke({"request": "x"}, context=context)["report"]
    assert report["steps"][0]["attempts"] == 4
    assert model.left == 0


def test_an_error_is_tried_as_often_as_allowed_though_it_is_the_same() -> None:
    report = run([plan_json("A"), APPROVED, "sum"], failing("A"), max_attempts=4, max_replans=0)[0]
    assert report["report"]["steps"][0]["attempts"] == 4


def test_a_plan_that_fails_in_the_same_way_again_is_not_planned_anew_for_ever() -> None:
    same = plan_json("A")
    result, _ = run(
        [same, APPROVED, *[same] * 9, "sum"], failing("A"), max_attempts=1, max_replans=9
    )
    assert result["report"]["replans"] == 1
    assert result["report"]["steps"][0]["status"] == "blocked"


def test_the_same_result_under_another_name_is_the_same_failure() -> None:
    """A new plan that only renames the step which came to nothing is not answered by a third."""
    renamed = plan_json("b", success_criteria=["is green"])
    script = [GREEN, APPROVED, NOT_GREEN, renamed, NOT_GREEN, "sum"]
    result, model = run(script, lambda _: "it is red", max_attempts=1, max_replans=5)
    assert result["report"]["replans"] == 1 and result["report"]["outcome"] == "failed"
    assert model.left == 0


def test_a_valid_empty_result_is_a_result_and_is_not_planned_anew_for_ever() -> None:
    listed = plan_json("a", success_criteria=["all errors are listed"])
    empty = verdicts(("all errors are listed", "not_met", "there is no list"))
    ran: list[int] = []

    def work(brief: StepBrief) -> Outcome:
        ran.append(1)
        return make_outcome("final_answer", "Looked.", success=True, answer="")

    result, _ = run([listed, APPROVED, empty, empty, "sum"], work, max_attempts=5, max_replans=5)
    assert len(ran) == 2  # the judge's word sends it back once
    report = result["report"]
    assert (report["outcome"], report["replans"]) == ("completed_unverified", 0)
    assert any("not met without showing it" in w for w in report["warnings"])


def test_the_stand_in_of_an_executor_makes_the_last_attempt() -> None:
    ran: list[str] = []

    def weak(brief: StepBrief) -> str:
        """Weak."""
        ran.append("weak")
        raise RuntimeError("too hard")

    def strong(brief: StepBrief) -> str:
        """Strong."""
        ran.append("strong")
        assert "too hard" in brief.prompt
        return "done"

    executors = {"weak": Executor(weak, stand_in="strong"), "strong": strong}
    result, _ = run([plan_json("[WEAK] a"), APPROVED, "sum"], executors, max_attempts=3)
    assert ran == ["weak", "weak", "strong"]
    (step,) = result["report"]["steps"]
    assert (step["status"], step["executor"]) == ("completed", "strong")
    assert "stands in" in step["routing"]
    with pytest.raises(WrongUse, match="'nobody', is no executor"):
        create_planning_graph(ScriptedModel(), {"weak": Executor(weak, stand_in="nobody")})


def test_c40_who_did_a_step_instead_of_whom_stands_in_its_record() -> None:
    result, _ = run([plan_json("[DEPLOY] ship"), APPROVED, "sum"], {"a": failing(), "b": failing()})
    (step,) = result["report"]["steps"]
    assert step["executor"] == "a"
    assert step["routing"] == "It asks for 'DEPLOY', which is none of a, b. a did it."


def test_an_agent_that_was_given_the_tool_aborts_the_whole_plan() -> None:
    worker = ScriptedModel([call("abort_plan", reason="The account is closed.")])
    agent = create_react_graph(worker, [abort_plan])
    result, _ = run([plan_json("A", "B"), APPROVED, "sum"], agent)
    report = result["report"]
    assert report["outcome"] == "cancelled"
    assert [s["status"] for s in report["steps"]] == ["blocked", "not_started"]
    assert any("s1 aborted the plan" in w and "account is closed" in w for w in report["warnings"])
    assert worker.left == 0


def test_a_function_aborts_the_plan_by_its_outcome_even_if_it_calls_itself_a_success() -> None:
    def work(brief: StepBrief) -> Outcome:
        return {**make_outcome("final_answer", "Enough.", success=True, answer="x"), "abort": True}

    report = run([plan_json("A", "B"), APPROVED, "sum"], work)[0]["report"]
    assert report["outcome"] == "cancelled"
    assert report["counts"]["completed"] == 0


def test_without_the_tool_no_model_aborts_a_plan() -> None:
    worker = ScriptedModel([call("abort_plan", reason="x"), "done"])
    result, _ = run([plan_json("A"), APPROVED, "sum"], create_react_graph(worker))
    assert result["report"]["counts"]["completed"] == 1


def test_a_blocked_step_that_a_new_plan_takes_up_again_is_open_again() -> None:
    steps = [{"name": "A"}, {"name": "B", "depends_on": ["s1"]}, {"name": "C"}]
    new = {"steps": [{"name": "A2"}, {"name": "B", "depends_on": ["A2"]}]}
    model = ScriptedModel([json.dumps(new), "sum"])
    graph = create_planning_graph(model, failing("A", "C"), max_attempts=1, max_replans=1)
    given: Any = {"request": "x", "plan": steps}
    plan: Plan = graph.invoke(given)["plan"]
    assert {s.name: s.status for s in plan.steps} == {"A2": "completed", "B": "completed"}


def test_another_error_at_the_same_step_is_another_failure() -> None:
    tries = iter(["no paint", "no brush"])

    def work(brief: StepBrief) -> str:
        raise RuntimeError(next(tries))

    script = [plan_json("A"), APPROVED, plan_json("A"), "no", "no", "no", "sum"]
    result, model = run(script, work, max_attempts=1, max_replans=2)
    assert result["report"]["replans"] == 2
    assert model.left == 0


def test_a_lone_attempt_is_made_by_the_executor_and_not_by_its_stand_in() -> None:
    executors = {"weak": Executor(failing(), stand_in="strong"), "strong": failing()}
    result, _ = run([plan_json("[WEAK] a"), APPROVED, "sum"], executors, max_attempts=1)
    assert [s["executor"] for s in result["report"]["steps"]] == ["weak"]


def test_a_second_run_on_the_thread_knows_nothing_of_the_failures_of_the_first() -> None:
    told = {"facts": {"given": ["red"]}, "root_cause": "No paint.", "steps": ["A"]}
    again = json.dumps({"steps": ["A"]})
    script = [plan_json("A"), APPROVED, json.dumps(told), "sum"]
    model = ScriptedModel([*script, plan_json("A"), APPROVED, again, "sum"])
    graph = create_planning_graph(
        model, failing("A"), max_attempts=1, max_replans=5, checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    first = runs.start("x", thread="t").values["report"]
    assert first["facts"] == {"given": ["red"]} and first["root_causes"] == ["No paint."]
    second = runs.start("x", thread="t").values["report"]
    assert first["replans"] == second["replans"] == 1
    assert "facts" not in second and "root_causes" not in second
    assert "red" not in model.requests[6].messages[-1].text
    assert model.left == 0


def test_an_attempt_that_died_with_its_process_is_not_one_of_the_attempts_allowed() -> None:
    class Died(BaseException):
        """The end of a process."""

    tries = iter([Died(), RuntimeError("no disk"), None])

    def work(brief: StepBrief) -> str:
        if error := next(tries):
            raise error
        return "did it"

    model = ScriptedModel([plan_json("A"), APPROVED, "sum"])
    runs = Runs(
        create_planning_graph(
            model, work, max_attempts=2, max_replans=0, checkpointer=open_saver("memory:")
        )
    )
    with pytest.raises(Died):
        runs.start("x", thread="t")
    (step,) = runs.resume("t").values["report"]["steps"]
    assert (step["status"], step["attempts"]) == ("completed", 3)


def test_a_step_began_with_its_first_attempt_and_costs_what_all_have_cost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = count(1_000)
    ticking = SimpleNamespace(time=lambda: next(clock))
    monkeypatch.setattr("planloop.nodes.start_step.time", ticking)
    agent = create_react_graph(ScriptedModel(["It is red.", "It is green."]))
    met = verdicts(("is green", "met", "is green"))
    result, _ = run([GREEN, APPROVED, NOT_GREEN, met, "sum"], agent)
    (step,) = result["plan"].steps
    assert (step.status, step.attempts, step.usage["steps"]) == ("completed", 2, 2)
    assert (step.started, step.began) == (1_000, 1_001)
    assert step.notes == ""  # what failed before is no word on what is done


def test_the_judge_is_not_shown_what_tools_gave_to_an_earlier_attempt() -> None:
    def look() -> str:
        """Look."""
        return "a red wall"

    agent = create_react_graph(ScriptedModel([call("look"), "It is red.", "It is green."]), [look])
    met = verdicts(("is green", "met", "is green"))
    result, model = run([GREEN, APPROVED, NOT_GREEN, met, "sum"], agent)
    first, second = (request.messages[-1].text for request in model.requests[2:4])
    assert "a red wall" in first and "a red wall" not in second
    assert result["plan"].steps[0].observations == ""


def test_a_step_that_depends_on_nothing_is_told_the_latest_results() -> None:
    prompts: list[str] = []

    def work(brief: StepBrief) -> str:
        prompts.append(brief.prompt)
        return f"gave {brief.step.name}"

    steps = [f"n{n}" for n in range(7)]
    given: Any = {"request": "x", "plan": [*steps, {"name": "last", "depends_on": ["n0"]}]}
    create_planning_graph(ScriptedModel(["sum"]), work).invoke(given)
    told = [[n for n in range(7) if f"gave n{n}" in prompt] for prompt in prompts]
    assert told == [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 3], [0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [0]]


def test_the_replanner_is_told_the_steps_that_wait_for_the_failed_one() -> None:
    steps = [{"name": "A"}, {"name": "B", "depends_on": ["s1"]}]
    model = ScriptedModel([plan_json("C"), "sum"])
    graph = create_planning_graph(model, failing("A"), max_attempts=1)
    given: Any = {"request": "x", "plan": steps}
    graph.invoke(given)
    assert "Steps that were still to come:\n[s2] B" in model.requests[0].messages[-1].text


def test_what_needs_a_blocked_step_by_way_of_others_is_blocked_too() -> None:
    names = ["A", "B", "C"]
    steps = [{"name": name, "depends_on": names[:n][-1:]} for n, name in enumerate(names)]
    model = ScriptedModel(["sum"])
    graph = create_planning_graph(model, failing("A"), max_attempts=1, max_replans=0)
    given: Any = {"request": "x", "plan": steps}
    told = [(s["status"], s["notes"]) for s in graph.invoke(given)["report"]["steps"][1:]]
    assert told == [
        ("blocked", "needs s1, which is blocked"),
        ("blocked", "needs s2, which is blocked"),
    ]
