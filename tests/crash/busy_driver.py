"""A run in a process of its own that others meet.

    python busy_driver.py FOLDER WHAT      `hang`, `ask` or `answer`

`hang` begins a plan and never ends it; `ask` begins an agent that waits for an approval, and
`answer` approves. "working" is printed as soon as the step or the tool has begun.
"""

import sys
import time
from pathlib import Path

from langchain_core.tools import tool

from planloop import Runs, ToolPolicy, create_planning_graph, create_react_graph, open_saver
from planloop.errors import AnswerError, ThreadBusy
from planloop.testing import ScriptedModel, call

FOLDER, WHAT = Path(sys.argv[1]), sys.argv[2]


def hang(_: object) -> str:
    print("working", flush=True)
    time.sleep(600)
    return ""


@tool
def send() -> str:
    """Send it."""
    print("working", flush=True)
    with (FOLDER / "log").open("a") as log:
        log.write("sent\n")
    time.sleep(1)
    return "It is sent."


def main() -> None:
    with open_saver(f"sqlite:///{FOLDER / 'runs.db'}") as saver:
        if WHAT == "hang":
            graph = create_planning_graph(ScriptedModel(), hang, checkpointer=saver)
            Runs(graph).start({"request": "x", "plan": ["A"]}, thread="t")
            return
        script = [call("send")] if WHAT == "ask" else ["done"]
        policy = ToolPolicy()
        agent = create_react_graph(ScriptedModel(script), [send], policy=policy, checkpointer=saver)
        runs = Runs(agent)
        try:
            view = runs.start("go", thread="t") if WHAT == "ask" else runs.answer("t", True)
        except (AnswerError, ThreadBusy) as error:
            print(type(error).__name__)
        else:
            print(view.status)


if __name__ == "__main__":
    main()
