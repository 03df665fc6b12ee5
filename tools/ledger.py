"""Which calls with an effect have begun, and what came of them, whatever becomes of the process.

A ledger is kept beside the checkpoints. A call is claimed before it is made, and its result noted
after; so a process that takes up a run knows of each call whether it was made, and what it gave.
The idea is that of write-ahead logs, and of the idempotency keys of payment services.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

LEDGER: Final = "planloop_ledger"
"""In the config of a run: its ledger, if there is one."""
KEY: Final = "__planloop_key"  # LangGraph keeps such names out of metadata
"""In the config of a step or a call: its idempotency key."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a ledger knows of a call."""

    state: Literal["new", "done", "doubt"]
    """`doubt`: it had begun when its run was cut off; nobody knows whether it took effect."""
    begun: float = 0.0
    """When, in seconds since the epoch."""
    result: ToolMessage | None = None
    """What came of it, if it is done."""


class CallLedger(Protocol):
    """Where calls are noted. Each method is done, or raises, before it returns; it may block."""

    def claim(self, thread: str, key: str) -> Claim:
        """Note that a call begins, unless it has begun already; atomic."""
        ...

    def finish(self, key: str, result: ToolMessage) -> None:
        """Note what came of a claimed call."""
        ...

    def release(self, key: str) -> None:
        """Forget a claimed call that has not begun after all."""
        ...


def idempotency_key() -> str:
    """The key of the tool call, or of the plan's step, that this code runs for; else "".

    Hand it to a service that takes such keys: a call that is made again after a crash has the same.
    """
    try:
        given: Mapping[str, Any] = get_config().get("configurable", {})
    except RuntimeError:  # no graph around this code
        return ""
    return str(given.get(KEY) or "")


def keyed(config: RunnableConfig, call: ToolCall) -> RunnableConfig:
    """The config for what a call does: it has the call's idempotency key.

    That is the key of the step (thread, plan, step, attempt) or of the call around this one, else
    the thread's id; then the call's id.
    """
    given = config.get("configurable", {})
    key = f"{given.get(KEY) or given.get('thread_id') or ''}:{call['id']}"
    return {**config, "configurable": {**given, KEY: key}}
