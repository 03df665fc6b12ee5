"""What a step of a plan costs beside the model and the tool, against two other ways to do it.

`ours` is `create_planning_graph` around `create_react_graph`, with their defaults; the steps have
no criteria, so nobody judges them. `hand_written` is the graph that most people write first: the
plan a list in the state, select, run, select and so on, then a summary; `run` invokes a two-node
ReAct graph (`add_messages`, `ToolNode`, `tools_condition`). `todo_list` is LangChain's
`create_agent` with `TodoListMiddleware`, which writes its list before each step and after the last.

The plan is given, so no planning is measured. A step is two calls of a tool that returns 100
characters and three model calls; the model answers at once, from the last message. On SQLite all
use the saver of `planloop.open_saver` and `durability="sync"`. There `todo_list` stops at 50 steps:
all its lists are in its thread, which is stored again with every super-step.

CPU milliseconds of the process (all threads) per step of a whole run, the minimum over rounds in
which the loops take turns in changing order; 200 steps get a third of the rounds, but two at
least. Each graph has done a plan of one step before. `calls` are function calls per further step
on all threads, nearly free of noise; `bytes` per step those that the saver was given,
and those of the SQLite file, which has keys and free space too; `prompts` the
characters of the longest request of an agent, and of any request. `goals` are listed with their
figures. Compare ratios, never times of different runs.

    python benchmarks/plan_overhead.py [--quick] [rounds]
"""

import argparse
import asyncio
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

from plan_loops import ENDED, LOOPS, MOST, Loop, TodoList, looked

from planloop import open_saver

SIZES = (5, 50, MOST)


@dataclass(frozen=True)
class Case:
    """One way to run."""

    steps: int
    store: str
    awaited: bool = False

    def __str__(self) -> str:
        return f"{self.steps} steps, {self.store}, {'async' if self.awaited else 'sync'}"

    def fits(self, loop: Loop) -> bool:
        """Whether the loop can be measured so in sensible time."""
        return not (isinstance(loop, TodoList) and self.store == "sqlite" and self.steps > 50)


def run(loop: Loop, graph: Any, case: Case) -> None:
    """Do a whole plan; fails unless every step is completed and every call was made."""
    config: Any = {"configurable": {"thread_id": f"{case.steps}"}, "recursion_limit": 10_000}
    how: Any = {"durability": "sync"} if case.store == "sqlite" else {}
    given = loop.given(case.steps)
    looked.clear()

    async def answer() -> tuple[list[str], str]:  # `asyncio.run` makes a `repr` of what leaves
        return loop.ended(await graph.ainvoke(given, config, **how))

    if case.awaited:
        marks, words = asyncio.run(answer())
    else:
        marks, words = loop.ended(graph.invoke(given, config, **how))
    assert marks == ["completed"] * case.steps, marks
    assert words.endswith(ENDED), words
    assert looked == [f"{n}.{turn}" for n in range(1, case.steps + 1) for turn in (1, 2)]


@contextmanager
def saver_of(store: str) -> Iterator[Any]:
    """A fresh saver, so that no run grows on another's rows."""
    if store == "none":
        yield None
        return
    with tempfile.TemporaryDirectory() as at, open_saver(f"sqlite:///{at}/runs.db") as saver:
        yield saver


def cpu_ms(loop: Loop, case: Case) -> float:
    """CPU milliseconds of the process per step."""
    with saver_of(case.store) as saver:
        graph = loop.build(loop.model(), saver, case.awaited)
        run(loop, graph, Case(1, case.store, case.awaited))  # what is made once is made now
        start = time.process_time()
        run(loop, graph, case)
        return 1000 * (time.process_time() - start) / case.steps


