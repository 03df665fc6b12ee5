"""The state of the three graphs: what goes in, what is remembered, what comes out."""

import operator
from typing import Annotated, Any

from langchain_core.messages import AnyMessage
from typing_extensions import NotRequired, TypedDict

from .lifecycle import Phase
from .messages import Messages
from .outcome import AgentStatus, Outcome, StopReason, Usage, add_usage
from .plan import Plan, Verdict
from .plan_channel import PlanState
from .report import PlanReport


class Stop(TypedDict):
    """The decision that ends a ReAct run; `finish` turns it into the `Outcome`."""

    reason: StopReason
    detail: str
    answer: str
    success: bool | None
    fatal: bool


class ReactRun(TypedDict):
    """What belongs to one run of the ReAct loop; made anew by `prepare`."""

    started: float
    """Seconds since the epoch."""
    first: int
    """Index in `messages` of the task; what the model may forget begins after it."""
    usage: Usage
    nudges: int
    """Empty or call-less replies in a row that were answered by a hint."""
    hint: str
    """Said to the model with the next request; never stored as the user's words."""
    warned_at: int
    """Number of rounds when the model was told that it repeats itself; 0 if it was not."""
    approved: list[str]
    """Ids of calls that a person approved."""
    stop: Stop | None


class ReactInput(TypedDict, total=False):
    """Give `messages`, or a `request` that becomes the user's message."""

    messages: Messages
    request: str


class ReactOutput(TypedDict):
    """What the ReAct graph hands out."""

    messages: Messages
    status: AgentStatus
    outcome: Outcome


class ReactState(TypedDict):
    """What the ReAct graph remembers."""

    messages: Messages
    request: NotRequired[str]
    status: AgentStatus
    outcome: NotRequired[Outcome]
    run: ReactRun


class PlannerInput(TypedDict, total=False):
    """Give a `request`, or `messages` whose newest human text is the request."""

    request: str
    messages: Messages


class PlannerOutput(TypedDict):
    """What the planner graph hands out."""

    plan: PlanState
    approved: bool
    """A reviewer said so of this very plan."""
    reviewed: bool
    """This very plan was reviewed; an empty or failed review does not count."""
    review: str
    messages: Messages
    problems: Annotated[list[str], operator.add]
    usage: Annotated[Usage, add_usage]


class PlannerState(PlannerOutput):
    """What the planner graph remembers."""

    request: str
    reviews: int
    """Reviews made in this run."""


class PlanningInput(TypedDict, total=False):
    """Give a `request` (or `messages`), and a `plan` if there is one already."""

    request: str
    messages: Messages
    plan: Plan | dict[str, Any] | list[Any]


class PlanningOutput(TypedDict):
    """What the planning graph hands out."""

    plan: PlanState
    phase: Phase
    report: PlanReport
    summary: str
    messages: Messages


class PlanningState(TypedDict):
    """What the planning graph remembers."""

    request: str
    messages: Messages
    plan: PlanState
    phase: Phase
    active: list[str]
    """Ids of the steps in work."""
    recovery: NotRequired[str]
    """What `report_error` decided: retry, replan, block or stop."""
    comment: NotRequired[str]
    """What the person said when sending the plan back."""
    cancelled: NotRequired[bool]
    started: float
    """Seconds since the epoch."""
    usage: Annotated[Usage, add_usage]
    warnings: Annotated[list[str], operator.add]
    report: NotRequired[PlanReport]
    summary: NotRequired[str]


class StepBrief(TypedDict):
    """What an executor is told about its step."""

    request: str
    step: Any
    """The `PlanStep`."""
    attempt: int
    results: dict[str, str]
    """Results of earlier steps, by step id."""
    plan_text: str
    prompt: str
    """All of it as the text an agent gets."""
    idempotency_key: str


class ActInput(TypedDict):
    """One tool call for `act`."""

    call: dict[str, Any]


class AgentUpdate(TypedDict, total=False):
    """What the nodes of the ReAct graph may write."""

    messages: list[AnyMessage]
    request: str
    """Emptied when it has become a message, so that a later run does not find it again."""
    status: AgentStatus
    outcome: Outcome
    run: ReactRun


class Check(TypedDict):
    """What verifying a step gave."""

    verdicts: list[Verdict]
    verified: bool
    passed: bool
    finding: str
