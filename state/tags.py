"""Which executor a step asks for: by its field, or by the seeds' bracket tag in its text."""

import re
import unicodedata
from collections.abc import Sequence

from .plan import PlanStep

_TAG = re.compile(r"[\[【［]([^\]】］\n]{1,64})[\]】］]")


def normalise(name: str) -> str:
    """One spelling for a name: case, width, spaces, hyphens and underscores do not count.

    >>> normalise("Data-Analysis "), normalise("ＣＯＤＥ")
    ('data_analysis', 'code')
    """
    text = unicodedata.normalize("NFKC", name).strip().casefold()
    return re.sub(r"[\s_-]+", "_", text).strip("_")


def find_executor(step: PlanStep, executors: Sequence[str]) -> str | None:
    """The registered executor that a step names, or `None` where it names none.

    The `executor` field counts first. Then every bracket in the name and the description is
    looked at, in any script and case; brackets that are no registered name are just text.
    """
    known = {normalise(name): name for name in executors}
    if step.executor:
        return known.get(normalise(step.executor))
    for tag in _TAG.findall(f"{step.name}\n{step.description}"):
        if found := known.get(normalise(tag)):
            return found
    return None


def unknown_tags(step: PlanStep, executors: Sequence[str]) -> list[str]:
    """What a step names that is no registered executor: its field, or a tag that leads its text."""
    if find_executor(step, executors):
        return []
    if step.executor:
        return [step.executor]
    leading = _TAG.match(step.text.lstrip("*_` "))
    return [leading.group(1)] if leading else []
