"""How an algebra is computed on data of a dtype: what is stored, which expressions run, how results come back.

A lowering is chosen by what the expressions are and by facts about the data, never by an algebra's name. Each is an
isomorphism on the elements that can occur, so that closures and products may run wholly on the encoded side.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, TypeVar

import numpy as np

from semiring.arithmetic import Arithmetic
from semiring.complexes import split_complex
from semiring.constants import cast_constant, nearest_constant
from semiring.core import Semiring
from semiring.errors import SemiringError
from semiring.expression import Expression, Traced, apply, constant, operand, postorder, rounded, substitute
from semiring.laws import sequence
from semiring.proofs import is_dropped
from semiring.reference import numpy_function

from .facts import Facts
from .planes import FEWEST, bit_planes

CHUNK = 1 << 18  # elements that a conversion takes at once: it stays in the cache and needs no second matrix


@dataclass(frozen=True)
class Lowering:
    """An algebra on storage of its own; `recode` holds the functions behind `encode` and `decode`."""

    name: str
    reason: str
    algebra: Semiring
    dtype: np.dtype  # of the data
    storage: np.dtype
    kind: str  # "numba", "packed", "planes" or "objects": which engine runs it
    add: Traced
    mul: Traced  # as it may stand under ⊕, which may drop what is no element
    scale: Traced  # ⊗ whose result is stored
    star: Traced
    defined: Expression
    zero: tuple
    one: tuple
    fused_sum: bool = False  # ⊗ of floats is x + y, and ⊕ drops NaN
    blas: bool = False  # ⊕ and ⊗ are + and × of a float type that BLAS knows
    recode: tuple[Callable[[np.ndarray, bool], Any], Callable[[Any], np.ndarray]] | None = None

    @property
    def is_identity(self) -> bool:
        """Whether storage holds the data as they are."""
        return self.recode is None

    @cached_property
    def drops_nan(self) -> bool:
        """Whether NaN, if it comes up, never stays in a result: ⊕ is min or max."""
        return self.kind not in ("numba", "cuda") or self.add.is_plain("minimum", "maximum")

    @property
    def on_gpu(self) -> bool:
        """Whether data and storage are in a GPU's memory."""
        return False

    def encode(self, array: np.ndarray, copy: bool) -> Any:
        """An array of the data's dtype in storage; its own memory may be used where `copy` is false."""
        return np.array(array, copy=copy or None) if self.recode is None else self.recode[0](array, copy)

    def decode(self, stored: Any) -> np.ndarray:
        """Storage as an array of the data's dtype, in the same memory where that is possible."""
        return stored if self.recode is None else self.recode[1](stored)

    @cached_property
    def components(self) -> tuple[np.dtype, ...]:
        """Storage dtypes of an element's components."""
        return tuple(self.storage[f] for f in self.storage.names) if self.storage.names else (self.storage,)

    @cached_property
    def key(self) -> tuple:
        """What the compiled code depends on."""
        return (
            self.kind, self.add, self.mul, self.scale, self.star, self.defined, self.components, self.zero, self.one,
            self.fused_sum, self.blas, self.algebra if self.kind == "objects" else None,
        )  # fmt: skip

    def empty(self, shape: tuple[int, ...]) -> Any:
        """A matrix in storage that holds anything."""
        if self.kind == "packed":
            from .packed import PackedMatrix

            return PackedMatrix.zeros(*shape)
        if self.kind == "cuda":
            import cupy

            return cupy.empty(shape, self.storage)
        return np.empty(shape, self.storage)

    def add_one(self, diagonal: np.ndarray) -> np.ndarray:
        """1 ⊕ each element of a vector in storage."""
        if self.kind == "objects":
            ones = sequence([self.algebra.one] * len(diagonal), np.dtype(object))
            return np.asarray(self.algebra.over(object).add(ones, diagonal))
        parts = tuple(diagonal[f] for f in self.storage.names) if self.storage.names else (diagonal,)
        results = numpy_function(self.add.outputs, 2, self.components, self.components)(self.one, parts)
        if not self.storage.names:
            return np.asarray(results[0])
        out = np.empty_like(diagonal)
        for f, r in zip(self.storage.names, results, strict=True):
            out[f] = r
        return out


