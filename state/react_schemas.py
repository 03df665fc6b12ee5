"""The state of the ReAct graph: what goes in, what is remembered, what comes out."""

from typing import Annotated, Any, NotRequired

from langchain_core.messages import AnyMessage
from langgraph.managed import RemainingSteps
from typing_extensions import TypedDict

from .messages import Messages
from .outcome import AgentStatus, Outcome, StopReason, Usage
from .planbook import PlanBook
from .plans_channel import PLANS, PlansState


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
