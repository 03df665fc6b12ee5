"""A run of 1,000 turns in a window of 4,096 tokens: what stays flat, and what grows in a line.

The model calls a tool in every turn and sums up when it is asked to. Every request is looked at:
it must hold the task and fit the window. Time is CPU milliseconds a turn, in tenths of the run;
memory is the peak of Python's own allocations up to the end of each tenth, in MB, without a saver;
bytes are those of the SQLite file of a run saved after every super-step.

    python benchmarks/long_run.py [turns]
"""

import json
import sqlite3
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

from planloop import Budget, MemoryPolicy, create_react_graph, open_saver
from planloop.models import count_tokens

TASK = "Find the key under the stones."
WINDOW = 4_096


def lift(stone: int) -> str:
    """Lift a stone."""
    return f"Under stone {stone} there is nothing but sand and a few ants. " * 4


class Digger(BaseChatModel):
    """Lifts stone after stone, and notes what it costs."""

    turns: int
    lifted: int = 0
    lost: int = 0
    longest: int = 0
    summaries: int = 0
    clock: list[float] = Field(default_factory=list)
    peaks: list[float] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "digger"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        if messages[0].text.startswith("Summarise"):
            self.summaries += 1
            return _said(AIMessage("Many stones were lifted. No key so far."))
        self.lost += not any(TASK in str(m.text) for m in messages if m.type == "human")
        if self.lifted % 10 == 0:
            self.longest = max(self.longest, count_tokens(messages))
        if self.lifted % max(self.turns // 10, 1) == 0:
            self.clock.append(time.process_time())
            if tracemalloc.is_tracing():
                self.peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
        if self.lifted >= self.turns:
            return _said(AIMessage("There is no key."))
        self.lifted += 1
        call = {"name": "lift", "args": {"stone": self.lifted}, "id": f"c{self.lifted}"}
        return _said(AIMessage("", tool_calls=[{**call, "type": "tool_call"}]))

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(item) for item in tools])


def _said(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def run(turns: int, saver: Any = None) -> Digger:
    """One run; the model that made it knows what it cost."""
    model = Digger(turns=turns)
    graph = create_react_graph(
        model,
        [lift],
        memory=MemoryPolicy(window_tokens=WINDOW),
        budget=Budget(steps=turns + 5),
        checkpointer=saver,
    )
    config: Any = {"configurable": {"thread_id": "t"}, "recursion_limit": 5 * turns + 100}
    ended = graph.invoke({"request": TASK}, config)
    assert ended["outcome"]["reason"] == "final_answer", ended["outcome"]
    assert sum(m.type == "tool" for m in ended["messages"]) == turns
    return model


def stored_bytes(turns: int) -> int:
    """Bytes of the SQLite file after one run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "runs.db"
        with open_saver(f"sqlite:///{path}") as saver:
            run(turns, saver)
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        return path.stat().st_size


def main(turns: int) -> None:
    """Measure and print."""
    timed = run(turns)
    spans = zip(timed.clock, timed.clock[1:], strict=False)
    tenth = max(turns // 10, 1)
    tracemalloc.start()
    weighed = run(turns)
    tracemalloc.stop()
    result = {
        "turns": turns,
        "window": WINDOW,
        "requests without the task": timed.lost,
        "longest request, tokens": timed.longest,
        "summaries": timed.summaries,
        "cpu ms a turn, by tenths": [round(1000 * (b - a) / tenth, 3) for a, b in spans],
        "peak MB, by tenths": [round(peak, 1) for peak in weighed.peaks],
        "sqlite bytes": {str(n): stored_bytes(n) for n in (turns // 4, turns // 2, turns)},
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
