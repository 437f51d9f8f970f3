"""The answer of `forward` with argmax=True: rows, the terms that won, and the best sequence of states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cpu.compile.plain import takes
from semiring.operands.devices import module_of

from .layout import Layout


class Steps:
    """Rows of a chain, and the term that won each element; a pair of arrays.

    `semiring.forward` makes it, with ``argmax=True``. It unpacks as `values` and `back`.

    Attributes
    ----------
    values : ndarray, shape (…, T, n)
        The rows, as `forward` returns them.
    back : ndarray of unsigned integers, shape (…, T, n)
        The least state before from which the element came, and with ``reverse=True`` the least state after. It means
        nothing where the element is zero, and in the first row (with ``reverse=True`` in the last one).

    Examples
    --------
    >>> import numpy as np
    >>> import semiring as sr
    >>> A = np.array([[0.0, 3.0], [1.0, 0.0]])
    >>> values, back = sr.forward(np.array([0.0, 2.0]), A, sr.min_plus, steps=2, argmax=True)
    >>> values[-1], back[-1]
    (array([0., 2.]), array([0, 1], dtype=uint8))
    """

    def __init__(
        self, values: Any, back: np.ndarray, S: Semiring, layout: Layout, reverse: bool, elements: np.ndarray
    ):
        self.values, self.back = values, back
        self._S, self._layout, self._reverse, self._elements = S, layout, reverse, elements

    def __iter__(self) -> Iterator[Any]:
        return iter((self.values, self.back))

    def __repr__(self) -> str:
        return f"Steps of shape {self.back.shape} over {self._S.name}"

    def states(self) -> np.ndarray:
        """Return the best sequence of states: Viterbi's path.

        It ends in the least of the best states of the last row, and with ``reverse=True`` begins in the least of the
        best states of the first row.

        Returns
        -------
        ndarray of int64, shape (…, T)
            A state for each row: −1 after the end of a shorter sequence, and for a sequence that has no walk.

        Notes
        -----
        A. J. Viterbi, Error bounds for convolutional codes and an asymptotically optimum decoding algorithm (1967).
        If the rows are on a GPU, the CPU follows the states, and they are returned on the GPU.

        Examples
        --------
        >>> import numpy as np
        >>> import semiring as sr
        >>> A = np.array([[0.0, 3.0], [1.0, 0.0]])
        >>> sr.forward(np.array([5.0, 2.0]), A, sr.min_plus, steps=2, argmax=True).states()
        array([1, 1, 1])
        """
        at, lengths = self._layout.rows_at, self._layout.lengths
        n, rows = self.back.shape[-1], int(np.prod(self.back.shape[:-1]))
        back = self.back if isinstance(self.back, np.ndarray) else self.back.get()
        found = np.full(rows, -1, np.int64)
        there = np.flatnonzero(lengths > 0)
        if len(there) and n:
            ends = at[there] + (0 if self._reverse else lengths[there] - 1)
            best, nothing = self._best(self._rows(ends, rows, n))
            found[ends[~nothing]] = best[~nothing]
            live = there[~nothing]
            trace(found, back.reshape(-1), at[live], lengths[live], n, 1 if self._reverse else -1)
        states: np.ndarray = module_of(self.back).asarray(found.reshape(back.shape[:-1]))
        return states

    def _rows(self, places: np.ndarray, rows: int, n: int) -> np.ndarray:
        """Some rows, in the host's memory."""
        elements = self._elements.reshape(rows, n)
        found = elements[module_of(elements).asarray(places)]
        return found if isinstance(found, np.ndarray) else found.get()

    def _best(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The least of the best states of each row, and which rows are zero."""
        S = self._S.over(rows.dtype)
        total, best = rows[:, 0].copy(), np.zeros(len(rows), np.int64)
        for k in range(1, rows.shape[1]):
            both = np.asarray(S.add(total, rows[:, k]), rows.dtype)
            better = np.asarray(both != total, bool)
            total[better], best[better] = both[better], k
        return best, np.asarray(S.is_zero(total), bool)


@takes(0.2)
def trace(found: Any, back: Any, at: Any, lengths: Any, n: int, turn: int) -> None:
    """Follow the states that won, in place, from the ends that are there: `back` has n of them for each row."""
    for s in range(len(at)):
        place = at[s] if turn > 0 else at[s] + lengths[s] - 1
        for _ in range(lengths[s] - 1):
            state = back[place * n + found[place]]
            place += turn
            found[place] = state
