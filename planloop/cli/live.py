"""The plan as a checklist that ticks while the run goes."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Group, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from planloop.runs import OnEvent
from planloop.state import ASCII_MARKS, MARKS, Plan, StepStatus, one_line

from .lines import line_of
from .progress import Progress
from .screen import Screen, in_ascii, shows_marks, visible

STYLES: dict[StepStatus, str] = {
    "not_started": "dim",
    "in_progress": "bold cyan",
    "completed": "green",
    "blocked": "bold red",
}
_AROUND = 6  # lines besides the steps
_LASTING = ("steer", "verify")  # events that leave a line above the picture


@contextmanager
def watching(screen: Screen, progress: Progress) -> Iterator[OnEvent]:
    """Show a run while it goes; give its events to what this yields."""
    if not screen.is_watched:
        yield _LinePrinter(screen, progress).take
        return
    console = screen.console
    ascii_only = not shows_marks(console.encoding)
    spinner = Spinner("line" if ascii_only else "dots")

    def draw() -> RenderableType:
        return drawn(progress, spinner, console.height - _AROUND, ascii_only=ascii_only)

    def take(event: dict[str, object]) -> None:
        progress.take(event)
        if event.get("type") in _LASTING and (line := line_of(event, progress)):
            console.print(_line(line, "", ascii_only))

    with Live(get_renderable=draw, console=console, refresh_per_second=8, transient=True):
        yield take


class _LinePrinter:
    """Prints each event as a line."""

    def __init__(self, screen: Screen, progress: Progress) -> None:
        self.screen, self.progress = screen, progress

    def take(self, event: dict[str, object]) -> None:
        """Bring the picture up to date and say what is new."""
        self.progress.take(event)
        if line := line_of(event, self.progress):
            self.screen.say(line)


def drawn(progress: Progress, spinner: Spinner, room: int, *, ascii_only: bool) -> RenderableType:
    """The checklist with a line beneath: what is done now, how long, how many tokens."""
    minutes, seconds = divmod(int(progress.seconds), 60)
    spent = f"{minutes}:{seconds:02} · {progress.tokens:,} tokens"
    below = Table.grid(padding=(0, 1))
    below.add_column()
    below.add_column(no_wrap=True, overflow="ellipsis")
    below.add_column(no_wrap=True, style="dim")
    doing, spent = visible(progress.doing), in_ascii(spent) if ascii_only else spent
    below.add_row(spinner, Text(in_ascii(doing) if ascii_only else doing), spent)
    return Group(*_step_lines(progress.plan, max(room, 3), ascii_only), below)


def _step_lines(plan: Plan, room: int, ascii_only: bool) -> Iterator[Text]:
    if not plan.steps:
        return
    marks = ASCII_MARKS if ascii_only else MARKS
    done, total = plan.counts()["completed"], len(plan.steps)
    yield _line(f"{one_line(plan.title, 100)} ({done}/{total})", "bold", ascii_only)
    opened = (n for n, step in enumerate(plan.steps) if step.status != "completed")
    first = max(0, min(next(opened, 0) - room // 2, total - room))
    if first:
        yield _line(f"  {first} earlier steps", "dim", ascii_only)
    for step in plan.steps[first : first + room]:
        text = f"  {marks[step.status]} {step.text}"
        notes = f" ({one_line(step.notes, 80)})" if step.notes else ""
        yield _line(text + notes, STYLES[step.status], ascii_only)
    if (left := total - first - room) > 0:
        yield _line(f"  {left} later steps", "dim", ascii_only)


def _line(text: str, style: str, ascii_only: bool) -> Text:
    shown = visible(in_ascii(text) if ascii_only else text)
    return Text(shown, style=style, no_wrap=True, overflow="ellipsis")
