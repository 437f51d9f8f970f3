"""Forms of floats: as ordered integers where an algebra only compares, halves in single precision."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.constants import nearest_constant
from semiring.algebra.expression import Traced, constant, postorder, rounded, substitute

from .base import AnyLowering, ByElement, Lowering
from .parts import converted, each_part, like

FLIPPED = "select({{0}} < 0, {0}({{0}} ^ {1}), {{0}})"  # the lower bits of negative integers, as compiled code has it
NEGATIVE_SHARE = 1 / 8  # of all elements, below which the negative ones alone are changed


def single_for_half(single: Lowering, dtype: np.dtype) -> Lowering:
    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        return single.encode(converted(a, np.dtype("f4")), False)

    def decode(a: np.ndarray) -> np.ndarray:
        return converted(single.decode(a), dtype)

    return replace(
        single, name=f"{single.name}, single precision", dtype=dtype,
        reason=f"the CPU has no half-precision arithmetic; {single.reason}",
        recode=(encode, decode), flipped=0, by_element=None,
    )


def rounded_to(plain: AnyLowering, dtype: np.dtype) -> AnyLowering:
    """The same with constants as a narrower float has them, so that they compare with its data as they should."""

    def recode(t: Traced) -> Traced:
        return Traced(rounded(t.outputs, dtype), t.arity, t.width)

    (kind,) = plain.components
    return replace(
        plain, add=recode(plain.add), mul=recode(plain.mul), scale=recode(plain.scale), star=recode(plain.star),
        defined=rounded((plain.defined,), dtype)[0],
        zero=(kind.type(nearest_constant(plain.zero[0], dtype)),),
        one=(kind.type(nearest_constant(plain.one[0], dtype)),),
    )


@lru_cache(1024)
def only_compares(plain: Lowering) -> bool:
    """Whether ⊕ and ⊗ only pick among operands and constants, so that any order-preserving code will do."""
    allowed = {"minimum", "maximum", "input", "constant"}
    outputs = (*plain.add.outputs, *plain.mul.outputs, *plain.scale.outputs, *plain.star.outputs)
    return len(plain.components) == 1 and plain.defined.op == "constant" and all(
        e.op in allowed for e in postorder(outputs)
    )


def ordered_integers(plain: Lowering) -> Lowering:
    """Floats as signed integers of the same order: those below zero have their lower bits flipped."""
    integer = np.dtype(f"i{plain.dtype.itemsize}")
    low_bits = integer.type(np.iinfo(integer).max)

    def flip(part: np.ndarray) -> None:
        if part.min(initial=0) >= 0:  # they are in order as they are
            return
        below = part < 0
        if np.count_nonzero(below) < NEGATIVE_SHARE * below.size:
            np.bitwise_xor(part, low_bits, out=part, where=below)
        else:
            np.bitwise_xor(part, (part >> (integer.itemsize * 8 - 1)) & low_bits, out=part)

    def copied(target: np.ndarray, part: np.ndarray) -> None:
        target[...] = part
        flip(target)

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        bits = a.view(integer)
        if not copy:
            each_part(flip, bits)
            return bits
        result = like(bits, integer)
        each_part(copied, result, bits)
        return result

    def decode(bits: np.ndarray) -> np.ndarray:
        each_part(flip, bits)
        return bits.view(plain.dtype)

    def code(value: Any) -> int:
        return encode(np.array([value], plain.dtype), True)[0].item()

    flipped = FLIPPED.format(integer.name, low_bits)
    outputs = (*plain.add.outputs, *plain.mul.outputs, *plain.star.outputs)
    coded = {e: constant(code(e.value)) for e in postorder(outputs) if e.op == "constant"}

    def recode(t: Traced) -> Traced:
        return Traced(substitute(t.outputs, coded), t.arity, t.width)

    return replace(
        plain, name="ordered integers", reason="⊕ and ⊗ only compare, and integers of the same order compare faster",
        storage=integer, add=recode(plain.add), mul=recode(plain.mul), scale=recode(plain.scale),
        star=recode(plain.star),
        zero=(integer.type(code(plain.zero[0])),), one=(integer.type(code(plain.one[0])),),
        recode=(encode, decode), flipped=int(low_bits), by_element=ByElement(flipped, flipped, bits=True),
    )
