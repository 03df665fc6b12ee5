"""Calls with an effect: made once, their result kept, in doubt put to a person."""

import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from helpers import both_ways
from langchain_core.messages import AIMessage, ToolCall, ToolMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import interrupt

from planloop import Runs, create_planning_graph, create_react_graph, open_saver, tool_traits
from planloop.errors import AnswerError
from planloop.sqlite_saver import SqliteFileSaver
from planloop.testing import ScriptedModel, call, calls
from planloop.tools import Claim, idempotency_key


class Cut(KeyboardInterrupt):
    """The end of a run, not of the process."""


def named(name: str, id: str, **args: Any) -> AIMessage:
    """A call with this id."""
    made = ToolCall(name=name, args=args, id=id, type="tool_call")
    return AIMessage("", tool_calls=[made])


class World:
    """Counts what a tool does, and cuts its run off the first time."""

    def __init__(self, *, cut: bool = True, **traits: Any) -> None:
        self.keys, self.cut = list[str](), cut

        @tool_traits(**{"effect": "irreversible", **traits})
        @tool
        def send(to: str) -> str:
            """Send it."""
            self.keys.append(idempotency_key())
            if self.cut:
                self.cut = False
                raise Cut
            return f"Sent to {to}."

        self.tool: BaseTool = send


def cut_off(world: World, *more: Any, saver: Any = None) -> tuple[Runs, ScriptedModel]:
    """A run that ended in the middle of a call."""
    model = ScriptedModel([call("send", to="me"), *more, "done"])
    graph = create_react_graph(model, [world.tool], checkpointer=saver or open_saver("memory:"))
    runs = Runs(graph)
    with pytest.raises(Cut):
        runs.start("go", thread="t")
    return runs, model


def told(view: Any) -> list[tuple[str, str]]:
    return [(m.status, m.text) for m in view.values["messages"] if isinstance(m, ToolMessage)]


@pytest.mark.parametrize(
    ("answer", "made"), [("repeat", 2), (True, 2), ("skip", 1), (False, 1), ({"action": "skip"}, 1)]
)
@both_ways
async def test_a_call_that_was_cut_off_waits_for_a_person(
    answer: Any, made: int, awaited: bool
) -> None:
    world = World()
    runs, _ = cut_off(world)
    view = await runs.aresume("t") if awaited else runs.resume("t")
    assert len(world.keys) == 1
    asked = view.pending[0].value
    assert (asked["type"], asked["name"], asked["args"]) == ("call_in_doubt", "send", {"to": "me"})
    assert asked["effect"] == "irreversible" and asked["begun"][:2] == "20"
    assert runs.resume("t").pending  # never a silent repeat
    view = await runs.aanswer("t", answer) if awaited else runs.answer("t", answer)
    assert view.status == "finished" and len(world.keys) == made
    (result,) = told(view)
    assert result == ("success", "Sent to me.") if made == 2 else "does not want" in result[1]


@pytest.mark.parametrize("odd", ["perhaps", "", 0, [], {"x": 1}])
def test_an_answer_that_is_neither_is_asked_again_and_makes_no_call(odd: Any) -> None:
    world = World()
    runs, _ = cut_off(world)
    runs.resume("t")
    view = runs.answer("t", odd)
    assert "'repeat'" in view.pending[0].value["problem"] and len(world.keys) == 1
    assert runs.answer("t", "skip").status == "finished" and len(world.keys) == 1


def test_two_calls_of_one_turn_are_decided_each_by_itself() -> None:
    made, both = list[str](), threading.Barrier(2)

    @tool_traits(effect="irreversible", sequential=False)
    @tool
    def send(to: str) -> str:
        """Send it."""
        made.append(to)
        if len(made) < 3:
            both.wait(10)
            raise Cut
        return f"Sent to {to}."

    turn = calls(("send", {"to": "a"}), ("send", {"to": "b"}))
    model = ScriptedModel([turn, "done"])
    runs = Runs(create_react_graph(model, [send], checkpointer=open_saver("memory:")))
    with pytest.raises(Cut):
        runs.start("go", thread="t")
    made[:] = [*"ab"]
    asked = {item.value["args"]["to"]: item.id for item in runs.resume("t").pending}
    with pytest.raises(AnswerError, match="several questions"):
        runs.answer("t", "repeat")
    view = runs.answer("t", "skip", id=asked["a"])
    assert [item.id for item in view.pending] == [asked["b"]]
    view = runs.answer("t", "repeat", id=asked["b"])
    assert made == ["a", "b", "b"]
    assert [status for status, _ in told(view)] == ["error", "success"]


def test_a_tool_that_may_be_repeated_is_called_again_with_the_same_key() -> None:
    world = World(effect="write", on_replay="repeat")
    runs, _ = cut_off(world)
    assert told(runs.resume("t")) == [("success", "Sent to me.")]
    assert len(world.keys) == 2 and len(set(world.keys)) == 1 and world.keys[0].startswith("t:")


