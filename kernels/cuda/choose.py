"""Which form of an algebra the GPU runs on given data. See `semiring.kernels.choose` for the idea."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import lru_cache
from math import copysign, inf
from threading import RLock
from typing import Any

import numpy as np

from semiring.algebra.arithmetic import components
from semiring.algebra.expression import Traced, constant, postorder, substitute
from semiring.algebra.overflow import Ends, ends
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.kernels.cuda.lowering import SAME, Codes, CudaLowering
from semiring.kernels.facts import DeviceFacts, Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.comparing import only_compares, ordered_integers, rounded_to
from semiring.kernels.lowering.general import general, is_reserved

from .bits.engine import BooleanKernel
from .bits.lowering import PackedCudaLowering
from .compile.rules import literal, memory_type
from .dense.engine import CudaKernel

PRODUCT = 3  # factors, at most, of what a product with an accumulated matrix consists of


def choose(
    S: Semiring, dtype: np.dtype, facts: Facts, length: int, *, in_place: bool, packed: bool = False
) -> CudaLowering:
    """The fastest lowering whose condition holds; parameters as in `semiring.kernels.choose.choose`.

    Equal conditions give the same object.

    Raises
    ------
    SemiringError
        If the elements are Python objects, or sums that no integer of the GPU holds.
    """
    if S.traced is None or dtype.kind == "O":
        raise SemiringError(f"{S.name}: elements are Python objects, which live on the CPU only; use device='cpu'")
    if dtype.kind == "c":
        return general_on_device(S, dtype)
    if packed and facts.two_valued and is_boolean(S, dtype):
        return packed_on_device(S, dtype)
    if S.is_tropical and dtype.kind in "iu":
        return _tropical_integers(S, dtype, facts, length, in_place)
    if dtype.kind in "iu" and facts.multiple > np.iinfo(dtype).max:
        raise SemiringError(f"{S.name}: a least common multiple may leave {dtype.name}; use device='cpu'")
    if dtype.kind in "iu" and is_reserved(S, dtype, facts):
        raise SemiringError(f"{S.name}: a number stands beside the limit of {dtype.name}, where overflow is seen; use "
                            "device='cpu'")
    plain = general_on_device(S, dtype)
    if plain.storage != dtype:
        return plain
    if dtype.kind == "f" and only_compares(plain):
        return _ordered(S, dtype)
    if dtype == np.float16:
        if length <= PRODUCT and S.is_tropical:
            return _pairs_of_halves(S)
        return _half_in_single(choose(S, np.dtype("f4"), facts, length, in_place=False))
    if dtype == np.float32 and isinstance(facts, DeviceFacts) and stays_non_negative(S, dtype, facts, length):
        return _non_negative(S, dtype)
    return plain


def without_facts(S: Semiring, dtype: np.dtype) -> CudaLowering:
    """The lowering that is right for any data."""
    if S.traced is None or dtype.kind in "Oc":
        return choose(S, dtype, Facts(), 1, in_place=False)
    plain = general_on_device(S, dtype)
    if dtype == np.float16 and plain.storage == dtype:
        return _half_in_single(without_facts(S, np.dtype("f4")))
    return plain


@lru_cache(1024)
def general_on_device(S: Semiring, dtype: np.dtype) -> CudaLowering:
    """The lowering that is always right."""
    low = general(S, dtype)
    near = ends(S, dtype)
    if dtype.kind == "c":
        return _in_parts(S, dtype, low)
    if any(near):
        codes = _refusing(S, dtype, low.storage, near)
    else:
        codes = SAME if low.storage == dtype else _widening(S, dtype, low.storage)
    values = {f.name: getattr(low, f.name) for f in fields(Lowering)} | {
        "kind": "cuda", "fused_sum": False, "recode": None, "codes": codes, "unit_pivots": S.has_unit_stars,
        "absorbs": S.absorbs, "name": "general" if low.fused_sum else low.name,
        "reason": "as declared" if low.fused_sum else low.reason,
    }
    return CudaLowering(**values)


def _in_parts(S: Semiring, dtype: np.dtype, low: Lowering) -> CudaLowering:
    """Complex numbers as they are in memory: kernels have records of two floats."""
    if low.storage.itemsize != dtype.itemsize:
        raise SemiringError(f"{S.name}: a GPU computes with {S.working(dtype)}, and the elements are of {dtype}: "
                            "convert them with astype")
    values = {f.name: getattr(low, f.name) for f in fields(Lowering)}
    return CudaLowering(**values | {
        "kind": "cuda", "storage": dtype, "recode": None, "unit_pivots": S.has_unit_stars, "absorbs": S.absorbs})


def _widening(S: Semiring, dtype: np.dtype, wide: np.dtype) -> Codes:
    """Elements in a wider dtype and back; 0 and 1 become what they are declared to be."""
    if dtype.names:
        raise SemiringError(f"{S.name}: its components need more room than {dtype} has; use device='cpu'")
    encode, decode = f"({memory_type(wide)}){{0}}", f"({memory_type(dtype)}){{0}}"
    for given, meant in zip(_neutral(S, dtype), _neutral(S, wide), strict=True):
        if given != meant:
            encode = f"{{0}} == {literal(given)} ? {literal(meant)} : {encode}"
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None
    if limits is None:
        return Codes(encode, decode)
    low, high = (literal(wide.type(x)) for x in (limits.min, limits.max))
    return Codes(encode, decode, f"{{0}} > {high}" + (f" || {{0}} < {low}" if dtype.kind == "i" else ""))


def _refusing(S: Semiring, dtype: np.dtype, storage: np.dtype, near: tuple[Ends | None, ...]) -> Codes:
    """Integers that may leave their dtype, kept apart from the limits that stand for ±∞."""
    if storage == dtype:
        fields = [f"{{0}}.f{i}" for i in range(len(near))] if dtype.names else ["{0}"]
        return SAME._replace(leaves=" || ".join(
            f"{field} == {literal(kind.type(number))}"
            for field, kind, e in zip(fields, components(dtype), near, strict=True) if e for number in e.reserved(kind)
        ))
    (e,) = near
    if dtype.names or e is None:
        return _widening(S, dtype, storage)
    narrow, wide, (least, most) = np.iinfo(dtype), np.iinfo(storage), e.finite(dtype)
    encode, decode = f"({memory_type(storage)}){{0}}", f"({memory_type(dtype)}){{0}}"
    leaves = f"{{0}} > {literal(storage.type(most))}"
    if dtype.kind == "i":
        leaves = f"({leaves} || {{0}} < {literal(storage.type(least))})"
    limits = [(narrow.max, wide.max)] + [(narrow.min, wide.min)] * (dtype.kind == "i")
    for given, meant in limits if e.infinite else []:
        inside, outside = literal(dtype.type(given)), literal(storage.type(meant))
        encode, decode = f"{{0}} == {inside} ? {outside} : {encode}", f"{{0}} == {outside} ? {inside} : {decode}"
        leaves += f" && {{0}} != {outside}"
    return Codes(encode, decode, leaves)


def _neutral(S: Semiring, dtype: np.dtype) -> list[Any]:
    A = S.over(dtype)
    return [A.zero] if A.one is None else [A.zero, A.one]


@lru_cache(1024)
def _non_negative(S: Semiring, dtype: np.dtype) -> CudaLowering:
    return replace(
        general_on_device(S, dtype), name="bits of non-negative floats", non_negative=True,
        reason="no value is below zero, so floats compare as integers, three at a time",
    )


def stays_non_negative(S: Semiring, dtype: np.dtype, facts: DeviceFacts, length: int) -> bool:
    """Whether ⊕ is min or max and no value below zero or NaN can arise from the data.

    Sums of such numbers are such numbers. A product might be 0 · ∞, so nothing may exceed 1. Where zero is −∞ it is the
    one value below, its bits are below all others as well, and nothing may reach +∞.
    """
    multiplies, zero = _keeps_signs(S, dtype), S.zero
    # −0 is among the least numbers here, and its bits are below those of −∞.
    if multiplies is None or copysign(1, facts.least) < 0 or (facts.low_limit and zero != -inf):
        return False
    if multiplies and (facts.high_limit or facts.largest > 1 or zero not in (0, inf)):
        return False
    if zero == -inf:
        return not facts.high_limit and float(facts.largest) * max(length, 1) < float(np.finfo(dtype).max)
    return True


@lru_cache(1024)
def _keeps_signs(S: Semiring, dtype: np.dtype) -> bool | None:
    """Whether ⊗ multiplies, where it gives no negative number for others; None where it may, or ⊕ is not min or max."""
    low = general_on_device(S, dtype)
    if len(low.components) != 1 or not low.add.is_plain("minimum", "maximum"):
        return None
    nodes = postorder((*low.add.outputs, *low.mul.outputs, *low.star.outputs))
    ops = {e.op.removeprefix("saturating_") for e in nodes} - {"input", "constant"}
    if not ops <= {"minimum", "maximum", "add", "multiply"}:
        return None
    if any(e.op == "constant" and e.value < 0 and e.value != low.zero[0] for e in nodes):
        return None
    return "multiply" in ops


@lru_cache(1024)
def _ordered(S: Semiring, dtype: np.dtype) -> CudaLowering:
    coded = ordered_integers(general_on_device(S, dtype))
    assert isinstance(coded, CudaLowering)
    return replace(coded, recode=None, codes=Codes("ordered({0})", "from_ordered({0})"))


@lru_cache(1024)
def _pairs_of_halves(S: Semiring) -> CudaLowering:
    return replace(
        general_on_device(S, np.dtype("f2")), name="pairs of halves",
        reason="of one ⊗ a sum, rounded to a half, is the same as a sum in single precision that is rounded then",
    )


@lru_cache(1024)
def ranked(S: Semiring, dtype: np.dtype, up: bool, rank: np.dtype) -> CudaLowering:
    """Values as their ranks, unsigned integers: zero the first and one the last (`up`), or the other way round."""
    plain = general_on_device(S, dtype)
    first, last = rank.type(0), rank.type(np.iinfo(rank).max)
    zero, one = (first, last) if up else (last, first)
    zeros = _zeros(plain)

    def recode(t: Traced) -> Traced:
        constants = [e for e in postorder(t.outputs) if e.op == "constant"]
        coded = {e: constant(int(zero if e.value in zeros else one)) for e in constants}
        return Traced(substitute(t.outputs, coded), t.arity, t.width)

    return replace(
        plain, name="ranks", storage=rank, zero=(zero,), one=(one,),
        add=recode(plain.add), mul=recode(plain.mul), star=recode(plain.star),
        reason=f"⊕ and ⊗ only compare, and the ranks of the values are {8 * rank.itemsize} bits",
    )


def can_be_ranked(S: Semiring, dtype: np.dtype) -> bool:
    """Whether ⊕ and ⊗ only compare, with no constants but zero and one, in more than 16 bits."""
    if S.traced is None or dtype.names or dtype.kind not in "iuf" or dtype.itemsize <= 2:
        return False
    plain = general_on_device(S, dtype)
    known = (*_zeros(plain), S.one, plain.one[0])
    outputs = (*plain.add.outputs, *plain.mul.outputs, *plain.star.outputs)
    return only_compares(plain) and all(e.value in known for e in postorder(outputs) if e.op == "constant")


def _zeros(plain: CudaLowering) -> tuple[Any, ...]:
    """The algebra's zero as it was declared, and as the dtype has it."""
    return plain.algebra.zero, plain.zero[0]


