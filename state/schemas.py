"""The state of the three graphs: what goes in, what is remembered, what comes out."""

import operator
from typing import Annotated, Any, Literal, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.managed import RemainingSteps
from typing_extensions import TypedDict

from .lifecycle import Phase
from .messages import Messages
from .outcome import AgentStatus, Outcome, StopReason, Usage, add_usage
from .patches import PlanPatch
from .plan import Plan, PlanDraft, Verdict
from .plan_channel import PlanState
from .planbook import PlanBook
from .plans_channel import PLANS, PlansState
from .report import PlanReport


class Stop(TypedDict):
    """The decision that ends a ReAct run; `finish` turns it into the `Outcome`."""

    reason: StopReason
    detail: str
    answer: str
    success: bool | None
    fatal: bool
    limit: NotRequired[str]
    """The budget that ended it; empty if none did."""
    abort: NotRequired[bool]
    """The run asks that the whole plan around it be ended."""


class ReactRun(TypedDict):
    """What belongs to one run of the ReAct loop; made anew by `prepare`.

    It is saved with every super-step, so what is not needed is not in it.
    """

    first: int
    """Index in `messages` of the task; what the model may forget begins after it."""
    usage: Usage
    timed: NotRequired[int]
    """How many messages of the log there were when `usage` was last brought up to date."""
    nudges: NotRequired[int]
    """Empty or call-less replies in a row that were answered by a hint."""
    hint: NotRequired[str]
    """Said to the model with the next request; never stored as the user's words."""
    warned_at: NotRequired[int]
    """The turn after which the model was told that it repeats itself."""
    compacting: NotRequired[bool]
    """The history has outgrown the window: `compact` comes next."""
    compacted_at: NotRequired[int]
    """The turn, counted from 1, before which it was last tried to summarise."""
    approved: NotRequired[list[str]]
    """Ids of calls that a person approved."""
    stop: NotRequired[Stop]


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


class Summary(TypedDict):
    """The running summary of a history that has outgrown its window."""

    text: str
    last: str
    """Id of the last message that it stands for."""


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
    summary: NotRequired[Summary]
    run: ReactRun
    remaining_steps: RemainingSteps
    """Super-steps that the host's recursion limit leaves."""


class ReactPlansInput(ReactInput, total=False):
    """`plans` too, where it has the planning tool: those of a graph around it."""

    plans: Annotated[PlanBook, PLANS]


class ReactPlansState(ReactState, PlansState):
    """What it remembers where it has the planning tool."""


class ReactPlansOutput(ReactOutput, PlansState):
    """What it hands out where it has the planning tool."""


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
    problems: list[str]
    """What went wrong on the way, one sentence each."""
    form: str
    """How the model was asked for the plan in the end: json_schema, function_calling, …"""
    usage: Usage


class PlannerState(PlannerOutput):
    """What the planner graph remembers."""

    request: NotRequired[str]
    task: str
    """The request of this run; `request` is emptied, so that a later run does not find it."""
    reviews: int
    """Reviews made in this run."""
    revising: bool
    """A review asks for another draft; false means that the next draft begins a new run."""


class PlannerUpdate(TypedDict, total=False):
    """What the nodes of the planner graph may write."""

    request: str
    task: str
    plan: PlanPatch
    approved: bool
    reviewed: bool
    review: str
    reviews: int
    revising: bool
    messages: list[AnyMessage]
    problems: list[str]
    form: str
    usage: Usage


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
    """What the planning graph remembers."""

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
    failures: list[str]
    """Fingerprints of the failures that a new plan has answered already."""
    revisions: int
    """How often a verdict has changed steps that had not begun."""
    facts: dict[str, list[str]]
    """`Facts` as plain data."""
    root_causes: list[str]
    """What the planner named as the cause of each failure that it planned around."""
    approval: Approval
    follow_up: NotRequired[str]
    earlier: dict[str, Any] | None
    """The earlier plan on this thread, if this run follows it up."""
    questions: list[Question]
    advice: list[str]
    """Notes of the person for this run, oldest first."""
    steer: str
    """New notes that the plan has not been fitted to yet."""
    heard: list[str]
    """Keys of the person's latest words, which the store may forget now."""
    paused: bool
    """The person asked to wait before the next step."""
    halt: Halt | None
    task_check: Verdict | None
    """Whether the results answer the request, if that was checked."""
    started: float
    """Seconds since the epoch."""
    usage: Annotated[Usage, add_usage]
    warnings: Annotated[list[str], operator.add]
    report: NotRequired[PlanReport]
    summary: NotRequired[str]
    remaining_steps: RemainingSteps
    """Super-steps that the host's recursion limit leaves."""


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
    summary: Summary
    run: ReactRun


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