def test_a_tool_that_only_reads_is_called_again_unasked() -> None:
    world = World(effect="read")
    runs, _ = cut_off(world)
    assert told(runs.resume("t")) == [("success", "Sent to me.")]
    assert world.keys == ["", ""]


def test_without_a_ledger_the_call_is_made_again_with_the_same_key() -> None:
    world = World()
    runs, _ = cut_off(world, saver=InMemorySaver())
    assert told(runs.resume("t")) == [("success", "Sent to me.")]
    assert len(world.keys) == 2 and len(set(world.keys)) == 1


def test_a_call_that_was_made_but_not_saved_is_not_made_again() -> None:
    """The process dies between the ledger's note and the super-step's end."""
    world, saver = World(cut=False), open_saver("memory:")
    finish = saver.ledger.finish

    def dying(*args: Any) -> None:
        finish(*args)
        raise Cut

    saver.ledger.finish = dying  # type: ignore[method-assign,assignment]
    runs, _ = cut_off(world, saver=saver)
    saver.ledger.finish = finish  # type: ignore[method-assign]
    assert told(runs.resume("t")) == [("success", "Sent to me.")]
    assert len(world.keys) == 1


def test_a_tool_that_asks_first_is_not_in_doubt() -> None:
    sent = []

    @tool
    def send(to: str) -> str:
        """Ask, then send."""
        sent.append(f"{interrupt('Really?')} {to}")
        return "Sent."

    model = ScriptedModel([call("send", to="me"), "done"])
    runs = Runs(create_react_graph(model, [send], checkpointer=open_saver("memory:")))
    view = runs.start("go", thread="t")
    assert [item.value for item in view.pending] == ["Really?"]
    assert runs.answer("t", "yes").status == "finished" and sent == ["yes me"]


def test_the_same_call_in_a_later_run_is_another_call() -> None:
    world = World(cut=False)
    model = ScriptedModel([named("send", "c1", to="me"), "a", named("send", "c1", to="me"), "b"])
    runs = Runs(create_react_graph(model, [world.tool], checkpointer=open_saver("memory:")))
    runs.start("go", thread="t")
    runs.start("again", thread="t")
    assert len(set(world.keys)) == 2


def test_agents_in_tools_and_steps_of_plans_have_keys_of_their_own() -> None:
    world = World(cut=False)
    inner = create_react_graph(
        ScriptedModel(repeat=lambda ms: "did" if len(ms) > 2 else named("send", "c", to="me")),
        [world.tool],
    )

    @tool
    def delegate(task: str) -> str:
        """Hand a task on."""
        return str(inner.invoke({"request": task})["outcome"]["answer"])

    both = named("delegate", "d1", task="x"), named("delegate", "d2", task="x")
    model = ScriptedModel([*both, "done", *both, "done"])
    worker = create_react_graph(model, [delegate])
    runs = Runs(
        create_planning_graph(ScriptedModel(["sum"]), worker, checkpointer=open_saver("memory:"))
    )
    runs.start({"request": "x", "plan": ["A", "B"]}, thread="t")
    assert len(world.keys) == 4 and len(set(world.keys)) == 4
    assert [key.split(":")[2:] for key in world.keys] == [
        ["s1", "1", "d1", "c"],
        ["s1", "1", "d2", "c"],
        ["s2", "1", "d1", "c"],
        ["s2", "1", "d2", "c"],
    ]


def ledgers(tmp_path: Path) -> list[Any]:
    files = [SqliteFileSaver(tmp_path / "runs.db") for _ in range(4)]
    return [saver.ledger for saver in files]


def claimed(key: str, ledger: Any) -> Claim:
    claim: Claim = ledger.claim("t", key)
    return claim


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_of_many_claims_at_once_one_is_the_first(kind: str, tmp_path: Path) -> None:
    given = ledgers(tmp_path) if kind == "sqlite" else [open_saver("memory:").ledger] * 4
    for name in ("a", "b"):
        with ThreadPoolExecutor(4) as pool:
            states = [claim.state for claim in pool.map(partial(claimed, name), given)]
        assert sorted(states) == ["doubt", "doubt", "doubt", "new"]
    given[0].finish("a", ToolMessage("done", tool_call_id="c"))
    done = given[1].claim("t", "a")
    assert done.state == "done" and done.result is not None and done.result.text == "done"
    given[0].release("b")
    assert given[1].claim("t", "b").state == "new"
    given[0].claim("u", "c")
    given[0].forget("t")
    assert [given[1].claim("t", key).state for key in "abc"] == ["new", "new", "doubt"]


def test_deleting_a_thread_forgets_its_calls(tmp_path: Path) -> None:
    for saver in (open_saver("memory:"), open_saver(f"sqlite:///{tmp_path / 'runs.db'}")):
        saver.ledger.claim("t", "k")
        saver.delete_thread("t")
        assert saver.ledger.claim("t", "k").state == "new"