@lru_cache(1024)
def _half_in_single(plain: CudaLowering) -> CudaLowering:
    single = rounded_to(plain, np.dtype("f2"))
    inner = single.codes
    return replace(
        single, name=f"{single.name}, single precision", dtype=np.dtype("f2"),
        reason=f"halves are rounded once, at the end; {single.reason}",
        codes=Codes(inner.encode.format("float({0})"), f"Half({inner.decode})"),
    )


def _tropical_integers(S: Semiring, dtype: np.dtype, facts: Facts, length: int, in_place: bool) -> CudaLowering:
    """Sums under min or max, with the infinity where no finite sum reaches and no sum of two overflows.

    Under min without negative numbers that is the middle of an unsigned range, for 16 bits 32,767. With signs it is the
    middle of the positive half, and finite sums must stay below half of that.
    """
    sign = 1 if S.zero == np.inf else -1
    limits = np.iinfo(dtype)
    opposite = limits.min if sign > 0 else limits.max
    if dtype.kind == "i" and (facts.low_limit if sign > 0 else facts.high_limit):
        raise SemiringError(f"{S.name}: {opposite} stands for the opposite infinity, which only the CPU computes with; "
                            "use device='cpu'")
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
    # Of no number at all nothing is known: the answer may then be an empty sum, which is infinite.
    finite = isinstance(facts, DeviceFacts) and facts.least != inf
    plain = finite and storage == dtype and not (facts.high_limit if sign > 0 else facts.low_limit)
    return _sums(S, dtype, storage, plain, storage != dtype and bound >= limits.max)


