"""Old moments are deleted, and nothing that a run still needs."""

from pathlib import Path
from typing import Any

import pytest
from helpers import both_ways
from langgraph.checkpoint.memory import InMemorySaver

from planloop import Runs, create_planning_graph, create_react_graph, open_saver
from planloop.errors import WrongUse
from planloop.sqlite_saver import SqliteFileSaver
from planloop.testing import ScriptedModel, call
from planloop.tools import ask_human

SAVERS = pytest.mark.parametrize("kind", ["memory", "sqlite"])


def saver_of(kind: str, folder: Path) -> Any:
    return open_saver("memory:" if kind == "memory" else f"sqlite:///{folder / 'runs.db'}")


def runs_over(saver: Any, *turns: Any) -> Runs:
    worker = create_react_graph(ScriptedModel([*turns]), [ask_human])
    return Runs(create_planning_graph(ScriptedModel(repeat="sum"), worker, checkpointer=saver))


def place(moment: str) -> Any:
    return {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": moment}}


def seen(runs: Runs, moment: str) -> Any:
    """All that a moment holds."""
    snapshot = runs.graph.get_state(place(moment))
    return snapshot.values, snapshot.next, [task.interrupts for task in snapshot.tasks]


@SAVERS
@pytest.mark.parametrize("keep", [1, 2, 5, 9, 99])
def test_what_is_kept_is_as_it_was(kind: str, keep: int, tmp_path: Path) -> None:
    with saver_of(kind, tmp_path) as saver:
        runs = runs_over(saver, "one", "two", call("ask_human", question="?"))
        runs.start({"request": "x", "plan": ["A", "B", "C"]}, thread="t")
        moments = runs.history("t")
        before = {m.id: seen(runs, m.id) for m in moments[-keep:]}
        assert runs.prune(keep) == max(len(moments) - keep, 0)
        left = runs.history("t")
        assert [m.id for m in left] == [*before]
        for moment in left:
            assert seen(runs, moment.id) == before[moment.id]
        assert runs.prune(keep) == 0


@SAVERS
@both_ways
async def test_a_waiting_run_is_answered_and_followed_up_after_all(
    kind: str, awaited: bool, tmp_path: Path
) -> None:
    with saver_of(kind, tmp_path) as saver:
        runs = runs_over(saver, "one", call("ask_human", question="?"))
        runs.start({"request": "x", "plan": ["A", "B"]}, thread="t")
        await runs.aprune() if awaited else runs.prune()
    if kind == "sqlite":  # in another process it is read anew
        saver = saver_of(kind, tmp_path)
    with saver:
        runs = runs_over(saver, "two", "three")
        view = await runs.aanswer("t", "yes") if awaited else runs.answer("t", "yes")
        assert [step.result for step in view.values["plan"].steps] == ["one", "two"]
        assert view.values["report"]["usage"]["tool_calls"] == 1
        runs.prune()
        view = runs.start({"request": "y", "plan": ["C"]}, thread="t")
        assert view.values["plan"].steps[0].result == "three"
        told = [m.text.splitlines()[2] for m in view.values["messages"]]
        assert [line.split(" (")[0] for line in told] == ["Plan: x", "Plan: y"]


def test_branches_left_behind_and_graphs_within_that_have_ended_go(tmp_path: Path) -> None:
    saver = SqliteFileSaver(tmp_path / "runs.db")
    with saver:
        runs = runs_over(saver, *"abcd")
        runs.start({"request": "x", "plan": ["A", "B"]}, thread="t")
        runs.fork("t", 9)
        runs.resume("t")
        view = runs.status("t")
        count = "SELECT COUNT(*), SUM(checkpoint_ns != '') FROM {}"
        before = saver.conn.execute(count.format("checkpoints")).fetchone()
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        size = (tmp_path / "runs.db").stat().st_size
        assert before[1] > 10
        assert runs.prune(3) > 0
        assert saver.conn.execute(count.format("checkpoints")).fetchone() == (3, 0)
        assert saver.conn.execute(count.format("writes")).fetchone()[1] in (0, None)
        assert runs.status("t").values == view.values
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert (tmp_path / "runs.db").stat().st_size < size


def test_what_cannot_be_pruned_is_said() -> None:
    runs = runs_over(open_saver("memory:"), "one")
    runs.start({"request": "x", "plan": ["A"]}, thread="t")
    with pytest.raises(WrongUse, match="At least one"):
        runs.prune(0)
    foreign = runs_over(InMemorySaver(), "one")
    foreign.start({"request": "x", "plan": ["A"]}, thread="t")
    with pytest.raises(WrongUse, match="open_saver"):
        foreign.prune()
