"""Vectors of the processor as values: the operations of an algebra on many elements at once, and rows of matrices.

LLVM finds vectors in loops of fixed length over packed rows. It finds none in a row of five elements, and keeps no tile
of a small matrix in registers. `Lanes` writes these instructions itself: a value is a `Vector` of `count` elements, and
its methods are what the rule table `LANES` (rules.py) spells expressions with. An operation without an instruction is
done lane by lane, by the scalar function that Numba compiles. A row of a matrix is a vector for each component; of a
row that ends within a vector the other lanes hold zero, and are neither read from memory nor written.

The intrinsics of lane_rows.py, which the templates of small matrices are written with, use them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.np.numpy_support import as_dtype, from_dtype

from . import scalar
from .jit import njit
from .raw import record_dtype

I1, I32, I64 = ir.IntType(1), ir.IntType(32), ir.IntType(64)


class Vector(NamedTuple):
    """A value in each lane, and their dtype."""

    value: Any
    dtype: np.dtype


Element = tuple[Vector, ...]  # a vector for each component


def scalar_kind(dtype: np.dtype) -> Any:
    """The LLVM type of one value; a truth value is a bit."""
    if dtype.kind == "b":
        return I1
    if dtype.kind == "f":
        return {2: ir.HalfType, 4: ir.FloatType, 8: ir.DoubleType}[dtype.itemsize]()
    return ir.IntType(8 * dtype.itemsize)


class Lanes:
    """The operations of expressions on vectors of one number of lanes, in one function.

    Parameters
    ----------
    context, builder
        As Numba passes them to an intrinsic.
    count : int
        Lanes of every vector.
    masked : bool
        Whether the processor reads and writes some lanes of a vector only.
    """

    def __init__(self, context: Any, builder: ir.IRBuilder, count: int, masked: bool):
        self._context, self.builder, self.count, self._masked = context, builder, count, masked

    def constant(self, value: np.generic) -> Vector:
        """A number in all lanes."""
        dtype = np.dtype(value.dtype)
        kind = scalar_kind(dtype)
        one = ir.Constant(kind, value.item() if dtype.kind == "f" else int(value))
        return Vector(ir.Constant(ir.VectorType(kind, self.count), [one] * self.count), dtype)

    def splat(self, scalar: Any, dtype: np.dtype) -> Vector:
        """A value of LLVM in all lanes."""
        kind = ir.VectorType(scalar.type, self.count)
        undefined = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(undefined, scalar, I32(0))
        places = ir.Constant(ir.VectorType(I32, self.count), [I32(0)] * self.count)
        return Vector(self.builder.shuffle_vector(first, undefined, places), dtype)

    def numbers(self, kind: Any = I32) -> Any:
        """0, 1, 2, … in the lanes."""
        return ir.Constant(ir.VectorType(kind, self.count), [kind(i) for i in range(self.count)])

    def convert(self, x: Vector, name: str) -> Vector:
        """The same numbers in another dtype."""
        have, want, b = x.dtype, np.dtype(name), self.builder
        if have == want:
            return x
        if want.kind == "b":
            return self.truth(x)
        kind = ir.VectorType(scalar_kind(want), self.count)
        signed = have.kind == "i"
        if have.kind == "f":
            if want.kind == "f":
                made = (b.fpext if want.itemsize > have.itemsize else b.fptrunc)(x.value, kind)
            else:
                made = (b.fptosi if want.kind == "i" else b.fptoui)(x.value, kind)
        elif want.kind == "f":
            made = (b.sitofp if signed else b.uitofp)(x.value, kind)
        elif have.kind == "b" or want.itemsize > have.itemsize:
            made = (b.sext if signed else b.zext)(x.value, kind)
        else:
            made = b.trunc(x.value, kind) if want.itemsize < have.itemsize else x.value
        return Vector(made, want)

    def add(self, x: Vector, y: Vector) -> Vector:
        return self._arithmetic(x, y, "fadd", "add", "or_")

    def subtract(self, x: Vector, y: Vector) -> Vector:
        return self._arithmetic(x, y, "fsub", "sub", "xor")

    def multiply(self, x: Vector, y: Vector) -> Vector:
        return self._arithmetic(x, y, "fmul", "mul", "and_")

    def divide(self, x: Vector, y: Vector) -> Vector:
        """x / y of floats."""
        return Vector(self.builder.fdiv(x.value, y.value), x.dtype)

    def fma(self, x: Vector, y: Vector, z: Vector) -> Vector:
        """x · y + z, rounded once."""
        return Vector(self._call("llvm.fma", x.value, y.value, z.value), x.dtype)

    def negative(self, x: Vector) -> Vector:
        b = self.builder
        return Vector(b.fneg(x.value) if x.dtype.kind == "f" else b.neg(x.value), x.dtype)

    def absolute(self, x: Vector) -> Vector:
        if x.dtype.kind == "f":
            return Vector(self._call("llvm.fabs", x.value), x.dtype)
        return self.where(self.less(x, self.zero(x)), self.negative(x), x) if x.dtype.kind == "i" else x

    def minimum(self, x: Vector, y: Vector) -> Vector:
        """The lesser one; x where a NaN is compared."""
        return self.where(self.less(y, x), y, x)

    def maximum(self, x: Vector, y: Vector) -> Vector:
        """The greater one; x where a NaN is compared."""
        return self.where(self.less(x, y), y, x)

    def saturating_add(self, x: Vector, y: Vector) -> Vector:
        """x + y, of integers within the limits of their dtype."""
        if x.dtype.kind not in "iu":
            return self.add(x, y)
        name = "llvm.sadd.sat" if x.dtype.kind == "i" else "llvm.uadd.sat"
        return Vector(self._call(name, x.value, y.value), x.dtype)

    def root(self, x: Vector) -> Vector:
        return Vector(self._call("llvm.sqrt", x.value), x.dtype)

    def whole(self, name: str, x: Vector) -> Vector:
        """`floor`, `ceil`, `trunc` or `rint` of floats."""
        return Vector(self._call(f"llvm.{name}", x.value), x.dtype) if x.dtype.kind == "f" else x

    def less(self, x: Vector, y: Vector) -> Vector:
        return self._compare("<", x, y)

    def less_equal(self, x: Vector, y: Vector) -> Vector:
        return self._compare("<=", x, y)

    def equal(self, x: Vector, y: Vector) -> Vector:
        return self._compare("==", x, y)

    def not_equal(self, x: Vector, y: Vector) -> Vector:
        """x ≠ y, which NaN is of everything."""
        if x.dtype.kind == "f":
            return self._truth(self.builder.fcmp_unordered("!=", x.value, y.value))
        return self._compare("!=", x, y)

    def truth(self, x: Vector) -> Vector:
        """Whether a number is not 0."""
        return x if x.dtype.kind == "b" else self.not_equal(x, self.zero(x))

    def both(self, x: Vector, y: Vector) -> Vector:
        """The bits of both: and."""
        return Vector(self.builder.and_(x.value, y.value), x.dtype)

    def either(self, x: Vector, y: Vector) -> Vector:
        """The bits of either: or."""
        return Vector(self.builder.or_(x.value, y.value), x.dtype)

    def differing(self, x: Vector, y: Vector) -> Vector:
        """The bits of one alone: exclusive or."""
        return Vector(self.builder.xor(x.value, y.value), x.dtype)

    def inverse(self, x: Vector) -> Vector:
        """All bits turned."""
        return Vector(self.builder.not_(x.value), x.dtype)

    def zero(self, x: Vector) -> Vector:
        """0 of the dtype of x."""
        return self.constant(x.dtype.type(0))

    def finite(self, x: Vector) -> Vector:
        """Neither ±∞ nor NaN."""
        if x.dtype.kind != "f":
            return self.constant(np.bool_(True))
        return self.equal(self.subtract(x, x), self.zero(x))

    def infinite(self, x: Vector) -> Vector:
        """±∞."""
        if x.dtype.kind != "f":
            return self.constant(np.bool_(False))
        return self.equal(self.absolute(x), self.constant(x.dtype.type(np.inf)))

    def where(self, condition: Vector, x: Vector, y: Vector) -> Vector:
        return Vector(self.builder.select(condition.value, x.value, y.value), x.dtype)

    def each(self, text: str, *operands: Vector) -> Vector:
        """A scalar expression over a, b, … that Numba compiles, lane by lane."""
        context, b = self._context, self.builder
        kinds = tuple(from_dtype(x.dtype) for x in operands)
        function = types.Dispatcher(_scalar(text, operands[-1].dtype))
        signature = function.get_call_type(context.typing_context, kinds, {})
        call = context.get_function(function, signature)
        for library in call.libs:
            context.active_code_library.add_linking_library(library)
        assert signature is not None
        dtype = as_dtype(signature.return_type)
        made = ir.Constant(ir.VectorType(scalar_kind(dtype), self.count), ir.Undefined)
        for i in range(self.count):
            found = call(b, [b.extract_element(x.value, I32(i)) for x in operands])
            made = b.insert_element(made, found, I32(i))
        return Vector(made, dtype)

    def any(self, condition: Vector) -> Any:
        """Whether a condition holds in some lane."""
        bits = self.builder.bitcast(condition.value, ir.IntType(self.count))
        return self.builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0))

    def _arithmetic(self, x: Vector, y: Vector, floating: str, whole: str, logical: str) -> Vector:
        name = {"f": floating, "b": logical}.get(x.dtype.kind, whole)
        return Vector(getattr(self.builder, name)(x.value, y.value), x.dtype)

    def _compare(self, sign: str, x: Vector, y: Vector) -> Vector:
        b = self.builder
        by = {"f": b.fcmp_ordered, "i": b.icmp_signed}.get(x.dtype.kind, b.icmp_unsigned)
        return self._truth(by(sign, x.value, y.value))

    @staticmethod
    def _truth(value: Any) -> Vector:
        return Vector(value, np.dtype(bool))

    def _call(self, name: str, *values: Any) -> Any:
        kind = values[0].type
        function = ir.FunctionType(kind, [kind] * len(values))
        named = cgutils.get_or_insert_function(self.builder.module, function, f"{name}.{_mangled(kind)}")
        return self.builder.call(named, values)

    def below(self, live: Any) -> Any:
        """The mask of the first `live` lanes."""
        limit = self.splat(self.builder.trunc(live, I32), np.dtype("i4"))
        return self.builder.icmp_signed("<", self.numbers(), limit.value)

    def load(self, address: Any, dtype: np.dtype, mask: Any, fill: Vector) -> Vector:
        """Values that lie side by side from an address on; those of `fill` where the mask is not set."""
        kind = _in_memory(dtype)
        whole = ir.VectorType(kind, self.count)
        pointer = self.builder.inttoptr(address, whole.as_pointer())
        if mask is None or not self._masked:
            found = self.builder.load(pointer, align=1)
        else:
            name = f"llvm.masked.load.{_mangled(whole)}.p0"
            bits = ir.VectorType(I1, self.count)
            function = ir.FunctionType(whole, [pointer.type, I32, bits, whole])
            load = cgutils.get_or_insert_function(self.builder.module, function, name)
            found = self.builder.call(load, [pointer, I32(1), mask, self._stored(fill).value])
        if dtype.kind == "b":
            return self.truth(Vector(found, np.dtype("u1")))
        return Vector(found, dtype)

    def store(self, x: Vector, address: Any, mask: Any) -> None:
        """Write values side by side from an address on, where the mask is set."""
        value = self._stored(x).value
        pointer = self.builder.inttoptr(address, value.type.as_pointer())
        if mask is None or not self._masked:
            self.builder.store(value, pointer, align=1)
            return
        bits = ir.VectorType(I1, self.count)
        function = ir.FunctionType(ir.VoidType(), [value.type, pointer.type, I32, bits])
        name = f"llvm.masked.store.{_mangled(value.type)}.p0"
        store = cgutils.get_or_insert_function(self.builder.module, function, name)
        self.builder.call(store, [value, pointer, I32(1), mask])

    def _stored(self, x: Vector) -> Vector:
        return self.convert(x, "uint8") if x.dtype.kind == "b" else x

    def gather(self, parts: Sequence[np.dtype], address: Any, mask: Any, fill: Element) -> Element:
        """The elements of a row: values that lie side by side, or the components of structures that do."""
        if len(parts) == 1:
            return (self.load(address, parts[0], mask, fill[0]),)
        words, places = _layout(parts)
        size, count = words.itemsize, record_dtype(parts).itemsize // words.itemsize
        wide = Lanes(self._context, self.builder, self.count * count, self._masked)
        nothing = wide.constant(words.type(0))
        row = wide.load(address, words, self._repeated(mask, count), nothing)
        made = []
        for part, place, other in zip(parts, places, fill, strict=True):
            length = part.itemsize // size
            chosen = [i * count + place + w for i in range(self.count) for w in range(length)]
            some = self.shuffle(row.value, row.value, chosen)
            found = self.builder.bitcast(some, ir.VectorType(_in_memory(part), self.count))
            x = self.truth(Vector(found, np.dtype("u1"))) if part.kind == "b" else Vector(found, part)
            made.append(x if mask is None else self.where(self._truth(mask), x, other))
        return tuple(made)

    def scatter(self, x: Element, address: Any, mask: Any) -> None:
        """Write the elements of a row where the mask is set; gaps of structures become 0."""
        parts = [each.dtype for each in x]
        if len(parts) == 1:
            self.store(x[0], address, mask)
            return
        words, places = _layout(parts)
        size, count = words.itemsize, record_dtype(parts).itemsize // words.itemsize
        total = self.count * count
        wide = Lanes(self._context, self.builder, total, self._masked)
        row = wide.constant(words.type(0)).value
        for each, place in zip(x, places, strict=True):
            length = each.dtype.itemsize // size
            narrow = ir.VectorType(scalar_kind(words), self.count * length)
            value = self.builder.bitcast(self._stored(each).value, narrow)
            value = self.shuffle(value, value, [min(i, self.count * length - 1) for i in range(total)])
            chosen = list(range(total))
            for i in range(self.count):
                for w in range(length):
                    chosen[i * count + place + w] = total + i * length + w
            row = self.shuffle(row, value, chosen)
        wide.store(Vector(row, words), address, self._repeated(mask, count))

    def together(self, x: Element, plus: Callable[[Lanes, Element, Element], Element]) -> Element:
        """The ⊕ of all lanes, in a vector of one: the first half ⊕ the second one, and so on; `count` is a power of 2.

        Vectors become shorter. LLVM 22 has compiled a rotation of all lanes, of which only the first one is asked for
        at the end, to a comparison of that lane with itself.
        """
        if self.count == 1:
            return x
        half = self.count // 2
        low, high = (tuple(Vector(self.shuffle(part.value, part.value, range(begin, begin + half)), part.dtype)
                           for part in x) for begin in (0, half))
        shorter = Lanes(self._context, self.builder, half, False)
        return shorter.together(plus(shorter, low, high), plus)

    def put(self, x: Element, address: Any) -> None:
        """Write the element of the first lane."""
        at = record_dtype([part.dtype for part in x])
        offsets = [at.fields[name][1] for name in at.names] if at.names and at.fields else [0]
        for part, offset in zip(x, offsets, strict=True):
            value = self.builder.extract_element(part.value, I32(0))
            if part.dtype.kind == "b":
                value = self.builder.zext(value, ir.IntType(8))
            pointer = self.builder.inttoptr(self.builder.add(address, I64(offset)), value.type.as_pointer())
            self.builder.store(value, pointer, align=1)

    def _repeated(self, mask: Any, count: int) -> Any:
        """A mask of elements as one of their words."""
        if mask is None:
            return None
        return self.shuffle(mask, mask, [i // count for i in range(self.count * count)])

    def shuffle(self, x: Any, y: Any, places: Sequence[int]) -> Any:
        return self.builder.shuffle_vector(x, y, ir.Constant(ir.VectorType(I32, len(places)), [I32(p) for p in places]))

    def spread(self, parts: Sequence[np.dtype], address: Any) -> Element:
        """The element at an address in all lanes."""
        made, at = [], record_dtype(parts)
        offsets = [at.fields[name][1] for name in at.names] if at.names and at.fields else [0]
        for part, offset in zip(parts, offsets, strict=True):
            kind = _in_memory(part)
            place = self.builder.add(address, I64(offset)) if offset else address
            value = self.builder.load(self.builder.inttoptr(place, kind.as_pointer()), align=1)
            if part.kind == "b":
                value = self.builder.icmp_unsigned("!=", value, ir.Constant(kind, 0))
            made.append(self.splat(value, part))
        return tuple(made)

    @contextmanager
    def rows(self, first: Any, last: Any, step: int = 1) -> Iterator[Any]:
        """A loop of the program, whose number is given."""
        with cgutils.for_range_slice(self.builder, first, last, I64(step)) as (index, _):
            yield index


@functools.cache
def _scalar(text: str, dtype: np.dtype) -> Any:
    """An expression over a, b, … and the limits LOW and HIGH of an integer dtype as a compiled function."""
    limits = [dtype.type(x) for x in (np.iinfo(dtype).min, np.iinfo(dtype).max)] if dtype.kind in "iu" else [0, 0]
    names = vars(scalar) | {"np": np, "LOW": limits[0], "HIGH": limits[1]}
    parameters = ", ".join(sorted(set(re.findall(r"\b[ab]\b", text))))
    exec(f"def function({parameters}):\n    return {text}\n", names)
    return njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(
        names["function"]
    )


def _in_memory(dtype: np.dtype) -> Any:
    return ir.IntType(8) if dtype.kind == "b" else scalar_kind(dtype)


def _mangled(kind: Any) -> str:
    """A vector type as it stands in names of LLVM's functions."""
    letter = {ir.HalfType(): "f16", ir.FloatType(): "f32", ir.DoubleType(): "f64"}.get(kind.element)
    return f"v{kind.count}{letter or f'i{kind.element.width}'}"


def _layout(parts: Sequence[np.dtype]) -> tuple[np.dtype, list[int]]:
    """The widest word of which all components and gaps of a structure are multiples, and where components begin."""
    dtype = record_dtype(parts)
    assert dtype.names and dtype.fields
    offsets = [dtype.fields[name][1] for name in dtype.names]
    size = int(np.gcd.reduce([dtype.itemsize, *offsets, *(part.itemsize for part in parts)]))
    return np.dtype(f"u{size}"), [offset // size for offset in offsets]
