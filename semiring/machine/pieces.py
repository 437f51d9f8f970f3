"""Work cut into pieces that threads take one after the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from .threads import pool, thread_count

PIECES = 8  # pieces for each thread, if they take unequal time
ENOUGH_STEPS = 1 << 14  # steps of a few nanoseconds from which another thread is worth its overhead


def parts_worth(steps: int, threads: int) -> int:
    """The number of pieces for an amount of work: a few for each thread, or one if threads are not worth it.

    Examples
    --------
    >>> parts_worth(1000, 4), parts_worth(1_000_000, 4)
    (1, 16)
    """
    return max(1, min(4 * threads, steps // ENOUGH_STEPS))


def ranges(count: int, parts: int) -> list[tuple[int, int]]:
    """About so many ranges of equal size, none empty, that cover ``range(count)``.

    Examples
    --------
    >>> ranges(10, 3)
    [(0, 4), (4, 8), (8, 10)]
    """
    size = -(-count // max(1, parts))
    return [(first, min(first + size, count)) for first in range(0, count, max(1, size))]


def equal_shares(before: np.ndarray, parts: int) -> list[tuple[int, int]]:
    """At most so many ranges of rows, none empty, of about equal work.

    Parameters
    ----------
    before : ndarray of integers, shape (rows + 1,)
        The total work in all rows before each row, ascending from 0.
    parts : int

    Examples
    --------
    >>> equal_shares(np.array([0, 90, 91, 92, 100]), 2)
    [(0, 1), (1, 4)]
    """
    rows = len(before) - 1
    steps = int(before[-1]) * np.arange(1, max(1, parts)) // max(1, parts)
    cuts = [0, *np.searchsorted(before, steps.astype(before.dtype)).tolist(), rows]
    return [(first, last) for first, last in pairwise(cuts) if first < last]


def share(function: Callable[..., object], pieces: Sequence[tuple[Any, ...]], threads: int | None) -> None:
    """Call a function on each piece, with so many threads; after an error no further piece is started."""
    if len(pieces) <= 1:
        for piece in pieces:
            function(*piece)
        return
    remaining = deque(pieces)

    def work() -> None:
        try:
            while True:
                try:
                    piece = remaining.popleft()
                except IndexError:  # checking first would let another thread take the last piece in between
                    return
                function(*piece)
        except BaseException:
            remaining.clear()
            raise

    pool.run(work, min(thread_count(threads), len(pieces)) - 1)
