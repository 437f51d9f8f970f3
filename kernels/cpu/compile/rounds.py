"""Long work done in rounds: between two of them an interrupt is heard, which compiled code does not hear."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from time import perf_counter

import numpy as np

from semiring.machine.pieces import share
from semiring.machine.threads import pool, thread_count

ROUND = 0.3  # seconds that a round should take
FIRST = 1e8  # steps a second, as long as nothing has been measured
TELLING = 1e6  # steps whose time tells how many fit into a round
PIECES = 4  # for each thread, in a round of pieces that take some hundredths of a second
LEAST_STEPS = 1 << 14  # steps that repay handing them to another thread


class Pace:
    """How many steps of some kind fit into a round; each round that was timed tells for the next.

    Compiled functions are `made` before: compiling would look like slow steps. Results must not depend on where work is
    cut, since that depends on the clock.

    Examples
    --------
    >>> pace = Pace()
    >>> pace.learn(2e9, seconds=1.0)
    >>> pace.most
    600000000.0
    """

    def __init__(self) -> None:
        self._rate = FIRST

    @property
    def most(self) -> float:
        """Steps of a round."""
        return self._rate * ROUND

    def learn(self, steps: float, seconds: float) -> None:
        """So many steps took so many seconds; few steps tell nothing, unless a round has no more."""
        if steps >= min(TELLING, self.most / 2):
            self._rate = steps / max(seconds, 1e-9)

    def rounds(self, before: np.ndarray, each: int = 1, least: int = 1) -> Iterator[tuple[int, int]]:
        """Ranges of rows, none empty, each for one round: what the caller does before it asks for the next is timed.

        Parameters
        ----------
        before : ndarray of integers, shape (rows + 1,)
            The work in all rows before each, ascending.
        each : int
            Steps for each unit of work.
        least : int
            Rows that a round has at least, where threads would have nothing to do otherwise.

        Examples
        --------
        >>> [last for first, last in Pace().rounds(np.array([0, 10, 20]))]
        [2]
        """
        first, rows = 0, len(before) - 1
        while first < rows:
            end = min(int(before[first]) + int(self.most / max(each, 1)), int(before[-1]))
            last = int(np.searchsorted(before, before.dtype.type(end), "right")) - 1  # other types copy all of `before`
            last = min(max(last, first + least), rows)
            began = perf_counter()
            yield first, last
            self.learn(float(before[last] - before[first]) * each, perf_counter() - began)
            first = last


def share_by_pace(
    function: Callable[[int, int], object], count: int, each: float, pace: Pace, threads: int | None
) -> None:
    """Call a function with ranges that cover ``range(count)``, on so many threads.

    A range takes about a round at most, and less near the end, so that threads finish together. Threads do not wait
    between ranges. After an interrupt or another error no further range is started.

    Parameters
    ----------
    function : callable
    count : int
    each : float
        Steps for each of them, of which `pace` says how many a thread does.
    pace : Pace
    threads : int, optional
    """
    if not count:
        return
    helpers = min(count, int(count * each / LEAST_STEPS) + 1) - 1
    if helpers:
        helpers = min(helpers, thread_count(threads) - 1)
    if not helpers and count * each <= pace.most:
        began = perf_counter()
        function(0, count)
        pace.learn(count * each, perf_counter() - began)
        return
    least, lock, left = max(int(LEAST_STEPS / max(each, 1)), 1), Lock(), count

    def work() -> None:
        nonlocal left
        try:
            while True:
                with lock:
                    fair = left // (PIECES * (helpers + 1)) if helpers else left
                    length = min(max(min(fair, int(pace.most / max(each, 1))), least), left)
                    first, left = count - left, left - length
                if not length:
                    return
                began = perf_counter()
                function(first, first + length)
                pace.learn(length * each, perf_counter() - began)
        except BaseException:
            with lock:
                left = 0
            raise

    pool.run(work, helpers)


def share_in_rounds(function: Callable[..., object], pieces: Sequence[tuple[int, ...]], threads: int | None) -> None:
    """`share`, some pieces at a time: helpers finish a round after an interrupt, and begin no other."""
    step = PIECES * thread_count(threads)
    for first in range(0, len(pieces), step):
        share(function, pieces[first : first + step], threads)
