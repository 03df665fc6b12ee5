"""What an executor is told about its step."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .plan import PlanStep


@dataclass(frozen=True, kw_only=True)
class StepBrief:
    """One step for an executor; fields are read as `brief.step` or `brief["step"]`."""

    request: str
    """What the whole plan is for."""
    step: PlanStep
    attempt: int
    """1 for the first."""
    results: Mapping[str, str]
    """Results of earlier steps, by step id: of those it depends on, else the latest ones."""
    plan_text: str
    """The plan as it stands, drawn."""
    prompt: str
    """All of it as the text an agent gets."""
    idempotency_key: str
    """The same when this attempt is run again after a crash."""

    def __getitem__(self, field: str) -> Any:
        try:
            return getattr(self, field)
        except AttributeError:
            raise KeyError(field) from None

    def to_dict(self) -> dict[str, Any]:
        """The brief as plain data, for the state."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**plain, "step": self.step.model_dump(mode="json")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "StepBrief":
        """A brief from its plain form."""
        return cls(**{**data, "step": PlanStep.model_validate(data["step"])})
