"""Looking back at runs: moments, branches, what differs, and forgetting them."""

from pathlib import Path
from typing import Any

import pytest
from helpers import both_ways

from planloop import Runs, StepBrief, create_planning_graph, create_react_graph, open_saver
from planloop.errors import UnknownThread, WrongUse
from planloop.testing import ScriptedModel

PLAN = ["A", "B", "C"]


class Worker:
    """Says how often it was called."""

    def __init__(self) -> None:
        self.did: list[str] = []

    def __call__(self, brief: StepBrief) -> str:
        self.did.append(brief.step.name)
        return f"{brief.step.name} {len(self.did)}"


def finished(saver: Any = None) -> tuple[Runs, Worker]:
    worker = Worker()
    graph = create_planning_graph(
        ScriptedModel(repeat="sum"), worker, checkpointer=saver or open_saver("memory:")
    )
    runs = Runs(graph)
    runs.start({"request": "x", "plan": PLAN}, thread="t")
    return runs, worker


def before(runs: Runs, step: str, phase: str) -> int:
    found = [m for m in runs.history("t") if m.phase == phase and m.steps == (step,)]
    return found[0].number


@pytest.mark.parametrize("url", ["memory:", "sqlite"])
def test_the_history_lists_the_moments_by_phase_and_step(url: str, tmp_path: Path) -> None:
    with open_saver(url if url == "memory:" else f"sqlite:///{tmp_path / 'r.db'}") as saver:
        runs, _ = finished(saver)
        moments = runs.history("t")
        assert [m.number for m in moments] == [*range(1, len(moments) + 1)]
        assert [m.parent for m in moments[1:]] == [m.id for m in moments[:-1]]
        told = [(m.phase, m.steps) for m in moments]
        assert told[-1] == ("DONE", ()) and ("IN_PROGRESS", ("s2",)) in told
        assert told.index(("EXECUTOR_RUN", ("s1",))) < told.index(("STEP_SELECTED", ("s2",)))
        assert moments[0].at[:2] == "20" and moments[0].source == "input"
        entered = next(m for m in moments if m.phase == "IN_PROGRESS")
        assert entered.next == ("run_executor",) and moments[-1].next == ()


@both_ways
async def test_a_branch_goes_on_from_its_moment_and_leaves_the_other_as_it_was(
    awaited: bool,
) -> None:
    runs, worker = finished()
    last = runs.history("t")[-1]
    at = before(runs, "s2", "STEP_SELECTED")
    view = await runs.afork("t", at) if awaited else runs.fork("t", at)
    assert view.status == "interrupted"
    assert [s.status for s in view.values["plan"].steps] == ["completed", *["not_started"] * 2]
    view = runs.resume("t")
    assert worker.did == ["A", "B", "C", "B", "C"]
    assert [s.result for s in view.values["plan"].steps] == ["A 1", "B 4", "C 5"]
    assert runs.compare("t", last.id).splitlines() == [
        "s2 B: completed -> completed",
        "  - B 2",
        "  + B 4",
        "s3 C: completed -> completed",
        "  - C 3",
        "  + C 5",
    ]
    assert runs.compare("t", last.number, last.id) == "Nothing differs."
    assert [m.number for m in await runs.ahistory("t")][-1] > last.number


def test_a_branch_may_have_another_plan_where_no_step_is_in_work() -> None:
    runs, worker = finished()
    moments = runs.history("t")
    at = next(m.number for m in moments if m.phase == "COMPLETED")
    view = runs.fork("t", at, plan=["B", {"name": "D", "description": "d"}])
    assert [s.name for s in view.values["plan"].steps] == ["A", "B", "D"]
    assert view.values["plan"].history[-1]["reason"] == "changed in a branch"
    view = runs.resume("t")
    assert worker.did[3:] == ["B", "D"]
    assert view.values["report"]["outcome"] == "completed_unverified"
    assert "+ s4 D" in runs.compare("t", moments[-1].number)


def test_a_plan_is_not_changed_under_a_step_in_work_nor_to_nonsense() -> None:
    runs, _ = finished()
    with pytest.raises(WrongUse, match="here verify_step comes next"):
        runs.fork("t", before(runs, "s2", "EXECUTOR_RUN"), plan=["D"])
    at = next(m.number for m in runs.history("t") if m.phase == "COMPLETED")
    with pytest.raises(WrongUse, match="cannot be used"):
        runs.fork("t", at, plan=[{"name": "D", "depends_on": ["s9"]}])
    assert runs.status("t").status == "finished"


@pytest.mark.parametrize("odd", [0, 99, -1, "", "s2", "x" * 999])
def test_a_moment_that_is_none_is_refused_with_the_range(odd: Any) -> None:
    runs, _ = finished()
    with pytest.raises(WrongUse, match="has 1 to") as refused:
        runs.fork("t", odd)
    assert len(str(refused.value)) < 200


def test_what_has_no_plan_is_not_compared() -> None:
    graph = create_react_graph(ScriptedModel(["a"]), [], checkpointer=open_saver("memory:"))
    runs = Runs(graph)
    runs.start("x", thread="t")
    assert [m.phase for m in runs.history("t")] == [""] * len(runs.history("t"))
    with pytest.raises(WrongUse, match="no plan"):
        runs.compare("t", 1)


@pytest.mark.parametrize("url", ["memory:", "sqlite"])
@both_ways
async def test_a_deleted_run_is_gone_and_others_are_not(
    url: str, awaited: bool, tmp_path: Path
) -> None:
    with open_saver(url if url == "memory:" else f"sqlite:///{tmp_path / 'r.db'}") as saver:
        runs, _ = finished(saver)
        runs.start({"request": "y", "plan": ["A"]}, thread="u")
        await runs.adelete("t") if awaited else runs.delete("t")
        for verb in (runs.status, runs.history, runs.delete):
            with pytest.raises(UnknownThread):
                verb("t")
        assert [view.thread for view in runs.list()] == ["u"]
        assert runs.start({"request": "z", "plan": ["A"]}, thread="t").status == "finished"
