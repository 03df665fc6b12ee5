"""`planloop history`, `fork`, `compare` and `delete`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cast import Cast
from helpers import plan_json
from typer.testing import Result

Cli = Callable[..., Result]


def moment(cli: Cli, phase: str, step: str = "") -> str:
    """The number of the first moment in this phase, with this step in work."""
    lines = [line.split() for line in cli("history", "t").stdout.splitlines()]
    return next(line[0] for line in lines if line[1:2] == [phase] and step in (*line[2:3], ""))


def test_a_run_is_taken_back_given_other_steps_and_compared(
    cli: Cli, cast: Cast, tmp_path: Path
) -> None:
    cast.plan = plan_json("one", "two")
    cli("run", "do both", "--thread", "t")
    last = cli("history", "t").stdout.splitlines()[-1].split()[0]
    steps = tmp_path / "steps.txt"
    steps.write_text("s2: two -- do two\n\nthree\n")
    forked = cli("fork", "t", "--at", moment(cli, "COMPLETED"), "--plan", str(steps))
    assert forked.exit_code == 0 and "2. [ ] three" in forked.stdout
    assert "planloop resume t" in forked.stderr
    assert cli("resume", "t").exit_code == 0
    compared = cli("compare", "t", last).stdout
    assert compared.splitlines()[:3] == ["  s1 one", "  s2 two", "+ s3 three"]
    back = cli("compare", "t", last, moment(cli, "STEP_SELECTED")).stdout
    assert "s1 one: completed -> not_started" in back


def test_without_a_plan_the_moment_is_as_it_was(cli: Cli, cast: Cast) -> None:
    cast.plan = plan_json("one", "two")
    cli("run", "do both", "--thread", "t")
    forked = cli("fork", "t", "--at", moment(cli, "IN_PROGRESS", "s2"))
    assert "0. [✓] one" in forked.stdout and "1. [→] two" in forked.stdout
    assert cli("resume", "t").exit_code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["history", "u"], "is unknown"),
        (["fork", "u", "--at", "1"], "is unknown"),
        (["fork", "t", "--at", "99"], "has 1 to"),
        (["fork", "t", "--at", "1", "--plan", "/nowhere.txt"], "cannot be read"),
        (["fork", "t", "--at", "1", "--plan", "EMPTY"], "has no steps"),
        (["fork", "t", "--at", "1", "--plan", "BINARY"], "cannot be read"),
        (["compare", "t", "x"], "has 1 to"),
        (["delete", "u"], "is unknown"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    cli: Cli, cast: Cast, tmp_path: Path, words: list[str], why: str
) -> None:
    (tmp_path / "EMPTY").write_text(" \n")
    (tmp_path / "BINARY").write_bytes(b"\xff\xfe\x00")
    words = [str(tmp_path / word) if word.isupper() else word for word in words]
    cli("run", "do it", "--thread", "t")
    refused = cli(*words)
    assert refused.exit_code == 2 and why in refused.stderr


def test_a_deleted_run_is_listed_no_more(cli: Cli, cast: Cast) -> None:
    cli("run", "do it", "--thread", "t")
    assert cli("delete", "t").exit_code == 0
    assert "No runs are saved" in cli("runs").stderr


def test_old_moments_are_pruned_and_the_run_is_shown_as_before(cli: Cli, cast: Cast) -> None:
    cli("run", "do it", "--thread", "t")
    shown = cli("show", "t").stdout
    pruned = cli("runs", "prune", "--keep-last", "2")
    assert pruned.exit_code == 0 and "moments are gone" in pruned.stderr
    assert cli("show", "t").stdout == shown
    assert len(cli("history", "t").stdout.splitlines()) == 4  # two, under a head
    assert cli("runs", "prune", "--keep-last", "0").exit_code == 2
