"""What one model call spent, counted here where the server does not say."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

from planloop.state import Usage

from .reply import readable_message


def usage_of(reply: BaseMessage | None, request: Sequence[Any] | int = ()) -> Usage:
    """Tokens of one call; `steps` is 1.

    Args:
        reply: The model's message, or `None` if the call failed.
        request: The messages that were sent, or what they weigh, for the estimate.
    """
    reply = readable_message(reply) if reply is not None else None
    reported = reply.usage_metadata if isinstance(reply, AIMessage) else None
    read, written = (_count(reported, key) for key in ("input_tokens", "output_tokens"))
    estimated = read is None or written is None
    return Usage(
        steps=1,
        tool_calls=0,
        input_tokens=_weight(request) if read is None else read,
        output_tokens=count_tokens([reply] if reply else []) if written is None else written,
        seconds=0.0,
        estimated=estimated,
    )


def _count(reported: Any, key: str) -> int | None:
    """A count that the server reports, if it is one."""
    value = reported.get(key) if isinstance(reported, dict) else None
    return value if isinstance(value, int) and value >= 0 else None


def _weight(request: Sequence[Any] | int) -> int:
    return request if isinstance(request, int) else count_tokens(request)


def count_tokens(messages: Sequence[Any]) -> int:
    """A count that works offline and for any model: LangChain's approximation."""
    known = [message for message in messages if isinstance(message, BaseMessage)]
    return count_tokens_approximately(known) if known else 0
