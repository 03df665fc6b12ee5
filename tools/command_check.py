"""A check that runs a command: only for programs that the developer has allowed by name."""

import shlex
import sys
from collections.abc import Sequence
from functools import partial
from threading import Event
from typing import Final

from langchain_core.tools import ToolException

from planloop.state import WrongUse

from .checks import Check, CheckedStep, CheckResult
from .process import ProcessResult, run_process
from .workers import in_thread

_NOT_STARTED: Final = 127  # what a shell, and our launcher, say of a program that is not there
_OUTPUT: Final = 4_000  # characters that are kept of what a command writes
_LINES: Final = 10  # last lines that are evidence
_TAIL: Final = 600  # characters of them


def command_check(*programs: str, timeout: float = 60.0) -> Check:
    """Make a check for `command: pytest -q`: met when it exits with 0 within the time.

    No shell reads the command. It runs in the workspace, without the secrets of the environment,
    and may be given any arguments by whoever writes the plan: allow a program only where all
    that it can do is allowed. Never registered by itself; use
    `checks={"command": command_check("pytest")}`.

    Args:
        programs: The exact first words that are allowed. `python` is this interpreter.
        timeout: Seconds after which the command and all it started are killed; it is not met then.

    Raises:
        WrongUse: No program is named, or one is not a single word.
    """
    if not programs or any(not name or name.split() != [name] for name in programs):
        raise WrongUse("Name the programs that may run, each a word: command_check('pytest').")

    async def command(step: CheckedStep) -> CheckResult:
        if step.workspace is None:
            return CheckResult(None, "this run has no workspace to run a command in")
        argv = _argv(step.argument, programs)
        stop = Event()
        bounded = partial(run_process, timeout=timeout, max_output=_OUTPUT, stop=stop)
        try:
            ended = await in_thread(partial(bounded, argv, cwd=step.workspace))
        finally:
            stop.set()  # a cancelled run must not leave its process behind
        return _told(ended, timeout)

    command.__doc__ = f"Check `command: {programs[0]}`: it exits with 0 ({', '.join(programs)})."
    return command


def _argv(text: str, programs: Sequence[str]) -> list[str]:
    """Split a command into words.

    Raises:
        ToolException: It cannot be split, or its program is not allowed.
    """
    try:
        argv = shlex.split(text.strip("`"))
    except ValueError as error:
        raise ToolException(f"the command cannot be read: {error}") from error
    if not argv or argv[0] not in programs:
        named = repr(argv[0]) if argv else "no program"
        raise ToolException(f"not run: {named} is not one of {', '.join(programs)}")
    return [sys.executable, *argv[1:]] if argv[0] == "python" else argv


def _told(ended: ProcessResult, timeout: float) -> CheckResult:
    lines = "\n".join(ended.output.strip().splitlines()[-_LINES:])[-_TAIL:]
    ending = f"killed after {timeout:g} s" if ended.timed_out else f"exit code {ended.exit_code}"
    met = None if ended.exit_code == _NOT_STARTED else ended.exit_code == 0
    return CheckResult(met, f"{ending}\n{lines}".strip())
