"""The plan: ordered steps, what the model wrote about each, and what became of it."""

import re
from typing import Any, Final, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict

from .coerce import as_steps, as_texts
from .errors import PlanError
from .outcome import Outcome, Usage
from .render import render_text
from .render_markdown import render_markdown
from .render_mermaid import render_mermaid
from .status import MARKS, StepStatus
from .text import cut_middle, one_line

PlanOrigin = Literal["model", "repaired", "fallback", "user"]

_OWN_ID = re.compile(r"s\d{1,9}")


MAX_TEXT: Final = 100_000
"""Characters of a step's name and description that are kept."""
MAX_LINES: Final = 200
"""Outputs, criteria and dependencies of a step that are kept."""
MAX_LINE: Final = 4_000
"""Characters of each."""


class Verdict(TypedDict):
    """What checking one success criterion gave."""

    criterion: str
    verdict: Literal["met", "not_met", "unknown"]
    evidence: str
    """The words of the result that show it; empty when unknown."""


class StepFields(BaseModel):
    """What is written of a step. Shape after URSA's PlanStep, with routing added."""

    model_config = ConfigDict(extra="ignore")

    name: str = Field(description="Short title of the step")
    description: str = Field(default="", description="What to do, so that another can do it")
    requires_code: bool = Field(default=False, description="Whether code must be written or run")
    expected_outputs: list[str] = Field(default_factory=list, description="What the step leaves")
    success_criteria: list[str] = Field(
        default_factory=list, description="How one can tell that it succeeded"
    )
    executor: str | None = Field(default=None, description="Name of the executor, or null")
    depends_on: list[str] = Field(
        default_factory=list, description="Ids of earlier steps it needs: s1 is the first step"
    )

    _texts = field_validator("expected_outputs", "success_criteria", "depends_on", mode="before")(
        as_texts
    )

    @model_validator(mode="before")
    @classmethod
    def _no_call(cls, value: Any) -> Any:
        if isinstance(value, dict) and {"arguments", "parameters"} & value.keys():
            raise ValueError("this is a tool call, not a step")
        return value

    @field_validator("name", "description", mode="before")
    @classmethod
    def _plain_text(cls, value: Any) -> Any:
        value = "" if value is None else str(value) if isinstance(value, int | float) else value
        return cut_middle(value, MAX_TEXT) if isinstance(value, str) else value

    @field_validator("expected_outputs", "success_criteria", "depends_on")
    @classmethod
    def _few_texts(cls, value: list[str]) -> list[str]:
        return [cut_middle(text, MAX_LINE) for text in value[:MAX_LINES]]


class DraftStep(StepFields):
    """One step as a model writes it."""

    label: SkipJsonSchema[str] = Field(
        default="", validation_alias=AliasChoices("label", "id"), max_length=200
    )
    """The id that a model gave it unasked, so that its other steps can name it."""

    @field_validator("label", mode="before")
    @classmethod
    def _label_text(cls, value: Any) -> str:
        return "" if value is None else str(value).strip()


class PlanDraft(BaseModel):
    """What a model is asked for: steps, and no field of the record."""

    model_config = ConfigDict(extra="ignore")

    title: str = Field(default="", description="The plan in a few words")
    steps: list[DraftStep] = Field(description="The steps in the order of work")

    @model_validator(mode="before")
    @classmethod
    def _tolerate(cls, value: Any) -> Any:
        """Accept the shapes models send: a bare list, steps as text or as encoded JSON."""
        if isinstance(value, list):
            value = {"steps": value}
        if isinstance(value, dict) and "steps" in value:
            return {**value, "steps": as_steps(value["steps"]), "title": value.get("title") or ""}
        return value


class ShortStep(BaseModel):
    """One step as a tiny model is asked for it: what more it writes is noise."""

    name: str = Field(description="Short title of the step")
    description: str = Field(default="", description="What to do")
    expected_outputs: list[str] = Field(default_factory=list, description="Files it leaves")


class ShortDraft(BaseModel):
    """A plan as a tiny model is asked for it."""

    steps: list[ShortStep] = Field(description="The steps in the order of work")


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
