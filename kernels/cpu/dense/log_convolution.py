"""Convolutions over log-sum-exp: by ordinary convolutions of powers, and by their terms where those underflow.

    α = max a    β = max b    G = exp(a − α) ∗ exp(b − β)    c = α + β + log G

As in products by powers (`semiring.kernels.numpy.logsum`), an entry is believed if G ≥ 8 k t / ε, for k terms and t the
least normal number: all that underflowed is less than its rounding. Powers are in double precision, so that this holds
for entries down to α + β − 640. The others are computed by their terms, some neighbours at a time:

    m_i = max_t (a_{i−t} + b_t)    s_i = Σ_t exp(a_{i−t} + b_t − m_i)    c_i = m_i + log s_i

in compiled loops, in which terms that are too small for all of the neighbours take no power (log_convolution_loops.py),
or by NumPy until compiling repays. Either way the error of an entry is at most ε (k + 16 + 4 |log G| + |c|), with ε
that of double precision and log G = 0 for an entry by its terms, and its rounding into the dtype of c.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product as every
from pathlib import Path

import numpy as np

from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import thread_count

from .convolution import Windows

LOOPS_FILE = Path(__file__).with_name("log_convolution_loops.py")
LOOPS = Code.of_loops(LOOPS_FILE, ("largest", "total"))  # what all forms of log-sum-exp share
WIDE = 64  # entries that compiled loops compute side by side
PIECE = 2048  # entries of an ordinary convolution that a thread computes at a time
MOST_TERMS = 1 << 26  # of a call, between two of which an interrupt is heard
ENTRY, TERM = 1e-5, 1.2e-8  # seconds in which NumPy computes an entry by its terms, and for each of them
LIMITS = np.finfo(np.float64)

Pair = tuple[np.ndarray, np.ndarray]


class LogConvolution:
    """Convolutions of one lowering.

    Parameters
    ----------
    low : Lowering
        Whose ⊕ is a log-sum-exp.
    windows : Windows
    a, b : ndarray, shape (…, *left) and (…, *right)
        In storage, without NaN; leading axes broadcast to the stack.
    """

    def __init__(self, low: Lowering, windows: Windows, a: np.ndarray, b: np.ndarray):
        assert low.log_sum is not None
        self.low, self.windows, self._sign = low, windows, -1.0 if low.log_sum.negated else 1.0
        self._unit = math.log(2) if low.log_sum.binary else 1.0
        self.a, self.b = (np.broadcast_to(x, (*windows.stack, *n)) for x, n in ((a, windows.left), (b, windows.right)))

    def run(self) -> np.ndarray:
        """Return the wanted part, in storage. Results do not depend on the number of threads."""
        windows = self.windows
        C = np.empty((*windows.stack, *windows.shape), self.low.storage)
        for place in np.ndindex(*windows.stack):
            A, B = (self._sign * x[place].astype(np.float64) for x in (self.a, self.b))
            for at, pairs in self._lines():
                line = self._line([(A[I], B[J]) for I, J in pairs])
                with np.errstate(over="ignore"):
                    C[(*place, *at)] = self._sign * line
        return C

    def _lines(self) -> Iterator[tuple[tuple[int, ...], list[tuple[tuple[int, ...], tuple[int, ...]]]]]:
        """The places of c but the last axis, and those of a and of b whose lines meet there."""
        left, right, first, shape = (x[:-1] for x in self.windows[1:])
        for at in every(*map(range, shape)):
            pairs = []
            for J in every(*map(range, right)):
                I = tuple(f + o - j for f, o, j in zip(first, at, J, strict=True))
                if all(0 <= i < n for i, n in zip(I, left, strict=True)):
                    pairs.append((I, J))
            yield at, pairs

    def _line(self, pairs: list[Pair]) -> np.ndarray:
        """Neighbours along the last axis: the ⊕ of the convolutions of some pairs of lines."""
        first, count = self.windows.first[-1], self.windows.shape[-1]
        infinite = np.zeros(count, bool)
        if any(np.isposinf(x).any() for pair in pairs for x in pair):
            marks = [[(np.isposinf(a) + 0.0, (b > -np.inf) + 0.0), ((a > -np.inf) + 0.0, np.isposinf(b) + 0.0)]
                     for a, b in pairs]
            infinite = _convolved([pair for both in marks for pair in both], first, count) > 0.5
            pairs = [(np.where(np.isposinf(a), -np.inf, a), np.where(np.isposinf(b), -np.inf, b)) for a, b in pairs]
        tops = [max(float(x.max()) for x in side) for side in zip(*pairs, strict=True)] if pairs else [-np.inf]
        if min(tops) == -np.inf:
            return np.where(infinite, np.inf, -np.inf)
        with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
            powers = [(self._powers(a, tops[0]), self._powers(b, tops[1])) for a, b in pairs]
            G = _convolved(powers, first, count)
            c = np.asarray(sum(tops) + np.log(G) / self._unit)
            terms = len(pairs) * min(self.windows.left[-1], self.windows.right[-1])
            doubtful = ~(8 * terms * LIMITS.tiny / LIMITS.eps <= G) | ~np.isfinite(c)
            doubtful &= ~infinite
            if doubtful.any():
                self._by_terms(pairs, np.flatnonzero(doubtful), terms, c)
        c[infinite] = np.inf
        return c

    def _powers(self, x: np.ndarray, top: float) -> np.ndarray:
        """The powers of numbers relative to one."""
        return np.asarray(np.exp((x - top) * self._unit))

    def _by_terms(self, pairs: list[Pair], entries: np.ndarray, terms: int, c: np.ndarray) -> None:
        """Compute some entries by their terms."""
        if LOOPS.repays(len(entries) * (ENTRY * len(pairs) + TERM * terms)):
            rows = np.unique(entries // WIDE)
            found = self._compiled(pairs, rows * WIDE + self.windows.first[-1], terms)
            c[entries] = found[np.searchsorted(rows, entries // WIDE), entries % WIDE]
            return
        with LOOPS.renting():
            for i in entries:
                x = np.concatenate([_terms(a, b, int(i) + self.windows.first[-1]) for a, b in pairs])
                m = x.max(initial=-np.inf)
                c[i] = m if np.isinf(m) else m + np.log(np.exp((x - m) * self._unit).sum()) / self._unit

    def _compiled(self, pairs: list[Pair], starts: np.ndarray, terms: int) -> np.ndarray:
        """Rows of WIDE entries from some on, by compiled loops."""
        from .log_convolution_loops import largest, total  # it loads Numba

        starts = starts.astype(np.int64)
        m, s = np.full((len(starts), WIDE), -np.inf), np.zeros((len(starts), WIDE))
        sums = np.array([0, m.ctypes.data, s.ctypes.data], np.int64)
        sums[:1].view(np.float64)[0] = self._unit
        threads, work = thread_count(), len(starts) * WIDE * terms
        parts = ranges(len(starts), max(min(4 * threads, work >> 16), work // MOST_TERMS, 1))
        beyond = np.full(WIDE, -np.inf)
        wide = [(np.concatenate([beyond, a, beyond]), np.ascontiguousarray(b)) for a, b in pairs]
        for function, address in ((largest, m.ctypes.data), (total, sums.ctypes.data)):
            for a, b in wide:
                given = a[WIDE:].ctypes.data, len(a) - 2 * WIDE, b.ctypes.data, len(b), starts.ctypes.data, address
                share(lambda *part, function=function, given=given: function(*given, *part), parts, threads)
        return np.where(np.isinf(m), m, m + np.log(s) / self._unit)


def _terms(a: np.ndarray, b: np.ndarray, i: int) -> np.ndarray:
    """All a[i − t] + b[t]."""
    low, high = max(0, i - len(a) + 1), min(len(b), i + 1)
    return a[i - high + 1 : i - low + 1][::-1] + b[low:high]


def _convolved(pairs: list[Pair], first: int, count: int) -> np.ndarray:
    """Some neighbours of the sum of ordinary convolutions."""
    found = np.zeros(count)
    padded = []
    for a, b in pairs:
        a, b = (a, b) if len(a) >= len(b) else (b, a)
        zeros = np.zeros(len(b) + PIECE)
        padded.append((np.concatenate([zeros, a, zeros]), len(zeros), len(a), b))

    def piece(begin: int, end: int) -> None:
        low, high = first + begin, first + end
        for x, zeros, length, b in padded:
            start, stop = max(0, low - length + 1), min(len(b), high)  # the terms of b that any of them has
            if start < stop:
                part = x[zeros + low - stop + 1 : zeros + high - start]
                found[begin:end] += np.convolve(part, b[start:stop], "valid")

    share(piece, ranges(count, -(-count // PIECE)), thread_count())
    return found
