"""What a turn of the ReAct loop costs beside the model and the tool.

`ours` is `create_react_graph`; `usual` is the two-node graph of LangGraph's own tutorials
(`add_messages`, `ToolNode`, `tools_condition`). Both ask the same model, which answers at once,
and call the same trivial tool, without a saver and on SQLite.

CPU milliseconds of the process per model call, the minimum over interleaved rounds, and their
ratio. Compare ratios, never times of different runs.

    python benchmarks/node_overhead.py [rounds]
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.prebuilt import ToolNode, tools_condition
from typing_extensions import TypedDict

from planloop import Budget, create_react_graph, open_saver


@tool
def look(at: str) -> str:
    """Look at something."""
    return f"{at}: " + "x" * 95


class InstantModel(BaseChatModel):
    """Calls `look` until it has been told `turns` results; every call looks at something else."""

    turns: int

    @property
    def _llm_type(self) -> str:
        return "instant"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        seen = int(str(last.content).split(":")[0]) if isinstance(last, ToolMessage) else 0
        if seen < self.turns:
            call = {"name": "look", "args": {"at": str(seen + 1)}, "id": f"c{seen + 1}"}
            reply = AIMessage("", tool_calls=[{**call, "type": "tool_call"}])
        else:
            reply = AIMessage("Seen.")
        return ChatResult(generations=[ChatGeneration(message=reply)])

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(item) for item in tools])


class Chat(TypedDict):  # the usual state
    messages: Annotated[list[AnyMessage], add_messages]


def usual(turns: int, saver: Any) -> Any:
    """The two-node graph that everybody writes first."""
    model = InstantModel(turns=turns).bind_tools([look])
    builder: Any = StateGraph(Chat)
    builder.add_node("think", lambda state: {"messages": [model.invoke(state["messages"])]})
    builder.add_node("tools", ToolNode([look]))
    builder.add_edge(START, "think").add_edge("tools", "think")
    builder.add_conditional_edges("think", tools_condition)
    return builder.compile(checkpointer=saver)


def ours(turns: int, saver: Any) -> Any:
    """planloop's loop, with a budget that is counted and never met."""
    model = InstantModel(turns=turns)
    return create_react_graph(model, [look], budget=Budget(steps=turns + 5), checkpointer=saver)


def cpu_ms(build: Callable[[int, Any], Any], turns: int, saver: Any, thread: str) -> float:
    """CPU milliseconds of the process per model call."""
    graph = build(turns, saver)
    config = {"configurable": {"thread_id": thread}, "recursion_limit": 3 * turns + 30}
    options: Any = {"config": config} | ({"durability": "sync"} if saver else {})
    start = time.process_time()
    ended = graph.invoke({"messages": [("user", "look around")]}, **options)
    spent = time.process_time() - start
    assert ended["messages"][-1].text == "Seen."
    return 1000 * spent / (turns + 1)


def measure(rounds: int) -> dict[str, Any]:
    """Every case once a round; a new file each time, so that none grows on another's rows."""
    best: dict[str, dict[str, float]] = {}
    cases = product(range(rounds), (10, 100), ("no saver", "sqlite"), (usual, ours))
    for number, turns, store, build in cases:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{Path(folder) / 'runs.db'}"
            with open_saver(url) as saver:
                used = saver if store == "sqlite" else None
                spent = cpu_ms(build, turns, used, f"t{number}")
        case = best.setdefault(f"{turns} turns, {store}", {})
        case[build.__name__] = round(min(spent, case.get(build.__name__, spent)), 3)
    for case in best.values():
        case["ratio"] = round(case["ours"] / case["usual"], 3)
    return {"rounds": rounds, "unit": "CPU ms per model call, minimum", **best}


if __name__ == "__main__":
    print(json.dumps(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 9), indent=2))
