"""Derivatives along chains x ⊗ A₁ ⊗ … ⊗ A_t, from the last step to the first, in compiled loops.

The derivative of a number with respect to row t − 1, through row t, is that of row t times a matrix W. Let u be the row
that is multiplied, and s = u A. Over the reals W is A. For log-sum-exp let p and F be the powers of u and A, those of u
relative to its largest, those of A each relative to the largest of its column. Then

    s = p F    h = Y / s    W Y = p · (F h)    ∂L/∂A = F · (pᵀ h)

where · is by element: a step takes one power for each element of a row, and three products. A sum s that is too small
may have lost terms; the terms of such a column are computed by themselves. If ⊕ selects, the terms that won are known,
and a step takes as many numbers as a row has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.price import Code
from semiring.machine.pieces import ENOUGH_STEPS, ranges, share
from semiring.machine.threads import scratch, thread_count

from .steps import LEAST_TERMS, Sequences

LOOPS = Path(__file__).with_name("step_gradients_loops.py")
LINEAR, FOLLOW = (Code.of_loops(LOOPS, (name,), each=seconds) for name, seconds in (("linear", 2.4), ("follow", 0.6)))
FORMS = {"add": 0, "multiply": 1, "minimum": 2, "maximum": 3}  # of ⊗, where ⊕ selects
MOST_STEPS = 1 << 24  # elements of matrices that a call uses, between two of which an interrupt is heard
WIDE = 8  # doubles to a multiple of which a row of scratch memory is filled up


class Derivatives(NamedTuple):
    """What the loops read and write.

    Attributes
    ----------
    rows, G : ndarray, shape (rows, n)
        The rows of all sequences and their own derivatives, in C order.
    Y : ndarray of float64, shape (sequences, n)
        The derivatives of the last rows (with `backwards` of the first ones), which become those of the first.
    dA, de : ndarray, shapes of the matrices and the emissions
        Zeros, which the derivatives are added to; `de` without emissions is None.
    """

    rows: np.ndarray
    G: np.ndarray
    Y: np.ndarray
    dA: np.ndarray
    de: np.ndarray | None


def linear(given: Sequences, found: Derivatives, backwards: bool, scale: float) -> bool:
    """Take all steps over the reals, or over log-sum-exp with the factor that makes natural logarithms of elements.

    Returns
    -------
    bool
        Whether everything was finite, or the logarithm of 0; otherwise what is in `found` means nothing.
    """
    from .step_gradients_loops import linear as compiled  # it loads Numba

    n = given.x.shape[-1]
    width = -(-n // WIDE) * WIDE

    def call(jobs: np.ndarray, group: int, high: int, low: int, work: _Work) -> int:
        _memory, room = scratch(8 * width * (3 * n + 3))
        s = work.strides
        return int(compiled(
            found.rows.dtype.type, jobs.ctypes.data, len(jobs), group, n, high, low, found.rows.itemsize, scale, s.row,
            s.a, *s.of_a, s.e, s.e_column, s.d, *s.of_d, s.de, given.e is not None, backwards, room,
        ))

    return _Work(given, found, backwards, None).run(call)


def follow(
    given: Sequences, found: Derivatives, backwards: bool, form: str, zero: float, back: np.ndarray
) -> bool:
    """Take all steps of an algebra whose ⊕ selects: see `linear`.

    Parameters
    ----------
    given : Sequences
    found : Derivatives
    backwards : bool
    form : str
        A key of `FORMS`.
    zero : float
        The absent element.
    back : ndarray of uint8 or uint16, shape (rows, n)
        The terms that won.
    """
    from .step_gradients_loops import follow as compiled  # it loads Numba

    n = given.x.shape[-1]

    def call(jobs: np.ndarray, group: int, high: int, low: int, work: _Work) -> int:
        _memory, room = scratch(8 * n)
        s = work.strides
        return int(compiled(
            found.rows.dtype.type, back.dtype.type, jobs.ctypes.data, len(jobs), n, high, low, found.rows.itemsize,
            FORMS[form], zero, s.row, s.a, *s.of_a, s.e, s.e_column, s.d, *s.of_d, s.de,
            (-1 if backwards else 1) * back.strides[0], given.e is not None, backwards, room,
        ))

    return _Work(given, found, backwards, back).run(call)


class _Strides(NamedTuple):
    """Distances in bytes, in the order of the chain."""

    row: int
    a: int
    of_a: tuple[int, ...]
    e: int
    e_column: int
    d: int
    of_d: tuple[int, ...]
    de: int


class _Work:
    """Sequences in an order in which those with the same matrices come one after the other."""

    def __init__(self, given: Sequences, found: Derivatives, backwards: bool, back: np.ndarray | None):
        self.given, self.found = given, found
        order = np.argsort(given.a_at, kind="stable")
        self.order = order = order[given.lengths[order] > 0]
        a_at = given.a_at[order]
        self.parts, self.group = self._parts(a_at)
        new = np.ones(len(order), bool)
        new[1:] = a_at[1:] != a_at[:-1]
        new[np.array([first for first, _ in self.parts], np.int64)] = True
        self.matrix = a_at[new]  # which one each sum of derivatives belongs to, where one serves all steps
        self.dA = found.dA if given.a_step else np.zeros((len(self.matrix), *given.A.shape[1:]))
        alone = given.e is None or len(np.unique(given.e_at[order])) == len(order)
        self.de = found.de if alone else np.zeros_like(found.rows)
        self.apart = not alone
        turn, e, A = -1 if backwards else 1, given.e, given.A
        a_strides, d_strides = A.strides[1:], self.dA.strides[1:]
        if backwards:
            a_strides, d_strides = a_strides[::-1], d_strides[::-1]
        self.strides = _Strides(
            turn * found.rows.strides[0], turn * given.a_step * A.strides[0], a_strides,
            0 if e is None else turn * e.strides[0], 0 if e is None else e.strides[1],
            turn * given.a_step * self.dA.strides[0], d_strides, 0 if self.de is None else turn * self.de.strides[0],
        )
        self.jobs = self._jobs(a_at, np.cumsum(new) - 1, backwards, back)

    def _parts(self, a_at: np.ndarray) -> tuple[list[tuple[int, int]], int]:
        """Ranges of sequences for a thread each, and how many have the same matrices, which are not taken apart.

        0 means all of a range.
        """
        count, n = len(a_at), self.given.x.shape[-1]
        pieces = max(min(4 * thread_count(), int(self.given.terms) // ENOUGH_STEPS), count * n * n // MOST_STEPS, 1)
        if not self.given.a_step:
            return ranges(count, pieces), 1
        cuts = np.concatenate([[0], np.flatnonzero(np.diff(a_at)) + 1, [count]])
        sizes = np.diff(cuts)
        if count and (sizes == sizes[0]).all():
            size = int(sizes[0])
            return [(size * first, size * last) for first, last in ranges(count // size, pieces)], size
        return [(int(first), int(last)) for first, last in pairwise(cuts) if first < last], 0

    def _jobs(self, a_at: np.ndarray, total: np.ndarray, backwards: bool, back: np.ndarray | None) -> np.ndarray:
        given, found, order = self.given, self.found, self.order
        lengths = longest = given.lengths[order]
        if backwards and given.a_step and len(order):  # rows of sequences with the same matrices count from one place
            begin = np.flatnonzero(np.concatenate([[True], a_at[1:] != a_at[:-1]]))
            longest = np.repeat(np.maximum.reduceat(lengths, begin), np.diff([*begin, len(order)]))
        last = longest - 1 if backwards else np.zeros_like(lengths)
        rows, step = given.rows_at[order] + last, given.a_step * np.maximum(last - 1, 0)
        jobs = np.zeros((len(order), 10), np.int64)
        jobs[:, 0] = found.rows.ctypes.data + rows * found.rows.strides[0]
        jobs[:, 1] = found.G.ctypes.data + rows * found.G.strides[0]
        jobs[:, 2] = given.A.ctypes.data + (a_at + step) * given.A.strides[0]
        if given.e is not None and self.de is not None:
            jobs[:, 3] = given.e.ctypes.data + (given.e_at[order] + last) * given.e.strides[0]
            of_e = rows if self.apart else given.e_at[order] + last
            jobs[:, 5] = self.de.ctypes.data + of_e * self.de.strides[0]
        jobs[:, 4] = self.dA.ctypes.data + (a_at + step if given.a_step else total) * self.dA.strides[0]
        jobs[:, 6] = found.Y.ctypes.data + order * found.Y.strides[0]
        if back is not None:
            jobs[:, 7] = back.ctypes.data + rows * back.strides[0]
        jobs[:, 8], jobs[:, 9] = longest, longest - lengths
        return jobs

    def run(self, call: Callable[[np.ndarray, int, int, int, _Work], int]) -> bool:
        """Take all steps, and add what belongs together."""
        if not self.given.terms:
            return True
        strange: list[int] = []

        def part(first: int, last: int) -> None:
            jobs = self.jobs[first:last]
            group = self.group or last - first
            try:
                for high, low in self._windows(jobs[:, 8]):
                    if strange or call(jobs, group, high, low, self) >= 0:
                        strange.append(first)
                        return
            except BaseException:  # an interrupt, after which other threads begin no more
                strange.append(first)
                raise

        threads = thread_count() if self.given.terms > ENOUGH_STEPS else 1
        share(part, self.parts, threads)
        if strange:
            return False
        if not self.given.a_step:
            _add(self.found.dA, self.matrix, self.dA)
        if self.apart and self.found.de is not None and self.de is not None:
            _add_sequences(self.found.de, self.given.e_at, self.de)
        return True

    def _windows(self, lengths: np.ndarray) -> Iterator[tuple[int, int]]:
        """Ranges of steps, the last ones first, of bounded work."""
        high, each = int(lengths.max()) - 1, len(lengths) * max(self.given.x.shape[-1] ** 2, LEAST_TERMS)
        step = max(1, MOST_STEPS // each)
        while high > 0:
            yield high, max(0, high - step)
            high -= step


def _add(total: np.ndarray, at: np.ndarray, parts: np.ndarray) -> None:
    """Add to the items of a stack; several parts may belong to one of them, and come one after the other."""
    begin = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]])) if len(at) else np.zeros(0, np.int64)
    if len(begin):
        total[at[begin]] += np.add.reduceat(parts, begin).astype(total.dtype)


def _add_sequences(total: np.ndarray, at: np.ndarray, parts: Any) -> None:
    """Add the derivatives of emissions that several sequences share, whose rows are as many as those of a sequence."""
    rows = len(parts) // len(at)
    whole, own = total.reshape(-1, rows, total.shape[-1]), parts.reshape(len(at), rows, -1)
    np.add.at(whole, at // rows, own)
