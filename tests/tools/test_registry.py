import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import (
    BaseTool,
    StructuredTool,
    ToolException,
    tool,
)
from langgraph.types import Command

from planloop.state import ToolSetupError
from planloop.tools import ToolRegistry, tool_traits


def call(name: str, id: str | None = "c1", **args: Any) -> ToolCall:
    return ToolCall(name=name, args=args, id=id)


def both(registry: ToolRegistry, request: ToolCall) -> ToolMessage:
    """Run a call in both ways, which must agree."""
    message = registry.run(request)
    assert message == asyncio.run(registry.arun(request))
    assert isinstance(message, ToolMessage)
    return message


def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


async def later(a: int) -> str:
    """Answer asynchronously."""
    return f"got {a}"


def search(q: str) -> str:
    """Look something up."""
    return q


REGISTRY = ToolRegistry([add, search])


def test_it_is_a_collection_of_tools_by_name() -> None:
    assert REGISTRY.names == ("add", "search")
    assert [tool.name for tool in REGISTRY] == ["add", "search"] == [t.name for t in REGISTRY.tools]
    assert len(REGISTRY) == 2
    assert "add" in REGISTRY and "Add" not in REGISTRY
    found = REGISTRY.get(" add ")
    assert found is not None and found.name == "add"
    assert REGISTRY.get("ADD") is None
    assert len(ToolRegistry()) == 0


def test_a_subset_holds_the_same_tools() -> None:
    subset = REGISTRY.subset(["search"])
    assert subset.tools == (REGISTRY.get("search"),)
    with pytest.raises(ToolSetupError, match="Valid names: add, search"):
        REGISTRY.subset(["serch"])


@pytest.mark.parametrize(("text", "found"), [("LOOK", ["search"]), ("ad", ["add"]), ("zz", [])])
def test_search_looks_at_names_and_descriptions(text: str, found: list[str]) -> None:
    assert [tool.name for tool in REGISTRY.search(text)] == found


def test_a_call_is_answered_with_a_message() -> None:
    message = both(REGISTRY, call("add", a=1, b=2))
    assert message.content == "3"
    assert (message.name, message.tool_call_id, message.status) == ("add", "c1", "success")


def test_an_unknown_name_is_told_as_such_with_at_most_thirty_others() -> None:
    def numbered(number: int) -> BaseTool:
        return StructuredTool.from_function(func=add, name=f"tool{number}")

    message = both(ToolRegistry([numbered(n) for n in range(40)]), call("tool99" + "\0" * 5))
    assert message.status == "error"
    assert 'no tool named "tool99"' in str(message.content)
    assert "tool29 and 10 more." in str(message.content)
    assert "tool30" not in str(message.content)


def test_the_answer_to_an_unknown_name_has_a_name_servers_accept() -> None:
    assert both(REGISTRY, call("functions.web search" + "!" * 100)).name == (
        "functions_web_search" + "_" * 44
    )
    assert both(REGISTRY, call("")).name == "unknown"


def test_the_tools_that_are_offered_are_the_ones_given() -> None:
    made = StructuredTool.from_function(func=add)
    registry = ToolRegistry([made])
    registry.run(call("add", a=1))
    assert registry.tools[0] is made
    assert made.invoke({"a": 1, "b": 1}) == 2


def test_an_asynchronous_tool_runs_with_and_without_a_loop() -> None:
    registry = ToolRegistry([later])
    assert asyncio.run(registry.arun(call("later", a=1))).content == "got 1"  # type: ignore[union-attr]
    for _ in range(2):
        assert both(registry, call("later", a=1)).content == "got 1"

    async def inside() -> object:
        return registry.run(call("later", a=1)).content  # type: ignore[union-attr]

    assert asyncio.run(inside()) == "got 1"


