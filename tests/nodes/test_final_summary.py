"""The last node: the report beside the workspace, and the model's words held against it."""

import json
from pathlib import Path
from typing import Any

import pytest
from helpers import planner_of
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver

from planloop import Outcome, StepBrief, create_planning_graph
from planloop.state import Budget, RunContext, make_outcome
from planloop.testing import ScriptedModel


def half(brief: StepBrief) -> str | Outcome:
    """Fails at step B."""
    if brief.step.name == "B":
        return make_outcome("error", "no disk")
    return f"did {brief.step.name} \N{CHECK MARK}"


def run(prose: Any, workspace: Path | str | None = None, **options: Any) -> dict[str, Any]:
    """Do A and B with a model that sums up like this; the events are in `events`."""
    graph = create_planning_graph(
        ScriptedModel([prose]), half, max_attempts=1, max_replans=0, verify=False, **options
    )
    context = RunContext(workspace=str(workspace) if workspace else None)
    given: Any = {"request": "x", "plan": ["A", "B"]}
    events: list[dict[str, Any]] = []
    result: dict[str, Any] = {}
    for mode, part in graph.stream(given, stream_mode=["custom", "values"], context=context):
        if mode == "custom":
            events.append(part)  # type: ignore[arg-type]
        else:
            result = part  # type: ignore[assignment]
    return {**result, "events": events}


def files_of(result: dict[str, Any]) -> list[Path]:
    """The files that the last event names."""
    assert result["events"][-1]["phase"] == "DONE"
    return [Path(file) for file in result["events"][-1]["files"]]


def test_the_report_lies_beside_the_workspace_and_not_in_it(tmp_path: Path) -> None:
    workspace = tmp_path / "desk"
    workspace.mkdir()
    result = run("B failed.", workspace)
    stem = f"desk.{result['plan'].id}.report"
    assert files_of(result) == [tmp_path / f"{stem}.json", tmp_path / f"{stem}.md"]
    assert sorted(tmp_path.iterdir()) == [workspace, *files_of(result)]
    assert list(workspace.iterdir()) == []
    as_json, page = (file.read_bytes().decode() for file in files_of(result))
    assert json.loads(as_json) == result["report"]
    assert "did A \N{CHECK MARK}" in as_json
    assert page.startswith("# x\n\nPlan partly completed: 1 of 2 steps completed, 1 blocked.")
    assert "> B failed." in page


def test_the_folder_of_the_workspace_is_made_if_it_is_not_there(tmp_path: Path) -> None:
    assert all(file.is_file() for file in files_of(run("B failed.", tmp_path / "new" / "desk")))


def test_a_workspace_in_the_home_folder_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert {file.parent for file in files_of(run("B failed.", "~/desk"))} == {tmp_path / "home"}


class Twice:
    """A run that is done, and can be taken up again before its last node."""

    def __init__(self, workspace: Path) -> None:
        self.context = RunContext(workspace=str(workspace))
        self.graph = create_planning_graph(
            ScriptedModel(["first", "second"]), half, verify=False, checkpointer=InMemorySaver()
        )
        self.config: RunnableConfig = {"configurable": {"thread_id": "t"}}
        given: Any = {"request": "x", "plan": ["A"]}
        self.graph.invoke(given, self.config, context=self.context)
        self.files = sorted(workspace.parent.glob("*.report.*"))

    def again(self) -> dict[str, Any]:
        """Run the last node once more."""
        (before,) = [
            snapshot.config
            for snapshot in self.graph.get_state_history(self.config)
            if snapshot.next == ("final_summary",)
        ]
        return dict(self.graph.invoke(None, before, context=self.context))


def test_a_report_that_is_there_already_is_written_anew(tmp_path: Path) -> None:
    run = Twice(tmp_path / "desk")
    for file in run.files:
        file.write_text("half of")
    report = run.again()["report"]
    assert sorted(tmp_path.iterdir()) == run.files
    assert json.loads(run.files[0].read_text("utf-8")) == report
    assert "> second" in run.files[1].read_text("utf-8")


def test_a_report_that_cannot_be_written_leaves_nothing_half_done(tmp_path: Path) -> None:
    run = Twice(tmp_path / "desk")
    run.files[0].unlink()
    run.files[0].mkdir()
    warnings = run.again()["report"]["warnings"]
    assert any("not saved beside the workspace: Is a directory" in w for w in warnings)
    assert sorted(tmp_path.iterdir()) == run.files


def test_without_a_workspace_nothing_is_written() -> None:
    assert files_of(run("B failed.")) == []


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = run("B failed.", tmp_path / "file" / "desk")
    (warning,) = [w for w in result["report"]["warnings"] if "not saved" in w]
    assert warning.startswith("The report was not saved beside the workspace: ")
    assert warning in result["summary"]
    assert files_of(result) == []


def test_a_workspace_with_nothing_beside_it_is_a_warning() -> None:
    result = run("B failed.", "/")
    assert any("no folder beside" in w for w in result["report"]["warnings"])


def test_half_a_character_is_no_reason_to_save_nothing(tmp_path: Path) -> None:
    files = files_of(run("B failed \ud83d.", tmp_path / "desk"))
    assert "> B failed ?." in files[1].read_text("utf-8")


def test_a_plan_within_a_plan_saves_no_report_of_its_own(tmp_path: Path) -> None:
    inner = create_planning_graph(planner_of("C"), half, verify=False)
    outer = create_planning_graph(ScriptedModel(["B failed."]), inner, verify=False)
    given: Any = {"request": "x", "plan": ["A"]}
    result = outer.invoke(given, context=RunContext(workspace=str(tmp_path / "desk")))
    (saved,) = tmp_path.glob("*.json")
    report = json.loads(saved.read_text("utf-8"))
    assert report["steps"][0]["sub_plan"]["steps"][0]["name"] == "C"
    assert report == result["report"]


@pytest.mark.parametrize(
    "prose", ["It went well. All steps were completed!", "5 of 5 steps.", "任务已完成。"]
)
def test_c35_words_that_claim_too_much_are_left_out_and_the_report_says_so(
    prose: str, tmp_path: Path
) -> None:
    result = run(prose, tmp_path / "desk")
    sentence = prose.split(". ")[-1]
    (warning,) = [w for w in result["report"]["warnings"] if "summary was left out" in w]
    assert f'"{sentence}"' in warning
    assert "Summary by the model" not in result["summary"]
    assert warning in result["summary"]
    assert "Summary by the model" not in files_of(result)[1].read_text("utf-8")
    assert result["report"]["usage"]["steps"] == 1


def test_true_words_come_second() -> None:
    result = run("A is done; not everything could be finished, because B had no disk.")
    counts, words = result["summary"].split("\n\nSummary by the model:\n")
    assert counts.startswith("Plan partly completed: 1 of 2")
    assert words == "A is done; not everything could be finished, because B had no disk."


def test_endless_words_are_cut() -> None:
    summary = run("B failed. " * 10_000)["summary"]
    assert len(summary.split("Summary by the model:\n")[1]) == 4_000


def test_c62_without_words_the_counts_are_the_summary() -> None:
    result = run(RuntimeError("429"), budget=Budget())
    assert "1 of 2 steps completed" in result["summary"]
    assert any("No summary by the model" in w for w in result["report"]["warnings"])
