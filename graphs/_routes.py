"""Where the lifecycle goes after each node. Pure questions to the state."""

import time
from dataclasses import dataclass
from typing import Final, cast

from planloop.nodes import capped, is_passed, reached
from planloop.state import Budget, PlanningState, Usage, ready_steps

STEPS_OF_A_STEP: Final = 8
"""Super-steps from here to the end of one more step of the plan, and of the plan."""
AFTER_PLAN: Final = ["approve_plan", "select_step", "final_summary", "fallback_plan"]
AFTER_FALLBACK: Final = ["approve_plan", "select_step", "final_summary"]
AFTER_APPROVAL: Final = ["select_step", "create_plan", "replan", "approve_plan", "final_summary"]
AFTER_VERIFY: Final = ["complete_step", "report_error"]
AFTER_COMPLETE: Final = ["report_error", "replan", "select_step", "final_summary"]
AFTER_ERROR: Final = ["replan", "select_step", "final_summary"]
AFTER_REPLAN: Final = ["approve_plan", "select_step", "final_summary"]
_EARLY: Final = ("NO_PLAN", "PLAN_CREATED", "FALLBACK_PLAN")


@dataclass(frozen=True)
class Routes:
    """The routers of one planning graph."""

    approve_plan: bool
    budget: Budget
    max_replans: int = 0
    verify_task: bool = False

    def after_clarify(self, state: PlanningState) -> str:
        """Ask while a question is open, then plan."""
        opened = any(not item["answer"] for item in state.get("questions") or [])
        return "ask_person" if opened else "create_plan"

    def after_plan(self, state: PlanningState) -> str:
        """A plan goes to approval or to work; without one there is the fallback."""
        if not state["plan"].steps:
            return "fallback_plan"
        return self.after_fallback(state)

    def after_fallback(self, state: PlanningState) -> str:
        """The fallback plan is approved like any other."""
        if self.approve_plan and not state.get("halt"):
            return "approve_plan"
        return self.next_step(state)

    def after_approval(self, state: PlanningState) -> str:
        """Do as the person said."""
        decision = state["approval"]["decision"]
        if decision == "accepted":
            return self.next_step(state)
        if decision == "rejected":
            return "create_plan" if state["phase"] in _EARLY else "replan"
        return "approve_plan" if decision == "unclear" else "final_summary"

    def next_step(self, state: PlanningState) -> str:
        """Go on while a step is ready and the plan's budget lasts."""
        if self._is_over(state):
            return "final_summary"
        return "select_step" if ready_steps(state["plan"], 1) else "final_summary"

    def _is_over(self, state: PlanningState) -> bool:
        """Whether the plan is ended early: by a person, a step, its budget, the host's limit."""
        if state.get("halt"):
            return True
        spent = {**state["usage"], "seconds": time.time() - state["started"]}
        # Where a state is edited from outside, LangGraph asks the routers too, and says 2.
        ends = 2 < state["remaining_steps"] < STEPS_OF_A_STEP
        return ends or reached(capped(self.budget), cast(Usage, spent)) is not None

    def after_verify(self, state: PlanningState) -> str:
        """Steps that are done are completed first, the others reported after."""
        steps = [state["plan"].step(step_id) for step_id in state["active"]]
        return "complete_step" if any(is_passed(step) for step in steps) else "report_error"

    def after_complete(self, state: PlanningState) -> str:
        """Steps that ran beside a completed one may have failed. A whole plan may be checked."""
        if state["active"]:
            return "report_error"
        finished = all(step.status == "completed" for step in state["plan"].steps)
        if self.verify_task and finished and not self._is_over(state):
            return "verify_task"
        return self._next(state)

    def after_error(self, state: PlanningState) -> str:
        """Replan, stop, or go on with what is ready."""
        return "final_summary" if state["recovery"] == "stop" else self._next(state)

    def _next(self, state: PlanningState) -> str:
        if state["recovery"] != "replan":
            return self.next_step(state)
        return "final_summary" if self._is_over(state) else "replan"

    def after_replan(self, state: PlanningState) -> str:
        """A plan that has changed is approved like the first one."""
        shown = state["approval"]["decision"] in ("pending", "unclear")
        if self.approve_plan and shown:
            return "approve_plan"
        return self.next_step(state)

    def after_task(self, state: PlanningState) -> str:
        """Results that do not answer the request are answered by a new plan, while there may be."""
        check = state.get("task_check")
        missed = check is not None and check["verdict"] == "not_met"
        again = missed and state["replans"] < self.max_replans and not self._is_over(state)
        return "replan" if again else "final_summary"
