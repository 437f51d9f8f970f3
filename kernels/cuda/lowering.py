"""Which form of an algebra the GPU runs on given data. See `semiring.kernels.lowering` for the idea.

A lowering is chosen by expressions and by facts about the data, never by name. Encoding and decoding happen on the
device, on CuPy arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from semiring.core import Semiring
from semiring.errors import SemiringError
from semiring.expression import postorder

from ..facts import Facts
from ..lowering import Lowering, general
from ..lowering import _only_compares as only_compares
from ..lowering import _ordered_integers as ordered_integers


@dataclass(frozen=True)
class DeviceFacts(Facts):
    """Facts, and what the forms of the GPU ask for besides."""

    least: float = -np.inf  # least finite number (a Python int for integers), +∞ where there is none


@dataclass(frozen=True)
class CudaLowering(Lowering):
    """A lowering for the CUDA engine."""

    non_negative: bool = False  # floats may be compared as integers
    unit_pivots: bool = False  # ⊕ is idempotent, and every star is 1 wherever the closure exists

    @property
    def key(self) -> tuple:
        """What the compiled code depends on."""
        return (*super().key, self.non_negative, self.unit_pivots)

    def encode(self, array: Any, copy: bool) -> Any:
        """A CuPy array of the data's dtype in storage; its own memory may be used where `copy` is false."""
        if self.recode is not None:
            return self.recode[0](array, copy)
        return array.copy() if copy else array


def choose(S: Semiring, dtype: np.dtype, facts: Facts, length: int, *, in_place: bool) -> CudaLowering:
    """The fastest lowering whose condition holds; parameters as in `semiring.kernels.lowering.choose`.

    Raises
    ------
    SemiringError
        When the elements are Python objects, or sums that no integer of the GPU holds.
    """
    if S.traced is None or dtype.kind == "O":
        raise SemiringError(f"{S.name}: elements are Python objects, which live on the CPU only; use device='cpu'")
    if S.is_tropical and dtype.kind in "iu":
        return _tropical_integers(S, dtype, facts, length, in_place)
    if dtype == np.float16:
        return _single_for_half(choose(S, np.dtype("f4"), facts, length, in_place=False))
    plain = general_on_device(S, dtype)
    if dtype.kind == "f" and only_compares(plain):
        return _ordered(plain)
    if dtype == np.float32 and isinstance(facts, DeviceFacts) and stays_non_negative(plain, facts, length):
        return replace(
            plain, name="bits of non-negative floats", non_negative=True,
            reason="no value is below zero, so floats compare as integers, three at a time",
        )  # fmt: skip
    return plain


def general_on_device(S: Semiring, dtype: np.dtype) -> CudaLowering:
    """The lowering that is always right."""
    return _on_device(general(S, dtype))


def _on_device(low: Lowering, **changes: Any) -> CudaLowering:
    S = low.algebra
    values = {f.name: getattr(low, f.name) for f in fields(Lowering)} | {
        "kind": "cuda", "fused_sum": False, "recode": None, "unit_pivots": S.selective or (S.idempotent and S.bounded),
        "name": "general" if low.fused_sum else low.name, "reason": "as declared" if low.fused_sum else low.reason,
    }  # fmt: skip
    return CudaLowering(**(values | changes))


def stays_non_negative(low: CudaLowering, facts: DeviceFacts, length: int) -> bool:
    """Whether ⊕ is min or max and no value below zero or NaN can arise from the data.

    Sums of such numbers are such numbers. A product might be 0 · ∞, so nothing may exceed 1. Where zero is −∞ it is the
    one value below, its bits are below all others as well, and nothing may reach +∞.
    """
    if len(low.components) != 1 or not low.add.is_plain("minimum", "maximum"):
        return False
    nodes = postorder((*low.add.outputs, *low.mul.outputs, *low.star.outputs))
    ops = {e.op.removeprefix("saturating_") for e in nodes} - {"input", "constant"}
    if not ops <= {"minimum", "maximum", "add", "multiply"}:
        return False
    zero = low.zero[0]
    if facts.least < 0 or (facts.low_limit and zero != -np.inf):
        return False
    if any(e.op == "constant" and e.value < 0 and e.value != zero for e in nodes):
        return False
    if "multiply" in ops and (facts.high_limit or facts.largest > 1 or zero not in (0, np.inf)):
        return False
    if zero == -np.inf:
        return not facts.high_limit and float(facts.largest) * max(length, 1) < np.finfo(low.storage).max
    return True


