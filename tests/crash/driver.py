"""A planning run in a process of its own, killed where the test says.

    python driver.py DATABASE LOG KILL_AT [IN_DOUBT]   starts the run, or resumes it if there is one

Every effect appends a line to LOG, and so does answering the question that step 2 asks, and saying
`repeat` or `skip` (as IN_DOUBT says) to a call in doubt; with `trust` the tool may be repeated
unasked. The key of each effect is a line in a file beside LOG.
`KILL_AT` names a moment (see `moment`); at its first coming the process kills itself with SIGKILL.
A file beside LOG remembers that it has been.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from planloop import Runs, create_planning_graph, create_react_graph, open_saver, tool_traits
from planloop.errors import UnknownThread
from planloop.testing import ScriptedModel, call, calls
from planloop.tools import CallLedger, ask_human, idempotency_key

DATABASE, LOG, KILL_AT, IN_DOUBT = sys.argv[1], Path(sys.argv[2]), sys.argv[3], sys.argv[4]
DIED = LOG.with_suffix(f".{KILL_AT.replace(' ', '_')}")


def moment(name: str) -> None:
    """Die here if this is the moment, and it has not been before."""
    if name == KILL_AT and not DIED.exists():
        DIED.touch()
        os.kill(os.getpid(), signal.SIGKILL)


def note(name: str) -> None:
    with LOG.open("a") as log:
        log.write(f"{name}\n")


@tool_traits(effect="irreversible", on_replay="repeat" if IN_DOUBT == "trust" else "ask")
@tool
def effect(name: str) -> str:
    """Leave a trace in the world."""
    moment(f"before {name}")
    note(name)
    with LOG.with_suffix(".keys").open("a") as keys:
        keys.write(f"{name} {idempotency_key()}\n")
    moment(f"after {name}")
    return f"{name} is done"


class Watched:
    """A ledger after each of whose notes the process may die."""

    def __init__(self, ledger: CallLedger) -> None:
        self.ledger = ledger

    def __getattr__(self, verb: str) -> Any:
        def noted(*args: Any) -> Any:
            done = getattr(self.ledger, verb)(*args)
            moment(f"{verb} {sum(1 for _ in self.lines())}")
            return done

        return noted

    @staticmethod
    def lines() -> list[str]:
        return LOG.read_text().split() if LOG.exists() else []


def worker(messages: list[BaseMessage]) -> AIMessage:
    """Two calls at once, a third, then the answer; which step it is stands in the brief."""
    task = next(m.text for m in messages if isinstance(m, HumanMessage))
    step = task.split("Your step (")[1][:2]
    results = [m for m in messages if isinstance(m, ToolMessage)]
    moment(f"think {step} {sum(m.name == 'effect' for m in results)}")
    if step == "s2" and not results and not is_answered(messages):
        return call("ask_human", question="go on?")
    results = [m for m in results if m.name == "effect"]
    if not results:
        return calls(("effect", {"name": f"{step}a"}), ("effect", {"name": f"{step}b"}))
    return call("effect", name=f"{step}c") if len(results) == 2 else AIMessage(f"{step} is done")


def is_answered(messages: list[BaseMessage]) -> bool:
    return any(m.name == "ask_human" for m in messages)


def planner(messages: list[BaseMessage]) -> str:
    """The plan, else (for the summary) a word."""
    if messages[0].text.startswith("You write plans"):
        return json.dumps({"steps": [{"name": name} for name in "ABC"]})
    return "fine"


def main() -> None:
    react = create_react_graph(ScriptedModel(repeat=worker), [effect, ask_human])
    with open_saver(f"sqlite:///{DATABASE}") as saver:
        saver.ledger = Watched(saver.ledger)  # type: ignore[assignment]
        model = ScriptedModel(repeat=planner)
        graph = create_planning_graph(model, react, max_reflections=0, checkpointer=saver)
        runs = Runs(graph)
        try:
            view = runs.resume("t", on_event=phase)
        except UnknownThread:
            view = runs.start("do it", thread="t", on_event=phase)
        while view.pending:
            doubt = view.pending[0].value["type"] == "call_in_doubt"
            moment("answering")
            note("doubted" if doubt else "answered")
            view = runs.answer("t", IN_DOUBT if doubt else "yes", on_event=phase)
    report = view.values["report"]
    print(report["outcome"], [step["attempts"] for step in report["steps"]])


def phase(event: dict[str, Any]) -> None:
    moment(f"{event.get('phase')} {event.get('step', '')}".strip())


if __name__ == "__main__":
    main()
