"""What needs no model: declared output files, and criteria that name a registered check."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from langchain_core.tools import ToolException

from planloop.models import Blocking, Steps
from planloop.state import PlanStep, Verdict, run_context
from planloop.tools import (
    CallCheck,
    Check,
    CheckedStep,
    CheckResult,
    look_at_file,
    read_criterion,
    read_inside,
)

MAX_CHECKS: Final = 20
"""Criteria of one step that are decided by code: each may take its time limit."""
_TEXTS: Final = 5  # files that a judge is shown
_TEXT: Final = 4_000  # characters of each

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


@dataclass(frozen=True, slots=True)
class Checked:
    """What code alone found of a step."""

    outputs: list[Verdict]
    """One for each declared output file."""
    criteria: dict[int, Verdict]
    """By the index of the criterion; those that are missing are prose."""


def by_code(step: PlanStep, checks: Mapping[str, Check]) -> Steps[Checked]:
    """Decide what can be decided without a model.

    Args:
        checks: As `checks_of` gives them.
    """
    files = output_files(step)
    outputs: list[Verdict] = (yield Blocking(check_files, (step,))) if files else []
    criteria: dict[int, Verdict] = {}
    for index, criterion in enumerate(step.success_criteria):
        if named := read_criterion(criterion, checks, files):
            result = CheckResult(None, f"not checked: a step has {MAX_CHECKS} checks at most")
            if len(criteria) < MAX_CHECKS:
                result = yield _call(step, *named)
            criteria[index] = _verdict(criterion, result)
    return Checked(outputs, criteria)


def _call(step: PlanStep, check: Check, argument: str, file: str) -> CallCheck:
    given = CheckedStep(
        step=step, argument=argument, file=file, workspace=_workspace(), result=step.result
    )
    return CallCheck(check, given)


def check_files(step: PlanStep) -> list[Verdict]:
    """One verdict for each declared file; none where the run has no workspace to look into."""
    workspace = _workspace()
    if workspace is None:
        return []
    return [
        _verdict(f"the file {name} is there and not empty", look_at_file(workspace, name))
        for name in output_files(step)
    ]


def declared_texts(step: PlanStep) -> dict[str, str]:
    """The declared output files that are there, as shortened text by name; blocks.

    At most 5 files, 4,000 characters of each; binary files are left out.
    """
    workspace = _workspace()
    texts: dict[str, str] = {}
    for name in dict.fromkeys(output_files(step)):
        if workspace is None or len(texts) == _TEXTS:
            break
        with suppress(ToolException):
            if text := read_inside(workspace, name, _TEXT):
                texts[name] = text
    return texts


def missing_files(request: str) -> list[str]:
    """Files that the request names and the workspace does not have; none without a workspace."""
    workspace = _workspace()
    if workspace is None:
        return []
    named = dict.fromkeys(_NAMED.findall(request))
    return [name for name in named if look_at_file(workspace, name).met is False]


def _workspace() -> Path | None:
    workspace = run_context().workspace
    return None if workspace is None else Path(workspace).expanduser()


def _verdict(criterion: str, result: CheckResult) -> Verdict:
    verdict: Literal["met", "not_met", "unknown"] = "met" if result.met else "not_met"
    if result.met is None:
        verdict = "unknown"
    return Verdict(criterion=criterion, verdict=verdict, evidence=result.evidence)
