"""Sets of bits as one Boolean matrix a bit: w transitive closures in place of one over w-bit words.

With ⊕ = | and ⊗ = & the bits of an element never meet, so that bit k of a closure is the Boolean closure of bit k. Over
(&, |) the same holds of the complements. The packed engine closes 64 pairs a step and skips what is reached already,
which the general kernel cannot: it is the faster one from `FEWEST` vertices on, for every width (docs/benchmarks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.core import Semiring

from .facts import Facts
from .packed import PackedMatrix

FEWEST = 1024  # vertices from which planes are faster


class Planes:
    """Packed matrices of one shape, one for each bit; a block of the kernel interface.

    Parameters
    ----------
    planes : sequence of PackedMatrix
        Those of the lowest bits first.
    """

    __slots__ = ("planes", "shape")

    def __init__(self, planes: Sequence[PackedMatrix]):
        self.planes = list(planes)
        self.shape = self.planes[0].shape

    def __getitem__(self, key: tuple[slice, slice]) -> Planes:
        return Planes([plane[key] for plane in self.planes])


def bit_planes(S: Semiring, dtype: np.dtype, facts: Facts) -> Any:
    """The lowering of an algebra of bit sets to planes, or None where ⊕ and ⊗ are not the union and intersection.

    Only bits that occur get a plane of their own. Elements below 2ᵇ and the set of all bits, which closures need
    for 1, are told apart by bits 0 to b: all higher bits are the same as bit b.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
    facts : Facts
        `largest` bounds all elements but the dtype's greatest, which is the set of all bits.
    """
    ops = S.traced
    if ops is None or dtype.kind != "u" or S.product_only:
        return None
    if ops.add.is_plain("bitwise_or") and ops.raw_mul.is_plain("bitwise_and"):
        complement = False
    elif ops.add.is_plain("bitwise_and") and ops.raw_mul.is_plain("bitwise_or"):
        complement = True
    else:
        return None
    A, everything = S.over(dtype), np.iinfo(dtype).max
    if {int(A.zero), int(A.one)} != {0, everything}:  # a closed set of fewer bits, which no plane stands for
        return None
    return _lowering(S, dtype, min(int(facts.largest).bit_length() + 1, 8 * dtype.itemsize), complement)


@lru_cache(1024)
def _lowering(S: Semiring, dtype: np.dtype, count: int, complement: bool) -> Any:
    from .lowering import general

    def encode(array: np.ndarray, copy: bool) -> Planes:
        from .cpu.planes import split

        return split(array, count, complement)

    def decode(planes: Planes) -> np.ndarray:
        from .cpu.planes import join

        return join(planes, dtype, complement)

    what = "bits of the complements" if complement else "bits"
    return replace(
        general(S, dtype), name="bit planes", kind="planes", recode=(encode, decode),
        reason=f"{what} never meet: {count} Boolean closures of a bit each, 64 a word",
    )  # fmt: skip
