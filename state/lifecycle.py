"""The phases of a planning run and the one table of moves between them."""

from typing import Final, Literal, get_args

from .errors import IllegalTransition

Phase = Literal[
    "NO_PLAN",
    "PLAN_CREATED",
    "FALLBACK_PLAN",
    "STEP_SELECTED",
    "IN_PROGRESS",
    "EXECUTOR_RUN",
    "COMPLETED",
    "ERROR_REPORTED",
    "FINAL_SUMMARY",
    "DONE",
]
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)

TRANSITIONS: Final[dict[Phase, frozenset[Phase]]] = {
    "NO_PLAN": frozenset({"PLAN_CREATED", "FALLBACK_PLAN"}),
    # A person may send a plan back, or leave nothing of it to do.
    "PLAN_CREATED": frozenset({"STEP_SELECTED", "NO_PLAN", "FINAL_SUMMARY"}),
    "FALLBACK_PLAN": frozenset({"STEP_SELECTED", "NO_PLAN", "FINAL_SUMMARY"}),
    "STEP_SELECTED": frozenset({"IN_PROGRESS"}),
    "IN_PROGRESS": frozenset({"EXECUTOR_RUN"}),
    "EXECUTOR_RUN": frozenset({"COMPLETED", "ERROR_REPORTED"}),
    # Of steps that ran side by side some may complete and others fail.
    "COMPLETED": frozenset({"STEP_SELECTED", "ERROR_REPORTED", "FINAL_SUMMARY"}),
    "ERROR_REPORTED": frozenset({"STEP_SELECTED", "FINAL_SUMMARY"}),
    "FINAL_SUMMARY": frozenset({"DONE"}),
    # A new request on the same thread.
    "DONE": frozenset({"NO_PLAN"}),
}

NODE_PHASES: Final[dict[str, tuple[Phase, ...]]] = {
    "intake": ("NO_PLAN",),
    "create_plan": ("PLAN_CREATED",),
    "fallback_plan": ("FALLBACK_PLAN",),
    "approve_plan": (),
    "select_step": ("STEP_SELECTED",),
    "start_step": ("IN_PROGRESS",),
    "run_executor": ("EXECUTOR_RUN",),
    "verify_step": (),
    "complete_step": ("COMPLETED",),
    "report_error": ("ERROR_REPORTED",),
    "replan": (),
    "final_summary": ("FINAL_SUMMARY", "DONE"),
}
"""Which phases each node of the planning graph enters; an empty tuple leaves it as it is."""


def enter(old: Phase, new: Phase) -> Phase:
    """Move from one phase to the next.

    Raises:
        IllegalTransition: The table does not allow this move.

    >>> enter("STEP_SELECTED", "IN_PROGRESS")
    'IN_PROGRESS'
    """
    if new not in TRANSITIONS[old]:
        raise IllegalTransition("phase", old, new)
    return new


def lifecycle_mermaid() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> NO_PLAN"]
    for phase in PHASES:
        lines += [f"    {phase} --> {after}" for after in PHASES if after in TRANSITIONS[phase]]
    return "\n".join([*lines, "    DONE --> [*]"])
