"""What one model call spent, counted here where the server does not say."""

from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from planloop.state import ModelUsage, Usage, no_usage

from .reply import readable_message
from .tokens import count_message


def usage_of(reply: BaseMessage, request: int, *, model: str = "", mode: str = "") -> Usage:
    """Tokens of one call; `steps` is 1.

    Args:
        reply: The model's message.
        request: What was sent weighs this many tokens, for the estimate.
        model: The model's name; left out, the tokens are counted for no model.
        mode: How it was asked.
    """
    reply = readable_message(reply)
    reported = reply.usage_metadata if isinstance(reply, AIMessage) else None
    read, written = (_count(reported, key) for key in ("input_tokens", "output_tokens"))
    usage = no_usage()
    usage["steps"] = 1
    usage["estimated"] = read is None or written is None
    usage["input_tokens"] = request if read is None else read
    usage["output_tokens"] = count_message(reply) if written is None else written
    if model:
        usage["models"] = {
            model: ModelUsage(
                calls=1,
                input_tokens=usage["input_tokens"],
                output_tokens=usage["output_tokens"],
                modes=[mode] if mode else [],
            )
        }
    return usage


def _count(reported: Any, key: str) -> int | None:
    """A count that the server reports, if it is one."""
    value = reported.get(key) if isinstance(reported, dict) else None
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 <= value < 2**53 else None
