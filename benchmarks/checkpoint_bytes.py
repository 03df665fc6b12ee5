"""How many bytes of SQLite a run costs.

`messages`: one message of 500 characters per super-step, `durability="sync"`, through planloop's
`Messages` channel and through LangGraph's `add_messages`. Goals for `Messages`: below 1,000,000
bytes at 200 messages, and below 2.5 times that at 400.

`plan`: a planning graph with a trivial function as executor and a plan that is given, bytes per
step. Goal: about the same at 200 steps as at 50.

Every figure is the size of the database file in bytes, after its write-ahead log was folded in.

    python benchmarks/checkpoint_bytes.py
"""

import json
import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from langchain_core.messages import AIMessage, AnyMessage
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from typing_extensions import TypedDict

from planloop import StepBrief, create_planning_graph, open_saver
from planloop.state import Messages
from planloop.testing import ScriptedModel


class Ours(TypedDict):
    """A log on planloop's channel."""

    messages: Messages
    turn: int


class Theirs(TypedDict):
    """A log on LangGraph's reducer."""

    messages: Annotated[list[AnyMessage], add_messages]
    turn: int


def size_of(run: Callable[[Any], object]) -> int:
    """Bytes of the file after `run(saver)`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with open_saver(f"sqlite:///{path}") as saver:
            run(saver)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.stat().st_size


def log_bytes(schema: Any, count: int) -> int:
    """Bytes of `count` messages, one per super-step."""

    def say(state: Any) -> dict[str, Any]:
        text = f"{state['turn']:05}".ljust(500, "x")
        return {"messages": [AIMessage(text)], "turn": state["turn"] + 1}

    def after_say(state: Any) -> str:
        return "say" if state["turn"] < count else "__end__"

    builder: StateGraph[Any, Any, Any, Any] = StateGraph(schema)
    builder.add_node("say", say).add_edge(START, "say")
    builder.add_conditional_edges("say", after_say, ["say", "__end__"])

    def run(saver: Any) -> None:
        graph = builder.compile(checkpointer=saver)
        config: Any = {"configurable": {"thread_id": "log"}, "recursion_limit": count + 10}
        graph.invoke({"messages": [], "turn": 0}, config, durability="sync")

    return size_of(run)


def plan_bytes(count: int) -> int:
    """Bytes of a plan of `count` trivial steps."""

    def work(brief: StepBrief) -> str:
        return f"done {brief['step'].id}"

    def run(saver: Any) -> None:
        model = ScriptedModel(repeat="Done.")
        graph = create_planning_graph(
            model, work, verify=False, max_plan_steps=count, checkpointer=saver
        )
        given: Any = {"request": "Count.", "plan": [f"Step {n}" for n in range(count)]}
        config: Any = {"configurable": {"thread_id": "plan"}, "recursion_limit": 10 * count + 50}
        ended = graph.invoke(given, config, durability="sync")
        assert ended["plan"].counts()["completed"] == count, ended["summary"]

    return size_of(run)


if __name__ == "__main__":
    logs = {
        name: {n: log_bytes(schema, n) for n in (200, 400)}
        for name, schema in (("Messages", Ours), ("add_messages", Theirs))
    }
    growth: dict[str, Any] = {
        f"{name} 400/200": round(found[400] / found[200], 2) for name, found in logs.items()
    }
    steps = {n: round(plan_bytes(n) / n) for n in (50, 200)}
    print(
        json.dumps(
            {
                "messages": {**logs, **growth},
                "plan_bytes_per_step": {**steps, "200/50": round(steps[200] / steps[50], 2)},
            },
            indent=2,
        )
    )
