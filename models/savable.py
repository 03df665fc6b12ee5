"""What of a model's reply a checkpoint can hold: msgpack bounds numbers and depth."""

from typing import Any


def is_savable(value: Any, room: int = 64) -> bool:
    """Whether a checkpoint can hold it: msgpack knows no larger numbers, nor any depth."""
    if isinstance(value, bool) or not isinstance(value, int | dict | list):
        return True
    if isinstance(value, int):
        return -(2**63) <= value < 2**64
    inner = value.values() if isinstance(value, dict) else value
    return room > 0 and all(is_savable(item, room - 1) for item in inner)


def are_counts(counts: Any) -> bool:
    """Whether it can be saved as it is; a server may have sent anything."""
    keys = ("input_tokens", "output_tokens", "total_tokens")
    plain = isinstance(counts, dict) and all(type(counts.get(key)) is int for key in keys)
    return plain and is_savable(counts)
