"""Runs and savers: verbs that check, files that are shared, errors that say what to do."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from helpers import plan_json, planner_of
from langgraph.checkpoint.memory import InMemorySaver

from planloop import Runs, StepBrief, create_planning_graph, create_react_graph, open_saver
from planloop.errors import (
    EmptyRequest,
    FinishedThread,
    StoreError,
    ThreadBusy,
    UnfinishedThread,
    UnknownThread,
    WrongUse,
)
from planloop.testing import ScriptedModel, call
from planloop.tools import ask_human, default_tools


def done(brief: StepBrief) -> str:
    return "ok"


def asking(saver: Any) -> Runs:
    return Runs(
        create_react_graph(
            ScriptedModel([call("ask_human", question="?"), "done"]),
            [ask_human],
            checkpointer=saver,
        )
    )


def test_start_on_an_unfinished_thread_is_refused() -> None:
    runs = asking(open_saver("memory:"))
    runs.start("x", thread="t")
    with pytest.raises(UnfinishedThread, match="planloop resume t"):
        runs.start("y", thread="t")
    assert runs.pending("t")[0].value["question"] == "?"


def test_an_empty_request_leaves_no_thread_behind() -> None:
    runs = asking(open_saver("memory:"))
    with pytest.raises(EmptyRequest):
        runs.start("  ", thread="t")
    assert runs.list() == []


def test_c102_a_thread_is_driven_by_one_at_a_time() -> None:
    refused: list[str] = []

    def worker(brief: StepBrief) -> str:
        with pytest.raises(ThreadBusy) as busy:
            runs.resume("t")
        refused.append(str(busy.value))
        return "ok"

    model = ScriptedModel([plan_json("A"), "sum"])
    saver = open_saver("memory:")
    runs = Runs(create_planning_graph(model, worker, max_reflections=0, checkpointer=saver))
    assert runs.start("x", thread="t").status == "finished"
    assert len(refused) == 1 and "'t'" in refused[0]


async def test_langgraphs_async_saver_serves_awaited_runs(tmp_path: Path) -> None:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "runs.db")) as saver:
        runs = asking(saver)
        await runs.astart("x", thread="t")
        assert (await runs.aanswer("t", "yes")).status == "finished"


def test_resume_knows_waiting_finished_and_unknown_threads() -> None:
    runs = asking(open_saver("memory:"))
    runs.start("x", thread="t")
    assert runs.resume("t").status == "waiting"
    runs.answer("t", "yes")
    with pytest.raises(FinishedThread):
        runs.resume("t")
    with pytest.raises(UnknownThread):
        runs.resume("nobody")


def test_threads_have_ids_of_their_own_and_are_listed_newest_first() -> None:
    graph = create_planning_graph(
        ScriptedModel(repeat=plan_json("A")), done, checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    views = [runs.start(f"request {n}") for n in range(3)]
    assert [v.thread for v in runs.list()] == [v.thread for v in reversed(views)]
    assert runs.list()[0].values["plan"].request == "request 2"


def test_a_finished_thread_takes_a_new_request() -> None:
    model = ScriptedModel([plan_json("A"), "1", plan_json("B"), "2"])
    graph = create_planning_graph(
        model, done, max_reflections=0, checkpointer=open_saver("memory:")
    )
    runs = Runs(graph)
    runs.start("one", thread="t")
    view = runs.start("two", thread="t")
    assert [s.name for s in view.values["plan"].steps] == ["B"]


def test_a_graph_without_a_saver_has_no_runs() -> None:
    with pytest.raises(WrongUse, match="open_saver"):
        Runs(create_react_graph(ScriptedModel()))


def test_workspace_and_notes_go_with_the_run(tmp_path: Path) -> None:
    asks, writes = call("ask_human", question="?"), call("write_file", path="a.txt", content="hi")
    script: list[Any] = [asks, writes, "d"]
    url = f"sqlite:///{tmp_path / 'deep' / 'runs.db'}"
    work = tmp_path / "work"
    work.mkdir()
    with open_saver(url) as saver:
        graph = create_react_graph(ScriptedModel(script), default_tools(), checkpointer=saver)
        Runs(graph).start("x", thread="t", workspace=str(work), notes={"model": "scripted"})
    with open_saver(url) as saver:
        graph = create_react_graph(ScriptedModel(script[1:]), default_tools(), checkpointer=saver)
        view = Runs(graph).answer("t", "go on")
    assert (work / "a.txt").read_text() == "hi"
    assert (view.workspace, view.notes) == (str(work), {"model": "scripted"})


async def test_the_same_saver_serves_awaited_runs(tmp_path: Path) -> None:
    async with open_saver(f"sqlite:///{tmp_path / 'runs.db'}") as saver:
        runs = asking(saver)
        view = await runs.astart("x", thread="t")
        assert view.status == "waiting"
        assert (await runs.aanswer("t", False)).status == "finished"
        assert runs.list()[0].thread == "t"


def test_foreign_savers_are_listed_too() -> None:
    runs = asking(InMemorySaver())
    runs.start("x", thread="t")
    assert [v.thread for v in runs.list()] == ["t"]


@pytest.mark.parametrize("url", ["", "runs.db", "sqlite:///", "postgres://x", "mysql://x"])
def test_other_urls_are_refused_with_the_forms_there_are(url: str) -> None:
    with pytest.raises(WrongUse, match="sqlite:///FILE or memory:"):
        open_saver(url)


def test_c136_a_closed_saver_says_so(tmp_path: Path) -> None:
    with open_saver(f"sqlite:///{tmp_path / 'runs.db'}") as saver:
        runs = asking(saver)
    with pytest.raises(StoreError, match="was closed"):
        runs.start("x")


def test_a_damaged_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"this is no database, " * 100)
    with pytest.raises(StoreError, match="damaged or no database"):
        open_saver(f"sqlite:///{bad}")
    with pytest.raises(StoreError, match="cannot be opened"):
        open_saver(f"sqlite:///{tmp_path}")


def test_c101_a_locked_file_is_reported_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planloop.sqlite_saver.BUSY_SECONDS", 0.05)
    path = tmp_path / "runs.db"
    with open_saver(f"sqlite:///{path}") as saver:
        runs = asking(saver)
        runs.start("x", thread="t")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreError, match="locked"):
            runs.answer("t", "yes")
        other.execute("ROLLBACK")
        other.close()
        assert runs.resume("t").status in ("waiting", "finished")


def test_200_messages_cost_less_than_a_megabyte_and_grow_in_a_line(tmp_path: Path) -> None:
    from langgraph.graph import END, START, StateGraph
    from typing_extensions import TypedDict

    from planloop.state import Messages

    class Log(TypedDict):
        messages: Messages
        left: int

    def say(state: Log) -> dict[str, Any]:
        return {"messages": [("ai", f"{state['left']:03}" + "x" * 497)], "left": state["left"] - 1}

    def size(count: int) -> int:
        path = tmp_path / f"{count}.db"
        with open_saver(f"sqlite:///{path}") as saver:
            graph = (
                StateGraph(Log)
                .add_node("say", say)
                .add_edge(START, "say")
                .add_conditional_edges("say", lambda s: "say" if s["left"] else END, ["say", END])
                .compile(checkpointer=saver)
            )
            config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 1000}
            graph.invoke({"messages": [], "left": count}, config, durability="sync")
            assert len(graph.get_state(config).values["messages"]) == count
        return path.stat().st_size

    small, large = size(200), size(400)
    assert small < 1_000_000
    assert large < 2.5 * small


def test_a_200_step_plan_costs_the_same_bytes_a_step_as_a_50_step_plan(tmp_path: Path) -> None:
    def bytes_a_step(count: int) -> float:
        path = tmp_path / f"{count}.db"
        with open_saver(f"sqlite:///{path}") as saver:
            graph = create_planning_graph(
                ScriptedModel(["sum"]), done, max_plan_steps=count, checkpointer=saver
            )
            request = {"request": "x", "plan": [f"step {n}" for n in range(count)]}
            Runs(graph).start(request)
        return path.stat().st_size / count

    assert bytes_a_step(200) < 1.25 * bytes_a_step(50)


def test_planner_of_is_used_up() -> None:
    model = planner_of("A")
    create_planning_graph(model, done).invoke({"request": "x"})
    assert model.left == 0
