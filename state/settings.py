"""What a caller sets and a run never changes: budgets, memory, and the settings of one run.

Settings travel beside the state, as LangGraph's run context; they are never checkpointed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from langgraph.runtime import get_runtime


@dataclass(frozen=True, kw_only=True)
class Budget:
    """What one run may spend; `None` means no limit.

    Given to an agent it holds for one run of that agent; given to a planning graph, for the whole
    plan. It has nothing to do with LangGraph's recursion limit.
    """

    steps: int | None = 20
    """Turns of the model; of a plan, those of planning, executing and checking together."""
    tool_calls: int | None = None
    """Tool calls that are executed."""
    input_tokens: int | None = None
    """Tokens read by the model, summed over the run."""
    output_tokens: int | None = None
    """Tokens written by the model, summed over the run."""
    seconds: float | None = None
    """Wall-clock seconds since the run began; looked at between two turns."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and value < 0:
                raise ValueError(f"Budget({field.name}={value}) is negative; None means no limit.")


@dataclass(frozen=True, kw_only=True)
class MemoryPolicy:
    """How much of the history a model is shown. The log in the state is never cut."""

    window_tokens: int = 32_000
    """Tokens of the model's window that a request may fill."""
    strategy: Literal["summarize", "trim"] = "summarize"
    """What happens to turns that no longer fit: the model sums them up, or they are left out."""
    max_observation: int = 8_000
    """Characters of one tool result that enter the history; the middle of a longer one is cut."""


@dataclass(frozen=True, kw_only=True)
class RunContext:
    """Settings of one run: the `context_schema` of our graphs."""

    workspace: str | None = None
    """Folder that tools read and write; `None` means the default of the tools' factory."""


def run_context() -> RunContext:
    """Read the settings of the run this code is called in.

    Inside somebody else's graph the context is theirs: what it has by our names counts, as
    attributes or as keys, and the defaults fill the rest. Outside a graph there are only defaults.
    """
    try:
        context: Any = get_runtime().context
    except (RuntimeError, KeyError, AttributeError):  # no graph around this code
        return RunContext()
    if isinstance(context, RunContext):
        return context
    workspace = (
        context.get("workspace")
        if isinstance(context, Mapping)
        else getattr(context, "workspace", None)
    )
    return RunContext(workspace=str(workspace) if isinstance(workspace, str | Path) else None)
