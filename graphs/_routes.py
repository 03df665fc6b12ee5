"""Where the lifecycle goes after each node. Pure questions to the state."""

import time
from dataclasses import dataclass
from typing import Final, cast

from planloop.nodes import is_passed, reached
from planloop.state import Budget, PlanningState, Usage, ready_steps

STEPS_OF_A_STEP: Final = 8
"""Super-steps from here to the end of one more step of the plan, and of the plan."""
AFTER_PLAN: Final = ["approve_plan", "select_step", "final_summary", "fallback_plan"]
AFTER_APPROVAL: Final = ["select_step", "create_plan", "approve_plan", "final_summary"]
AFTER_VERIFY: Final = ["complete_step", "report_error"]
AFTER_COMPLETE: Final = ["report_error", "select_step", "final_summary"]
AFTER_ERROR: Final = ["replan", "select_step", "final_summary"]
AFTER_REPLAN: Final = ["select_step", "final_summary"]


@dataclass(frozen=True)
class Routes:
    """The routers of one planning graph."""

    approve_plan: bool
    budget: Budget

    def after_plan(self, state: PlanningState) -> str:
        """A plan goes to approval or to work; without one there is the fallback."""
        if not state["plan"].steps:
            return "fallback_plan"
        return "approve_plan" if self.approve_plan else self.next_step(state)

    def after_fallback(self, state: PlanningState) -> str:
        """The fallback plan is approved like any other."""
        return "approve_plan" if self.approve_plan else "select_step"

    def after_approval(self, state: PlanningState) -> str:
        """Do as the person said."""
        decision = state["approval"]["decision"]
        if decision == "accepted":
            return self.next_step(state)
        again = {"rejected": "create_plan", "unclear": "approve_plan"}
        return again.get(decision, "final_summary")

    def next_step(self, state: PlanningState) -> str:
        """Go on while a step is ready and the plan's budget lasts."""
        spent = {**state["usage"], "seconds": time.time() - state["started"]}
        # Where a state is edited from outside, LangGraph asks the routers too, and says 2.
        ends = 2 < state["remaining_steps"] < STEPS_OF_A_STEP
        if ends or reached(self.budget, cast(Usage, spent)):
            return "final_summary"
        return "select_step" if ready_steps(state["plan"]) else "final_summary"

    def after_verify(self, state: PlanningState) -> str:
        """Steps that are done are completed first, the others reported after."""
        steps = [state["plan"].step(step_id) for step_id in state["active"]]
        return "complete_step" if any(is_passed(step) for step in steps) else "report_error"

    def after_complete(self, state: PlanningState) -> str:
        """Steps that ran beside a completed one may have failed."""
        return "report_error" if state["active"] else self.next_step(state)

    def after_error(self, state: PlanningState) -> str:
        """Replan, stop, or go on with what is ready."""
        if state["recovery"] == "replan":
            return "replan"
        return "final_summary" if state["recovery"] == "stop" else self.next_step(state)
