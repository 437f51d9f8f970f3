"""When an operation of an algebra is the same in another dtype: ordinary sums of integers, and halves widened."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from semiring.algebra.expression import Expression, postorder
from semiring.algebra.semiring import Semiring


@lru_cache(1024)
def ordinary(S: Semiring, op: str, dtype: np.dtype) -> np.ufunc | None:
    """The ordinary sum or product, if ⊕ or ⊗ of finite integers is that; None else.

    Examples
    --------
    >>> import semiring as sr
    >>> ordinary(sr.min_plus, "mul", np.dtype("i4")), ordinary(sr.min_plus, "add", np.dtype("i4"))
    (<ufunc 'add'>, None)
    """
    if S.traced is None or dtype.kind not in "iu":
        return None
    traced = S.traced.add if op == "add" else S.traced.raw_mul
    names = {np.add: ("add", "saturating_add"), np.multiply: ("multiply", "saturating_multiply")}
    found = next((ufunc for ufunc, own in names.items() if traced.is_plain(*own)), None)
    zero, limits = int(S.over(dtype).zero), np.iinfo(dtype)
    absorbs = zero in (limits.min, limits.max) or (found is np.multiply and not zero)
    return found if op == "add" or absorbs else None


@lru_cache(1024)
def alike(S: Semiring, dtype: np.dtype, wide: np.dtype) -> bool:
    """Whether an algebra lives in a wider dtype of floats, too, with the same 0, 1 and other constants.

    Examples
    --------
    >>> import semiring as sr
    >>> alike(sr.min_plus, np.dtype("f2"), np.dtype("f4"))
    True
    """
    if S.traced is None or wide not in S.dtypes or S.working(dtype) != dtype:
        return False
    A, W = S.over(dtype), S.over(wide)
    if A.zero != W.zero or (A.one is not None and A.one != W.one):
        return False
    ops = S.traced
    outputs = (*ops.add.outputs, *ops.mul.outputs, S.carrier_in(dtype))
    return S.carrier_in(dtype) is S.carrier_in(wide) and all(_holds(e, dtype, wide) for e in postorder(outputs))


def _holds(e: Expression, dtype: np.dtype, wide: np.dtype) -> bool:
    """Whether a constant is the same number in both dtypes, if this is one."""
    if e.op != "constant" or isinstance(e.value, (bool, np.bool_)):
        return True
    with np.errstate(over="ignore"):
        return bool(wide.type(dtype.type(e.value)) == wide.type(e.value))
