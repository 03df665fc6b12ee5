"""One driver a thread, also between processes; a holder that dies holds nothing."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from planloop import Runs, create_planning_graph, open_saver
from planloop.errors import ThreadBusy
from planloop.locks import is_driven
from planloop.testing import ScriptedModel

DRIVER = Path(__file__).with_name("busy_driver.py")


@contextmanager
def driving(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that drives the run, and does not end by itself."""
    command = [sys.executable, "-W", "error", str(DRIVER), str(tmp_path), "hang"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        try:
            yield process
        finally:
            process.kill()


def test_a_run_that_another_process_drives_is_left_alone_until_that_dies(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    with driving(tmp_path) as other, open_saver(url) as saver:
        graph = create_planning_graph(ScriptedModel(["sum"]), lambda _: "done", checkpointer=saver)
        runs = Runs(graph)
        with pytest.raises(ThreadBusy, match="by another process"):
            runs.resume("t")
        assert is_driven(saver, "t") and not is_driven(saver, "u")
        assert runs.status("t").status == "running"
        assert runs.start({"request": "y", "plan": ["A"]}, thread="u").status == "finished"
        other.send_signal(signal.SIGKILL)
        other.wait()
        assert runs.status("t").status == "interrupted"
        assert runs.resume("t").values["report"]["counts"]["completed"] == 1
        assert not is_driven(saver, "t")


def test_two_answers_at_once_run_the_call_once(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(DRIVER), str(tmp_path)]
    asked = subprocess.run([*command, "ask"], capture_output=True, text=True, timeout=120)
    assert asked.stdout == "waiting\n", asked.stderr
    both = [
        subprocess.Popen([*command, "answer"], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = sorted(process.communicate(timeout=120)[0] for process in both)
    assert said[1] == "working\nfinished\n"
    assert said[0] in ("ThreadBusy\n", "AnswerError\n")
    assert (tmp_path / "log").read_text() == "sent\n"
