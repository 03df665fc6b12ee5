"""Three steps side by side in a process of its own, killed in one of them when the others are done.

python parallel_driver.py FOLDER STEP      starts the run, or resumes it if there is one
"""

import asyncio
import os
import signal
import sqlite3
import sys
from pathlib import Path

from planloop import Runs, StepBrief, create_planning_graph, open_saver
from planloop.errors import UnknownThread
from planloop.testing import ScriptedModel

FOLDER, VICTIM = Path(sys.argv[1]), sys.argv[2]
DIED, DATABASE = FOLDER / "died", FOLDER / "runs.db"


async def work(brief: StepBrief) -> str:
    """Leave a trace; the victim dies once, as soon as the results of the others are saved."""
    with (FOLDER / "log").open("a") as log:
        log.write(f"{brief.step.name}\n")
    if brief.step.name == VICTIM and not DIED.exists():
        while saved() < 2:
            await asyncio.sleep(0.01)
        DIED.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return f"found {brief.step.name}"


def saved() -> int:
    """How many of the tasks that were sent have their writes in the database."""
    with sqlite3.connect(DATABASE) as connection:
        query = "SELECT count(DISTINCT task_id) FROM writes WHERE task_path LIKE '%push%'"
        found = connection.execute(query).fetchone()[0]
    connection.close()
    return int(found)


async def main() -> None:
    with open_saver(f"sqlite:///{DATABASE}") as saver:
        graph = create_planning_graph(
            ScriptedModel(repeat="sum"), work, max_parallel_steps=3, checkpointer=saver
        )
        runs = Runs(graph)
        try:
            view = await runs.aresume("t")
        except UnknownThread:
            view = await runs.astart({"request": "x", "plan": list("ABC")}, thread="t")
    report = view.values["report"]
    print(report["outcome"])
    for step in report["steps"]:
        print(step["name"], step["attempts"], step["result"])


if __name__ == "__main__":
    asyncio.run(main())
