"""Notice a loop: the same calls with the same results, over and over, in cycles of up to four."""

from collections.abc import Sequence
from typing import Any

REPEATS = 3
LONGEST = 4
WINDOW = REPEATS * LONGEST


def cycle_length(rounds: Sequence[Any]) -> int:
    """The length of the shortest cycle that the last rounds repeat three times; 0 if none.

    >>> cycle_length("xababab"), cycle_length("abcabd"), cycle_length("aaa")
    (2, 0, 1)
    """
    for length in range(1, LONGEST + 1):
        if len(rounds) < length * REPEATS or rounds[-1] != rounds[-1 - length]:
            continue  # most turns end here
        tail = rounds[-length * REPEATS :]
        if len(tail) == length * REPEATS and all(
            tail[n] == tail[n % length] for n in range(len(tail))
        ):
            return length
    return 0
