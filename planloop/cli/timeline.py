"""When each step ran: a row each, with bars where the console is wide enough."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from planloop.state import Plan, PlanStep, one_line

from .screen import Screen, visible

_HEAD = ("id", "name", "start", "end", "seconds", "attempts", "tokens")
_NUMBERS = ("seconds", "attempts", "tokens")
_ROWS = 300
_NAME, _LEAST_NAME = 40, 10  # columns of a terminal
_BAR, _LEAST_BAR = 30, 10
_GAP = "  "
_PIPE_WIDTH = 200


class Row(NamedTuple):
    """A step under the ids of the steps around it and its own, as in `s2/s1`."""

    id: str
    step: PlanStep
    start: datetime | None
    end: datetime | None
    """Nothing while an attempt is in work."""


def print_timeline(screen: Screen, plan: Plan) -> None:
    """Print a row for each step, also of plans within the plan."""
    width = screen.console.width if screen.is_watched else _PIPE_WIDTH
    screen.result("\n".join(timeline(plan, width)))


def timeline(plan: Plan, width: int) -> Iterator[str]:
    """The lines of the table. Where `width` columns are too few, names give way."""
    rows = sorted(_rows(plan, ""), key=lambda row: (row.start is None, row.start or 0))
    shown = rows[:_ROWS]
    table = [list(_HEAD), *_cells(shown)]
    widths = [max(map(cell_len, column)) for column in zip(*table, strict=True)]
    left = width - sum(widths) - len(_GAP) * (len(widths) - 1)
    widths[1] = max(widths[1] + min(left, 0), _LEAST_NAME)
    room = min(left - len(_GAP), _BAR)
    bars = ["", *_bars(shown, room)] if room >= _LEAST_BAR else [""] * len(table)
    for cells, bar in zip(table, bars, strict=True):
        yield _GAP.join([*_padded(cells, widths), bar]).rstrip()
    if len(rows) > _ROWS:
        yield f"… {len(rows) - _ROWS} more steps …"


def _rows(plan: Plan, within: str) -> Iterator[Row]:
    for step in plan.steps:
        end = None if step.status == "in_progress" else step.ended
        yield Row(within + step.id, step, _time(step.started), _time(end))
        if step.sub_plan is not None:
            yield from _rows(step.sub_plan, f"{within}{step.id}/")


def _time(stamp: float | None) -> datetime | None:
    """A time of this machine's clock; nothing for what cannot be one, as a state may hold it."""
    try:
        return None if stamp is None else datetime.fromtimestamp(stamp)
    except (OverflowError, ValueError, OSError):
        return None


def _cells(rows: Sequence[Row]) -> Iterator[list[str]]:
    days = {time.date() for row in rows for time in (row.start, row.end) if time}
    form = "%H:%M:%S" if len(days) < 2 else "%m-%d %H:%M:%S"
    for row in rows:
        usage = row.step.usage
        yield [
            one_line(visible(row.id), _NAME),
            one_line(visible(row.step.text), _NAME),
            f"{row.start:{form}}" if row.start else "-",
            f"{row.end:{form}}" if row.end else "-",
            f"{_seconds(row.start, row.end):,.1f}" if row.start and row.end else "-",
            str(row.step.attempts),
            f"{usage['input_tokens'] + usage['output_tokens']:,}" if usage else "-",
        ]


def _padded(cells: Sequence[str], widths: Sequence[int]) -> Iterator[str]:
    """The cells in columns of these widths; numbers stand on the right."""
    for name, cell, width in zip(_HEAD, cells, widths, strict=True):
        text = Text(cell)
        text.truncate(width, overflow="ellipsis")
        text.align("right" if name in _NUMBERS else "left", width)
        yield text.plain


def _bars(rows: Sequence[Row], room: int) -> Iterator[str]:
    """Where each step lies between the first start and the last end."""
    times = [time for row in rows for time in (row.start, row.end) if time]
    first = min(times, default=None)
    span = _seconds(first, max(times, default=None)) or 1.0
    for row in rows:
        if row.start is None:
            yield ""
            continue
        left = min(int(_seconds(first, row.start) / span * room), room - 1)
        size = round(_seconds(row.start, row.end) / span * room)
        yield " " * left + "█" * max(1, min(size, room - left))


def _seconds(start: datetime | None, end: datetime | None) -> float:
    """The seconds between two times; a clock that was set back gives none."""
    return max((end - start).total_seconds(), 0.0) if start and end else 0.0
