"""The tool contract, the registry, the policy, and the tools we ship."""

from .agent_state import agent_state, is_stateful, lending
from .checks import CallCheck, Check, CheckAnswer, CheckedStep, CheckResult
from .command_check import command_check
from .criteria import checks_of, described_checks, read_criterion
from .file_checks import look_at_file
from .files import file_tools, read_inside
from .keep import kept_path, load_image
from .kept_planning import planning_tool_for
from .ledger import KEY, LEDGER, CallLedger, Claim, idempotency_key, keyed
from .people import ask_human
from .planning import planning_tool
from .policy import Decision, ToolPolicy
from .process import ProcessResult, run_process
from .python import python_tool
from .registry import ToolRegistry
from .results import clean, to_text
from .terminate import abort_plan, terminate
from .toolset import default_tools
from .traits import Effect, OnReplay, ToolTraits, own, tool_traits, traits_of
from .workers import in_thread, is_given_up
from .workspace import current_workspace, open_workspace, resolve_inside

__all__ = [
    "KEY",
    "LEDGER",
    "CallCheck",
    "CallLedger",
    "Check",
    "CheckAnswer",
    "CheckResult",
    "CheckedStep",
    "Claim",
    "Decision",
    "Effect",
    "OnReplay",
    "ProcessResult",
    "ToolPolicy",
    "ToolRegistry",
    "ToolTraits",
    "abort_plan",
    "agent_state",
    "ask_human",
    "checks_of",
    "clean",
    "command_check",
    "current_workspace",
    "default_tools",
    "described_checks",
    "file_tools",
    "idempotency_key",
    "in_thread",
    "is_given_up",
    "is_stateful",
    "kept_path",
    "keyed",
    "lending",
    "load_image",
    "look_at_file",
    "open_workspace",
    "own",
    "planning_tool",
    "planning_tool_for",
    "python_tool",
    "read_criterion",
    "read_inside",
    "resolve_inside",
    "run_process",
    "terminate",
    "to_text",
    "tool_traits",
    "traits_of",
]
