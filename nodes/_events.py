"""Progress for whoever watches: small events on LangGraph's custom stream."""

from typing import Any

from langgraph.config import get_stream_writer


def emit(kind: str, **fields: Any) -> None:
    """Send `{"type": kind, ...}` on the custom stream; nothing happens when nobody listens."""
    get_stream_writer()({"type": kind, **fields})
