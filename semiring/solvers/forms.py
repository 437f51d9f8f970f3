"""The form in which an algebra is computed on operands, wherever they are; and answers without a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from semiring.algebra.laws import is_nan
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.operands.convert import as_dense
from semiring.operands.dense import Dense
from semiring.operands.examine import examine
from semiring.operands.operand import Operand
from semiring.operands.read import read


def facts_together(operands: Sequence[Operand]) -> Facts:
    """What is known of operands of one dtype together."""
    named = [(given.what, given.array) for given in operands]  # type: ignore[attr-defined]
    return examine(operands[0].S, operands[0].dtype, named)


def without_library(low: Lowering) -> Lowering:
    """The same with compiled products only, in which 0 · ∞ = 0."""
    return replace(low, blas=False, reason="⊕ and ⊗ are sum and product, and numbers overflow")


def is_finite(array: Any) -> bool:
    """Whether device data hold neither infinities nor NaN; waits for the device."""
    import cupy

    return bool(cupy.isfinite(array).all())


def refuse_overflow(low: Lowering, result: Any) -> None:
    """No NaN comes out where none went in.

    Raises
    ------
    SemiringError
        When sums of opposite infinities are in the result: numbers left the range of the dtype on the way.
    """
    if low.drops_nan or result.dtype.kind not in "fcV" or (low.on_gpu and result.dtype.names):
        return
    if low.on_gpu:
        import cupy

        found = cupy.isnan(result)
        if not bool(found.any()):
            return
        at = tuple(int(i) for i in np.argwhere(found.get())[0])
    else:
        if not result.dtype.names:
            with np.errstate(over="ignore", invalid="ignore"):
                if np.isfinite(np.add.reduce(result, axis=None)):
                    return
        found = is_nan(result)
        if not found.any():
            return
        at = tuple(np.argwhere(found)[0].tolist())
    raise SemiringError(
        f"{low.algebra.name}: the result has no value at [{', '.join(map(str, at))}]: on the way numbers leave the "
        f"range of {result.dtype}, and infinities of both signs meet. Convert the data to a wider dtype, or scale them"
    )


def same_dtype(*operands: Operand) -> np.dtype:
    """The dtype of all operands."""
    first, *others = operands
    for other in others:
        if other.dtype != first.dtype:
            raise SemiringError(
                f"{first.what} is {first.dtype} and {other.what} is {other.dtype}; convert one with .astype(…)"
            )
    return first.dtype


def right_hand_side(B: Any, S: Semiring, n: int, dtype: np.dtype) -> Dense:
    """B of X = A ⊗ X ⊕ B: a vector, or the columns of a matrix, of A's dtype."""
    given = as_dense(B if isinstance(B, Operand) else read(B, S, "B"))
    if given.dtype != dtype:
        raise SemiringError(f"A is {dtype} and B is {given.dtype}; convert one with .astype(…)")
    if len(given.shape) not in (1, 2) or given.shape[0] != n:
        raise SemiringError(f"B must have shape ({n},) or ({n}, m), and has {given.shape}")
    _ = given.facts  # refuses what is not an element
    return given
