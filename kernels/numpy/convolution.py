"""Convolutions by NumPy: by single elements of the smaller operand, all terms at once, or Toeplitz blocks.

Terms of a log-sum-exp are not added one after the other, because every sum would be rounded, at its full size. The
largest term of each entry is found first, then the sum of powers relative to it, both in double precision:

    m_i = max_j (a_j + b_{i−j})    s_i = Σ_j exp(a_j + b_{i−j} − m_i)    c_i = m_i + log s_i

The error of an entry of k terms is at most ε (k + 16 + |c|), with ε that of double precision, and its rounding into the
dtype of c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from itertools import product as every
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from semiring.kernels.interface import Kernel
from semiring.kernels.lowering.base import Lowering

from .dense import operations

Accumulate = Callable[[np.ndarray, np.ndarray, np.ndarray], None]  # C ← C ⊕ a ⊗ b, where a and b broadcast
SIDE = 256  # rows and columns of a block of c
DEPTH = 4096  # terms of an entry that one product sums: powers of as many stay in one range


def accumulating(low: Lowering) -> Accumulate:
    """C ← C ⊕ a ⊗ b of elements in a lowering's storage."""
    if low.kind != "objects":
        return operations(low).accumulate
    S = low.algebra.over(object)

    def accumulate(C: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        a, b = np.broadcast_arrays(a, b)
        C[...] = S.add(C, S.mul(a, b))

    return accumulate


def by_elements(
    accumulate: Accumulate, C: np.ndarray, A: np.ndarray, B: np.ndarray, first: tuple[int, ...]
) -> None:
    """C ← C ⊕ a part of A ∗ B, which begins at `first`, along the last axes; the others broadcast.

    No term but those of the definition is computed, so that zero need not absorb.
    """
    axes = len(first)
    left = prod(A.shape[A.ndim - axes :]) <= prod(B.shape[B.ndim - axes :])
    few, many = (A, B) if left else (B, A)
    sizes = many.shape[many.ndim - axes :]
    for at in every(*map(range, few.shape[few.ndim - axes :])):
        begins = [max(i - f, 0) for i, f in zip(at, first, strict=True)]
        ends = [min(i - f + n, c) for i, f, n, c in zip(at, first, sizes, C.shape[C.ndim - axes :], strict=True)]
        if any(b >= e for b, e in zip(begins, ends, strict=True)):
            continue
        shifts = [f - i for i, f in zip(at, first, strict=True)]
        target = C[_slices(begins, ends)]
        one = few[_slices(at, [i + 1 for i in at])]
        rest = many[_slices(map(sum, zip(begins, shifts, strict=True)), map(sum, zip(ends, shifts, strict=True)))]
        accumulate(target, *((one, rest) if left else (rest, one)))


def by_outer_product(low: Lowering, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The full convolution of two short sequences in storage: all terms, row by row a place further, added in pairs.

    Terms of a log-sum-exp are added relative to the largest one.
    """
    S, left = operations(low), len(a) <= len(b)
    m, n = (len(a), len(b)) if left else (len(b), len(a))
    if low.log_sum is not None:
        x, y = _doubles(low, a), _doubles(low, b)
        wide = np.full((m, m + n), -np.inf)
        wide[:, :n] = _terms(x[:, None], y) if left else _terms(x, y[:, None])
        each = wide.reshape(-1)[: m * (m + n - 1)].reshape(m, m + n - 1)
        top = each.max(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            return _sum_of_powers(low, top, np.exp((each - _finite(top)) * _unit(low)).sum(axis=0))
    terms = S.zeros((m, m + n))
    terms[:, :n] = S.scale(a[:, None], b) if left else S.scale(a, b[:, None])
    rows = terms.reshape(-1)[: m * (m + n - 1)].reshape(m, m + n - 1)  # each begins a place further than the last
    while len(rows) > 1:
        even = len(rows) // 2 * 2
        sums = S.add(rows[:even:2], rows[1:even:2])
        rows = sums if even == len(rows) else np.concatenate([sums, rows[even:]])
    return rows[0].copy()


def log_sums_by_elements(
    low: Lowering, C: np.ndarray, A: np.ndarray, B: np.ndarray, first: tuple[int, ...]
) -> None:
    """C ← a part of A ∗ B over log-sum-exp, as `by_elements`: the largest terms, then powers relative to these."""
    a, b, unit = _doubles(low, A), _doubles(low, B), _unit(low)
    top, sums = np.full(C.shape, -np.inf), np.zeros((2, *C.shape))

    def larger(C: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        np.maximum(C, _terms(x, y), out=C)

    def add_powers(C: np.ndarray, x: np.ndarray, y: np.ndarray) -> None:
        C[1] += np.exp((_terms(x, y) - C[0]) * unit)

    by_elements(larger, top, a, b, first)
    sums[0] = _finite(top)
    with np.errstate(over="ignore", invalid="ignore"):
        by_elements(add_powers, sums, a, b, first)
        C[...] = _sum_of_powers(low, top, sums[1])


def _unit(low: Lowering) -> float:
    """What logarithms are multiplied by before `exp`."""
    return math.log(2) if low.log_sum is not None and low.log_sum.binary else 1.0


def _doubles(low: Lowering, x: np.ndarray) -> np.ndarray:
    """Logarithms in double precision, whose zero is −∞."""
    found: np.ndarray = x.astype(np.float64)
    return -found if low.log_sum is not None and low.log_sum.negated else found


def _terms(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x ⊗ y, where −∞ absorbs ∞."""
    with np.errstate(over="ignore", invalid="ignore"):
        found: np.ndarray = np.add(x, y)
    found[np.isnan(found)] = -np.inf
    return found


def _finite(top: np.ndarray) -> np.ndarray:
    """The largest terms, and 0 for infinite ones, whose powers are 0 or ∞ as they are."""
    return np.where(np.isinf(top), 0.0, top)


def _sum_of_powers(low: Lowering, top: np.ndarray, total: np.ndarray) -> np.ndarray:
    """The logarithms of sums of powers relative to the largest terms, in storage."""
    with np.errstate(divide="ignore", over="ignore"):
        found = _finite(top) + np.log(total) / _unit(low)
        found[np.isposinf(top)] = np.inf
        form = low.log_sum
        stored: np.ndarray = (-found if form is not None and form.negated else found).astype(low.storage)
    return stored


def _slices(begins: Iterable[int], ends: Iterable[int]) -> tuple[Any, ...]:
    """Some places of the last axes, and all of the others."""
    return (..., *map(slice, begins, ends))


def by_blocks(
    kernel: Kernel[Any], low: Lowering, C: np.ndarray, a: np.ndarray, b: np.ndarray, first: int
) -> None:
    """C ← C ⊕ a part of a ∗ b, which begins at `first`, of sequences in storage, by products of blocks.

        c[f + r L + q] = ⊕_t A[r, t] ⊗ B[t, q],    A[r, t] = a[f + r L − t],    B[t, q] = b[q + t]

    with zeros beyond the ends of a and b. Products of an entry begin with the least t.
    """
    count, left, right = len(C), len(a), len(b)
    width = min(max(min(left, right) // 8, 16), SIDE)
    rows = -(-count // width)
    group = min(max(min(left, right) // (8 * width), 8), SIDE, rows)
    room = (group - 1) * width
    x, y = (operations(low).zeros((len(s) + 2 * zeros,)) for s, zeros in ((a, room), (b, width - 1)))
    x[room : room + left], y[width - 1 : width - 1 + right] = a, b
    c = operations(low).zeros((rows * width,))
    c[:count] = C
    item = x.itemsize
    for r in range(0, rows, group):
        height, start = min(group, rows - r), first + r * width
        begin, end = max(1 - width, start - left + 1), min(right, start + (height - 1) * width + 1)
        block = c[r * width : (r + height) * width].reshape(height, width)
        for t in range(begin, end, DEPTH):
            depth = min(DEPTH, end - t)
            A = as_strided(x[room + start - t :], (height, depth), (width * item, -item), writeable=False)
            B = as_strided(y[width - 1 + t :], (depth, width), (item, item), writeable=False)
            kernel.multiply_add(block, A.copy(), B.copy())
    C[...] = c[:count]