AnyLowering = TypeVar("AnyLowering", bound=Lowering)


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
        return _packed(S, dtype)
    if packed and dtype.kind == "u" and length >= FEWEST and (planes := bit_planes(S, dtype, facts)):
        return planes
    if dtype.kind in "iu" and S.is_tropical:
        return _tropical_integers(S, dtype, facts, length, in_place)
    if dtype.kind in "iu" and facts.multiple > np.iinfo(dtype).max:
        return _python_integers(S, dtype, f"a least common multiple may leave {dtype.name}")
    return _without_facts(S, dtype)


@lru_cache(1024)
def _without_facts(S: Semiring, dtype: np.dtype) -> Lowering:
    """The best lowering that needs no condition on the data."""
    if S.traced is None or dtype.kind == "O":
        return _objects(S, dtype, "elements are Python objects")
    plain = general(S, dtype)
    if dtype == np.float16 and plain.storage == dtype:
        single = rounded_to(general(S, np.dtype("f4")), dtype)
        return _single_for_half(_ordered_integers(single) if _only_compares(single) else single, dtype)
    ordered = dtype.kind == "f" and plain.is_identity and _only_compares(plain)
    return _ordered_integers(plain) if ordered else plain


@lru_cache(1024)
def general(S: Semiring, dtype: np.dtype) -> Lowering:
    """The lowering that is always right: the expressions as they stand, on the data's dtype if it can carry them."""
    ops = S.traced
    assert ops
    wide = S.working(dtype)
    if wide != dtype:
        return _widened(general(S, wide), dtype)
    if dtype.kind == "c":
        return _in_parts(S, dtype)
    A = S.over(dtype)
    fused = S.is_tropical and dtype.kind == "f"
    blas = ops.add.is_plain("add") and ops.raw_mul.is_plain("multiply") and dtype in (np.float32, np.float64)
    name, reason = "general", "as declared"
    if fused:
        name, reason = "fused sum", "x + y as one fused multiply-add, which leaves the other pipes to min and max"
    elif blas:
        name, reason = "BLAS", "⊕ and ⊗ are the ordinary sum and product"
    exact = _absorbs_exactly(S)
    dropped = exact or (dtype.kind == "f" and is_dropped(ops, S.zero))
    return Lowering(
        name=name,
        reason=reason,
        algebra=S,
        dtype=dtype,
        storage=dtype,
        kind="numba",
        add=_in_order(ops.add),
        mul=ops.raw_mul if dropped else ops.mul,
        scale=ops.raw_mul if exact else ops.mul,
        star=_star_revealing_divergence(S),
        defined=_defined(S, dtype),
        zero=_parts(A, A.zero),
        one=_parts(A, A.zero if A.one is None else A.one),
        fused_sum=fused,
        blas=blas,
    )


def _in_parts(S: Semiring, dtype: np.dtype) -> Lowering:
    """Complex numbers as records of their real and imaginary parts, in the same memory."""
    ops, A, part = S.traced, S.over(dtype), np.dtype(f"f{dtype.itemsize // 2}")
    assert ops
    storage = np.dtype([("real", part), ("imag", part)])

    def split(t: Traced) -> Traced:
        return Traced(split_complex(t.outputs), t.arity, 2 * t.width)

    def numbers(element: Any) -> tuple:
        return part.type(element.real), part.type(element.imag)

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        return np.array(a, copy=copy or None).view(storage)

    times = split(ops.mul)
    return Lowering(
        name="real and imaginary parts", reason="a complex number is a record of two floats", algebra=S, dtype=dtype,
        storage=storage, kind="numba", add=split(ops.add), mul=times, scale=times, star=split(ops.star),
        defined=split_complex([_defined(S, dtype)])[0], zero=numbers(A.zero),
        one=numbers(A.zero if A.one is None else A.one), recode=(encode, lambda b: b.view(dtype)),
        blas=ops.add.is_plain("add") and ops.raw_mul.is_plain("multiply"),
    )  # fmt: skip


def _absorbs_exactly(S: Semiring) -> bool:
    """Whether 0 ⊗ a is 0, or no better under ⊕, because ⊗ only picks one of the two or their bits."""
    ops = S.traced
    assert ops
    picks = ops.raw_mul.is_plain("minimum", "maximum") and ops.add.is_plain("minimum", "maximum")
    return picks or ops.raw_mul.is_plain("bitwise_and", "bitwise_or", "logical_and", "logical_or")


