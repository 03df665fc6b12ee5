"""Looking back at a run: its saved moments, branches from them, what differs between two."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.types import StateSnapshot

from planloop.errors import PlanError, ThreadBusy, UnknownThread, WrongUse
from planloop.state import (
    Plan,
    as_plan,
    one_line,
    plan_diff,
    plan_mark,
    read_plan_lines,
    update_plan,
)

from .driver import Driver
from .graph_check import TO
from .locks import aalone, alone, forget_lock
from .retention import prune
from .run_checks import address_of
from .run_view import RunView
from .savers import saved_threads
from .sqlite_saver import SqliteFileSaver

_MOST_STEPS: Final = 50  # of a branch's plan; more if it had more
_BETWEEN: Final = "select_step"
"""The node before which no step is in work."""


@dataclass(frozen=True)
class Moment:
    """A saved state of a run, without what is in it."""

    number: int
    """From 1, in the order in which they were saved; it stays the same when the run goes on."""
    id: str
    """The checkpoint's id."""
    parent: str
    """Id of the moment before it; empty for the first."""
    at: str
    """When it was saved, ISO 8601."""
    phase: str
    """The lifecycle's phase; empty in other graphs, and before a plan has begun."""
    steps: tuple[str, ...]
    """Ids of the steps in work."""
    next: tuple[str, ...]
    """The nodes that come next, but those of steps side by side."""
    source: str
    """LangGraph's word for what made it: `input`, `loop`, `update` or `fork`."""


class History(Driver):
    """The verbs of `Runs` that look back."""

    def history(self, thread: str) -> list[Moment]:
        """The moments of a run, oldest first, those of abandoned branches too.

        Raises:
            UnknownThread: There is no such run.
        """
        found = [_moment(item) for item in self.saver.list(_top(thread))]
        if not found:
            raise UnknownThread(thread, "is unknown: `planloop runs` lists the saved ones.")
        return [made(number) for number, made in enumerate(reversed(found), 1)]

    async def ahistory(self, thread: str) -> list[Moment]:
        """The moments of a run as `history` gives them, awaited."""
        return await asyncio.to_thread(self.history, thread)

    def compare(self, thread: str, old: int | str, new: int | str = "") -> str:
        """What two moments differ in: the words of the plan, then what became of each step.

        Args:
            old: A moment's number or id.
            new: Another; left out, the run as it is.

        Raises:
            UnknownThread: There is no such run.
            WrongUse: There is no such moment, or the graph has no plan.
        """
        before = _plan(self.graph.get_state(self._place(thread, old)))
        place = self._place(thread, new) if new else address_of(thread)
        return "\n".join(_differences(before, _plan(self.graph.get_state(place))))

    def fork(self, thread: str, at: int | str, *, plan: Any = None) -> RunView:
        """Make a moment the newest of its thread: a branch, with which `resume` goes on.

        What came after it stays in the history. Work that was going on at the moment begins anew:
        an agent's step from its first turn, a question is asked again. A call with an effect that
        the model makes again word for word under the same id is not made: its result is known.

        Args:
            at: A moment's number or id, see `history`.
            plan: The steps from here on, where no step is in work; finished ones stay. Steps as for
                a new plan, or a text with a line for each, `NAME -- DESCRIPTION`; a line that
                begins with a step's id (`s2: `) keeps what else is known of it.

        Raises:
            UnknownThread: There is no such run.
            ThreadBusy: Somebody drives it.
            WrongUse: There is no such moment, or the plan cannot be changed there.
        """
        with alone(self.saver, thread):
            self._branch(thread, at, plan)
        return self.status(thread)

    async def afork(self, thread: str, at: int | str, *, plan: Any = None) -> RunView:
        """Make a moment the newest as `fork` does, awaited."""
        async with aalone(self.saver, thread):
            await asyncio.to_thread(self._branch, thread, at, plan)
        return await self.astatus(thread)

    def prune(self, keep_last: int = 1) -> int:
        """Delete all but the newest moments of every run; return how many moments are gone.

        Runs go on, and finished ones are shown and followed up, as before; `history` and `fork`
        know only what was kept. Runs that are being driven are left out.

        Raises:
            WrongUse: `keep_last` is less than one, or the saver is not one of `open_saver`.
        """
        gone = 0
        for thread in saved_threads(self.saver):
            with suppress(ThreadBusy), alone(self.saver, thread):
                gone += prune(self.graph, self.saver, thread, keep_last)
        if isinstance(self.saver, SqliteFileSaver):
            self.saver.compact()
        return gone

    async def aprune(self, keep_last: int = 1) -> int:
        """Delete old moments as `prune` does, awaited."""
        return await asyncio.to_thread(self.prune, keep_last)

    def delete(self, thread: str) -> None:
        """Forget a run with its branches and its ledger. Its workspace stays.

        Raises:
            UnknownThread: There is no such run.
            ThreadBusy: Somebody drives it.
        """
        self.status(thread)
        with alone(self.saver, thread):
            self.saver.delete_thread(thread)
        forget_lock(self.saver, thread)

    async def adelete(self, thread: str) -> None:
        """Forget a run as `delete` does, awaited."""
        await asyncio.to_thread(self.delete, thread)

    def _place(self, thread: str, at: int | str) -> RunnableConfig:
        """Where a moment is saved."""
        moments = self.history(thread)
        wanted = str(at).strip()
        found = next((m for m in moments if wanted in (m.id, str(m.number))), None)
        if found is None:
            raise WrongUse(
                f"There is no moment '{one_line(wanted, 40)}': thread '{thread}' has 1 to "
                f"{len(moments)}."
            )
        return _top(thread, checkpoint_id=found.id)

    def _branch(self, thread: str, at: int | str, plan: Any) -> None:
        place = self._place(thread, at)
        if plan is None:
            self.graph.update_state(place, None, "__copy__")
        else:
            self.graph.update_state(place, self._edited(place, plan))

    def _edited(self, place: RunnableConfig, plan: Any) -> dict[str, Any]:
        """The update that gives a branch another plan; finished steps stay as they are."""
        snapshot = self.graph.get_state(place)
        before = _plan(snapshot)
        if snapshot.next != (_BETWEEN,):
            raise WrongUse(
                "The plan can be changed where no step is in work: choose a moment before a step "
                f"is selected; here {', '.join(snapshot.next) or 'nothing'} comes next."
            )
        try:
            changed = update_plan(
                before,
                _steps_of(before, plan),
                reason="changed in a branch",
                max_steps=max(_MOST_STEPS, len(before.steps)),
                keep_completed=True,
            )
        except PlanError as error:
            raise WrongUse(f"This plan cannot be used: {error}") from error
        return {"plan": changed.model_dump(mode="json"), "plan_id": plan_mark(changed)}


