"""What is known of a task, in four lists. After the task ledger of Magentic-One (Fourney, 2024)."""

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel, Field, field_validator

from .coerce import as_texts
from .text import one_line

_MOST: Final = 12
_WIDTH: Final = 300


class Facts(BaseModel):
    """A small ledger; each entry is one line."""

    given: list[str] = Field(default_factory=list, description="Said in the request")
    found: list[str] = Field(default_factory=list, description="Shown by results so far")
    to_find_out: list[str] = Field(default_factory=list, description="Still to be looked up")
    assumed: list[str] = Field(default_factory=list, description="Guessed, not shown by anything")

    _texts = field_validator("given", "found", "to_find_out", "assumed", mode="before")(as_texts)

    @field_validator("given", "found", "to_find_out", "assumed")
    @classmethod
    def _bounded(cls, value: Sequence[str]) -> list[str]:
        return [one_line(text, _WIDTH) for text in value if text.strip()][:_MOST]

    def merged(self, older: "Facts") -> "Facts":
        """These facts; a list that is empty keeps what it had."""
        return Facts(**{key: new or getattr(older, key) for key, new in self})

    def __str__(self) -> str:
        named = {
            "Given": self.given,
            "Found": self.found,
            "To find out": self.to_find_out,
            "Assumed": self.assumed,
        }
        return "\n".join(
            f"{title}:\n" + "\n".join(f"- {text}" for text in texts)
            for title, texts in named.items()
            if texts
        )
