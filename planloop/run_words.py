"""What a person says to a run while it goes on: the verbs of `Runs` for notes, pauses, ends."""

from .driver import Driver, OnEvent
from .locks import aalone, alone
from .run_checks import input_of, resuming, unfinished
from .run_view import RunView
from .steering import aend, asay, end, say


class Words(Driver):
    """The verbs of `Runs` that speak to one."""

    def note(self, thread: str, text: str) -> None:
        """Tell a plan that is being worked on something that it should take into account.

        It is read between two steps: the steps that have not begun are planned anew with it, and
        every later step is told. The graph needs a store, see `planloop.open_store`.

        Raises:
            EmptyRequest: The text is empty.
            FinishedThread: The run has ended: `follow_up` gives it a further request.
        """
        unfinished(self.status(thread))
        say(self.graph, thread, "note", input_of(text)["request"])

    async def anote(self, thread: str, text: str) -> None:
        """Tell a plan something as `note` does, awaited."""
        unfinished(await self.astatus(thread))
        await asay(self.graph, thread, "note", input_of(text)["request"])

    def pause(self, thread: str) -> None:
        """Let a plan wait before its next step, until it is resumed. The graph needs a store."""
        unfinished(self.status(thread))
        say(self.graph, thread, "pause", "")

    async def apause(self, thread: str) -> None:
        """Let a plan wait as `pause` does, awaited."""
        unfinished(await self.astatus(thread))
        await asay(self.graph, thread, "pause", "")

    def cancel(self, thread: str, reason: str = "", *, on_event: OnEvent | None = None) -> RunView:
        """End a plan with a report of what was done.

        One that waits for an answer is ended at once. One that is being worked on, here or in
        another process, ends after the step in work, and one that was cut off when it is resumed:
        for these two the graph needs a store.

        Raises:
            FinishedThread: It has ended already.
        """
        view = unfinished(self.status(thread))
        if not view.pending:
            say(self.graph, thread, "cancel", reason)
            return view
        with alone(self.saver, thread):
            end(self.graph, thread, reason)
        return self._drive(thread, resuming, on_event)

    async def acancel(
        self, thread: str, reason: str = "", *, on_event: OnEvent | None = None
    ) -> RunView:
        """End a plan as `cancel` does, awaited."""
        view = unfinished(await self.astatus(thread))
        if not view.pending:
            await asay(self.graph, thread, "cancel", reason)
            return view
        async with aalone(self.saver, thread):
            await aend(self.graph, thread, reason)
        return await self._adrive(thread, resuming, on_event)
