"""Checks that need no model: a file that a step should leave is there and is not empty."""

import re
from collections.abc import Generator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from langchain_core.tools import ToolException

from planloop.state import PlanStep, Verdict, run_context
from planloop.tools import resolve_inside

_FILE = re.compile(
    r"(?:the )?(?:file )?(?P<quote>[`'\"]?)(?P<name>[\w./-]*[\w-]\.[a-z]\w{0,4})(?P=quote)\.?", re.I
)
# In running text only what ends like a file is one: "e.g." and "example.com" are not.
_NAMED = re.compile(
    r"(?<![\w/.:@-])([\w-][\w./-]*\.(?:txt|md|csv|tsv|json|ya?ml|toml|py|html?|pdf|png|svg|jpe?g))\b"
)


def output_files(step: PlanStep) -> list[str]:
    """The expected outputs that are nothing but the name of a file in the workspace.

    >>> output_files(PlanStep(id="s1", name="x", expected_outputs=["`a/b.txt`", "a summary."]))
    ['a/b.txt']
    """
    found = (_FILE.fullmatch(text.strip()) for text in step.expected_outputs)
    return [match["name"] for match in found if match]


def check_files(step: PlanStep) -> list[Verdict]:
    """One verdict for each declared file; none where the run has no workspace to look into."""
    workspace = run_context().workspace
    if workspace is None:
        return []
    return [_check(Path(workspace), name) for name in output_files(step)]


def missing_files(request: str) -> list[str]:
    """Files that the request names and the workspace does not have; none without a workspace."""
    workspace = run_context().workspace
    if workspace is None:
        return []
    named = dict.fromkeys(_NAMED.findall(request))
    return [name for name in named if _check(Path(workspace), name)["verdict"] == "not_met"]


def _check(workspace: Path, name: str) -> Verdict:
    criterion = f"the file {name} is there and not empty"
    try:
        path = resolve_inside(workspace, name)
        size = path.stat().st_size if path.is_file() else 0
    except (ToolException, OSError) as error:
        return Verdict(criterion=criterion, verdict="unknown", evidence=str(error)[:200])
    if size:
        return Verdict(criterion=criterion, verdict="met", evidence=f"{name}: {size} bytes")
    return Verdict(criterion=criterion, verdict="not_met", evidence=f"{name} is missing or empty")


def by_code(step: PlanStep, checks: Any) -> Generator[Any, Any, Any]:
    """Placeholder."""
    from planloop.models import Blocking

    outputs = yield Blocking(check_files, (step,))
    return SimpleNamespace(outputs=outputs, criteria={})


def declared_texts(step: PlanStep) -> dict[str, str]:
    """Placeholder."""
    return {}
