"""What one model call spent, counted here where the server does not say."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

from planloop.state import Usage


def usage_of(reply: BaseMessage | None, request: Sequence[Any] | int = ()) -> Usage:
    """Tokens of one call; `steps` is 1.

    Args:
        reply: The model's message, or `None` if the call failed.
        request: The messages that were sent, or what they weigh, for the estimate.
    """
    reported = reply.usage_metadata if isinstance(reply, AIMessage) else None
    return Usage(
        steps=1,
        tool_calls=0,
        input_tokens=reported["input_tokens"] if reported else _weight(request),
        output_tokens=reported["output_tokens"]
        if reported
        else count_tokens([reply] if reply else []),
        seconds=0.0,
        estimated=reported is None,
    )


def _weight(request: Sequence[Any] | int) -> int:
    return request if isinstance(request, int) else count_tokens(request)


def count_tokens(messages: Sequence[Any]) -> int:
    """A count that works offline and for any model: LangChain's approximation."""
    known = [message for message in messages if isinstance(message, BaseMessage)]
    return count_tokens_approximately(known) if known else 0
