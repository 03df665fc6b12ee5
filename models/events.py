"""Progress for whoever watches: small events on LangGraph's custom stream."""

from typing import Any

from langgraph.config import get_stream_writer


def emit(kind: str, **fields: Any) -> None:
    """Send `{"type": kind, ...}` on the custom stream; nothing happens when nobody listens."""
    try:
        write = get_stream_writer()
    except (RuntimeError, KeyError):  # a model is asked without a graph around it
        return
    write({"type": kind, **fields})