def _in_order(add: Traced) -> Traced:
    """⊕ with its first operand first: a minimum drops a NaN that stands second."""
    if add.is_plain("minimum", "maximum"):
        return Traced((Expression(add.outputs[0].op, (operand(0), operand(1))),), 2, 1)
    return add


def _defined(S: Semiring, dtype: np.dtype) -> Expression:
    """Where a star exists: nowhere that a number overflowed, unless infinity is an element."""
    ops = S.traced
    assert ops
    if S.has_unit_stars:
        return constant(True)
    if dtype.kind not in "fc" or S.over(dtype).contains(np.array([np.inf, -np.inf], dtype)).any():
        return ops.defined
    finite = apply("isfinite", operand(0))
    return finite if ops.defined is constant(True) else apply("logical_and", ops.defined, finite)


def _parts(A: Arithmetic, element: Any) -> tuple:
    return tuple(element[f] for f in A.dtype.names) if A.dtype.names else (element,)


def _star_revealing_divergence(S: Semiring) -> Traced:
    """1 ⊕ a where cycles may improve without end: it is a* where a* is 1, and else shows it on the diagonal."""
    ops = S.traced
    assert ops
    if not S.may_diverge:
        return ops.star
    one = [constant(c) for c in S.components_of(S.one)]
    first = {operand(0, c): e for c, e in enumerate(one)}
    second = {operand(1, c): operand(0, c) for c in range(len(one))}
    return Traced(substitute(ops.add.outputs, first | second), 1, ops.add.width)


def _widened(wide: Lowering, dtype: np.dtype) -> Lowering:
    """Computed in a wider dtype than the data's, where 0 and 1 are what they are declared to be."""
    S, storage = wide.algebra, wide.storage
    A, W = S.over(dtype), S.over(storage)
    known = [(x, y) for x, y in ((A.zero, W.zero), (A.one, W.one)) if x is not None]
    limits = np.iinfo(dtype) if dtype.kind in "iu" else None

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        result = a.astype(storage)
        for given, meant in known:
            result[a == given] = meant
        return result

    def decode(b: np.ndarray) -> np.ndarray:
        outside = np.zeros(b.shape, bool) if limits is None else (b < limits.min) | (b > limits.max)
        if outside.any():
            _too_small(S, dtype, b[outside].flat[0])
        with np.errstate(over="ignore"):
            return b.astype(dtype)

    return replace(
        wide, name=f"{wide.name}, widened", dtype=dtype, blas=False, fused_sum=False, recode=(encode, decode),
        reason=f"{dtype} is too narrow for its constants or laws, so it is computed in {storage}",
    )  # fmt: skip


def _objects(S: Semiring, dtype: np.dtype, reason: str) -> Lowering:
    nothing = Traced((), 2, 1)
    return Lowering(
        name="Python objects", reason=reason, algebra=S, dtype=dtype, storage=np.dtype(object), kind="objects",
        add=nothing, mul=nothing, scale=nothing, star=nothing, defined=constant(True), zero=(S.zero,), one=(S.one,),
    )  # fmt: skip


@lru_cache(1024)
def is_boolean(S: Semiring, dtype: np.dtype) -> bool:
    """Whether {0, 1} is the Boolean algebra within S: 1 ⊕ 1 = 1 and 1* = 0* = 1 (the rest is a law)."""
    if S.traced is None or dtype.names or dtype.kind == "O" or S.product_only:
        return False
    A = S.over(dtype)
    both = np.array([A.zero, A.one], dtype)
    return bool(A.add(A.one, A.one) == A.one and A.defined(both).all() and (A.star(both) == A.one).all())


@lru_cache(1024)
def _packed(S: Semiring, dtype: np.dtype) -> Lowering:
    from .packed import PackedMatrix

    plain, A = general(S, dtype), S.over(dtype)
    zero, one = A.zero, A.one
    literal = zero == 0 and one == 1

    def encode(a: np.ndarray, copy: bool) -> Any:
        return PackedMatrix.from_dense(a if literal else a == one)

    def decode(m: Any) -> np.ndarray:
        if literal:
            return m.to_dense(dtype)
        return np.where(m.to_dense(), one, zero)

    return replace(
        plain, name="packed bits", reason="every element is 0 or 1: a bit each, 64 a word", kind="packed",
        storage=np.dtype("u8"), recode=(encode, decode),
    )  # fmt: skip


