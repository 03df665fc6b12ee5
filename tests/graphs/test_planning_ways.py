"""Both ways to a plan, and a plan that the caller gives: one set of rules for all."""

import json
from typing import Any

import pytest
from helpers import APPROVED, plan_json

from planloop import Executor, Runs, StepBrief, create_planning_graph, open_saver
from planloop.errors import PlanError
from planloop.testing import ScriptedModel, call

BROKEN: list[tuple[list[Any], str]] = [
    ([{"name": "A", "executor": "nobody"}], "steps[0].executor 'nobody' is unknown"),
    ([{"name": "A", "depends_on": ["z"]}], "steps[0].depends_on 'z' is unknown"),
    (
        [{"name": "A", "depends_on": ["B"]}, {"name": "B", "depends_on": ["A"]}],
        "depend on each other in a circle",
    ),
    ([{"id": "a", "name": "A"}, {"id": "a", "name": "B"}], "Two steps have the id 'a'"),
    ([f"n{n}" for n in range(6)], "6 steps, at most 5"),
]


def done(brief: StepBrief) -> str:
    """Does it."""
    return f"did {brief.step.name}"


def graph_of(model: ScriptedModel, planner: Any) -> Any:
    executors: Any = {"search": Executor(done, description="Looks things up."), "code": done}
    return create_planning_graph(
        model, executors, planner=planner, max_plan_steps=5, max_reflections=0
    )


def said(planner: str, steps: Any) -> Any:
    if planner == "tool":
        return call("planning", command="create", title="T", steps=steps)
    return json.dumps({"title": "T", "steps": steps})


@pytest.mark.parametrize("planner", ["reflect", "tool"])
@pytest.mark.parametrize(("steps", "rule"), BROKEN, ids=[rule for _, rule in BROKEN])
def test_a_plan_that_breaks_a_rule_is_asked_for_again_with_the_rule(
    planner: str, steps: list[Any], rule: str
) -> None:
    model = ScriptedModel([said(planner, steps), said(planner, ["[search] A"]), "sum"])
    report = graph_of(model, planner).invoke({"request": "x"})["report"]
    assert rule in model.requests[1].messages[-1].text
    assert report["plan_origin"] == "repaired"
    assert [s["executor"] for s in report["steps"]] == ["search"]
    assert model.left == 0


@pytest.mark.parametrize("planner", ["reflect", "tool"])
def test_an_executor_is_named_in_any_case(planner: str) -> None:
    model = ScriptedModel([said(planner, [{"name": "A", "executor": "SEARCH"}]), "sum"])
    report = graph_of(model, planner).invoke({"request": "x"})["report"]
    assert [s["executor"] for s in report["steps"]] == ["search"]
    assert report["plan_origin"] == "model"


@pytest.mark.parametrize("planner", ["reflect", "tool"])
def test_a_plan_that_is_never_right_gives_the_fallback(planner: str) -> None:
    steps, rule = BROKEN[0]
    model = ScriptedModel([*[said(planner, steps)] * 3, "sum"])
    report = graph_of(model, planner).invoke({"request": "x"})["report"]
    assert (report["plan_origin"], report["counts"]["total"]) == ("fallback", 3)
    assert any(rule in warning for warning in report["warnings"])
    assert model.left == 0


@pytest.mark.parametrize("planner", ["reflect", "tool"])
def test_the_planner_is_told_the_executors_with_their_descriptions(planner: str) -> None:
    model = ScriptedModel([said(planner, ["A"]), "sum"])
    graph_of(model, planner).invoke({"request": "x"})
    system = model.requests[0].messages[0].text
    assert "- search: Looks things up." in system and "- code: Does it." in system


@pytest.mark.parametrize(("steps", "rule"), BROKEN, ids=[rule for _, rule in BROKEN])
def test_a_plan_of_the_caller_is_held_against_the_same_rules(steps: list[Any], rule: str) -> None:
    graph = graph_of(ScriptedModel([]), "reflect")
    with pytest.raises(PlanError) as error:
        graph.invoke({"request": "x", "plan": {"steps": steps}})
    assert rule in str(error.value) or "two steps have the id" in str(error.value)


def test_c40_strict_tags_refuse_a_plan_of_the_caller_and_a_persons_edit() -> None:
    graph = create_planning_graph(
        ScriptedModel(["sum"]),
        {"search": done, "code": done},
        strict_tags=True,
        approve_plan=True,
        checkpointer=open_saver("memory:"),
    )
    runs = Runs(graph)
    with pytest.raises(PlanError, match="s1 names 'DEPLOY': use one of search, code"):
        runs.start({"request": "x", "plan": ["[DEPLOY] A"]}, thread="bad")
    runs.start({"request": "x", "plan": ["[SEARCH] A"]}, thread="t")
    view = runs.answer("t", {"action": "edit", "steps": ["[DEPLOY] A"]})
    assert "s2 names 'DEPLOY'" in view.pending[0].value["problem"]
    assert runs.answer("t", True).values["report"]["counts"]["completed"] == 1


def test_a_plan_of_the_caller_needs_no_planner() -> None:
    model = ScriptedModel(["sum"])
    given: Any = {"request": "x", "plan": [{"name": "A"}, {"name": "B", "depends_on": ["s1"]}]}
    result = graph_of(model, "reflect").invoke(given)
    assert result["report"]["plan_origin"] == "user"
    assert model.left == 0


def test_each_broken_call_of_a_turn_is_answered_before_the_model_is_asked_again() -> None:
    from helpers import valid

    from planloop.testing import calls

    bad = {"command": "create", "steps": [{"name": "A", "executor": "nobody"}]}
    two = calls(("planning", bad), ("other", {}))
    model = ScriptedModel([two, said("tool", ["A"]), "sum"])
    graph_of(model, "tool").invoke({"request": "x"})
    valid(model.requests[1].messages[2:])


