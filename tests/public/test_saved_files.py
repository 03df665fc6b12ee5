"""The SQLite file of runs: small, also for files of other writers, and kept after errors."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.types import Command

from planloop import create_planning_graph, create_react_graph, open_saver, serde_for
from planloop.compressed import compressed
from planloop.errors import StoreError
from planloop.sqlite_saver import SqliteFileSaver
from planloop.testing import ScriptedModel

CONFIG: Any = {"configurable": {"thread_id": "t"}}
PLAN = ["Look", "Leap"]


def planning(saver: Any, *answers: str) -> Any:
    worker = create_react_graph(ScriptedModel([*answers]), [])
    return create_planning_graph(
        ScriptedModel(["Done."]), worker, approve_plan=True, checkpointer=saver
    )


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_thread_that_langgraphs_own_saver_began_goes_on(way: str, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    with SqliteSaver.from_conn_string(str(path)) as stock:
        stock.serde = serde_for()
        planning(stock).invoke({"request": "jump", "plan": PLAN}, CONFIG)
    with open_saver(f"sqlite:///{path}") as saver:
        graph = planning(saver, "I see it.", "I leapt.")
        accepted: Any = Command(resume="accept")
        if way == "sync":
            state = graph.invoke(accepted, CONFIG)
        else:
            state = await graph.ainvoke(accepted, CONFIG)
        assert [step.result for step in state["plan"].steps] == ["I see it.", "I leapt."]
        assert graph.get_state(CONFIG).values["phase"] == "DONE"


def test_a_long_state_is_packed_and_read_back(tmp_path: Path) -> None:
    long = "the same words again and again " * 4_000
    with open_saver(f"sqlite:///{tmp_path / 'runs.db'}") as saver:
        graph: Any = create_react_graph(ScriptedModel(["Short."]), [], checkpointer=saver)
        graph.invoke({"messages": [("user", long)]}, CONFIG)
        assert graph.get_state(CONFIG).values["messages"][0].text == long
    with sqlite3.connect(tmp_path / "runs.db") as file:
        stored = file.execute("SELECT SUM(LENGTH(value)) FROM writes").fetchone()[0]
    assert stored < len(long) / 10


def test_packed_and_plain_values_of_any_size_are_read_back(tmp_path: Path) -> None:
    plain = JsonPlusSerializer()
    serde = compressed(plain)
    for size in (0, 1, 149, 150, 5_000, 16_383, 16_384, 400_000):
        value = {"text": "ab" * (size // 2), "raw": bytes(range(256)) * (size // 256)}
        assert serde.loads_typed(serde.dumps_typed(value)) == value
        assert serde.loads_typed(plain.dumps_typed(value)) == value


def test_a_failed_write_leaves_later_ones_as_safe_as_before(tmp_path: Path) -> None:
    with SqliteFileSaver(tmp_path / "runs.db") as saver:
        saver.conn.execute("ALTER TABLE writes RENAME TO moved")
        place: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": "", "checkpoint_id": "1"}}
        with pytest.raises(StoreError):
            saver.put_writes(place, [("messages", "x")], "task")
        assert saver.conn.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL
