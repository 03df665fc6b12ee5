"""On an event loop nothing of ours waits for a file, a socket or a sleep."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from helpers import APPROVED, plan_json

from planloop import RunContext, Runs, create_planning_graph, create_react_graph, open_saver
from planloop.testing import ScriptedModel, call, calls
from planloop.tools import default_tools


@pytest.fixture
def watched() -> Iterator[BlockBuster]:
    with blockbuster_ctx() as watcher:
        yield watcher


def script() -> tuple[ScriptedModel, ScriptedModel]:
    planner = ScriptedModel([plan_json("a", expected_outputs=["a.txt"]), APPROVED, "sum"])
    work = calls(("write_file", {"path": "a.txt", "content": "hi"}), ("list_files", {"path": "."}))
    code = call("python", code="print(open('a.txt').read())")
    return planner, ScriptedModel([work, call("read_file", path="a.txt"), code, "done"])


async def test_a_whole_plan_with_files_and_code(watched: BlockBuster, tmp_path: Path) -> None:
    planner, worker = script()
    graph = create_planning_graph(planner, create_react_graph(worker, default_tools()))
    context = RunContext(workspace=str(tmp_path))
    result = await graph.ainvoke({"request": "write a.txt"}, context=context)
    assert result["report"]["outcome"] == "completed"


async def test_a_saved_run(watched: BlockBuster, tmp_path: Path) -> None:
    planner, worker = script()
    work = tmp_path / "work"
    watched.deactivate()  # opening and closing the file is the caller's business
    work.mkdir()
    with open_saver(f"sqlite:///{tmp_path / 'runs.db'}") as saver:
        react = create_react_graph(worker, default_tools())
        runs = Runs(create_planning_graph(planner, react, checkpointer=saver))
        watched.activate()
        view = await runs.astart("write a.txt", workspace=str(work))
        watched.deactivate()
    assert view.values["report"]["outcome"] == "completed"


async def test_a_model_is_loaded_off_the_loop(
    watched: BlockBuster, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    def load(name: str) -> ScriptedModel:
        time.sleep(0.001)  # as reading weights or asking a server does
        return ScriptedModel(["done"])

    monkeypatch.setattr("planloop.models.source.load_model", load)
    result = await create_react_graph("openai:any").ainvoke({"request": "x"})
    assert result["outcome"]["answer"] == "done"