def _single_for_half(single: Lowering, dtype: np.dtype) -> Lowering:
    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        return single.encode(a.astype("f4"), False)

    def decode(a: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # too large for a half is ∞ there
            return np.asarray(single.decode(a).astype(dtype))

    return replace(
        single, name=f"{single.name}, single precision", dtype=dtype,
        reason=f"the CPU has no half-precision arithmetic; {single.reason}",
        recode=(encode, decode),
    )  # fmt: skip


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
    )  # fmt: skip


def _only_compares(plain: Lowering) -> bool:
    """Whether ⊕ and ⊗ only pick among operands and constants, so that any order-preserving code will do."""
    allowed = {"minimum", "maximum", "input", "constant"}
    outputs = (*plain.add.outputs, *plain.mul.outputs, *plain.scale.outputs, *plain.star.outputs)
    return len(plain.components) == 1 and plain.defined.op == "constant" and all(
        e.op in allowed for e in postorder(outputs)
    )  # fmt: skip


def _ordered_integers(plain: Lowering) -> Lowering:
    """Floats as signed integers of the same order: those below zero have their lower bits flipped."""
    integer = np.dtype(f"i{plain.dtype.itemsize}")
    low_bits = integer.type(np.iinfo(integer).max)

    def flip(bits: np.ndarray) -> None:
        for part in chunks(bits):
            np.bitwise_xor(part, (part >> (integer.itemsize * 8 - 1)) & low_bits, out=part)

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        bits = np.array(a, copy=copy or None).view(integer)
        flip(bits)
        return bits

    def decode(bits: np.ndarray) -> np.ndarray:
        flip(bits)
        return bits.view(plain.dtype)

    def code(value: Any) -> int:
        return encode(np.array([value], plain.dtype), True)[0].item()

    outputs = (*plain.add.outputs, *plain.mul.outputs, *plain.star.outputs)
    coded = {e: constant(code(e.value)) for e in postorder(outputs) if e.op == "constant"}

    def recode(t: Traced) -> Traced:
        return Traced(substitute(t.outputs, coded), t.arity, t.width)

    return replace(
        plain, name="ordered integers", reason="⊕ and ⊗ only compare, and integers of the same order compare faster",
        storage=integer, add=recode(plain.add), mul=recode(plain.mul), scale=recode(plain.scale),
        star=recode(plain.star),
        zero=(integer.type(code(plain.zero[0])),), one=(integer.type(code(plain.one[0])),),
        recode=(encode, decode),
    )  # fmt: skip


def _tropical_integers(S: Semiring, dtype: np.dtype, facts: Facts, length: int, in_place: bool) -> Lowering:
    """Sums under min or max, with the infinity moved to half the range of a type that no finite sum can reach.

    With |finite result| ≤ L and the infinity at I > 2 L, a sum with an absent edge in it stays above I − L > L, and
    I + I does not overflow: no test for zero is needed in the inner loop.
    """
    if dtype.kind == "i" and (facts.low_limit if S.zero == np.inf else facts.high_limit):
        return _python_integers(S, dtype, "the dtype's other limit occurs: it stands for the opposite infinity")
    bound = int(facts.largest) * max(length, 1)
    for size in (2, 4, 8):
        storage = np.dtype(f"i{size}")
        if size >= (dtype.itemsize if in_place else 2) and np.iinfo(storage).max // 2 > 2 * bound:
            return _sums(S, dtype, storage)
    return _python_integers(S, dtype, f"a path may weigh up to {bound}, beyond 64-bit integers")