def test_the_seeds_three_step_fallback() -> None:
    model = ScriptedModel(["I would rather talk about it.", "sum"])
    graph = create_planning_graph(model, done, planner="tool")
    request = "Summarise the sales of the last quarter for the board meeting"
    result = graph.invoke({"request": request})
    plan = result["plan"]
    assert plan.title == "Plan for: Summarise the sales of the last quarter for the bo…"
    assert [step.name for step in plan.steps] == [
        "Analyze the request", "Execute the task", "Verify the results",
    ]  # fmt: skip
    assert result["report"]["plan_origin"] == "fallback"
    assert len(model.requests) == 2  # a model that only talks is not asked for a plan again


def test_only_the_command_that_creates_makes_the_plan() -> None:
    other = call("planning", command="update", title="T", steps=["A"])
    report = graph_of(ScriptedModel([other, "sum"]), "tool").invoke({"request": "x"})["report"]
    assert report["plan_origin"] == "fallback"


def test_the_seeds_tag_goes_to_the_data_analysis_executor() -> None:
    steps = ["读取 CSV", "[DATA_ANALYSIS] 画趋势图", "写总结"]
    create = call("planning", command="create", title="分析销售数据", steps=steps)
    model = ScriptedModel([create, "sum"])
    graph = create_planning_graph(model, {"manus": done, "data_analysis": done}, planner="tool")
    drawn: list[str] = []
    result: Any = None
    for result in graph.stream({"request": "分析"}, stream_mode="values"):
        if result.get("phase") == "IN_PROGRESS" and result["active"] == ["s2"]:
            drawn = result["plan"].render().splitlines()
    assert [s["executor"] for s in result["report"]["steps"]] == ["manus", "data_analysis", "manus"]
    assert drawn[0] == f"Plan: 分析销售数据 (ID: {result['plan'].id})"
    assert drawn[2] == "Progress: 1/3 steps completed (33.3%)"
    assert drawn[-3:] == ["0. [✓] 读取 CSV", "1. [→] [DATA_ANALYSIS] 画趋势图", "2. [ ] 写总结"]


@pytest.mark.parametrize(("budget", "drafts", "reviews"), [(0, 1, 0), (1, 2, 1), (3, 4, 3)])
def test_ursas_basic_usage(budget: int, drafts: int, reviews: int) -> None:
    from planloop import create_planner_graph

    script = [plan_json("Collect", requires_code=True)]
    for _ in range(budget):
        script += ["Name the metric.", plan_json("Collect", "Compare")]
    model = ScriptedModel(script)
    agent = create_planner_graph(model, max_reflections=budget)
    state = agent.invoke({"request": "Design a workflow to compare two simulation outputs."})
    plan = state["plan"]
    printed = [(step.name, step.requires_code) for step in plan.steps]
    assert printed == [("Collect", True)] if budget == 0 else printed[0] == ("Collect", False)
    assert len(model.requests) == drafts + reviews
    assert state["approved"] is False
    approving = ScriptedModel([plan_json("Collect"), APPROVED])
    graph = create_planner_graph(approving, max_reflections=max(budget, 1))
    assert graph.invoke({"request": "x"})["approved"] is True


def test_the_planner_is_told_which_checks_a_criterion_may_name() -> None:
    from planloop.tools import command_check

    def balanced(given: Any) -> bool:
        """The books balance."""
        return True

    checks = {"balanced": balanced, "command": command_check("pytest")}
    model = ScriptedModel([plan_json("A"), "sum"])
    create_planning_graph(model, done, checks=checks, max_reflections=0).invoke({"request": "x"})
    system = model.requests[0].messages[0].text
    assert "- file: Check `file: poem.txt`" in system and "- regex: " in system
    assert "- balanced: The books balance." in system
    assert "- command: Check `command: pytest`: it exits with 0 (pytest)." in system
    model = ScriptedModel([plan_json("A"), "sum"])
    graph = create_planning_graph(model, done, verify=False, max_reflections=0)
    graph.invoke({"request": "x"})
    assert "file:" not in model.requests[0].messages[0].text


@pytest.mark.parametrize(
    ("given", "title"),
    [(["C"], "y"), ({"steps": ["C"]}, "y"), ({"title": "U", "steps": ["C"]}, "U")],
)
def test_a_plan_given_on_a_thread_has_nothing_of_the_earlier_one(given: Any, title: str) -> None:
    def work(brief: StepBrief) -> str:
        if brief.step.name == "B":
            raise RuntimeError("no")
        return "did it"

    config: Any = {"configurable": {"thread_id": "t"}}
    script = [plan_json("B2"), "sum", "sum"]
    graph = create_planning_graph(
        ScriptedModel(script), work, max_attempts=1, checkpointer=open_saver("memory:")
    )
    first: Any = {"request": "x", "plan": {"title": "T", "steps": ["A", "B"]}}
    assert [s["name"] for s in graph.invoke(first, config)["report"]["replaced"]] == ["B"]
    second: Any = {"request": "y", "plan": given}
    result = graph.invoke(second, config)
    plan, report = result["plan"], result["report"]
    assert (plan.title, plan.request, plan.version, plan.history) == (title, "y", 1, [])
    assert report["replaced"] == [] and [s["name"] for s in report["steps"]] == ["C"]


def test_the_rule_that_a_plan_broke_is_told_though_the_model_is_gone_then() -> None:
    steps, rule = BROKEN[0]
    model = ScriptedModel([said("tool", steps), RuntimeError("down"), "sum"])
    warnings = graph_of(model, "tool").invoke({"request": "x"})["report"]["warnings"]
    assert any(rule in warning for warning in warnings)
