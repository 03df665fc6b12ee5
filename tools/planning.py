"""The planning tool, in the form that OpenManus gave it: a model writes its plan by calling it."""

from typing import Any, Literal

from langchain_core.tools import tool

from .traits import own, tool_traits


@own
@tool_traits(effect="read")
@tool("planning")
def planning_tool(
    command: Literal["create"], title: str = "", steps: list[str] | None = None
) -> dict[str, Any]:
    """Write the plan: command "create", a title, and the steps in the order of work."""
    # The node that offers this tool reads the call; running it only hands the plan back.
    return {"command": command, "title": title, "steps": steps or []}
