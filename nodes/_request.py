"""What was asked: the `request`, or the newest thing a human said."""

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import HumanMessage

from planloop.models import text_of
from planloop.state import EmptyRequest


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


def described(executors: Mapping[str, str]) -> str:
    """The executors as a planner reads them; empty where there is no choice."""
    if len(executors) < 2:
        return ""
    lines = [f"- {name}: {text or 'no description'}" for name, text in executors.items()]
    return "\nSet executor to the one that fits the step best:\n" + "\n".join(lines)
