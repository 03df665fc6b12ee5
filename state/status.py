"""The statuses of steps: their marks, the moves between them, the words models use for them."""

from typing import Final, Literal

from .errors import PlanError

StepStatus = Literal["not_started", "in_progress", "completed", "blocked"]

MARKS: Final[dict[StepStatus, str]] = {
    "not_started": "[ ]",
    "in_progress": "[→]",
    "completed": "[✓]",
    "blocked": "[!]",
}
ASCII_MARKS: Final[dict[StepStatus, str]] = {**MARKS, "in_progress": "[>]", "completed": "[x]"}

STATUS_MOVES: Final[dict[StepStatus, frozenset[StepStatus]]] = {
    "not_started": frozenset({"in_progress", "completed", "blocked"}),
    "in_progress": frozenset({"not_started", "completed", "blocked"}),
    "blocked": frozenset({"not_started", "in_progress"}),
    "completed": frozenset(),
}
_SYNONYMS: Final[dict[str, StepStatus]] = {
    **dict.fromkeys(("complete", "done", "finished", "success", "succeeded"), "completed"),
    **dict.fromkeys(("started", "active", "running", "doing", "current"), "in_progress"),
    **dict.fromkeys(("todo", "pending", "open", "new", "waiting"), "not_started"),
    **dict.fromkeys(("failed", "error", "stuck", "cancelled", "impossible"), "blocked"),
}


def read_status(value: str) -> StepStatus:
    """Read a status, synonyms and spelling variants included.

    Raises:
        PlanError: The word is no status; the allowed ones are named.

    >>> read_status("In-Progress"), read_status("done")
    ('in_progress', 'completed')
    """
    word = str(value).strip().lower().replace("-", "_").replace(" ", "_")
    if word in STATUS_MOVES:
        return word
    if word in _SYNONYMS:
        return _SYNONYMS[word]
    raise PlanError(f"'{value}' is no status: use one of {', '.join(STATUS_MOVES)}.")
