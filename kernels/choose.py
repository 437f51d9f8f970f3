"""Which form of an algebra runs on given data: the fastest whose condition holds."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from semiring.algebra.semiring import Semiring

from .cpu.bits.lowering import FEWEST, bit_planes, packed_bits
from .cpu.compile.price import when
from .facts import Facts
from .lowering.base import Lowering
from .lowering.boolean import is_boolean
from .lowering.comparing import only_compares, ordered_integers, rounded_to, single_for_half
from .lowering.general import general, is_reserved
from .lowering.objects import python_integers, python_objects
from .lowering.sums import tropical_integers, widest


def choose(S: Semiring, dtype: np.dtype, facts: Facts, length: int, *, in_place: bool, packed: bool = True) -> Lowering:
    """The fastest lowering whose condition holds.

    Parameters
    ----------
    S : Semiring
    dtype : dtype
        Of the data, as `Semiring.resolve_dtype` gave it.
    facts : Facts
        About all the data together.
    length : int
        The most factors that a ⊗-product in the answer can have: 2 for a matrix product, n for a closure.
    in_place : bool
        Whether the caller wants the data's own memory to be used.
    packed : bool
        Whether one bit an element is possible (operands are 2-D and all two-valued).
    """
    if packed and facts.two_valued and is_boolean(S, dtype):
        return packed_bits(S, dtype)
    if packed and dtype.kind == "u" and length >= FEWEST and when() != "never":
        planes = bit_planes(S, dtype, facts)
        if planes:
            return planes
    if dtype.kind in "iu" and S.is_tropical:
        return tropical_integers(S, dtype, facts, length, in_place)
    if dtype.kind in "iu" and facts.multiple and facts.multiple > np.iinfo(dtype).max:
        return python_integers(S, dtype, f"a least common multiple may leave {dtype.name}")
    if dtype.kind in "iu" and is_reserved(S, dtype, facts):
        return python_integers(S, dtype, f"a number stands beside the limit of {dtype.name}, where overflow is seen")
    return _without_facts(S, dtype)


@lru_cache(1024)
def by_element(S: Semiring, dtype: np.dtype) -> Lowering | None:
    """The form for elements that its `by_element` does not call strange, whatever the facts; None where there is none.

    A ⊗-product in the answer has `sums.SHORT` factors at most.
    """
    if S.traced is None or S.has_multiples or (dtype.kind in "iu" and S.sums_cycles):
        return None
    low = widest(S, dtype) if dtype.kind in "iu" and S.is_tropical else _without_facts(S, dtype)
    return low if low.by_element else None


@lru_cache(1024)
def only_form(S: Semiring, dtype: np.dtype, two_valued: bool) -> Lowering | None:
    """The form that `choose` takes whatever the other facts are, or None where they decide."""
    return None if dtype.kind in "iu" or (two_valued and is_boolean(S, dtype)) else _without_facts(S, dtype)


@lru_cache(1024)
def _without_facts(S: Semiring, dtype: np.dtype) -> Lowering:
    """The best lowering that needs no condition on the data."""
    if S.traced is None or dtype.kind == "O":
        return python_objects(S, dtype, "elements are Python objects")
    plain = general(S, dtype)
    if dtype == np.float16 and plain.storage == dtype:
        single = rounded_to(general(S, np.dtype("f4")), dtype)
        return single_for_half(ordered_integers(single) if only_compares(single) else single, dtype)
    ordered = dtype.kind == "f" and plain.is_identity and only_compares(plain)
    return ordered_integers(plain) if ordered else plain
