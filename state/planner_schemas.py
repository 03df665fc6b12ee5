"""The state of the planner graph: what goes in, what is remembered, what comes out."""

from typing import NotRequired

from langchain_core.messages import AnyMessage
from typing_extensions import TypedDict

from .messages import Messages
from .outcome import Usage
from .patches import PlanPatch
from .plan_channel import PlanState


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
