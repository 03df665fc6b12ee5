"""Finish: turn the decision that ended the loop into the outcome."""

import time

from planloop.state import AgentStatus, AgentUpdate, ReactState, make_outcome

from ._node import Node


def make_finish() -> Node:
    """The node `finish`."""

    def finish(state: ReactState) -> AgentUpdate:
        run = state["run"]
        stop = run["stop"]
        if stop is None:
            raise AssertionError("`finish` was reached without a decision to stop.")
        usage = run["usage"].copy()
        usage["seconds"] = round(time.time() - run["started"], 3)
        outcome = make_outcome(
            stop["reason"],
            stop["detail"],
            success=stop["success"],
            answer=stop["answer"],
            usage=usage,
        )
        if stop["fatal"]:
            outcome["fatal"] = True
        status: AgentStatus = "ERROR" if stop["reason"] == "error" else "FINISHED"
        return AgentUpdate(status=status, outcome=outcome)

    return Node(finish)
