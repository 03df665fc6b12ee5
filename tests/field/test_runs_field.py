"""Field cases of runs that are taken up again."""

from typing import Any

import pytest
from helpers import both_ways
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from planloop import Runs, create_planning_graph, create_react_graph, open_saver
from planloop.errors import GraphChanged, WrongUse
from planloop.testing import ScriptedModel, call
from planloop.tools import ask_human


def built(saver: Any, names: list[str], *turns: Any, **options: Any) -> Runs:
    agent = create_react_graph(ScriptedModel([*turns]), [ask_human])
    executors: Any = dict.fromkeys(names, agent)
    model = ScriptedModel(['{"questions": [{"question": "Which?"}]}', "sum"])
    graph = create_planning_graph(
        model, executors, default_executor=names[0], checkpointer=saver, **options
    )
    return Runs(graph)


@both_ways
async def test_c97_an_executor_that_is_gone_is_named_and_nothing_ends(awaited: bool) -> None:
    saver = open_saver("memory:")
    runs = built(saver, ["coder", "writer"], call("ask_human", question="?"))
    runs.start({"request": "x", "plan": ["A"]}, thread="t")
    later = built(saver, ["developer", "writer"], "done")
    for _ in range(2):
        with pytest.raises(GraphChanged, match="'coder'"):
            if awaited:
                await later.aanswer("t", "yes")
            else:
                later.resume("t")
    again = built(saver, ["coder", "writer"], "done")
    view = again.answer("t", "yes")
    assert [step.result for step in view.values["plan"].steps] == ["done"]


def test_c97_a_node_that_is_gone_is_named() -> None:
    saver = open_saver("memory:")
    runs = built(saver, ["a"], clarify=1)
    view = runs.start("x", thread="t")
    assert view.pending
    with pytest.raises(GraphChanged, match="'ask_person'"):
        built(saver, ["a"]).answer("t", "yes")
    with pytest.raises(GraphChanged, match="`fork`"):
        built(saver, ["a"]).start("y", thread="t")


async def test_c101_a_saver_for_the_other_mode_is_told_with_what_to_do() -> None:
    def runs(saver: Any) -> Runs:
        return Runs(create_react_graph(ScriptedModel(["a"]), [], checkpointer=saver))

    with SqliteSaver.from_conn_string(":memory:") as saver:
        with pytest.raises(WrongUse, match="SqliteSaver is no saver for async use: call"):
            await runs(saver).astart("x", thread="t")
        assert runs(saver).start("x", thread="t").status == "finished"
    async with AsyncSqliteSaver.from_conn_string(":memory:") as other:
        with pytest.raises(WrongUse, match="for sync use: await the verbs"):
            runs(other).start("x", thread="t")
        assert (await runs(other).astart("x", thread="t")).status == "finished"


def test_c97_an_executor_alone_may_be_renamed() -> None:
    saver = open_saver("memory:")
    built(saver, ["coder"], call("ask_human", question="?")).start(
        {"request": "x", "plan": ["A"]}, thread="t"
    )
    view = built(saver, ["developer"], "done").answer("t", "yes")
    assert view.values["report"]["outcome"] == "completed_unverified"