@lru_cache(1024)
def _sums(S: Semiring, dtype: np.dtype, storage: np.dtype, plain: bool, may_leave: bool) -> CudaLowering:
    """`plain`: no entry is infinite, nor is a result then, and storage holds the data as they are."""
    assert S.traced
    sign = 1 if S.zero == np.inf else -1
    limits, middle = np.iinfo(dtype), np.iinfo(storage).max // 2
    absent = limits.max if sign > 0 else limits.min
    infinity = storage.type(sign * middle)
    threshold = sign * (middle if storage.kind == "u" else middle // 2 + 1)

    def text(number: int, kind: np.dtype) -> str:
        return literal(kind.type(min(max(int(number), np.iinfo(kind).min), np.iinfo(kind).max)))

    given, stored = memory_type(dtype), memory_type(storage)
    far = f"{{0}} {'>=' if sign > 0 else '<='} {text(threshold, storage)}"
    beyond = [f"{{0}} > {text(limits.max, storage)}", f"{{0}} == {text(absent, storage)}"]
    if storage.kind == "i":
        beyond.append(f"{{0}} < {text(limits.min, storage)}")
    return replace(
        general_on_device(S, dtype), name=f"{storage.name} sums", storage=storage, mul=S.traced.raw_mul,
        zero=(infinity,), one=(storage.type(0),),
        reason=f"no finite sum reaches {threshold}, so infinity may lie at {infinity} and needs no test",
        codes=SAME if plain else Codes(
            f"{{0}} == {text(absent, dtype)} ? {text(int(infinity), storage)} : ({stored}){{0}}",
            f"{far} ? {text(absent, dtype)} : ({given}){{0}}",
            f"!({far}) && ({' || '.join(beyond)})" if may_leave else SAME.leaves,
        ),
    )


@lru_cache(1024)
def packed_on_device(S: Semiring, dtype: np.dtype) -> PackedCudaLowering:
    """The lowering for data that are zeros and ones, where {0, 1} is the Boolean algebra."""
    low = replace(
        general_on_device(S, dtype), name="packed bits", reason="every element is 0 or 1: a bit each, 64 a word",
        kind="packed", storage=np.dtype("u8"),
    )
    return PackedCudaLowering(**{f.name: getattr(low, f.name) for f in fields(low)})


@lru_cache(1024)
def kernel(lowering: CudaLowering) -> CudaKernel | BooleanKernel:
    """The engine of a lowering."""
    return BooleanKernel() if isinstance(lowering, PackedCudaLowering) else array_kernel(lowering)


_array_kernels: dict[tuple[Any, ...], CudaKernel] = {}


@lru_cache(1024)
def array_kernel(lowering: CudaLowering) -> CudaKernel:
    """The engine of arrays of a lowering; lowerings whose text is the same share it, and so do threads."""
    with _making:
        return _array_kernels.get(lowering.key) or _array_kernels.setdefault(lowering.key, CudaKernel(lowering))


_making = RLock()
