"""One thread driven from the terminal: watch it, ask what it asks, say how it ended."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from planloop.errors import UnknownThread
from planloop.nodes import report_files
from planloop.runs import OnEvent, Runs, RunView, is_paused

from .ask import ask
from .live import watching
from .outcome import INTERRUPTED, document, exit_code
from .progress import Progress
from .questions import command, waiting_text
from .screen import Screen

Verb = Callable[[OnEvent], Coroutine[Any, Any, RunView]]


@dataclass(frozen=True)
class Session:
    """A thread, and the person who looks at it."""

    runs: Runs
    thread: str
    screen: Screen
    db: str | None = None
    """The database as it was named on the command line."""
    started: float = field(default_factory=time.monotonic)

    def go(self, verb: Verb) -> int:
        """Do this and go on until the run ends or nobody answers; return the exit code."""
        try:
            view = self._drive(verb)
            while view.pending and self.screen.asks and not is_paused(view):
                question = view.pending[0]
                try:
                    answer = ask(self.screen, question.asked)
                except EOFError:
                    break
                view = self._drive(partial(self._answer, question.id, answer))
        except KeyboardInterrupt:
            return self._interrupted()
        return self._ended(view)

    def _drive(self, verb: Verb) -> RunView:
        """Run it on an event loop: so Ctrl-C ends it between two awaits, and its tools with it."""
        try:
            values = self.runs.status(self.thread).values
        except UnknownThread:
            values = {}
        unfinished = values if values.get("phase") != "DONE" else {}
        progress = Progress.of(unfinished, self.started)
        with watching(self.screen, progress) as on_event:
            return asyncio.run(verb(on_event))

    def _answer(
        self, question: str, answer: Any, on_event: OnEvent
    ) -> Coroutine[Any, Any, RunView]:
        return self.runs.aanswer(self.thread, answer, id=question, on_event=on_event)

    def _ended(self, view: RunView) -> int:
        """Hand out what a run has come to."""
        if self.screen.as_json:
            self.screen.document(document(view))
        if view.pending:
            words = waiting_text(view, self.db)
            (self.screen.say if self.screen.as_json else self.screen.result)(words)
        elif not self.screen.as_json:
            self.screen.result(str(view.values.get("summary") or ""))
            self.screen.say(f"\nFiles are in {view.workspace}.{_report_place(view)}")
        return exit_code(view)

    def _interrupted(self) -> int:
        try:
            view = self.runs.status(self.thread)
        except UnknownThread:
            self.screen.say("Interrupted before there was anything to keep.")
            return INTERRUPTED
        if self.screen.as_json:
            self.screen.document(document(view))
        go_on = command("resume", self.thread, self.db)
        self.screen.say(f"Interrupted; what is done is kept. Go on with: {go_on}")
        return INTERRUPTED


def _report_place(view: RunView) -> str:
    """Where the report lies, if it was saved."""
    if view.workspace is None or not (plan := view.values.get("plan")):
        return ""
    page = report_files(view.workspace, plan.id)[-1]
    return f" The report is {page}." if page.exists() else ""