def _ordered(plain: CudaLowering) -> CudaLowering:
    coded = ordered_integers(plain)
    assert isinstance(coded, CudaLowering)
    integer = coded.storage
    low_bits = integer.type(np.iinfo(integer).max)
    shift = integer.itemsize * 8 - 1

    def flip(bits: Any) -> None:
        bits ^= (bits >> shift) & low_bits

    def encode(a: Any, copy: bool) -> Any:
        bits = (a.copy() if copy else a).view(integer)
        flip(bits)
        return bits

    def decode(bits: Any) -> Any:
        flip(bits)
        return bits.view(plain.dtype)

    return replace(coded, recode=(encode, decode))


def _single_for_half(single: CudaLowering) -> CudaLowering:
    half = np.dtype("f2")
    return replace(
        single, name=f"{single.name}, single precision", dtype=half,
        reason=f"halves are rounded once, at the end; {single.reason}",
        recode=(lambda a, copy: single.encode(a.astype("f4"), False), lambda a: single.decode(a).astype(half)),
    )  # fmt: skip


def _tropical_integers(S: Semiring, dtype: np.dtype, facts: Facts, length: int, in_place: bool) -> CudaLowering:
    """Sums under min or max, with the infinity where no finite sum reaches and no sum of two overflows.

    Under min without negative numbers that is the middle of an unsigned range, for 16 bits 32,767. With signs it is the
    middle of the positive half, and finite sums must stay below half of that.
    """
    plain = general_on_device(S, dtype)
    assert S.traced
    sign = 1 if S.zero == np.inf else -1
    limits = np.iinfo(dtype)
    absent, opposite = (limits.max, limits.min) if sign > 0 else (limits.min, limits.max)
    if dtype.kind == "i" and (facts.low_limit if sign > 0 else facts.high_limit):
        raise SemiringError(f"{S.name}: {opposite} stands for the opposite infinity, which only the CPU computes with")
    bound = int(facts.largest) * max(length, 1)
    unsigned = sign > 0 and (dtype.kind == "u" or getattr(facts, "least", -1) >= 0)
    for size in (2, 4, 8):
        if in_place and size != dtype.itemsize and size < 8:
            continue
        storage = np.dtype(f"{'u' if unsigned and size == 2 else 'i'}{size}")
        middle = np.iinfo(storage).max // 2
        if bound < (middle if storage.kind == "u" else middle // 2):
            break
    else:
        raise SemiringError(f"{S.name}: a path may weigh up to {bound}, beyond the GPU's integers; use device='cpu'")
    infinity = storage.type(sign * middle)
    threshold = middle if storage.kind == "u" else middle // 2 + 1

    def encode(a: Any, copy: bool) -> Any:
        import cupy

        if storage == dtype:
            result = a.copy() if copy else a
            cupy.copyto(result, infinity, where=result == absent)
            return result
        return cupy.where(a == absent, infinity, a.astype(storage))

    def decode(b: Any) -> Any:
        import cupy

        far = b >= threshold if sign > 0 else b <= -threshold
        outside = ((b < limits.min) | (b > limits.max) | (b == absent)) & ~far if storage != dtype else None
        if outside is not None and bound >= limits.max and bool(outside.any()):
            raise SemiringError(
                f"{S.name}: a result is outside {dtype.name}; convert the data first, for example with .astype('int64')"
            )
        return cupy.where(far, dtype.type(absent), b.astype(dtype, copy=False))

    return replace(
        plain, name=f"{storage.name} sums", storage=storage, mul=S.traced.raw_mul,
        zero=(infinity,), one=(storage.type(0),), recode=(encode, decode),
        reason=f"sums stay within ±{bound}, so infinity may lie at {infinity} and needs no test",
    )  # fmt: skip
