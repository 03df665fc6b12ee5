"""What a turn of the ReAct loop costs beside the model and the tool, against three other loops.

`ours` is `create_react_graph` with every feature on and a budget that is counted and never met;
`usual` the two-node graph of LangGraph's tutorials (`add_messages`, `ToolNode`,
`tools_condition`); then LangChain's `create_agent` and deepagents' `create_deep_agent`. All ask
the same model, which answers at once, and call the same tool, which returns 100 characters. On
SQLite all use the saver of `planloop.open_saver`, so that they share its settings.

CPU milliseconds of the process (all threads) per model call, the minimum over rounds in which the
loops take turns in changing order; each graph has answered one request before, as graphs are built
once and used for many runs. `calls` are function calls a turn on all threads, free of noise.
Compare ratios, never times of different runs.

    python benchmarks/react_overhead.py [--quick] [rounds]
"""

import argparse
import asyncio
import json
import math
import random
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from planloop import Budget, create_react_graph, open_saver

MANY = 10**9
WARM_UP = "warm up"


def look(at: str) -> str:
    """Look at something."""
    return f"{at}: ".ljust(100, "x")


async def alook(at: str) -> str:
    """Look at something."""
    return look(at)


TOOL = StructuredTool.from_function(func=look, coroutine=alook, name="look")


class InstantModel(BaseChatModel):
    """Calls `look` until it has been told `turns` results; every call looks at something else."""

    turns: int

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        if last.content == WARM_UP:
            return ChatResult(generations=[ChatGeneration(message=AIMessage("Seen."))])
        seen = int(str(last.content).split(":")[0]) if isinstance(last, ToolMessage) else 0
        if seen < self.turns:
            call = {"name": "look", "args": {"at": str(seen + 1)}, "id": f"c{seen + 1}"}
            reply = AIMessage("", tool_calls=[{**call, "type": "tool_call"}])
        else:
            reply = AIMessage("Seen.")
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(item) for item in tools])


class Chat(TypedDict):  # the usual state
    messages: Annotated[list[AnyMessage], add_messages]


def ours(turns: int, saver: Any) -> Any:
    """planloop's loop."""
    budget = Budget(
        steps=MANY, tool_calls=MANY, input_tokens=MANY, output_tokens=MANY, seconds=MANY
    )
    return create_react_graph(InstantModel(turns=turns), [TOOL], budget=budget, checkpointer=saver)


def usual(turns: int, saver: Any) -> Any:
    """The two-node graph that everybody writes first."""
    model = InstantModel(turns=turns).bind_tools([TOOL])

    def think(state: Chat) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def athink(state: Chat) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder: Any = StateGraph(Chat)
    builder.add_node("think", RunnableLambda(think, athink)).add_node("tools", ToolNode([TOOL]))
    builder.add_edge(START, "think").add_edge("tools", "think")
    builder.add_conditional_edges("think", tools_condition)
    return builder.compile(checkpointer=saver)


def langchain_agent(turns: int, saver: Any) -> Any:
    """LangChain's agent."""
    return create_agent(InstantModel(turns=turns), [TOOL], checkpointer=saver)


def deep_agent(turns: int, saver: Any) -> Any:
    """deepagents' agent, with the middleware that it brings."""
    return create_deep_agent(model=InstantModel(turns=turns), tools=[TOOL], checkpointer=saver)


LOOPS = (usual, ours, langchain_agent, deep_agent)
Build = Callable[[int, Any], Any]


def run(graph: Any, turns: int, *, awaited: bool, request: str = "look around") -> None:
    """One run from the first request to the answer."""
    config = {"configurable": {"thread_id": request}, "recursion_limit": 20 * turns + 100}
    given = {"messages": [("user", request)]}

    async def answer() -> str:  # only a text leaves: `asyncio.run` makes a `repr` of what does
        return str((await graph.ainvoke(given, config))["messages"][-1].text)

    said = asyncio.run(answer()) if awaited else graph.invoke(given, config)["messages"][-1].text
    assert said == "Seen."


@contextmanager
def saver_of(store: str) -> Iterator[Any]:
    """A fresh saver, so that no run grows on another's rows."""
    if store != "sqlite":
        yield InMemorySaver() if store == "memory" else None
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        open_saver(f"sqlite:///{Path(folder) / 'runs.db'}") as saver,
    ):
        yield saver


