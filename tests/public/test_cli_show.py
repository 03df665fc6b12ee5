"""`planloop show` as a tree, a timeline, changes and Mermaid."""

import re
from collections.abc import Callable
from datetime import datetime
from io import StringIO
from types import SimpleNamespace
from typing import Any

import pytest
from cli_cast import Cast
from helpers import plan_json
from rich.cells import cell_len
from rich.console import Console
from typer.testing import Result

from planloop.cli.outcome import changes_text
from planloop.cli.screen import Screen
from planloop.cli.timeline import timeline
from planloop.cli.tree import drawn, plain, tree_of
from planloop.runs import RunView
from planloop.state import Plan, apply_patch, create_plan, no_usage, update_plan
from planloop.testing import call

Cli = Callable[..., Result]
NOON = datetime(2026, 1, 2, 12).timestamp()
SPENT = {**no_usage(), "input_tokens": 1_200, "output_tokens": 34}


def plan_of(*names: str, **patch: Any) -> Plan:
    """A plan with these records by step id."""
    return apply_patch(create_plan(list(names), request="Do it", origin="user"), patch)


def ran(start: float, end: float, **fields: Any) -> dict[str, Any]:
    """The record of a step that ran at these seconds after noon."""
    times = {"started": NOON + start, "ended": NOON + end}
    return {"status": "completed", "attempts": 1, **times, **fields}


def columns(lines: Any, *names: str) -> list[list[str]]:
    """What a table without blank cells says in these columns."""
    head, *rows = (line.split() for line in lines)
    return [[row[head.index(name)] for name in names] for row in rows]