def test_a_message_keeps_its_artifact_and_status_but_is_our_own() -> None:
    def draw() -> ToolMessage:
        """Draw."""
        return ToolMessage(
            [{"type": "text", "text": "a chart"}],
            artifact={"png": b"1"},
            tool_call_id="other",
            status="error",
        )

    message = both(ToolRegistry([draw]), call("draw"))
    assert message.content == "a chart"
    assert (message.artifact, message.status) == ({"png": b"1"}, "error")
    assert (message.tool_call_id, message.name) == ("c1", "draw")


def test_content_and_artifact_are_told_apart() -> None:
    def measure() -> tuple[object, object]:
        """Measure."""
        return None, [1, 2]

    made = StructuredTool.from_function(func=measure, response_format="content_and_artifact")
    message = both(ToolRegistry([made]), call("measure"))
    assert (message.content, message.artifact) == ("(no output)", [1, 2])


def test_an_artifact_that_cannot_be_saved_is_dropped(caplog: pytest.LogCaptureFixture) -> None:
    def measure() -> tuple[str, object]:
        """Measure."""
        return "done", iter([1])

    made = StructuredTool.from_function(func=measure, response_format="content_and_artifact")
    message = both(ToolRegistry([made]), call("measure"))
    assert (message.content, message.artifact) == ("done", None)
    assert "was dropped" in caplog.text


def test_a_command_is_passed_on() -> None:
    command: Command[Any] = Command(update={"x": 1})

    def steer() -> Command[Any]:
        """Steer the graph."""
        return command

    registry = ToolRegistry([steer])
    assert registry.run(call("steer")) is command
    assert asyncio.run(registry.arun(call("steer"))) is command


@pytest.mark.parametrize(("declared", "limit"), [(None, 8_000), (100, 100)])
@pytest.mark.parametrize("fail", [False, True])
def test_long_results_and_long_errors_are_cut(declared: int | None, limit: int, fail: bool) -> None:
    @tool_traits(effect="read", max_output=declared)
    @tool
    def flood(fail: bool) -> str:
        """Flood."""
        if fail:
            raise ToolException("x" * 50_000)
        return "x" * 50_000

    content = both(ToolRegistry([flood]), call("flood", fail=fail)).content
    assert limit - 20 < len(content) <= limit and "left out" in content


def test_a_traceback_goes_to_the_log_and_not_to_the_model(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def boom() -> None:
        """Fail."""
        raise RuntimeError("no luck")

    caplog.set_level(logging.INFO, "planloop.tools")
    message = both(ToolRegistry([boom]), call("boom"))
    assert message.content == "RuntimeError: no luck"
    assert "Traceback" in caplog.text


class OldStyle(BaseTool):
    """A tool written as a class, with no schema of its own."""

    name: str = "old"
    description: str = "Do it the old way."

    def _run(self, text: str, run_manager: Any = None) -> object:
        return None if text == "" else (text, run_manager is not None)


class AsyncStyle(OldStyle):
    async def _arun(self, text: str, run_manager: Any = None) -> object:
        raise SystemExit(text)


def test_tools_written_as_classes_work_alike() -> None:
    assert both(ToolRegistry([OldStyle()]), call("old", text="")).content == "(no output)"
    assert both(ToolRegistry([OldStyle()]), call("old", text="a")).content == '["a", true]'
    message = asyncio.run(ToolRegistry([AsyncStyle()]).arun(call("old", text="9")))
    assert isinstance(message, ToolMessage) and message.status == "error"
    assert "exit code 9" in str(message.content)


@pytest.mark.parametrize("handler", ["Try again.", lambda error: f"Handled {error}"])
def test_a_tools_own_error_handler_is_respected(handler: str | Callable[..., str]) -> None:
    def boom() -> None:
        """Fail."""
        raise ToolException("it")

    made = StructuredTool.from_function(func=boom)
    made.handle_tool_error = handler
    message = both(ToolRegistry([made]), call("boom"))
    assert message.status == "error" and message.content in {"Try again.", "Handled it"}
