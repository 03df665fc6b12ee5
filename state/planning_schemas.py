"""The state of the planning graph: what goes in, what is remembered, what comes out."""

import operator
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.managed import RemainingSteps
from typing_extensions import TypedDict

from .draft import PlanDraft
from .lifecycle import Phase
from .messages import Messages
from .outcome import Usage, add_usage
from .patches import PlanPatch
from .plan import Plan, Verdict
from .plan_channel import PlanState
from .report import PlanReport

Recovery = Literal["none", "retry", "replan", "block", "stop"]
"""What `report_error` decided."""


class Approval(TypedDict):
    """What a person said of a plan."""

    decision: Literal["accepted", "rejected", "cancelled", "unclear", "pending"]
    comment: str
    """Why it was sent back, or why the answer could not be used."""
    reason: NotRequired[str]
    """Why the plan is shown again, after it was made anew."""


class Halt(TypedDict):
    """Why a plan ends before its steps do."""

    kind: Literal["cancelled", "aborted"]
    reason: str
    """One sentence."""


class Question(TypedDict):
    """A question asked before planning, and what the person said; empty while it is open."""

    question: str
    options: list[str]
    answer: str


class PlanningInput(TypedDict, total=False):
    """Give a `request` (or `messages`), and a `plan` if there is one already."""

    request: str
    messages: Messages
    plan: Plan | PlanDraft | dict[str, Any] | list[Any]
    follow_up: Literal["", "new", "extend"]
    """On a finished thread: plan with the earlier plan and its results in sight (`new`), or put
    further steps behind it (`extend`). Without it a run knows nothing of earlier ones."""


class PlanningOutput(TypedDict):
    """What the planning graph hands out."""

    plan: PlanState
    phase: Phase
    report: PlanReport
    summary: str
    messages: Messages


def latest(_: Phase, new: Phase) -> Phase:
    """Keep the newest phase; steps that run side by side enter the same one."""
    return new


class PlanningState(TypedDict):
    """What the planning graph remembers.

    `NotRequired` is also what a run has not that an earlier version of planloop began.
    """

    request: NotRequired[str]
    task: str
    """The request of this run; `request` is emptied, so that a later run does not find it."""
    messages: Messages
    plan: PlanState
    plan_id: NotRequired[str]
    """Mark of the latest run's plan: a plan with another mark was given by the caller."""
    phase: Annotated[Phase, latest]
    active: list[str]
    """Ids of the steps in work."""
    recovery: Recovery
    replans: int
    failures: NotRequired[list[str]]
    """Fingerprints of the failures that a new plan has answered already."""
    revisions: NotRequired[int]
    """How often a verdict has changed steps that had not begun."""
    facts: NotRequired[dict[str, list[str]]]
    """`Facts` as plain data."""
    root_causes: NotRequired[list[str]]
    """What the planner named as the cause of each failure that it planned around."""
    approval: Approval
    follow_up: NotRequired[str]
    earlier: NotRequired[dict[str, Any] | None]
    """The earlier plan on this thread, if this run follows it up."""
    questions: NotRequired[list[Question]]
    advice: NotRequired[list[str]]
    """Notes of the person for this run, oldest first."""
    steer: NotRequired[str]
    """New notes that the plan has not been fitted to yet."""
    heard: NotRequired[list[str]]
    """Keys of the person's latest words, which the store may forget now."""
    paused: NotRequired[bool]
    """The person asked to wait before the next step."""
    halt: NotRequired[Halt | None]
    task_check: NotRequired[Verdict | None]
    """Whether the results answer the request, if that was checked."""
    started: float
    """Seconds since the epoch."""
    usage: Annotated[Usage, add_usage]
    warnings: Annotated[list[str], operator.add]
    report: NotRequired[PlanReport]
    summary: NotRequired[str]
    remaining_steps: RemainingSteps
    """Super-steps that the host's recursion limit leaves."""


class ExecutorTask(TypedDict):
    """One step for `run_executor`."""

    brief: dict[str, Any]
    """A `StepBrief` as plain data."""
    executor: str
    spent: Usage
    """What the whole plan has spent before this step."""


class PlanningUpdate(TypedDict, total=False):
    """What the nodes of the planning graph may write."""

    request: str
    task: str
    messages: list[AnyMessage]
    plan: PlanPatch
    plan_id: str
    phase: Phase
    active: list[str]
    recovery: Recovery
    replans: int
    failures: list[str]
    revisions: int
    facts: dict[str, list[str]]
    root_causes: list[str]
    approval: Approval
    follow_up: str
    earlier: dict[str, Any] | None
    questions: list[Question]
    advice: list[str]
    steer: str
    heard: list[str]
    paused: bool
    halt: Halt | None
    task_check: Verdict | None
    started: float
    usage: Usage
    warnings: list[str]
    report: PlanReport
    summary: str
