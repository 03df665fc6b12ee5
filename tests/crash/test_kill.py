"""Real processes, killed with SIGKILL, resumed by new ones."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("driver.py")
STEP_2 = ("s2a", "s2b", "s2c")


def drive(tmp_path: Path, kill_at: str) -> subprocess.CompletedProcess[str]:
    files = [str(tmp_path / "runs.db"), str(tmp_path / "log")]
    command = [sys.executable, "-W", "error", str(DRIVER), *files, kill_at]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def effects(tmp_path: Path) -> Counter[str]:
    return Counter((tmp_path / "log").read_text().split())


@pytest.mark.parametrize(
    "kill_at",
    ["think s2 0", "think s2 2", "think s2 3", "before s2c", "IN_PROGRESS s2", "EXECUTOR_RUN s2"],
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
    names = ["answered", *(f"s{n}{letter}" for n in (1, 2, 3) for letter in "abc")]
    assert effects(tmp_path) == dict.fromkeys(names, 1)


def test_a_call_that_had_begun_is_not_forgotten(tmp_path: Path) -> None:
    """Its effect may stand twice, as nobody knows whether it happened; no other effect does."""
    killed = drive(tmp_path, "after s2c")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert drive(tmp_path, "after s2c").returncode == 0
    counts = effects(tmp_path)
    assert counts.pop("s2c") == 2
    assert set(counts.values()) == {1}


def test_c58_a_step_that_died_is_another_attempt_whoever_answers_its_question(
    tmp_path: Path,
) -> None:
    """Killed in a step, resumed to its question by a second process, answered by a third."""
    assert drive(tmp_path, "think s2 0").returncode == -signal.SIGKILL
    asked = drive(tmp_path, "answering")
    assert asked.returncode == -signal.SIGKILL, asked.stderr
    ended = drive(tmp_path, "answering")
    assert ended.stdout.strip() == "completed_unverified [1, 2, 1]", ended.stderr
