"""One node a module: a factory closes over models or tools and returns the node."""

from ._brief import task_for
from ._budget import reached
from ._decide import Thinker, ToolChoice
from ._doubt import IN_DOUBT
from ._inbox import CANCELLED, INBOX
from ._nesting import REVIVED, capped
from ._node import Node, Router
from ._prompts import prompt
from ._saved_report import report_files
from .act import due_calls, make_act
from .approve import calls_to_approve, make_approve
from .approve_plan import make_approve_plan
from .clarify import make_ask_person, make_clarify
from .compact import make_compact
from .complete_step import is_passed, make_complete_step
from .create_plan import make_create_plan, make_create_plan_by_tool
from .executors import Executor, ExecutorLike, as_executors
from .fallback_plan import make_fallback_plan
from .final_summary import make_final_summary
from .finish import make_finish
from .generate import PlanMaker, make_generate
from .intake import make_intake
from .prepare import make_prepare
from .reflect import make_reflect
from .replan import make_replan
from .report_error import Bounds, make_report_error
from .run_executor import Briefing, make_dispatch, make_executor_node, make_run_executor
from .select_step import make_select_step
from .start_step import Roster, hand_over, make_start_step
from .think import make_think
from .verify_step import Verifier, make_verify_step
from .verify_task import make_verify_task

__all__ = [
    "CANCELLED",
    "INBOX",
    "IN_DOUBT",
    "REVIVED",
    "Bounds",
    "Briefing",
    "Executor",
    "ExecutorLike",
    "Node",
    "PlanMaker",
    "Roster",
    "Router",
    "Thinker",
    "ToolChoice",
    "Verifier",
    "as_executors",
    "calls_to_approve",
    "capped",
    "due_calls",
    "hand_over",
    "is_passed",
    "make_act",
    "make_approve",
    "make_approve_plan",
    "make_ask_person",
    "make_clarify",
    "make_compact",
    "make_complete_step",
    "make_create_plan",
    "make_create_plan_by_tool",
    "make_dispatch",
    "make_executor_node",
    "make_fallback_plan",
    "make_final_summary",
    "make_finish",
    "make_generate",
    "make_intake",
    "make_prepare",
    "make_reflect",
    "make_replan",
    "make_report_error",
    "make_run_executor",
    "make_select_step",
    "make_start_step",
    "make_think",
    "make_verify_step",
    "make_verify_task",
    "prompt",
    "reached",
    "report_files",
    "task_for",
]
