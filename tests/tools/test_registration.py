from collections.abc import Callable
from typing import Annotated, Any

import pytest
from langchain_core.tools import BaseTool, InjectedToolCallId, StructuredTool, Tool
from langgraph.prebuilt import InjectedState, ToolRuntime

from planloop.state import ToolSetupError
from planloop.tools import ToolRegistry, own, terminate


def named(name: str) -> BaseTool:
    return StructuredTool.from_function(func=lambda: "x", name=name, description="Do it.")


def undocumented(a: int) -> int:
    return a


def with_state(state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Read the state."""
    return str(state)


def with_runtime(runtime: ToolRuntime) -> str:
    """Read the runtime."""
    return str(runtime)


def test_functions_become_tools_and_order_is_kept() -> None:
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    one = named("one")
    tools = ToolRegistry([one, add]).tools
    assert tools[0] is one
    assert (tools[1].name, tools[1].description) == ("add", "Add two numbers.")


@pytest.mark.parametrize("name", ["", "a b", "查询", "x" * 65, "functions.search", "a\n"])
def test_illegal_names_are_refused(name: str) -> None:
    with pytest.raises(ToolSetupError, match="cannot be called"):
        ToolRegistry([named(name)])


@pytest.mark.parametrize("name", ["x" * 64, "web_Search-2"])
def test_legal_names_pass(name: str) -> None:
    assert ToolRegistry([named(name)]).names == (name,)


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolSetupError, match="Two tools are called 'act'"):
        ToolRegistry([named("act"), named("act")])


@pytest.mark.parametrize("name", ["terminate", "planning"])
def test_reserved_names_are_for_our_own_tools(name: str) -> None:
    with pytest.raises(ToolSetupError, match="planloop's own"):
        ToolRegistry([named(name)])
    assert ToolRegistry([own(named(name))])


def test_terminate_is_our_own() -> None:
    assert ToolRegistry([terminate]).tools == (terminate,)


@pytest.mark.parametrize("thing", ["search", {"type": "web_search"}, BaseTool, None])
def test_what_is_no_tool_is_refused(thing: Any) -> None:
    with pytest.raises(ToolSetupError, match="is no tool"):
        ToolRegistry([thing])


def test_a_function_that_cannot_be_described_is_refused() -> None:
    with pytest.raises(ToolSetupError, match="docstring"):
        ToolRegistry([undocumented])


@pytest.mark.parametrize("function", [with_state, with_runtime])
def test_a_tool_that_only_a_tool_node_can_call_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ToolSetupError, match="get_runtime"):
        ToolRegistry([function])


def test_what_langchain_fills_in_is_no_obstacle() -> None:
    def mark(id: Annotated[str, InjectedToolCallId]) -> str:
        """Mark the call."""
        return id

    upper = Tool(name="upper", func=str.upper, description="Shout.")
    assert len(ToolRegistry([mark, upper])) == 2
