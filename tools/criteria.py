"""Which criteria are decided by code: the registered checks, and how a criterion names one."""

import inspect
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from planloop.state import WrongUse, normalise, one_line

from .checks import Check
from .file_checks import file_check, regex_check

_BUILT_IN: Final[Mapping[str, Check]] = MappingProxyType({"file": file_check, "regex": regex_check})
_IN_FILES: Final = ("regex",)  # may name a file before the colon
_LONGEST: Final = 2_000  # characters; longer ones are prose
_NAMED: Final = re.compile(r"(?P<name>[^:：\n]{1,200})(?:[:：](?P<argument>.*))?", re.DOTALL)


def checks_of(given: Mapping[str, Check] | None = None) -> Mapping[str, Check]:
    """The built-in checks `file` and `regex` and those of the user, by normalised name.

    Raises:
        WrongUse: A name that is illegal or taken, or a check that cannot be called.
    """
    checks = dict(_BUILT_IN)
    for name, check in (given or {}).items():
        if problem := _problem(name, check, checks):
            raise WrongUse(f"The check {name!r} {problem}.")
        checks[normalise(name)] = check
    return checks


def described_checks(checks: Mapping[str, Check]) -> str:
    """The checks as a planner reads them, one a line."""
    docs = (
        (name, (inspect.getdoc(check) or "").partition("\n")[0]) for name, check in checks.items()
    )
    return "\n".join(f"- {name}: {one_line(doc, 200)}" for name, doc in docs)


def _problem(name: Any, check: Any, taken: Mapping[str, Check]) -> str:
    plain = normalise(name) if isinstance(name, str) else ""
    if not plain or len(name) > 64 or ":" in plain:
        return "has no legal name: use words without ':', 64 characters at most"
    if plain in taken:
        return f"is there already, as {plain!r}: give it another name"
    return "" if callable(check) else "is not callable: give a function of the CheckedStep"


def read_criterion(
    criterion: str, checks: Mapping[str, Check], files: Sequence[str] = ()
) -> tuple[Check, str, str] | None:
    """The check that a criterion names, its argument and its file; `None` for prose.

    Args:
        checks: As `checks_of` gives them.
        files: The step's declared output files: only these may stand before the colon.

    >>> read_criterion("Regex a.txt: x: y", checks_of(), ["a.txt"])[1:]
    ('x: y', 'a.txt')
    >>> read_criterion("The file: it rhymes", checks_of())
    """
    text = criterion.strip()
    if len(text) > 2 and text[0] == text[-1] == "`" and text.count("`") == 2:
        text = text[1:-1].strip()
    named = _NAMED.fullmatch(text)
    if named is None or len(text) > _LONGEST:
        return None
    argument = (named["argument"] or "").strip()
    if check := checks.get(normalise(named["name"])):
        return check, argument, ""
    name, _, file = named["name"].strip().partition(" ")
    file = file.strip(" `")
    if normalise(name) in _IN_FILES and file in files:
        return checks[normalise(name)], argument, file
    return None
