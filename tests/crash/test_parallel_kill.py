"""Steps side by side in a process that is killed: each finished one is saved by itself."""

import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

DRIVER = Path(__file__).with_name("parallel_driver.py")


def drive(tmp_path: Path, kill_at: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(DRIVER), str(tmp_path), kill_at]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("kill_at", ["A", "B", "C"])
def test_finished_steps_are_not_run_again_and_their_results_are_kept(
    tmp_path: Path, kill_at: str
) -> None:
    killed = drive(tmp_path, kill_at)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = drive(tmp_path, kill_at)
    assert resumed.returncode == 0, resumed.stderr
    lines = resumed.stdout.splitlines()
    assert lines[0] == "completed_unverified"
    # The one that was cut off ran twice, and the report says so.
    assert lines[1:] == [f"{name} {1 + (name == kill_at)} found {name}" for name in "ABC"]
    counts = Counter((tmp_path / "log").read_text().split())
    assert counts == {name: 1 + (name == kill_at) for name in "ABC"}
