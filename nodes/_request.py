"""What was asked: the `request`, or the newest thing a human said."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import HumanMessage

from planloop.models import text_of
from planloop.state import EmptyRequest
from planloop.tools import Check, described_checks

_CHECKED = "A criterion of the form `name: argument` is checked by a program; use it where it fits:"


def asked_for(state: Mapping[str, Any]) -> str:
    """The request.

    Raises:
        EmptyRequest: There is no text in either place.
    """
    if request := str(state.get("request") or "").strip():
        return request
    for message in reversed(state.get("messages") or []):
        if isinstance(message, HumanMessage) and (text := text_of(message)):
            return text
    raise EmptyRequest


def described(executors: Mapping[str, str], checks: Mapping[str, Check] | None = None) -> str:
    """The executors, where there is a choice, and the checks, as a planner reads them."""
    parts = []
    if checks:
        parts.append(f"{_CHECKED}\n{described_checks(checks)}")
    if len(executors) > 1:
        lines = [f"- {name}: {text or 'no description'}" for name, text in executors.items()]
        parts.append("Set executor to the one that fits the step best:\n" + "\n".join(lines))
    return "".join(f"\n{part}\n" for part in parts).rstrip("\n")
