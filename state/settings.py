"""What a caller sets and a run never changes: budgets, memory, and the settings of one run.

Settings travel beside the state, as LangGraph's run context; they are never checkpointed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from langgraph.runtime import get_runtime

from .outcome import Price


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
    """Seconds of work, looked at between two turns. An agent does not count the time in which it
    waits for a person or lies stopped; a plan counts from its beginning."""
    cost: float | None = None
    """What all calls of models may cost, in the currency of `prices`."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """Prices by the name of the model, as in `{"gpt-5-mini": Price(input=0.25, output=2)}`.

    A model that is not named counts at the dearest prices of the table.
    """

    def __post_init__(self) -> None:
        limits = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "prices"}
        for name, value in limits.items():
            if value is not None and value < 0:
                raise ValueError(f"Budget({name}={value}) is negative; None means no limit.")
        if self.cost is not None and not self.prices:
            raise ValueError(
                "Budget(cost=…) needs prices: Budget(cost=1, "
                'prices={"gpt-5-mini": Price(input=0.25, output=2)}), for a million tokens.'
            )


@dataclass(frozen=True, kw_only=True)
class MemoryPolicy:
    """How much of the history a model is shown. The log in the state is never cut.

    Always shown: the system message, the task of this run with its images, the summary of what was
    left out, and the last turn, each call with all its results. These are sent even where they take
    more than the window; results are cut first.
    """

    window_tokens: int = 32_000
    """Tokens that a request may have, with tool schemas and a tenth for the reply. Where the server
    turns out to take less, that is learnt and kept to."""
    strategy: Literal["summarize", "trim"] = "summarize"
    """What happens to turns that no longer fit: the model sums them up, or they are left out."""
    max_observation: int = 8_000
    """Characters of one tool result that enter the history. The middle of a longer one is cut; the
    whole is kept in the workspace, if there is one, and the history names the file."""


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
