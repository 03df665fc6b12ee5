"""The tool with which a model says that it is done."""

from typing import Literal

from langchain_core.tools import tool

from .traits import own, tool_traits


@own
@tool_traits(effect="read")
@tool
def terminate(status: Literal["success", "failure"], summary: str = "") -> str:
    """End the work. Call it alone, with what was found or why it failed."""
    # The loop that offers this tool ends on the call itself; running it does nothing.
    return summary