@lru_cache(1024)
def _sums(S: Semiring, dtype: np.dtype, storage: np.dtype) -> Lowering:
    plain = general(S, dtype)
    sign = 1 if S.zero == np.inf else -1
    limits = np.iinfo(dtype)
    absent, opposite = (limits.max, limits.min) if sign > 0 else (limits.min, limits.max)
    middle = np.iinfo(storage).max // 2
    infinity = storage.type(sign * middle)
    same_place = storage == dtype

    def encode(a: np.ndarray, copy: bool) -> np.ndarray:
        if same_place:
            result = np.array(a, copy=copy or None)
            for part in chunks(result):
                part[part == absent] = infinity
            return result
        result = np.empty(a.shape, storage)
        for target, source in zip(chunks(result), chunks(a), strict=True):
            target[...] = source
            target[source == absent] = infinity
        return result

    def decode(b: np.ndarray) -> np.ndarray:
        result = b if same_place else np.empty(b.shape, dtype)
        for target, source in zip(chunks(result), chunks(b), strict=True):
            far = source > middle // 2 if sign > 0 else source < -(middle // 2)
            outside = ((source < limits.min) | (source > limits.max) | (source == absent)) & ~far
            if dtype.kind == "i":
                outside |= source == opposite  # it would read as the opposite infinity
            if outside.any():
                _too_small(S, dtype, source[outside].flat[0])
            target[...] = source
            target[far] = absent
        return result

    assert S.traced
    raw = S.traced.raw_mul
    return replace(
        plain, name=f"{storage.name} sums", storage=storage, mul=raw, scale=raw,
        reason=f"no sum can reach half of {middle}, so infinity lies there and needs no test",
        zero=(infinity,), one=(storage.type(0),), recode=(encode, decode),
    )  # fmt: skip


def roomy(S: Semiring, array: np.ndarray, facts: Facts) -> np.ndarray:
    """Data in a dtype in which sums along a path cannot overflow: integers as floats if exact, else as objects."""
    if array.dtype.kind not in "iu" or not S.is_tropical:
        return array
    if int(facts.largest) * max(array.shape[-1], 1) >= 2**53:
        return _python_integers(S, array.dtype, "").encode(array, True)
    result = array.astype("f8")
    limits = np.iinfo(array.dtype)
    result[array == limits.max] = np.inf if S.zero == np.inf or limits.min else limits.max
    if limits.min:
        result[array == limits.min] = -np.inf
    return result


def fitting(S: Semiring, value: Any, dtype: np.dtype) -> Any:
    """A weight that `roomy` arithmetic found, in the data's own dtype."""
    if dtype.kind not in "iu" or not S.is_tropical:
        return value
    # A weight that leaves the dtype is still worth telling: as a Python int.
    if np.isinf(value):
        return cast_constant(float(value), dtype)
    limits = np.iinfo(dtype)
    return dtype.type(int(value)) if limits.min <= value <= limits.max else int(value)


def _too_small(S: Semiring, dtype: np.dtype, value: Any) -> None:
    raise SemiringError(
        f"{S.name}: a result is {value}, which {dtype.name} cannot hold; convert the data first, "
        "for example with .astype('int64') or .astype('float64')"
    )


def _python_integers(S: Semiring, dtype: np.dtype, reason: str) -> Lowering:
    """Python integers: right for any size and, under sums, for both infinities; slow."""
    limits = np.iinfo(dtype)
    infinities = {limits.max: np.inf} | ({limits.min: -np.inf} if dtype.kind == "i" else {}) if S.is_tropical else {}

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
                _too_small(S, dtype, x)
            result[i] = codes.get(x, x)
        return result

    return replace(_objects(S, dtype, reason), name="Python integers", recode=(encode, decode))


def in_python_integers(low: Lowering, stored: np.ndarray) -> tuple[Lowering, np.ndarray]:
    """Sums in machine integers, and a matrix of them, as Python integers with true infinities."""
    S, half = low.algebra, int(low.zero[0]) // 2
    result = stored.astype(object)
    result[stored > half if half > 0 else stored < half] = S.zero
    return _python_integers(S, low.dtype, "sums leave 64 bits, or an infinity of the other side occurs"), result


def chunks(array: np.ndarray) -> Any:
    """Views of runs of rows that together are the array."""
    if array.ndim == 0 or array.size <= CHUNK:
        return [array]
    if array.ndim == 1:
        return [array[i : i + CHUNK] for i in range(0, len(array), CHUNK)]
    rows = max(CHUNK // max(array[0].size, 1), 1)
    return [array[i : i + rows] for i in range(0, len(array), rows)]


