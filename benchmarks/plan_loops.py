"""Three ways to do a given plan, and the model and the tool that they do it with.

`plan_overhead.py` measures them. The model answers at once and only from the last message, but for
the number of steps, which a to-do list takes from the request.
"""

import re
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import TodoListMiddleware
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from pydantic import Field
from typing_extensions import TypedDict

from planloop import create_planning_graph, create_react_graph

MOST = 200
"""Steps of the longest plan."""
ENDED = "All places were looked at."
looked: list[str] = []
"""Where the tool has looked in this run."""


def look(at: str) -> str:
    """Look at something."""
    looked.append(at)
    return f"{at}: ".ljust(100, "x")


async def alook(at: str) -> str:
    """Look at something."""
    return look(at)


TOOL = StructuredTool.from_function(func=look, coroutine=alook, name="look")


def calling(name: str, call_id: str, **args: Any) -> AIMessage:
    """A message that calls a tool."""
    call = ToolCall(name=name, args=args, id=call_id, type="tool_call")
    return AIMessage("", tool_calls=[call])


def look_at(place: str, turn: int) -> AIMessage:
    """The first or second look at a place."""
    return calling("look", f"c{place}.{turn}", at=f"{place}.{turn}")


class InstantModel(BaseChatModel):
    """Looks twice at the place that it is told last, then says so; without tools it sums up."""

    watched: bool = False
    longest: dict[str, int] = Field(default_factory=lambda: {"agent": 0, "any": 0})

    @property
    def _llm_type(self) -> str:
        return "instant"

    def reply(self, messages: list[BaseMessage]) -> AIMessage:
        """What it says to an agent's last message."""
        last = str(messages[-1].content)
        if not isinstance(messages[-1], ToolMessage):
            return look_at(re.findall(r"Look at place (\d+)", last)[-1], 1)
        place, turn = last.split(":")[0].split(".")
        return look_at(place, 2) if turn == "1" else self.close(int(place), messages)

    def close(self, place: int, _: list[BaseMessage]) -> AIMessage:
        """What it says when a step is done."""
        return AIMessage(f"Place {place} was looked at.")

    def _generate(self, messages: list[BaseMessage], *_: Any, **options: Any) -> ChatResult:
        if self.watched:
            size = sum(len(f"{m.content}{getattr(m, 'tool_calls', '')}") for m in messages)
            for kind in ("agent", "any") if options.get("tools") else ("any",):
                self.longest[kind] = max(self.longest[kind], size)
        reply = self.reply(messages) if options.get("tools") else AIMessage(ENDED)
        return ChatResult(generations=[ChatGeneration(message=reply)])

    async def _agenerate(self, messages: list[BaseMessage], *_: Any, **options: Any) -> ChatResult:
        return self._generate(messages, **options)

    def bind_tools(self, tools: Any, **_: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(item) for item in tools])


class ListingModel(InstantModel):
    """Writes its list where others are told what to do."""

    def reply(self, messages: list[BaseMessage]) -> AIMessage:
        last = messages[-1]
        if isinstance(last, HumanMessage):
            return self.close(0, messages)
        if last.name == "look":
            return super().reply(messages)
        current = re.search(r"place (\d+)', 'status': 'in_progress'", str(last.content))
        return look_at(current[1], 1) if current else AIMessage(ENDED)

    def close(self, place: int, messages: list[BaseMessage]) -> AIMessage:
        wanted = next(str(m.content) for m in messages if isinstance(m, HumanMessage))
        steps = int(wanted.split()[-1])
        marks = ["completed"] * place + ["in_progress"] + ["pending"] * (steps - place)
        listed = zip(tasks(steps), marks[:steps], strict=True)
        todos = [{"content": task, "status": mark} for task, mark in listed]
        return calling("write_todos", f"t{place}", todos=todos)


def request(steps: int) -> str:
    """What the person wants."""
    return f"Look at the places from 1 to {steps}"


def tasks(steps: int) -> list[str]:
    """The steps of the plan."""
    return [f"Look at place {n}" for n in range(1, steps + 1)]


class Ours:
    """planloop's lifecycle."""

    name, model = "ours", InstantModel

    def build(self, model: InstantModel, saver: Any, _: bool) -> Any:
        worker = create_react_graph(model, [TOOL])
        return create_planning_graph(model, worker, max_plan_steps=MOST, checkpointer=saver)

    def given(self, steps: int) -> Any:
        return {"request": request(steps), "plan": tasks(steps)}

    def ended(self, state: Any) -> tuple[list[str], str]:
        return [step.status for step in state["plan"].steps], state["summary"]


