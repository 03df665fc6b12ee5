from typing import Any

import pytest
from langchain_core.messages import ToolCall, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, StateGraph
from langgraph.types import Command
from typing_extensions import TypedDict

from planloop.tools import ToolRegistry, ask_human

REGISTRY = ToolRegistry([ask_human])
REQUEST = ToolCall(name="ask_human", args={"question": "Which?", "options": ["a", "b"]}, id="c1")


class Talk(TypedDict, total=False):
    heard: str


def heard(message: object) -> Talk:
    assert isinstance(message, ToolMessage) and message.status == "success"
    return {"heard": str(message.content)}


def ask(state: Talk) -> Talk:
    return heard(REGISTRY.run(REQUEST))


async def ask_async(state: Talk) -> Talk:
    return heard(await REGISTRY.arun(REQUEST))


ANSWERS = [
    ("a.txt", "a.txt"),
    ({"answer": "b"}, "b"),
    ({"answer": ""}, "(no answer)"),
    ("", "(no answer)"),
    (False, "False"),
    (0, "0"),
    ([], "[]"),
    ({"file": "x"}, '{"file": "x"}'),
]


@pytest.mark.parametrize(("answer", "text"), ANSWERS)
@pytest.mark.parametrize("node", [ask, ask_async])
async def test_the_graph_pauses_with_the_question_and_goes_on_with_the_answer(
    node: Any, answer: object, text: str
) -> None:
    graph = StateGraph(Talk).add_node("ask", node).add_edge(START, "ask")
    app = graph.compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    paused = await app.ainvoke({}, config)
    assert [question.value for question in paused["__interrupt__"]] == [
        {"type": "question", "question": "Which?", "options": ["a", "b"]}
    ]
    assert (await app.ainvoke(Command(resume=answer), config))["heard"] == text
