"""The tools with which a model says that it is done, or that the whole plan must end."""

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


@own
@tool_traits(effect="read")
@tool
def abort_plan(reason: str) -> str:
    """End the whole plan, not only your step: it must not or cannot go on. Call it alone."""
    # Like `terminate`, and only for an agent that was given it; `terminate` ends one step.
    return reason
