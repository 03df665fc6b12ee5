"""Checks that every plan may use: a file is there, a pattern matches."""

import json
import re
import sys
from pathlib import Path
from typing import Any, Final

from langchain_core.tools import ToolException

from .checks import CheckedStep, CheckResult
from .files import read_ends
from .process import run_process
from .workspace import resolve_inside

NO_WORKSPACE: Final = CheckResult(None, "this run has no workspace to look into")

_QUOTED: Final = re.compile(r"([`'\"])((?:(?!\1).)*)\1", re.DOTALL)
_LIKE_A_FILE: Final = re.compile(r"\S+|.*\.\w{1,5}")
_LONGEST_PATTERN: Final = 1_000  # characters
_LONGEST_TEXT: Final = 1_000_000  # bytes
_SEARCH_SECONDS: Final = 3.0
_SHOWN: Final = 200  # characters of a match

# A stranger's pattern can take any time and memory, and no engine at hand bounds both: a process of
# its own can be killed, and is refused memory.
_SEARCH: Final = """\
import json, re, sys
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (512_000_000, 512_000_000))
except (ImportError, OSError, ValueError):
    pass
pattern, text, shown = json.load(sys.stdin)
try:
    found = re.search(pattern, text)
    answer = {"found": found and found[0][:shown]}
except (re.error, OverflowError, RecursionError, MemoryError) as error:
    answer = {"error": str(error) or type(error).__name__}
print(json.dumps(answer))
"""


def file_check(step: CheckedStep) -> CheckResult:
    """Check `file: poem.txt`: the workspace has this file, and it is not empty."""
    quoted = _QUOTED.fullmatch(step.argument)
    name = quoted[2] if quoted else step.argument.removesuffix(".")
    if step.workspace is None:
        return NO_WORKSPACE
    found = look_at_file(step.workspace, name)
    if found.met is False and not _LIKE_A_FILE.fullmatch(name):
        return CheckResult(None, f"{found.evidence}; after 'file:' stands nothing but a name")
    return found


def look_at_file(workspace: Path, name: str) -> CheckResult:
    """Whether the workspace has a file of this name that is not empty; blocks."""
    try:
        path = resolve_inside(workspace, name)
        size = path.stat().st_size if path.is_file() else 0
    except ToolException as error:
        return CheckResult(None, str(error)[:200])
    except OSError as error:
        return CheckResult(None, f"{name}: {error.strerror or error}"[:200])
    if size:
        return CheckResult(True, f"{name}: {size} bytes")
    return CheckResult(False, f"{name} is missing or empty")


def regex_check(step: CheckedStep) -> CheckResult:
    """Check `regex: Total: \\d+`: the pattern of Python's `re` is found in the step's result.

    With a declared output file, as in `regex poem.txt: ^Rivers`, it is found in that file.
    """
    quoted = _QUOTED.fullmatch(step.argument) if step.argument.startswith("`") else None
    pattern = quoted[2] if quoted else step.argument
    if not 0 < len(pattern) <= _LONGEST_PATTERN:
        return CheckResult(None, f"a pattern has 1 to {_LONGEST_PATTERN:,} characters")
    if not step.file:
        return _search(pattern, step.result, "the result")
    if step.workspace is None:
        return NO_WORKSPACE
    there = look_at_file(step.workspace, step.file)
    if not there.met:
        return there
    head, tail, size = read_ends(step.workspace, step.file, _LONGEST_TEXT)
    if size > _LONGEST_TEXT:
        return CheckResult(None, f"{step.file} is too large to search: {size:,} bytes")
    return _search(pattern, (head + tail).decode("utf-8", "replace"), step.file)


def _search(pattern: str, text: str, place: str) -> CheckResult:
    if len(text) > _LONGEST_TEXT:
        return CheckResult(None, f"{place} is too long to search: {len(text):,} characters")
    ended = run_process(
        [sys.executable, "-I", "-S", "-W", "ignore", "-c", _SEARCH],
        cwd=Path(sys.executable).parent,
        timeout=_SEARCH_SECONDS,
        max_output=8 * _SHOWN,  # JSON may write a character with twelve
        stdin=json.dumps([pattern, text, _SHOWN // 2]).encode(),
    )
    if ended.timed_out:
        return CheckResult(None, f"the pattern took more than {_SEARCH_SECONDS:g} s")
    answer = _answer(ended.output)
    if problem := answer.get("error"):
        return CheckResult(None, f"the pattern cannot be used: {problem}")
    if (found := answer.get("found")) is None:
        return CheckResult(False, f"nothing in {place} matches the pattern")
    return CheckResult(True, f"{place}: {found}" if found else f"{place} matches the pattern")


def _answer(output: str) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(output)
    except ValueError:  # ended by the system, such as for its memory
        return {"error": "its search broke off"}
    return answer