def _top(thread: str, **more: str) -> RunnableConfig:
    return RunnableConfig(configurable={"thread_id": thread, "checkpoint_ns": "", **more})


def _moment(item: CheckpointTuple) -> Callable[[int], Moment]:
    values = item.checkpoint["channel_values"]
    parent = (item.parent_config or {}).get("configurable", {}).get("checkpoint_id", "")
    return lambda number: Moment(
        number=number,
        id=item.checkpoint["id"],
        parent=parent,
        at=item.checkpoint["ts"],
        phase=str(values.get("phase") or ""),
        steps=tuple(values.get("active") or ()),
        next=tuple(key.removeprefix(TO) for key in values if key.startswith(TO)),
        source=str(item.metadata.get("source") or ""),
    )


def _plan(snapshot: StateSnapshot) -> Plan:
    if "plan" not in snapshot.values:
        raise WrongUse("There is no plan at this moment, or the graph is no planning graph.")
    return as_plan(snapshot.values["plan"])


def _steps_of(before: Plan, plan: Any) -> Any:
    if isinstance(plan, str):
        return {"steps": read_plan_lines(before, plan)}
    if isinstance(plan, Plan):
        return {"title": plan.title, "steps": [step.model_dump(mode="json") for step in plan.steps]}
    return plan if isinstance(plan, Mapping) else {"steps": plan}


def _differences(old: Plan, new: Plan) -> Sequence[str]:
    words = plan_diff(old, new)
    lines = [words] if words else []
    known = {step.id: step for step in old.steps}
    for step in new.steps:
        before = known.get(step.id)
        if before is None or (before.status, before.result) == (step.status, step.result):
            continue
        lines.append(f"{step.id} {one_line(step.name, 60)}: {before.status} -> {step.status}")
        if before.result != step.result:
            lines += [f"  - {one_line(before.result, 200)}"] if before.result else []
            lines += [f"  + {one_line(step.result, 200)}"] if step.result else []
    return lines or ["Nothing differs."]
