"""Turn what a caller registers into tools that can be called, by names every server accepts."""

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from langchain_core.tools import BaseTool
from langchain_core.tools import tool as make_tool

from planloop.state import ToolSetupError

from .arguments import unmet_injections
from .traits import is_own

RESERVED: Final = frozenset({"terminate", "abort_plan", "planning"})
"""Names that planloop's own tools carry."""

_LEGAL: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def as_tools(given: Iterable[BaseTool | Callable[..., Any]]) -> list[BaseTool]:
    """Make tools of functions, and check each.

    Raises:
        ToolSetupError: A name that is illegal, reserved or used twice, no tool at all, or a tool
            with parameters that nobody here can fill.
    """
    tools: dict[str, BaseTool] = {}
    for one in given:
        tool = _as_tool(one)
        _check_name(tool)
        if wanted := unmet_injections(tool):
            raise ToolSetupError(
                f"The tool {tool.name!r} wants {wanted[0]!r} injected by a ToolNode, which is not "
                "used here: call `langgraph.runtime.get_runtime()` inside the tool instead."
            )
        if tool.name in tools:
            raise ToolSetupError(f"Two tools are called {tool.name!r}: rename one of them.")
        tools[tool.name] = tool
    return list(tools.values())


def _as_tool(one: BaseTool | Callable[..., Any]) -> BaseTool:
    if isinstance(one, BaseTool):
        return one
    if isinstance(one, type) or not callable(one):
        raise ToolSetupError(f"{one!r} is no tool: give a LangChain tool or a function.")
    try:
        return make_tool(one)
    except (TypeError, ValueError) as error:
        raise ToolSetupError(
            f"{one!r} cannot be made a tool ({error}): give it a docstring and typed parameters."
        ) from error


def _check_name(tool: BaseTool) -> None:
    if not _LEGAL.fullmatch(tool.name):
        raise ToolSetupError(
            f"A tool cannot be called {tool.name!r}: use 1 to 64 letters, digits, '_' or '-'."
        )
    if tool.name in RESERVED and not is_own(tool):
        raise ToolSetupError(f"{tool.name!r} is planloop's own tool: rename yours.")
