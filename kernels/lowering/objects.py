"""Python objects as they are, and integers of any size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from semiring.algebra.expression import Traced, constant
from semiring.algebra.overflow import ends, refuse
from semiring.algebra.semiring import Semiring

from .base import Lowering


def python_objects(S: Semiring, dtype: np.dtype, reason: str) -> Lowering:
    nothing = Traced((), 2, 1)
    return Lowering(
        name="Python objects", reason=reason, algebra=S, dtype=dtype, storage=np.dtype(object), kind="objects",
        add=nothing, mul=nothing, scale=nothing, star=nothing, defined=constant(True), zero=(S.zero,), one=(S.one,),
    )


def python_integers(S: Semiring, dtype: np.dtype, reason: str) -> Lowering:
    """Python integers: right for any size and, under sums, for both infinities; slow."""
    limits = np.iinfo(dtype)
    (near,) = ends(S, dtype)
    infinite = S.is_tropical or (near is not None and near.infinite)
    infinities = {limits.max: np.inf} | ({limits.min: -np.inf} if dtype.kind == "i" else {}) if infinite else {}

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        result = np.empty(a.shape, object)
        result[...] = a
        for value, infinity in infinities.items():
            result[a == value] = infinity
        return result

    def decode(b: np.ndarray) -> np.ndarray:
        result = np.empty(b.shape, dtype)
        codes = {infinity: value for value, infinity in infinities.items()}
        for i, x in np.ndenumerate(b):
            if x not in codes and (not limits.min <= x <= limits.max or x in infinities):
                refuse(S, dtype, x)
            result[i] = codes.get(x, x)
        return result

    return replace(python_objects(S, dtype, reason), name="Python integers", recode=(encode, decode))


def in_python_integers(low: Lowering, stored: np.ndarray) -> tuple[Lowering, np.ndarray]:
    """Sums in machine integers, and a matrix of them, as Python integers with true infinities."""
    S, half = low.algebra, int(low.zero[0]) // 2
    result = stored.astype(object)
    result[stored > half if half > 0 else stored < half] = S.zero
    return python_integers(S, low.dtype, "sums leave 64 bits, or an infinity of the other side occurs"), result
