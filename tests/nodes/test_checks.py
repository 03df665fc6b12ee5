"""Declared output files are looked at, not believed."""

from pathlib import Path

from helpers import APPROVED, plan_json

from planloop import RunContext, StepBrief, create_planning_graph
from planloop.testing import ScriptedModel


def test_a_step_whose_file_is_missing_is_sent_back(tmp_path: Path) -> None:
    attempts: list[str] = []

    def writer(brief: StepBrief) -> str:
        attempts.append(brief["prompt"])
        if len(attempts) == 2:
            (tmp_path / "poem.txt").write_text("rivers")
        return "I wrote poem.txt."

    model = ScriptedModel([plan_json("a", expected_outputs=["poem.txt", "joy"]), APPROVED, "sum"])
    graph = create_planning_graph(model, writer)
    result = graph.invoke({"request": "x"}, context=RunContext(workspace=str(tmp_path)))
    assert len(attempts) == 2
    assert "poem.txt is missing or empty" in attempts[1]
    assert result["report"]["outcome"] == "completed"
    assert result["plan"].steps[0].verdicts[0]["evidence"] == "poem.txt: 6 bytes"


def test_prose_about_files_is_no_file(tmp_path: Path) -> None:
    prose = ["A file named poem.txt", "Report saved in report.md", "uses Python 3.x", "v1.0"]
    text = plan_json("a", expected_outputs=prose)
    graph = create_planning_graph(ScriptedModel([text, APPROVED, "sum"]), lambda brief: "ok")
    result = graph.invoke({"request": "x"}, context=RunContext(workspace=str(tmp_path)))
    assert result["report"]["outcome"] == "completed_unverified"
    assert result["plan"].steps[0].verdicts == []


def test_a_file_outside_the_workspace_shows_nothing(tmp_path: Path) -> None:
    (tmp_path / "out.txt").write_text("x")
    inside = tmp_path / "ws"
    inside.mkdir()
    text = plan_json("a", expected_outputs=["../out.txt"])
    graph = create_planning_graph(ScriptedModel([text, APPROVED, "sum"]), lambda brief: "ok")
    result = graph.invoke({"request": "x"}, context=RunContext(workspace=str(inside)))
    assert result["report"]["outcome"] == "completed_unverified"


def test_without_a_workspace_nothing_is_looked_at() -> None:
    text = plan_json("a", expected_outputs=["poem.txt"])
    graph = create_planning_graph(ScriptedModel([text, APPROVED, "sum"]), lambda brief: "ok")
    report = graph.invoke({"request": "x"})["report"]
    assert report["outcome"] == "completed_unverified"
    assert report["steps"][0]["attempts"] == 1


def test_a_file_that_the_request_names_and_nobody_wrote_is_reported(tmp_path: Path) -> None:
    (tmp_path / "there.csv").write_text("1")
    request = "Read there.csv, see example.com e.g. https://a.b/c.txt, write out/poem.txt"
    graph = create_planning_graph(
        ScriptedModel([plan_json("a"), APPROVED, "sum"]), lambda brief: "I wrote it."
    )
    context = RunContext(workspace=str(tmp_path))
    warnings = graph.invoke({"request": request}, context=context)["report"]["warnings"]
    assert "Named in the request, not in the workspace: out/poem.txt." in warnings
