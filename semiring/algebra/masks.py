"""Masked arrays: a masked entry is not an edge."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from semiring.errors import SemiringError

from .elements import choose, full

if TYPE_CHECKING:
    from .semiring import Semiring


def is_masked(A: Any) -> TypeGuard[np.ma.MaskedArray]:
    """Whether it is a masked array.

    There is none before NumPy's module of them is loaded, which takes longer than a small product.

    Examples
    --------
    >>> is_masked(np.zeros(3)), is_masked(np.ma.zeros(3))
    (False, True)
    """
    return "numpy.ma" in sys.modules and isinstance(A, np.ma.MaskedArray)


def mask_of(A: Any, what: str = "A") -> np.ndarray | None:
    """Test which elements of an array are masked; None if none can be.

    Raises
    ------
    SemiringError
        For a record with only some of its fields masked.

    Examples
    --------
    >>> mask_of(np.ma.array([1.0, 2.0], mask=[False, True])).tolist()
    [False, True]
    """
    if not is_masked(A):
        return None
    mask: Any = np.ma.getmaskarray(A)
    if not mask.dtype.names:
        return mask
    parts = [mask[f] for f in mask.dtype.names]
    every, some = np.logical_and.reduce(parts), np.logical_or.reduce(parts)
    if (every != some).any():
        at = ", ".join(map(str, np.argwhere(every != some)[0]))
        raise SemiringError(f"{what}[{at}] is masked in some of its fields only: mask the whole record, or none of it")
    return every


def unmasked(A: np.ma.MaskedArray, S: Semiring, what: str = "A") -> np.ndarray:
    """Convert a masked array to a plain one in the algebra's dtype: a masked entry becomes the algebra's zero.

    Examples
    --------
    >>> import semiring as sr
    >>> unmasked(np.ma.array([1.0, 2.0], mask=[False, True]), sr.min_plus).tolist()
    [1.0, inf]
    """
    mask = mask_of(A, what)
    assert mask is not None
    if S.lift is not None and S.lift.takes(A.dtype):
        A = np.ma.array(S.lift(np.where(mask, S.lift.absent, A.data)))  # masked data need not be weights
    dtype = S.promoted(A.dtype)
    data = np.empty(A.shape, dtype)
    for f in dtype.names or (...,):  # fields by name, because their order may differ
        data[f] = A.data[f]
    return choose(mask, full(np.empty(A.shape, dtype), S.zero_in(dtype)), data)
