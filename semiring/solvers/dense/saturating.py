"""Exact integer closures in 16-bit arithmetic, where the distances turn out to be small.

t(x) = min(x, M) with M = 32,767 is a homomorphism from (N ∪ {∞}, min, +, ∞, 0) onto the numbers up to M with min and
a sum that stops at M. So closing the truncated matrix gives the truncated closure: an entry below M is exact, and an
entry M means M or more, or unreachable. Which of the two, a certificate tells: if no edge leads from a pair below M to
one that is not, the pairs below M are all that are reachable, by induction over the edges of a walk.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cuda.choose import choose, kernel
from semiring.kernels.cuda.compile.program import boolean_words
from semiring.kernels.cuda.dense.product import Product, View, WordProduct
from semiring.kernels.facts import DeviceFacts, Facts

M = 32_767
LEAST_ORDER = 6144  # vertices from which half the width repays converting, the forecast and the certificate
MOST_STEPS = 32  # relaxations of the forecast
ROWS = 8192  # rows for which the certificate is checked at once, 4 bytes an element
WIDTH = 2048  # columns of bits are a multiple of this: whole tiles of the product


def applies(S: Semiring, dtype: np.dtype, facts: DeviceFacts) -> bool:
    """Whether the algebra is min-plus on integers that have no negative number among them."""
    return S.is_tropical and S.zero == np.inf and dtype.kind in "iu" and facts.least >= 0


def may_repay(S: Semiring, A: Any, facts: Facts) -> bool:
    """Whether 32 bits or more would take longer, if 16 are enough."""
    if not isinstance(facts, DeviceFacts) or not applies(S, A.dtype, facts):
        return False
    return len(A) >= LEAST_ORDER and A.dtype.itemsize > 2


def repays(S: Semiring, A: Any, facts: Facts) -> bool:
    """Whether, moreover, the distances from one vertex promise that 16 bits are enough; waits for the device."""
    return may_repay(S, A, facts) and _are_short_from_first(A)


def _are_short_from_first(A: Any) -> bool:
    """Whether no distance from vertex 0 is M or more: relaxing all edges gives upper bounds that only fall."""
    import cupy

    relaxed = _relaxation()
    absent = A.dtype.type(np.iinfo(A.dtype).max)
    x = cupy.full(len(A), np.inf)
    x[0] = 0
    reached = 1
    for _ in range(MOST_STEPS):
        x = cupy.minimum(x, relaxed(A, x[:, None], absent, axis=0))
        now, short = (int(k) for k in cupy.stack([cupy.isfinite(x).sum(), (x < M).sum()]).get())
        if now == short == reached or short == len(A):
            return True
        reached = now
    return False


@cache
def _relaxation() -> Any:
    import cupy

    return cupy.ReductionKernel(
        "T a, float64 x, T absent", "float64 y", "a == absent ? 1.0 / 0.0 : x + a", "min(a, b)", "y = a", "1.0 / 0.0",
        "shortest_edge",
    )


def closure(S: Semiring, A: Any, close: Callable[[Any, Any], None]) -> Any:
    """The closure of a square CuPy array, or None where a distance is M or more; waits for the device.

    Parameters
    ----------
    S : Semiring
        As `applies` accepts it.
    A : cupy.ndarray, shape (n, n)
        Integers ≥ 0, the dtype's greatest value for an absent edge. It is not changed.
    close : callable
        `close(matrix, kernel)` closes a matrix in place.
    """
    import cupy

    absent = np.iinfo(A.dtype).max
    low = choose(S, np.dtype("u2"), DeviceFacts(least=0), A.shape[0], in_place=False)
    work = cupy.minimum(A, A.dtype.type(min(M, absent))).astype(np.uint16)
    if absent < M:
        work[absent == A] = M
    close(work, kernel(low))
    far = work == M
    if bool(far.any()) and leads_out(~far, absent != A):
        return None
    largest = int(cupy.where(far, 0, work).max()) if absent <= M else 0
    if absent <= M and largest >= absent:
        return None
    return cupy.where(far, A.dtype.type(absent), work.astype(A.dtype))


def leads_out(inside: Any, edges: Any) -> bool:
    """Whether an edge k → j leads from a pair (i, k) inside to a pair (i, j) outside.

    A Boolean product, 32 elements a word, of the rows and the columns in which something is outside.
    """
    import cupy

    rows, columns = (cupy.flatnonzero(~inside.all(axis=axis)) for axis in (1, 0))
    width = -(-len(columns) // WIDTH) * WIDTH
    bits = _packed(edges[:, columns], width)
    for start in range(0, len(rows), ROWS):
        some = inside[rows[start : start + ROWS]]
        known = _packed(some[:, columns], width)
        reached = known.copy()
        words, _memory = _filler().filled(_view(some), 1)
        _boolean()(_view(reached), words, _view(bits), 1, True)
        if bool((reached != known).any()):
            return True
    return False


@cache
def _boolean() -> Product:
    return Product(boolean_words())


@cache
def _filler() -> WordProduct:
    return WordProduct(boolean_words(), np.dtype(bool))


def _packed(truths: Any, columns: int) -> Any:
    """Rows of bits in words, up to a number of columns that is a multiple of 32."""
    import cupy

    wide = cupy.zeros((truths.shape[0], columns), bool)
    wide[:, : truths.shape[1]] = truths
    return cupy.packbits(wide.reshape(-1), bitorder="little").view(np.uint32).reshape(truths.shape[0], columns // 32)


def _view(matrix: Any) -> View:
    return View(matrix.data.ptr, matrix.strides[0], 0, *matrix.shape)
