"""Shapes of products: vectors, stacks, and what does not fit."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.masks import is_masked
from semiring.operands.devices import is_on_gpu


class Product(NamedTuple):
    """Shapes of a product C ⊕ A ⊗ B."""

    full: tuple[int, ...]  # of the product of matrices
    final: tuple[int, ...]  # of the answer: without the axes that vectors lack
    depth: int  # terms of an entry
    operands: tuple[tuple[int, ...], tuple[int, ...]]  # A and B as matrices


@lru_cache(1024)
def product_shape(
    a: tuple[int, ...], b: tuple[int, ...], c: tuple[int, ...] | None = None, names: tuple[str, str] = ("A", "B")
) -> Product:
    """The shapes of a product, as in `numpy.matmul`; errors call its factors by `names`.

    Raises
    ------
    SemiringError
        When they do not fit.
    """
    if not a or not b:
        raise SemiringError("A and B must be matrices or vectors, not single numbers; S.mul multiplies elements")
    left, right = names
    row, column = len(a) == 1, len(b) == 1
    A, B = ((1, *a) if row else a), ((*b, 1) if column else b)
    if A[-1] != B[-2]:
        raise SemiringError(f"{left} of shape {a} and {right} of shape {b} do not fit: "
                            f"{left} has {A[-1]} columns, {right} has {B[-2]} rows")
    try:
        leading = np.broadcast_shapes(A[:-2], B[:-2])
    except ValueError:
        raise SemiringError(f"leading axes {A[:-2]} of {left} and {B[:-2]} of {right} do not broadcast") from None
    full = (*leading, A[-2], B[-1])
    final = (*leading, *(() if row else full[-2:-1]), *(() if column else full[-1:]))
    if c is not None and c != final:
        raise SemiringError(f"accumulate has shape {c}, the product {final}")
    return Product(full, final, A[-1], (A, B))


def can_hold(out: Any, shape: tuple[int, ...], S: Semiring, dtype: np.dtype) -> bool:
    """Whether an answer of this shape and dtype may be written to an array, whatever its byte order."""
    if (not isinstance(out, np.ndarray) and not is_on_gpu(out)) or is_masked(out):
        return False
    try:
        same = S.resolve_dtype(out.dtype) == dtype
    except (SemiringError, TypeError):  # a dtype that is not one of numbers
        return False
    return same and out.shape == shape and bool(getattr(out.flags, "writeable", True))