def test_show_draws_a_plan_with_what_became_of_it_without_a_model(
    cli: Cli, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    cast.plan = plan_json("one", "two")
    cli("run", "do both", "--thread", "t")
    monkeypatch.setattr("planloop.cli.model.load_model", pytest.fail)
    tree = cli("show", "t", "--tree").stdout.splitlines()
    assert tree[0] == "T (2/2)"
    assert tree[1].startswith("  [✓] s1 one (by ") and tree[1].endswith("1 attempt; not verified)")
    table = cli("show", "t", "--timeline").stdout.splitlines()
    assert columns(table, "id", "name", "attempts") == [["s1", "one", "1"], ["s2", "two", "1"]]
    assert cli("show", "t", "--mermaid").stdout.startswith('flowchart TD\n  n1["s1 one"]:::comp')
    changes = cli("show", "t", "--changes").stdout
    assert changes == "Version 1: the first plan\n+ s1 one\n+ s2 two\n"


def test_show_tells_why_a_run_made_a_new_plan(cli: Cli, cast: Cast) -> None:
    cast.steps["s2"] = [call("terminate", status="failure", summary="no way")]
    cli("run", "do both", "--thread", "t", "--max-attempts", "1")
    first, second = cli("show", "t", "--changes").stdout.split("\n\n")
    assert first == "Version 1: the first plan\n+ s1 one\n+ s2 two"
    assert second.startswith("Version 2: replan") and "no way" in second


def test_one_form_is_shown_at_a_time(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t")
    result = cli("show", "t", "--tree", "--json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: Ask for one of --json, --tree at a time.\n"


def test_a_run_without_a_plan_says_so(
    cli: Cli, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("run", "do both", "--thread", "t")
    begun = SimpleNamespace(status=lambda thread: RunView(thread, "interrupted", {}, [], ""))
    monkeypatch.setattr("planloop.cli.saved.saved_runs", lambda _: begun)
    for form in ("--tree", "--timeline", "--changes", "--mermaid"):
        result = cli("show", "t", form)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr == "Run t has no plan yet.\n"


def tree() -> Plan:
    inner = plan_of("Mix", "Brush", s1={"status": "completed", "verified": True})
    return plan_of(
        "Buy",
        "Paint",
        s1={"status": "completed", "attempts": 1, "routed_to": "shop"},
        s2={
            "status": "in_progress",
            "attempts": 2,
            "depends_on": ["s1"],
            "executor": "team",
            "notes": "dry\ncolour",
            "sub_plan": inner,
        },
    )


def test_the_tree_tells_the_record_of_each_step_and_the_plans_within() -> None:
    assert list(plain(tree_of(tree()))) == [
        "Do it (1/2)",
        "  [✓] s1 Buy (by shop; 1 attempt; not verified)",
        "  [→] s2 Paint (after s1; by team; 2 attempts)",
        "    dry colour",
        "    [✓] s1 Mix (verified)",
        "    [ ] s2 Brush",
    ]


@pytest.mark.parametrize(("ascii_only", "mark"), [(False, "[→]"), (True, "[>]")])
def test_the_tree_is_drawn_at_a_terminal(ascii_only: bool, mark: str) -> None:
    console = Console(width=80, file=StringIO(), record=True)
    console.print(drawn(tree_of(tree()), ascii_only=ascii_only))
    lines = console.export_text().splitlines()
    assert lines[2] == f"└── {mark} s2 Paint (after s1; by team; 2 attempts)"
    assert lines[4] == "    ├── [{}] s1 Mix (verified)".format("x" if ascii_only else "✓")


def test_show_draws_the_tree_where_stdout_is_a_terminal(
    cli: Cli, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("run", "do both", "--thread", "t")
    monkeypatch.setattr(Screen, "is_watched", property(lambda _: True))
    assert "├── [✓] s1 one" in cli("show", "t", "--tree").stdout


def test_a_console_without_the_marks_gets_others(cli: Cli, cast: Cast) -> None:
    cli("run", "do both", "--thread", "t")
    assert "  [x] s1 one" in cli("show", "t", "--tree", charset="ascii").stdout
    assert re.search(" #+\n", cli("show", "t", "--timeline", charset="ascii").stdout)


def test_a_tree_of_many_steps_is_cut_around_what_is_open() -> None:
    names = [f"n{n}" for n in range(1_000)]
    plan = create_plan(names, request="r", max_steps=1_000)
    plan = apply_patch(plan, {f"s{n}": {"status": "completed"} for n in range(1, 601)})
    lines = list(plain(tree_of(plan)))
    assert len(lines) == 303
    assert lines[1] == "  450 earlier steps" and lines[-1] == "  250 later steps"


def test_a_row_tells_when_a_step_ran_what_it_took_and_what_it_cost() -> None:
    plan = plan_of("Buy", s1=ran(0, 90, attempts=3, usage=SPENT))
    head, row = timeline(plan, 80)
    assert head.split() == ["id", "name", "start", "end", "seconds", "attempts", "tokens"]
    assert row.split()[:7] == ["s1", "Buy", "12:00:00", "12:01:30", "90.0", "3", "1,234"]


def test_rows_stand_in_the_order_of_their_start_and_those_that_have_not_begun_last() -> None:
    inner = plan_of("X", "Y", s2=ran(7, 8))
    plan = plan_of("A", "B", "C", s2=ran(9, 10), s3=ran(5, 9, sub_plan=inner))
    ids = columns(timeline(plan, 80), "id")
    assert ids == [["s3"], ["s3/s2"], ["s2"], ["s1"], ["s3/s1"]]


@pytest.mark.parametrize(
    ("record", "shown"),
    [
        ({}, ["-", "-", "-"]),
        (ran(0, 9, status="in_progress"), ["12:00:00", "-", "-"]),
        (ran(9, 0), ["12:00:09", "12:00:00", "0.0"]),
        ({"started": float("nan"), "ended": float("inf")}, ["-", "-", "-"]),
        ({"started": 1e300, "ended": NOON}, ["-", "12:00:00", "-"]),
        (ran(0, 86_400), ["01-02 12:00:00", "01-03 12:00:00", "86,400.0"]),
    ],
)
def test_a_time_that_is_not_known_is_no_time(record: dict[str, Any], shown: list[str]) -> None:
    _, row = timeline(plan_of("A", s1=record), 80)
    assert re.split("  +", row)[2:5] == shown


def test_bars_stand_side_by_side_where_the_console_is_wide_enough() -> None:
    plan = plan_of("A", "B", "C", s1=ran(0, 10), s2=ran(10, 30), s3=ran(30, 30))
    head, *rows = timeline(plan, 100)
    bars = [row[len(head) + 2 :] for row in rows]
    assert bars == ["█" * 10, " " * 10 + "█" * 20, " " * 29 + "█"]
    assert "█" not in "".join(timeline(plan, 64))


def test_names_give_way_where_the_console_is_narrow() -> None:
    plan = plan_of("名前" * 30, "B", s1=ran(0, 1))
    for width in (61, 70, 80, 120):
        head, row, other = timeline(plan, width)
        assert max(map(cell_len, (head, row, other))) <= width
        assert "…" in row
        starts = {cell_len(row[: row.index("12:00")]), head.index("start"), other.index("-")}
        assert len(starts) == 1


def test_a_timeline_of_many_steps_is_cut() -> None:
    plan = create_plan([f"n{n}" for n in range(1_000)], request="r", max_steps=1_000)
    lines = list(timeline(plan, 80))
    assert (len(lines), lines[-1]) == (302, "… 700 more steps …")


def test_changes_are_told_version_by_version() -> None:
    plan = update_plan(plan_of("A", "B"), ["A", "C"], reason="B\nfailed " + "x" * 999)
    plan = update_plan(plan, ["A", "C"], reason="nothing new")
    first, second, third = changes_text(plan).split("\n\n")
    assert first == "Version 1: the first plan\n+ s1 A\n+ s2 B"
    assert second.startswith("Version 2: B failed xxx") and len(second) < 350
    assert second.endswith("…\n  s1 A\n- s2 B\n+ s3 C")
    assert third == "Version 3: nothing new\n  no step is different"
