"""A plan as a model or a person writes it: steps, and nothing of the record."""

from typing import Any, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic.json_schema import SkipJsonSchema

from .coerce import as_steps, as_texts
from .text import cut_middle

MAX_TEXT: Final = 100_000
"""Characters of a step's name and description that are kept."""
MAX_LINES: Final = 200
"""Outputs, criteria and dependencies of a step that are kept."""
MAX_LINE: Final = 4_000
"""Characters of each."""


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