def measure(rounds: int, *, quick: bool) -> dict[str, dict[str, float]]:
    """Every case once a round, the loops in changing order."""
    shuffled = random.Random(1)
    found: dict[str, dict[str, float]] = {}
    for store, awaited, steps in product(("none", "sqlite"), (False, True), SIZES):
        if quick and steps > (5 if awaited else MOST if store == "sqlite" else 50):
            continue
        case = Case(steps, store, awaited)
        times = found.setdefault(str(case), {})
        loops = [loop for loop in LOOPS if case.fits(loop)]
        for _ in range(max(rounds // 3, 2) if steps == MOST else rounds):
            shuffled.shuffle(loops)
            for loop in loops:
                spent = cpu_ms(loop, case)
                times[loop.name] = round(min(spent, times.get(loop.name, spent)), 3)
        for other in [name for name in times if name != "hand_written"]:
            times[f"{other}/hand_written"] = round(times[other] / times["hand_written"], 3)
    return found


def calls_a_step(loop: Loop, store: str, awaited: bool, sizes: tuple[int, int]) -> int:
    """Function calls per further step on all threads; what a run costs once is left out."""

    def counted(steps: int) -> int:
        count = [0]

        def note(_: Any, event: str, __: Any) -> None:
            count[0] += event in ("call", "c_call")

        with saver_of(store) as saver:
            graph = loop.build(loop.model(), saver, awaited)
            run(loop, graph, Case(1, store, awaited))
            threading.setprofile(note)
            sys.setprofile(note)
            run(loop, graph, Case(steps, store, awaited))
            sys.setprofile(None)
            threading.setprofile(None)
        return int(count[0])

    few, many = sizes
    return round((counted(many) - counted(few)) / (many - few))


def all_calls(*, quick: bool) -> dict[str, dict[str, float]]:
    """Function calls a step between two sizes of a plan."""
    found: dict[str, dict[str, float]] = {}
    for store, awaited in product(("none",) if quick else ("none", "sqlite"), (False, True)):
        kept = (loop for loop in LOOPS if not (store == "sqlite" and isinstance(loop, TodoList)))
        calls: dict[str, float] = {
            loop.name: calls_a_step(loop, store, awaited, (5, 15)) for loop in kept
        }
        calls["ours/hand_written"] = round(calls["ours"] / calls["hand_written"], 3)
        found[f"{store}, {'async' if awaited else 'sync'}"] = calls
    if not quick:
        pair = {loop.name: calls_a_step(loop, "sqlite", False, (150, 200)) for loop in LOOPS[:2]}
        found["sqlite, sync, the steps 150 to 200"] = {**pair}
    return found


def stored_bytes(loop: Loop, steps: int) -> dict[str, int]:
    """Bytes per step: of checkpoints, metadata and writes, and of the SQLite file with its keys."""
    with saver_of("sqlite") as saver:
        run(loop, loop.build(loop.model(), saver, False), Case(steps, "sqlite"))
        saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        queries = (
            "SELECT SUM(LENGTH(checkpoint) + LENGTH(metadata)) FROM checkpoints",
            "SELECT SUM(LENGTH(value)) FROM writes",
        )
        stored = sum(saver.conn.execute(query).fetchone()[0] for query in queries)
        return {"stored": stored // steps, "file": int(saver.path.stat().st_size) // steps}


def longest_prompt(loop: Loop, steps: int) -> dict[str, int]:
    """Characters of the longest request that an agent made, and of the longest of all."""
    model = loop.model(watched=True)
    run(loop, loop.build(model, None, False), Case(steps, "none"))
    return dict(model.longest)


def at_most(figure: float, limit: float) -> dict[str, Any]:
    """A goal of which less is better."""
    return {"figure": figure, "goal": f"<= {limit}", "met": figure <= limit}


def goals(cases: Any, stored: Any, prompts: Any) -> dict[str, Any]:
    """Each goal with its figure, and whether it is met."""
    listed: dict[str, Any] = {}
    for name, times in cases.items():
        if ", sqlite, " in name:
            listed[f"ours/hand_written, {name}"] = at_most(times["ours/hand_written"], 1.2)
    for awaited in (False, True):
        some, many = (cases.get(str(Case(steps, "sqlite", awaited))) for steps in SIZES[1:])
        if many:
            name = f"time a step 200/50, sqlite, {'async' if awaited else 'sync'}"
            listed[name] = at_most(round(many["ours"] / some["ours"], 3), 1.15)
    for kind in ("stored", "file"):
        few, some, many = (sizes[kind] for sizes in stored["ours"].values())
        listed[f"bytes a step, {kind}, most"] = at_most(max(few, some, many), 15_000)
        listed[f"bytes a step, {kind}, 200/50"] = at_most(round(many / some, 3), 1.05)
    for kind in ("agent", "any"):
        _, some, many = (sizes[kind] for sizes in prompts["ours"].values())
        listed[f"longest prompt 200/50, {kind}"] = at_most(round(many / some, 3), 1.3)
    return listed


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rounds", nargs="?", type=int, default=6)
    parser.add_argument("--quick", action="store_true", help="two rounds of fewer cases")
    given = parser.parse_args()
    rounds = 2 if given.quick else given.rounds
    cases = measure(rounds, quick=given.quick)
    stored: dict[str, Any] = {}
    prompts: dict[str, Any] = {}
    for loop in LOOPS:
        fitting = [n for n in SIZES if Case(n, "sqlite").fits(loop)]
        stored[loop.name] = {str(n): stored_bytes(loop, n) for n in fitting}
        shown = fitting if given.quick else SIZES
        prompts[loop.name] = {str(n): longest_prompt(loop, n) for n in shown}
    result = {"unit": "CPU ms per step, minimum", "rounds": rounds, "cases": cases}
    result |= {"calls": all_calls(quick=given.quick), "bytes": stored, "prompts": prompts}
    print(json.dumps({**result, "goals": goals(cases, stored, prompts)}, indent=2))


if __name__ == "__main__":
    main()
