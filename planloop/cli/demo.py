"""`planloop demo`: a scripted model, and everything else real, up to a killed process."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from planloop.errors import StoreError
from planloop.runs import RunView

from .demo_child import THREAD, demo_runs, demo_saver
from .demo_script import AGAIN, ANSWER, COUNTED, POWER, TOTAL
from .lines import line_of
from .progress import Progress
from .screen import Screen

_OPENING = """\
This demo needs no model: a script plays the model's part, so nothing you see here is thought.
The graphs, the tools, the files, the processes and the SQLite database are real.
"""


@dataclass
class Demo:
    """The demo in its folder."""

    folder: Path
    screen: Screen = field(default_factory=Screen)
    progress: Progress = field(default_factory=Progress)
    processes: list[int] = field(default_factory=list)

    @property
    def workspace(self) -> Path:
        """Where the agent's files are."""
        return self.folder / "workspace"

    def chapter(self, title: str) -> None:
        """Begin a part of the story."""
        self.screen.result(f"\n== {title}")

    def follow(self, verb: str, answer: str = "", *, kill_at: str = "") -> dict[str, Any]:
        """Run a verb in a process of its own; return the last thing it told.

        Args:
            kill_at: The process is killed when a call with this word in its code is running.
        """
        last: dict[str, Any] = {}
        with _child(self.folder, verb, answer) as child:
            self.processes.append(child.pid)
            assert child.stdout is not None
            for line in child.stdout:
                last = json.loads(line)
                self._tell(last)
                if kill_at and kill_at in str(last.get("args")):
                    self._await_line(kill_at)
                    child.kill()
        return last

    def _tell(self, event: dict[str, Any]) -> None:
        self.progress.take(event)
        if line := line_of(event, self.progress):
            self.screen.result(line)

    def _await_line(self, word: str) -> None:
        """Wait until the tool call is at work: it has written its line."""
        log = self.workspace / COUNTED
        deadline = time.monotonic() + 20
        while not (log.exists() and word in log.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)


@contextmanager
def _child(folder: Path, verb: str, answer: str) -> Iterator["subprocess.Popen[str]"]:
    """A process of its own, gone when this is left."""
    # -P: the current folder may hold another `planloop`, such as this project's own source
    module = ["-P", "-m", "planloop.cli.demo_child"]
    command = [sys.executable, *module, str(folder), verb, answer]
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C is for the demo; it ends its children
    )
    try:
        yield child
        child.wait()
    finally:
        child.kill()
        child.wait()
        assert child.stdout is not None
        child.stdout.close()


def run_demo() -> int:
    """Tell the story, then check it; return the exit code."""
    with tempfile.TemporaryDirectory(prefix="planloop-demo-", ignore_cleanup_errors=True) as name:
        demo = Demo(Path(name))
        demo.screen.result(_OPENING.rstrip())
        _tell_story(demo)
        with demo_saver(demo.folder) as saver:
            view = demo_runs(saver).status(THREAD)
        demo.screen.result(f"\n{view.values.get('summary')}")
        return _check(demo, view)


def _tell_story(demo: Demo) -> None:
    demo.chapter("A plan is made and worked on. Step s2 fails once and is tried again.")
    asked = demo.follow("start")
    if not asked:
        raise StoreError("The demo's process ended before it had begun; what it said stands above.")
    demo.chapter("The run waits for an answer; its process has ended.")
    demo.screen.result(f"Question: {asked.get('question')}  {asked.get('options')}")
    demo.screen.result(f"Answer (scripted): {ANSWER}")
    demo.follow("answer", ANSWER, kill_at="publish")
    demo.chapter(f"Process {demo.processes[-1]} was killed (SIGKILL) in the middle of that call.")
    (demo.workspace / POWER).touch()
    demo.screen.result("The run is resumed from the database by a new process.")
    doubt = demo.follow("resume")
    demo.chapter("Whether that call took effect, nobody knows. So it is not made again unasked.")
    demo.screen.result(f"Question: {doubt.get('text')}")
    demo.screen.result(f"Answer (scripted): {AGAIN}")
    demo.follow("answer", AGAIN)
    demo.chapter("The end of the run")


def _check(demo: Demo, view: RunView) -> int:
    """Hold what was told against the files and the database."""
    steps = {step["id"]: step for step in (view.values.get("report") or {}).get("steps", [])}
    log = _lines(demo.workspace / COUNTED)
    report = "\n".join(_lines(demo.workspace / "report.md"))
    claims = {
        "The plan has four steps, all completed and verified": len(steps) == 4
        and all(step["status"] == "completed" and step["verified"] for step in steps.values()),
        "Step s2 took two attempts, and s4, as its process died": [
            step["attempts"] for step in steps.values()
        ]
        == [1, 2, 1, 2],
        f"report.md says '{TOTAL}', with the answer that was given": TOTAL in report,
        "Four processes worked on it": len(set(demo.processes)) == 4,
        "The tool call that was finished before the kill ran once": log.count("draft") == 1,
        "The tool call that was cut off ran again, as the answer was": log.count("publish") == 2,
    }
    demo.chapter(f"Checked against the files ({COUNTED}, report.md) and the database")
    for claim, holds in claims.items():
        demo.screen.result(f"{'yes' if holds else 'NO '}  {claim}")
    return 0 if all(claims.values()) else 1


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines() if file.exists() else []
