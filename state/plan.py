"""The plan: ordered steps, each with what is wanted of it and what became of it."""

import re
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from .coerce import as_steps
from .draft import StepFields
from .errors import PlanError
from .outcome import Outcome, Usage
from .render import render_text
from .render_markdown import render_markdown
from .render_mermaid import render_mermaid
from .status import MARKS, StepStatus
from .text import one_line

PlanOrigin = Literal["model", "repaired", "fallback", "user"]

_OWN_ID = re.compile(r"s\d{1,9}")


class Verdict(TypedDict):
    """What checking one success criterion gave."""

    criterion: str
    verdict: Literal["met", "not_met", "unknown"]
    evidence: str
    """The words of the result that show it; empty when unknown."""


class PlanStep(StepFields):
    """One step with its record. Ids (`s1`, `s2`, …) are never used twice in a plan."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str
    status: StepStatus = "not_started"
    attempts: int = 0
    """How many times an executor was started on it."""
    outcome: Outcome | None = None
    """How the latest attempt ended."""
    result: str = ""
    """What the latest attempt gave back, as later steps are told."""
    notes: str = ""
    """Why it failed, was sent back or was blocked."""
    verdicts: list[Verdict] = Field(default_factory=list)
    observations: str = ""
    """What its tools returned, shortened: the facts a check may quote."""
    verified: bool = False
    """Whether every success criterion was checked and met."""
    routed_to: str = ""
    """The executor that ran it."""
    routing: str = ""
    """Why another executor ran it than the one that it asks for; empty where none did."""
    revivals: int = 0
    """How many of its attempts took up one that had died with its process."""
    started: float | None = None
    """When the first attempt began, in seconds since the epoch."""
    began: float | None = None
    """When the latest attempt began, in seconds since the epoch."""
    ended: float | None = None
    """When the latest attempt ended, in seconds since the epoch."""
    usage: Usage | None = None
    """What all its attempts spent together."""
    fingerprints: list[str] = Field(default_factory=list)
    """What each attempt came to, as a short hash: two equal ones in a row got no further."""
    sub_plan: "Plan | None" = None
    """The plan by which its executor did it, if that is a planning graph."""

    @property
    def text(self) -> str:
        """Name and description as one line."""
        return one_line(self.name if self.name else self.description)


class PlanVersion(TypedDict):
    """A former version of a plan and why it was left."""

    version: int
    reason: str
    steps: list[dict[str, Any]]


class Plan(BaseModel):
    """A plan and the record of its execution. Changed only through `planloop.state.changes`."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    id: str = ""
    title: str = ""
    request: str = ""
    steps: list[PlanStep] = Field(default_factory=list)
    origin: PlanOrigin = "model"
    version: int = 1
    next_step: int = 1
    """Number of the next new step id."""
    history: list[PlanVersion] = Field(default_factory=list)
    schema_version: int = 1

    @model_validator(mode="before")
    @classmethod
    def _number_steps(cls, value: Any) -> Any:
        """Accept steps without ids, as a person writes them: they are numbered in order."""
        value = {"steps": value} if isinstance(value, list) else value
        if not isinstance(value, dict) or "steps" not in value:
            return value
        steps = as_steps(value["steps"])
        if not isinstance(steps, list):
            return value
        steps = _with_ids(steps)
        return {**value, "steps": steps, "next_step": _first_free(steps, value.get("next_step"))}

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "Plan":
        ids = [step.id for step in self.steps]
        if len(set(ids)) < len(ids):
            twice = sorted({step_id for step_id in ids if ids.count(step_id) > 1})
            raise ValueError(f"two steps have the id {', '.join(twice)}")
        return self

    def step(self, step_id: str) -> PlanStep:
        """The step with this id.

        Raises:
            KeyError: The plan has no such step.
        """
        for step in self.steps:
            if step.id == step_id:
                return step
        raise KeyError(f"The plan has no step {step_id!r}.")

    def counts(self) -> dict[str, int]:
        """Steps by status; `total` too."""
        counts: dict[str, int] = {status: 0 for status in MARKS}  # noqa: C420  # str keys for mypy
        for step in self.steps:
            counts[step.status] += 1
        return {**counts, "total": len(self.steps)}

    def render(
        self,
        form: Literal["text", "markdown"] = "text",
        *,
        ascii_only: bool = False,
        width: int = 200,
        limit: int = 200,
    ) -> str:
        """Draw the plan.

        Args:
            form: `text`: as people and executors read it, in the form of OpenManus' PlanningTool;
                `markdown`: what is written of each step, as URSA prints a plan.
            ascii_only: Use marks that any console shows.
            width: Characters a line of text may have; longer ones are cut with an ellipsis.
            limit: Steps that are drawn; those around the current one are kept. Plans within steps
                are drawn beneath them as far as there is room.
        """
        if form == "markdown":
            return render_markdown(self, ascii_only=ascii_only, limit=limit)
        return render_text(self, ascii_only=ascii_only, width=width, limit=limit)

    def to_mermaid(self) -> str:
        """The plan as a Mermaid flowchart: an arrow a dependency, a colour a status.

        Steps without dependencies are a chain; at most 100 steps are drawn, those around the
        current one.
        """
        return render_mermaid(self)

    def __str__(self) -> str:
        return self.render()


PlanStep.model_rebuild()


def _with_ids(steps: list[Any]) -> list[Any]:
    """The steps, those without an id numbered by their place, or above all numbers in use."""
    used = {_id_of(step) for step in steps}
    free = _first_free(steps, None)
    numbered = []
    for place, step in enumerate(steps, 1):
        if isinstance(step, dict) and not step.get("id"):
            own = f"s{place}" if f"s{place}" not in used else f"s{free}"
            free += own == f"s{free}"
            step = {**step, "id": own}
        numbered.append(step)
    return numbered


def _id_of(step: Any) -> str:
    return str((step.get("id") if isinstance(step, dict) else getattr(step, "id", "")) or "")


def _first_free(steps: list[Any], least: Any) -> int:
    """The lowest number above all that stand in the ids, and no lower than `least`."""
    numbers = [int(i[1:]) for i in map(_id_of, steps) if _OWN_ID.fullmatch(i)]
    return max(1 + max([len(steps), *numbers]), least if isinstance(least, int) else 1)


def plan_mark(plan: Plan) -> str:
    """What tells one version of a plan from every other."""
    return f"{plan.id}#{plan.version}" if plan.steps else ""


def as_plan(value: Any) -> Plan:
    """Read a plan from whatever a checkpoint, a client or a person hands over.

    Raises:
        PlanError: The value is no plan of a version this library knows.
    """
    if isinstance(value, BaseModel):
        value = value.model_dump(warnings=False)
    try:
        return Plan.model_validate(value if value is not None else {})
    except ValueError as error:
        first = str(error).splitlines()[0]
        raise PlanError(f"This is no plan that this version can read: {first}.") from error
