"""What a turn of the ReAct loop costs beside the model and the tool, against three other loops.

`ours` is `create_react_graph` with its defaults, but a budget that is counted and never met and a
window that is never full, so no history is summed up; `usual` the two-node graph of LangGraph's
tutorials (`add_messages`, `ToolNode`, `tools_condition`, plain functions as nodes); then
LangChain's `create_agent` and deepagents' `create_deep_agent`. All ask the same model, which
answers at once, and call the same tool, which returns 100 characters. On SQLite all use the saver
of `planloop.open_saver`, for sync and async; durability is LangGraph's default.

CPU milliseconds of the process (all threads) per model call, the minimum over rounds in which the
loops take turns in changing order; 500 turns get a third of the rounds. Each graph has answered
one request before. `calls` are function calls a turn on all threads, nearly free of noise; `goals`
are listed with their figures. Compare ratios, never times of different runs.

    python benchmarks/react_overhead.py [--quick] [rounds]
"""

import argparse
import asyncio
import json
import math
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from planloop import Budget, MemoryPolicy, create_react_graph, open_saver

MAX = 10**9
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
        last, reply = messages[-1], AIMessage("Seen.")
        seen = int(str(last.content).split(":")[0]) if isinstance(last, ToolMessage) else 0
        if seen < self.turns and last.content != WARM_UP:
            call = {"name": "look", "args": {"at": str(seen + 1)}, "id": f"c{seen + 1}"}
            reply = AIMessage("", tool_calls=[{**call, "type": "tool_call"}])
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return self._generate(messages)

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(item) for item in tools])


def ours(turns: int, saver: Any, _: bool) -> Any:
    """planloop's loop."""
    budget = Budget(steps=MAX, tool_calls=MAX, input_tokens=MAX, output_tokens=MAX, seconds=MAX)
    memory = MemoryPolicy(window_tokens=MAX)  # the others show the model all of it, too
    model = InstantModel(turns=turns)
    return create_react_graph(model, [TOOL], budget=budget, memory=memory, checkpointer=saver)


def usual(turns: int, saver: Any, awaited: bool) -> Any:
    """The two-node graph that everybody writes first."""
    model = InstantModel(turns=turns).bind_tools([TOOL])

    def think(state: MessagesState) -> Any:
        return {"messages": [model.invoke(state["messages"])]}

    async def athink(state: MessagesState) -> Any:
        return {"messages": [await model.ainvoke(state["messages"])]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("think", athink if awaited else think).add_node("tools", ToolNode([TOOL]))
    builder.add_edge(START, "think").add_edge("tools", "think")
    builder.add_conditional_edges("think", tools_condition)
    return builder.compile(checkpointer=saver)


def langchain_agent(turns: int, saver: Any, _: bool) -> Any:
    """LangChain's agent."""
    return create_agent(InstantModel(turns=turns), [TOOL], checkpointer=saver)


def deep_agent(turns: int, saver: Any, _: bool) -> Any:
    """deepagents' agent, with the middleware that it brings."""
    return create_deep_agent(model=InstantModel(turns=turns), tools=[TOOL], checkpointer=saver)


Build = Callable[[int, Any, bool], Any]
LOOPS: tuple[Build, ...] = (usual, ours, langchain_agent, deep_agent)


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
    with tempfile.TemporaryDirectory() as at, open_saver(f"sqlite:///{at}/runs.db") as saver:
        yield saver


def cpu_ms(build: Build, turns: int, store: str, *, awaited: bool) -> float:
    """CPU milliseconds of the process per model call."""
    with saver_of(store) as saver:
        graph = build(turns, saver, awaited)
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
        for _ in range(max(rounds // 3, 1) if turns == 500 else rounds):
            shuffled.shuffle(loops)
            for build in loops:
                spent = cpu_ms(build, turns, store, awaited=awaited)
                case[build.__name__] = round(min(spent, case.get(build.__name__, spent)), 3)
        case["ours/usual"] = round(case["ours"] / case["usual"], 3)
        for other in {"langchain_agent", "deep_agent"} & {*case}:
            case[f"{other}/ours"] = round(case[other] / case["ours"], 2)
    return found


def calls_a_turn(build: Build, *, awaited: bool) -> int:
    """Function calls a turn on all threads, Python's and C's; what a run costs once is left out."""

    def counted(turns: int) -> int:
        graph, count = build(turns, None, awaited), [0]

        def note(_: Any, event: str, __: Any) -> None:
            count[0] += event in ("call", "c_call")

        threading.setprofile(note)
        sys.setprofile(note)
        run(graph, turns, awaited=awaited)
        sys.setprofile(None)
        threading.setprofile(None)
        return count[0]

    counted(5)  # caches are warm from here on
    return round((counted(50) - counted(10)) / 40)


def stored_bytes(build: Build, turns: int) -> int:
    """Bytes of the SQLite file after one run."""
    with saver_of("sqlite") as saver:
        run(build(turns, saver, False), turns, awaited=False)
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return int(saver.path.stat().st_size)


def at_most(figure: float, limit: float) -> dict[str, Any]:
    """A goal of which less is better."""
    return {"figure": figure, "goal": f"<= {limit}", "met": figure <= limit}


def goals(cases: dict[str, Any], calls: dict[str, Any], stored: dict[str, Any]) -> dict[str, Any]:
    """Each goal with its figure, and whether it is met."""
    listed: dict[str, Any] = {}
    limits = {"100 turns, none": 0.85, "100 turns, sqlite": 0.7, "500 turns, sqlite": 0.35}
    for name, case in cases.items():
        if limit := limits.get(name.rpartition(", ")[0]):
            listed[f"ours/usual, {name}"] = at_most(case["ours/usual"], limit)
    for other, factor in (("langchain_agent/ours", 1.3), ("deep_agent/ours", 6.0)):
        least, where = min((case[other], name) for name, case in cases.items() if other in case)
        goal = {"figure": least, "goal": f">= {factor}", "met": least >= factor}
        listed[f"{other}, least of all cases"] = {**goal, "in": where}
    for form, case in calls.items():
        listed[f"function calls ours/usual, {form}"] = at_most(case["ours/usual"], 0.85)
    listed["bytes at 500 turns"] = at_most(stored["ours"]["500"], 3_000_000)
    listed["growth of bytes, exponent"] = at_most(stored["ours"]["exponent"], 1.2)
    return listed


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
        exponent = round(math.log(sizes["500"] / sizes["100"], 5), 2)
        stored[build.__name__] = {**sizes, "exponent": exponent}
    cases = measure(given.rounds, quick=given.quick)
    result = {"unit": "CPU ms per model call, minimum", "rounds": given.rounds, "cases": cases}
    result |= {"calls": calls, "bytes": stored, "goals": goals(cases, calls, stored)}
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
