"""All products of sequences of matrices, one after the other, by any engine."""

from __future__ import annotations

from math import isqrt, prod
from typing import Any

from semiring.algorithms.scans import fold, fold_chunks
from semiring.kernels.build import kernel, renting
from semiring.kernels.lowering.base import Lowering


def one_by_one(low: Lowering, p: Any, a: Any, x: Any, reverse: bool) -> None:
    """All products of sequences by an engine: p[t] ← x ⊗ a[0] ⊗ … ⊗ a[t], or a[t] ⊗ … ⊗ a[0] ⊗ x.

    NumPy's engine takes chunks side by side, since its calls take time.

    Parameters
    ----------
    low : Lowering
    p, a : array, shape (T, …, m, n) and (T, …, n, n)
        In storage.
    x : array or None, shape (…, m, n)
    reverse : bool
    """
    made: Any = kernel(low)
    stack = (prod(a.shape[1:-2]), *a.shape[-2:])
    A = a.reshape(len(a), *stack)
    P = low.empty((len(p), stack[0], *p.shape[-2:]))
    side_by_side = low.kind == "numba" and not low.compiled and not low.algebra.product_only and x is None
    with renting(low, "stacks"):
        if side_by_side and len(a) > 8:
            fold_chunks(P, A, made, reverse, isqrt(len(a)))
        else:
            if x is None:
                P[0] = A[0]
            else:
                X = x.reshape(stack[0], *x.shape[-2:])
                made.multiply_stack(P[0], *((A[0], X) if reverse else (X, A[0])))
            fold(P, A, made, reverse)
    p[...] = P.reshape(p.shape)
