"""What a run was started with. Notes in the database carry it to `resume` and `answer`."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The choices of `planloop run`."""

    model: str = ""
    """Full name of the model; empty means the default of the environment."""
    yes: bool = False
    """Whether every tool call and the plan are approved beforehand."""
    approve_plan: bool = False
    clarify: int = 0
    """Questions before planning, at most."""
    verify: bool = True
    verify_task: bool = False
    parallel: int = 1
    """Steps side by side."""
    max_steps: int | None = None
    """Steps a plan may have; `None` leaves it to the kind of model."""
    max_attempts: int = 2
    max_replans: int = 1
    seconds: float | None = None

    @property
    def is_local(self) -> bool:
        """Whether a small model in this process does the work."""
        return self.model.startswith("local:")

    def notes(self) -> dict[str, str]:
        """These settings as `Runs` remembers them."""
        kept = asdict(self)
        return {"model": kept.pop("model"), "settings": json.dumps(kept)}

    @classmethod
    def of(cls, notes: Mapping[str, str]) -> "RunSettings":
        """The settings of a saved run; the defaults where it was not started from here."""
        noted: dict[str, Any] = json.loads(notes.get("settings", "{}"))
        kept = {field.name: noted[field.name] for field in fields(cls) if field.name in noted}
        return cls(**{**kept, "model": notes.get("model", "")})