class TodoList:
    """LangChain's agent with its to-do list."""

    name, model = "todo_list", ListingModel

    def build(self, model: InstantModel, saver: Any, _: bool) -> Any:
        return create_agent(model, [TOOL], middleware=[TodoListMiddleware()], checkpointer=saver)

    def given(self, steps: int) -> Any:
        return {"messages": [("user", request(steps))]}

    def ended(self, state: Any) -> tuple[list[str], str]:
        return [item["status"] for item in state["todos"]], state["messages"][-1].text


class ListState(TypedDict):
    """A plan as a list of tasks, each with its status and its result."""

    request: str
    plan: list[dict[str, str]]
    current: int
    summary: str


class HandWritten:
    """The graph that most people write first."""

    name, model = "hand_written", InstantModel

    def build(self, model: InstantModel, saver: Any, awaited: bool) -> Any:
        loop = usual_loop(model, awaited)

        def run(state: ListState) -> Any:
            return completed(state, loop.invoke(brief(state)))

        async def arun(state: ListState) -> Any:
            return completed(state, await loop.ainvoke(brief(state)))

        def sum_up(state: ListState) -> Any:
            return {"summary": model.invoke(results(state)).text}

        async def asum_up(state: ListState) -> Any:
            return {"summary": (await model.ainvoke(results(state))).text}

        builder: Any = StateGraph(ListState).add_node("select", select)
        builder.add_node("run", arun if awaited else run)
        builder.add_node("sum_up", asum_up if awaited else sum_up)
        builder.add_edge(START, "select").add_edge("run", "select")
        builder.add_conditional_edges("select", after_select, ["run", "sum_up"])
        return builder.compile(checkpointer=saver)

    def given(self, steps: int) -> Any:
        plan = [{"task": task, "status": "pending", "result": ""} for task in tasks(steps)]
        return {"request": request(steps), "plan": plan}

    def ended(self, state: Any) -> tuple[list[str], str]:
        return [item["status"] for item in state["plan"]], state["summary"]


def usual_loop(model: InstantModel, awaited: bool) -> Any:
    """The two-node loop of LangGraph's tutorials."""
    bound = model.bind_tools([TOOL])

    def think(state: MessagesState) -> Any:
        return {"messages": [bound.invoke(state["messages"])]}

    async def athink(state: MessagesState) -> Any:
        return {"messages": [await bound.ainvoke(state["messages"])]}

    builder: Any = StateGraph(MessagesState)
    builder.add_node("think", athink if awaited else think).add_node("tools", ToolNode([TOOL]))
    builder.add_edge(START, "think").add_edge("tools", "think")
    builder.add_conditional_edges("think", tools_condition)
    return builder.compile()


def select(state: ListState) -> Any:
    """Mark the first task that is open; -1 where there is none."""
    opened = (n for n, item in enumerate(state["plan"]) if item["status"] == "pending")
    state = {**state, "current": next(opened, -1)}
    return {"current": state["current"], "plan": marked(state, status="in_progress")}


def after_select(state: ListState) -> str:
    """Run what was selected."""
    return "sum_up" if state["current"] < 0 else "run"


def completed(state: ListState, ended: Any) -> Any:
    """The current task with its result."""
    return {"plan": marked(state, status="completed", result=ended["messages"][-1].text)}


def marked(state: ListState, **changes: str) -> list[dict[str, str]]:
    """The whole list, the current task changed."""
    current = state["current"]
    return [{**item, **changes} if n == current else item for n, item in enumerate(state["plan"])]


def brief(state: ListState) -> Any:
    """What the loop is told: the plan, and its task in it."""
    listed = "\n".join(f"{n}. {item['task']}" for n, item in enumerate(state["plan"], 1))
    task = state["plan"][state["current"]]["task"]
    text = f"{state['request']}.\n\nThe plan:\n{listed}\n\nDo only this step of it: {task}"
    return {"messages": [HumanMessage(text)]}


def results(state: ListState) -> list[BaseMessage]:
    """What the summary is made of."""
    found = "\n".join(f"{item['task']}: {item['result']}" for item in state["plan"])
    return [HumanMessage(f"{state['request']}.\n\nSum up what was found:\n{found}")]


Loop = Ours | HandWritten | TodoList
LOOPS: tuple[Loop, ...] = (HandWritten(), Ours(), TodoList())
