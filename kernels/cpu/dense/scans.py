"""All products A₀ ⊗ … ⊗ A_t of sequences of small matrices, by the compiled products of stacks.

A product of a stack computes its matrices in order. If its left operand is its own result, one place behind, it is a
scan: P[t] ← P[t−1] ⊗ A[t]. So scans need no compiled code of their own. Long sequences are cut into chunks, which
threads compute side by side: first the product of each chunk, then all its prefixes from the product before it on
(`semiring.algorithms.scans`). Nothing but the answer is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from semiring.algebra.elements import is_nan
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import ENOUGH_STEPS, ranges, share
from semiring.machine.threads import thread_count

from .lanes import MOST_TERMS, small


class Chain(NamedTuple):
    """A sequence of matrices in storage, in the order of the scan, and room for its products.

    Attributes
    ----------
    P : ndarray, shape (T, m, n)
    A : ndarray, shape (T, n, n)
    initial : ndarray, shape (m, n), optional
        The factor before all others.
    """

    P: np.ndarray
    A: np.ndarray
    initial: np.ndarray | None


def chunks_worth(chain: Chain, chains: int, associative: bool) -> int:
    """Chunks of each chain: one more than there are threads for it, since the first and the last are computed once.

    Results of ⊗ that rounds depend on it, within the bounds of products.
    """
    steps, m, n = chain.P.shape
    threads = thread_count()
    if not associative or m != n or chains >= threads or steps * n**3 < 8 * ENOUGH_STEPS:
        return 1
    return min(threads // chains + 1, steps // 4)


def scan(lowering: Lowering, chains: Sequence[Chain], reverse: bool, look: bool, associative: bool) -> bool:
    """P[t] ← A[0] ⊗ … ⊗ A[t] of each chain, or A[t] ⊗ … ⊗ A[0]; whether all entries are elements, if asked to `look`.

    Entries are those of A, of initial matrices, and of all products but the last one of each chain. A chain has two
    matrices or more, or an initial one. Rows have at most `lanes.SIDE` elements.
    """
    made = _Scan(lowering, reverse, look)
    count = chunks_worth(chains[0], len(chains), associative) if chains else 1
    cut = [(chain, ranges(len(chain.A), count)) for chain in chains]
    threads = thread_count()
    if count > 1:
        share(made.totals, [(c, *bounds) for c, parts in cut for bounds in parts[:-1]], threads)
    pieces = []
    for chain, parts in cut:
        befores = made.before(chain, parts)
        done = 1 if len(parts) > 1 else 0  # the first chunk's products are those that were wanted
        pieces += [(chain, *bounds, D) for bounds, D in zip(parts[done:], befores[done:], strict=True)]
    share(made.prefixes, pieces, threads if sum(c.P.size for c in chains) > ENOUGH_STEPS >> 4 else 1)
    ends = (chain.P[last - 1] for chain, parts in cut for _, last in parts[:-1])  # no operand of a product
    return not made.strange and not (look and any(is_nan(P).any() for P in ends))


class _Scan:
    """The products of one call; after a stranger was seen nothing more is computed."""

    def __init__(self, lowering: Lowering, reverse: bool, look: bool):
        from semiring.kernels.cpu.compile.jit import from_python  # it imports Numba

        self._product = from_python(small(lowering).product, 19)
        self._reverse, self._look, self.strange = reverse, look, False

    def _times(self, P: np.ndarray, D: np.ndarray, A: np.ndarray, look: bool | None = None) -> None:
        """P[s] ← D[s] ⊗ A[s], or A[s] ⊗ D[s], in order: D may be P, one place behind."""
        left, right = (A, D) if self._reverse else (D, A)
        (count, m, n), depth = P.shape, left.shape[-1]
        step = max(MOST_TERMS // max(m * n * depth, 1), 1)
        for first in range(0, count, step):
            if self.strange:
                return
            sides = [x for X in (left, right, P) for x in (X.ctypes.data + first * X.strides[0], *X.strides)]
            size = min(step, count - first)
            look = self._look if look is None else look
            if self._product(*sides, size, m, depth, n, 0, look, 1) >= 0:
                self.strange = True

    def _along(self, chain: Chain, first: int, last: int) -> None:
        self._times(chain.P[first + 1 : last], chain.P[first : last - 1], chain.A[first + 1 : last])

    def _begin(self, chain: Chain, at: int, D: np.ndarray | None) -> None:
        if D is None:
            chain.P[at] = chain.A[at]
        else:
            self._times(chain.P[at : at + 1], D[None], chain.A[at : at + 1])

    def totals(self, chain: Chain, first: int, last: int) -> None:
        """The products within a chunk, of which the last one is wanted."""
        self._begin(chain, first, chain.initial if first == 0 else None)
        self._along(chain, first, last)

    def before(self, chain: Chain, parts: list[tuple[int, int]]) -> list[np.ndarray | None]:
        """The products of all that comes before each chunk."""
        found: list[np.ndarray | None] = [chain.initial]
        for first, last in parts[:-1]:
            D, total = found[-1], chain.P[last - 1 : last]
            made = np.empty_like(total)
            if first == 0:
                made[...] = total
            elif D is not None:
                self._times(made, D[None], total, look=False)
            found.append(made[0])
        return found

    def prefixes(self, chain: Chain, first: int, last: int, D: np.ndarray | None) -> None:
        """The products of a chunk, from D on."""
        self._begin(chain, first, D)
        self._along(chain, first, last)