def cpu_ms(build: Build, turns: int, store: str, *, awaited: bool) -> float:
    """CPU milliseconds of the process per model call."""
    with saver_of(store) as saver:
        graph = build(turns, saver)
        run(graph, 1, awaited=awaited, request=WARM_UP)  # what is made once is made now
        start = time.process_time()
        run(graph, turns, awaited=awaited)
        return 1000 * (time.process_time() - start) / (turns + 1)


def measure(rounds: int, *, quick: bool) -> dict[str, dict[str, float]]:
    """Every case once a round, the loops in changing order."""
    shuffled = random.Random(1)
    found: dict[str, dict[str, float]] = {}
    sizes = (10, 100) if quick else (10, 100, 500)
    for turns, store, awaited in product(sizes, ("none", "memory", "sqlite"), (False, True)):
        case = found.setdefault(f"{turns} turns, {store}, {'async' if awaited else 'sync'}", {})
        loops = [b for b in LOOPS if not (quick and store == "sqlite" and b is deep_agent)]
        for number in range(max(rounds // 3, 1) if turns == 500 else rounds):
            shuffled.shuffle(loops)
            for build in loops:
                if build is deep_agent and number >= (1 if turns == 500 else 2):
                    continue
                spent = cpu_ms(build, turns, store, awaited=awaited)
                case[build.__name__] = round(min(spent, case.get(build.__name__, spent)), 3)
        case["ours/usual"] = round(case["ours"] / case["usual"], 3)
        for other in ("langchain_agent", "deep_agent"):
            if other in case:
                case[f"{other}/ours"] = round(case[other] / case["ours"], 2)
    return found


def calls_a_turn(build: Build, *, awaited: bool) -> int:
    """Function calls a turn on all threads, Python's and C's; what a run costs once is left out."""

    def counted(turns: int) -> int:
        graph, count = build(turns, None), [0]

        def note(_: Any, event: str, __: Any) -> None:
            count[0] += event in ("call", "c_call")

        threading.setprofile(note)
        sys.setprofile(note)
        try:
            run(graph, turns, awaited=awaited)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return count[0]

    counted(5)  # caches are warm from here on
    return round((counted(50) - counted(10)) / 40)


def stored_bytes(build: Build, turns: int) -> int:
    """Bytes of the SQLite file after one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with open_saver(f"sqlite:///{path}") as saver:
            run(build(turns, saver), turns, awaited=False)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.stat().st_size


def goals(cases: dict[str, Any], calls: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    """Each goal with its figure, and whether it is met."""
    listed = {
        f"ours/usual, {name}": (case["ours/usual"], "<=", limit)
        for name, case in cases.items()
        for start, limit in (
            ("100 turns, none", 0.85),
            ("100 turns, sqlite", 0.7),
            ("500 turns, sqlite", 0.35),
        )
        if name.startswith(start)
    }
    for other, factor in (("langchain_agent", 1.3), ("deep_agent", 6.0)):
        worst = min(case[f"{other}/ours"] for case in cases.values() if f"{other}/ours" in case)
        listed[f"{other}/ours, least of all cases"] = (worst, ">=", factor)
    for form, case in calls.items():
        listed[f"function calls ours/usual, {form}"] = (case["ours/usual"], "<=", 0.85)
    listed["bytes at 500 turns"] = (stored["ours"]["500"], "<=", 3_000_000)
    listed["growth of bytes, exponent"] = (stored["ours"]["exponent"], "<=", 1.2)
    return {
        name: {
            "figure": figure,
            "goal": f"{sign} {limit}",
            "met": figure <= limit if sign == "<=" else figure >= limit,
        }
        for name, (figure, sign, limit) in listed.items()
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=6)
    parser.add_argument("--quick", action="store_true", help="10 and 100 turns only")
    given = parser.parse_args()
    calls: dict[str, Any] = {}
    for form, awaited in (("sync", False), ("async", True)):
        calls[form] = {build.__name__: calls_a_turn(build, awaited=awaited) for build in LOOPS}
        calls[form]["ours/usual"] = round(calls[form]["ours"] / calls[form]["usual"], 3)
    stored: dict[str, Any] = {}
    for build in (usual, ours):
        sizes = {str(turns): stored_bytes(build, turns) for turns in (100, 500)}
        growth = math.log(sizes["500"] / sizes["100"]) / math.log(5)
        stored[build.__name__] = {**sizes, "exponent": round(growth, 2)}
    cases = measure(given.rounds, quick=given.quick)
    result = {"unit": "CPU ms per model call, minimum", "rounds": given.rounds, "cases": cases}
    result |= {"calls": calls, "bytes": stored, "goals": goals(cases, calls, stored)}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
