"""Run Python code in a process of its own, in the workspace."""

import asyncio
import sys
from pathlib import Path
from threading import Event
from typing import Annotated, Final

from langchain_core.tools import BaseTool, StructuredTool, ToolException
from pydantic import WithJsonSchema

from .process import ProcessResult, run_process
from .results import MAX_OUTPUT
from .traits import settled, tool_traits
from .workspace import current_workspace

# Without the host's PYTHON* variables and user packages. Modules in the workspace can be imported,
# but come last: a csv.py that somebody wrote there must not run in place of Python's own.
# Unbuffered, so that what was printed before a time limit is not lost.
_COMMAND: Final = ["-I", "-u", "-X", "utf8", "-c"]
_START: Final = (
    "import sys; sys.path.append(''); "
    "exec(compile(sys.stdin.buffer.read(), '<code>', 'exec'), {'__name__': '__main__'})"
)

# A hint for decoders that are held to a schema; longer code is accepted. LangChain copies this kind
# of annotation into the schema that the model sees, and drops `json_schema_extra`.
Code = Annotated[str, WithJsonSchema({"type": "string", "maxLength": 4000})]


def python_tool(
    workspace: Path | None = None, *, timeout: float = 30.0, max_output: int = MAX_OUTPUT
) -> BaseTool:
    """Make the tool `python`, which runs code with this interpreter in a new process.

    The process can do whatever this one can, except that it is not handed secrets by the
    environment: allow it only to models and tasks that may run code.

    Args:
        workspace: The working folder where the run's context names none.
        timeout: Seconds after which the process and all it started are killed.
        max_output: Characters of output that are kept.
    """

    def run(code: str, stop: Event | None = None) -> str:
        result = run_process(
            [sys.executable, *_COMMAND, _START],
            cwd=current_workspace(workspace),
            timeout=timeout,
            max_output=max_output,
            stdin=code.encode("utf-8", "replace"),
            stop=stop,
        )
        return _report(result, timeout)

    def python(code: Code) -> str:
        """Run Python code. Only what it prints is seen."""
        return run(code)

    async def apython(code: Code) -> str:
        stop = Event()
        try:
            return await asyncio.to_thread(run, code, stop)
        finally:
            stop.set()  # a cancelled call must not leave its process behind

    made = StructuredTool.from_function(func=python, coroutine=apython)
    room = max_output + 200  # for the line that says how it ended
    declared = tool_traits(effect="execute", sequential=True, max_output=room)(made)
    return settled(declared, workspace)


def _report(result: ProcessResult, timeout: float) -> str:
    """Say how it ended and what it printed; code that failed is a failed call."""
    if result.timed_out:
        ending = f"Killed: it ran longer than {timeout:g} s."
    else:
        ending = f"Exit code {result.exit_code}."
    output = result.output.rstrip() or "Nothing was printed: use print() to see a value."
    if result.exit_code != 0:
        raise ToolException(f"{ending}\n{output}")
    return f"{ending}\n{output}"
