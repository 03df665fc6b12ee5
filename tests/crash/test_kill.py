"""Real processes, killed with SIGKILL, resumed by new ones."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("driver.py")
NAMES = [f"s{n}{letter}" for n in (1, 2, 3) for letter in "abc"]
NOTED = "finish 7"
"""The result of s2c is in the ledger, and its super-step is not saved yet."""


def drive(
    tmp_path: Path, kill_at: str, in_doubt: str = "repeat"
) -> subprocess.CompletedProcess[str]:
    files = [str(tmp_path / "runs.db"), str(tmp_path / "log")]
    command = [sys.executable, "-W", "error", str(DRIVER), *files, kill_at, in_doubt]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def effects(tmp_path: Path) -> Counter[str]:
    return Counter((tmp_path / "log").read_text().split())


@pytest.mark.parametrize(
    "kill_at",
    ["think s2 0", "think s2 2", "think s2 3", "IN_PROGRESS s2", "EXECUTOR_RUN s2", NOTED],
)
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path, kill_at: str) -> None:
    killed = drive(tmp_path, kill_at)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = effects(tmp_path)
    assert before["s1a"] == 1 and "s3a" not in before
    resumed = drive(tmp_path, kill_at)
    assert resumed.returncode == 0, resumed.stderr
    # A step that died with its process is another attempt, whose finished calls are not repeated.
    # At the edge of a super-step it depends on the moment whether its attempt had begun or ended.
    expected = {1, 2} if kill_at[0] in "IE" else {2}
    ended = [f"completed_unverified [1, {attempts}, 1]" for attempts in expected]
    assert resumed.stdout.strip() in ended
    assert effects(tmp_path) == dict.fromkeys(["answered", *NAMES], 1)


@pytest.mark.parametrize(
    ("kill_at", "in_doubt", "times"),
    [
        ("claim 6", "repeat", 1),  # before the effect
        ("before s2c", "repeat", 1),
        ("after s2c", "repeat", 2),  # the person wanted it so
        ("after s2c", "skip", 1),
        ("before s2c", "skip", 0),
    ],
)
def test_c94_of_a_call_that_was_cut_off_a_person_decides(
    tmp_path: Path, kill_at: str, in_doubt: str, times: int
) -> None:
    killed = drive(tmp_path, kill_at, in_doubt)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = drive(tmp_path, kill_at, in_doubt)
    assert resumed.stdout.strip() == "completed_unverified [1, 2, 1]", resumed.stderr
    expected = {**dict.fromkeys([*NAMES, "answered", "doubted"], 1), "s2c": times}
    assert effects(tmp_path) == Counter(expected)


def test_c94_a_tool_that_may_be_repeated_is_with_the_same_key_and_nobody_is_asked(
    tmp_path: Path,
) -> None:
    assert drive(tmp_path, "after s2c", "trust").returncode == -signal.SIGKILL
    resumed = drive(tmp_path, "after s2c", "trust")
    assert resumed.stdout.strip() == "completed_unverified [1, 2, 1]", resumed.stderr
    assert effects(tmp_path) == {**dict.fromkeys(["answered", *NAMES], 1), "s2c": 2}
    keys = [line.split() for line in (tmp_path / "log.keys").read_text().splitlines()]
    assert len({key for name, key in keys if name == "s2c"}) == 1
    assert len({key for _, key in keys}) == len(NAMES)


def test_c58_a_step_that_died_is_another_attempt_whoever_answers_its_question(
    tmp_path: Path,
) -> None:
    """Killed in a step, resumed to its question by a second process, answered by a third."""
    assert drive(tmp_path, "think s2 0").returncode == -signal.SIGKILL
    asked = drive(tmp_path, "answering")
    assert asked.returncode == -signal.SIGKILL, asked.stderr
    ended = drive(tmp_path, "answering")
    assert ended.stdout.strip() == "completed_unverified [1, 2, 1]", ended.stderr
