"""The process that the demo kills: one verb on one thread, its events as JSON lines on stdout."""

import json
import sys
from pathlib import Path
from typing import Any

from planloop.runs import Runs, RunView
from planloop.savers import Saver, open_saver

from .build import planning_graph
from .demo_script import REQUEST, scripted_model
from .paths import database_url
from .settings import RunSettings

THREAD = "demo"


def demo_saver(folder: Path) -> Saver:
    """The demo's database."""
    return open_saver(database_url(str(folder / "runs.db")))


def demo_runs(saver: Saver) -> Runs:
    """The demo's runs."""
    return Runs(planning_graph(RunSettings(yes=True), scripted_model(), saver))


def main(folder: str, verb: str, answer: str = "") -> None:
    """Do one verb and tell what happens."""
    with demo_saver(Path(folder)) as saver:
        view = _done(demo_runs(saver), Path(folder), verb, answer)
    for question in view.pending:
        tell(question.value)


def _done(runs: Runs, folder: Path, verb: str, answer: str) -> RunView:
    if verb == "start":
        workspace = str(folder / "workspace")
        return runs.start(REQUEST, thread=THREAD, workspace=workspace, on_event=tell)
    if verb == "answer":
        return runs.answer(THREAD, answer, on_event=tell)
    return runs.resume(THREAD, on_event=tell)


def tell(event: dict[str, Any]) -> None:
    """Hand an event to the demo at once."""
    print(json.dumps(event), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
