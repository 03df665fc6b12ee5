"""A run as it is saved: how far it is, and what it waits for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from langgraph.types import StateSnapshot

from planloop.nodes import REVIVED

RunStatus = Literal["finished", "waiting", "running", "interrupted"]
WORKSPACE: Final = "planloop_workspace"
NOTE: Final = "planloop_note_"
"""Keys of a checkpoint's metadata."""


@dataclass(frozen=True)
class Pending:
    """A question that a run waits with."""

    id: str
    """The interrupt's id; answers go by it."""
    value: Any
    """What is asked: a dict with `type` (`question`, `tool_approval`, `plan_approval`,
    `call_in_doubt`, `paused`); a tool of yours may ask anything."""

    @property
    def kind(self) -> str:
        """The question's type; empty where it has none."""
        return str(self.asked.get("type") or "")

    @property
    def asked(self) -> Mapping[str, Any]:
        """What is asked, as a dict also where a tool of yours asks something else."""
        return self.value if isinstance(self.value, Mapping) else {"value": self.value}


@dataclass(frozen=True)
class RunView:
    """A run as it is saved."""

    thread: str
    status: RunStatus
    """`waiting`: for an answer; `running`: somebody drives it; `interrupted`: it can be resumed."""
    values: dict[str, Any]
    """The state's values."""
    pending: list[Pending]
    updated: str
    """When it was last saved, ISO 8601."""
    workspace: str | None = None
    notes: dict[str, str] = field(default_factory=dict)
    """What was noted at the start, such as the model's name."""
    revived: float | None = None
    """When it was last taken up after its process had died, in seconds since the epoch."""


def _open_questions(snapshot: StateSnapshot) -> list[Pending]:
    """The questions that are really open.

    A task that runs an inner graph still shows an interrupt that was answered, if the process died
    later in that graph; what is open stands in the inner graph's own state.
    """
    found: list[Pending] = []
    for task in snapshot.tasks:
        if isinstance(task.state, StateSnapshot):
            found += _open_questions(task.state)
        else:
            found += [Pending(item.id, item.value) for item in task.interrupts]
    return list({question.id: question for question in found}.values())


def _revived(snapshot: StateSnapshot) -> float | None:
    """The newest such moment; while an inner graph works, only its own checkpoints have it."""
    inner = (t.state for t in snapshot.tasks if isinstance(t.state, StateSnapshot))
    found = [(snapshot.metadata or {}).get(REVIVED), *map(_revived, inner)]
    return max((when for when in found if isinstance(when, float)), default=None)


def read_view(thread: str, snapshot: StateSnapshot) -> RunView:
    metadata: Mapping[str, Any] = snapshot.metadata or {}
    pending = _open_questions(snapshot)
    # Not `snapshot.next`: it leaves out a task whose writes were saved before the process died.
    status: RunStatus = "waiting" if pending else "interrupted" if snapshot.tasks else "finished"
    return RunView(
        thread=thread,
        status=status,
        values=dict(snapshot.values),
        pending=pending,
        updated=snapshot.created_at or "",
        workspace=metadata.get(WORKSPACE),
        revived=_revived(snapshot),
        notes={k.removeprefix(NOTE): str(v) for k, v in metadata.items() if k.startswith(NOTE)},
    )
