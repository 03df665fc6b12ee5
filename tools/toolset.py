"""The tools an agent gets when nobody says otherwise."""

from pathlib import Path

from langchain_core.tools import BaseTool

from .files import file_tools
from .people import ask_human
from .python import python_tool


def default_tools(workspace: Path | None = None, *, people: bool = True) -> list[BaseTool]:
    """Make the tools for work in one folder: files, Python, and questions to the person.

    Args:
        workspace: The folder where the run's context names none.
        people: Whether there is somebody to answer questions.
    """
    tools = [*file_tools(workspace), python_tool(workspace)]
    return [*tools, ask_human] if people else tools
