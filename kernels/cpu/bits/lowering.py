"""Forms in bits: truth values one a bit, and sets of bits one Boolean matrix a bit.

With ⊕ = | and ⊗ = & the bits of an element never meet, so that bit k of a closure is the Boolean closure of bit k: w
transitive closures in place of one over w-bit words. Over (&, |) the same holds of the complements. The packed engine
closes 64 pairs a step and skips what is reached already, which the general kernel cannot: it is the faster one from
`FEWEST` vertices on, for every width (docs/benchmarks).
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.blocks.bits import PackedRows, row_words
from semiring.kernels.blocks.planes import Planes
from semiring.kernels.cpu.bits.conversions import from_dense, to_dense
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

FEWEST = 1024  # vertices from which planes are faster


def bit_planes(S: Semiring, dtype: np.dtype, facts: Facts) -> Any:
    """The lowering of an algebra of bit sets to planes, or None where ⊕ and ⊗ are not the union and intersection.

    Only bits that occur get a plane of their own. Elements below 2ᵇ and the set of all bits, which closures need
    for 1, are distinguished by bits 0 to b: all higher bits are the same as bit b.

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
    return _planes(S, dtype, min(int(facts.largest).bit_length() + 1, 8 * dtype.itemsize), complement)


@lru_cache(1024)
def _planes(S: Semiring, dtype: np.dtype, count: int, complement: bool) -> Any:
    def encode(array: np.ndarray, copy: bool) -> Planes:
        from .planes import split  # it loads Numba

        return split(array, count, complement)

    def decode(planes: Planes) -> np.ndarray:
        from .planes import join

        return join(planes, dtype, complement)

    what = "bits of the complements" if complement else "bits"
    return replace(
        general(S, dtype), name="bit planes", kind="planes", recode=(encode, decode),
        reason=f"{what} never meet: {count} Boolean closures of a bit each, 64 a word",
    )


class BitLowering(Lowering):
    """Truth values as packed bits."""

    def empty(self, shape: tuple[int, ...]) -> PackedRows:
        """A matrix of False."""
        return PackedRows.zeros(*shape)

    def matrix_bytes(self, n: int) -> int:
        """Bytes of a matrix of n × n in storage."""
        return 8 * n * row_words(n)


@lru_cache(1024)
def packed_bits(S: Semiring, dtype: np.dtype) -> Lowering:
    plain, A = general(S, dtype), S.over(dtype)
    zero, one = A.zero, A.one
    literal = zero == 0 and one == 1

    def encode(a: np.ndarray, copy: bool) -> Any:
        return from_dense(PackedRows, a if literal else a == one, None)

    def decode(m: Any) -> np.ndarray:
        if literal:
            return to_dense(m, np.empty(m.shape, dtype), None)
        return np.where(to_dense(m, np.empty(m.shape, bool), None), one, zero)

    values = {f.name: getattr(plain, f.name) for f in fields(Lowering)}
    return BitLowering(**values | {
        "name": "packed bits", "reason": "every element is 0 or 1: a bit each, 64 a word", "kind": "packed",
        "storage": np.dtype("u8"), "recode": (encode, decode),
    })
