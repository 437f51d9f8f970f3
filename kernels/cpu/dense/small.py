"""Ufuncs for small products and closures, which test what they read while they compute.

A call of the general way takes as long as a thousand multiply-adds before anything is multiplied. So small arrays go
into compiled code at once: NumPy's own machinery for ufuncs reads shapes, stacks and strides, and makes the array of
the answer. The loops behind it (small_template.py) refuse nothing. Where anything is not usual, be it NaN, an entry
outside the carrier, a number that leaves the dtype, an improving cycle or a pivot without a star, their last operand
says so, and the general way finds out what it is.
"""

from __future__ import annotations

import functools
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from semiring.algebra.complexes import split_complex
from semiring.algebra.constants import cast_constant
from semiring.algebra.expression import Expression, apply, constant, operand, postorder, substitute
from semiring.kernels.cpu.compile import cache, powers
from semiring.kernels.cpu.compile.program import (
    Program,
    geometry,
    has_fma,
    imports_of,
    program,
    round_up,
    small_source,
    text_of,
)
from semiring.kernels.cpu.compile.rules import function
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.boolean import is_boolean
from semiring.kernels.lowering.logsum import LogSum, sums_walks

from .operations import Operations, operations
from .walk import TEMPLATE as BLOCKS

TEMPLATE = Path(__file__).with_name("small_template.py")
POWERS = Path(__file__).with_name("small_powers_template.py")
BY_POWERS = ("small_powers", "small_log_closure")  # loops over log-sum-exp
TESTS = {
    "input", "constant", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan",
    "logical_and", "logical_or", "logical_not",
}  # operations whose results do not depend on how wide their numbers are
TILE = 64  # rows and columns that are computed at once, and the largest matrix that is closed
DOUBLE = np.dtype("f8")
NARROW = 4  # rows of a matrix whose powers lie closely, for their vectors would be half empty
FARTHEST = 650.0  # how far below 0 the sum of logarithms is the natural one of a number far above what underflows


# NumPy has no ufuncs of records. It moves them as numbers of their size, which no function looks at as such.
SAME_SIZE: dict[int, np.dtype] = {np.dtype(char).itemsize: np.dtype(char) for char in ("i1", "i2", "i4", "i8", "c16")}


def fits(low: Lowering) -> bool:
    """Whether a lowering has such ufuncs: its elements are numbers or records of numbers, converted one by one."""
    if low.kind != "numba" or low.by_element is None or low.dtype.char in "eO":
        return False
    if low.dtype.names:
        stored = low.is_identity and low.dtype.itemsize in SAME_SIZE and low.algebra.working(low.dtype) == low.dtype
        return stored and _layout(low.dtype) == _layout(Program("", low.components, (), (), "").dtype)
    return (low.log_sum is None or low.is_identity) and _tells_elements(low)


def _layout(dtype: np.dtype) -> list[tuple[Any, ...]]:
    """Dtypes and places of the fields of a record."""
    return [(dtype.itemsize,), *(field[:2] for field in (dtype.fields or {}).values())]


def _tells_elements(low: Lowering) -> bool:
    """Whether numbers of the data tell by themselves if they are elements, where the algebra computes in wider ones.

    They do if its carrier compares them with numbers that their dtype has, and computes nothing.
    """
    if low.algebra.working(low.dtype) == low.dtype:
        return True
    steps = postorder((low.algebra.carrier_in(low.dtype),))
    try:
        for e in steps:
            if e.op == "constant":
                cast_constant(e.value, np.dtype(bool) if isinstance(e.value, bool) else low.dtype)
    except OverflowError:
        return False
    return all(e.op in TESTS for e in steps)


class Small(NamedTuple):
    """A verb, as a purpose of compiled code."""

    verb: str
    signature: str
    inputs: int
    operations: tuple[str, ...]  # of the algebra

    def code(self, low: Lowering) -> list[cache.Function]:
        """What is compiled for a lowering."""
        own = cache.Function(*_text(low, self.verb), self.loop(low), shown=False)
        return [own] if self.loop(low) == "small_log_closure" else [own, *self.over(low).code(*self.operations)]

    def loop(self, low: Lowering) -> str:
        """The name of the loop."""
        if low.log_sum and self.verb == "product":
            return "small_powers"
        return "small_log_closure" if self.verb == "closure" and closes_by_powers(low) else f"small_{self.verb}"

    def over(self, low: Lowering) -> Operations:
        """The operations of the algebra; where powers are multiplied those of ordinary numbers."""
        return operations(_of_numbers(low.storage) if self.loop(low) == "small_powers" else program(low))


PRODUCTS = Small("product", "(m?,k),(k,n?)->(m?,n?),()", 2, ("multiply",))
SUMS = Small("sum", "(m?,k),(k,n?),(m?,n?)->(m?,n?),()", 3, ("multiply",))  # with what is accumulated
CLOSURES = Small("closure", "(n,n)->(n,n),()", 1, ("multiply", "close_pivots"))
VERBS = {"product": PRODUCTS, "sum": SUMS, "closure": CLOSURES}


def closes(low: Lowering) -> bool:
    """Whether the algebra of a lowering has closures."""
    return not low.algebra.product_only


def closes_by_powers(low: Lowering) -> bool:
    """Whether closures are sums of walks of powers, which are computed in double precision."""
    return low.log_sum is not None and low.is_identity and sums_walks(low.algebra, low.log_sum)


@functools.lru_cache(256)
def ufunc(low: Lowering, verb: str) -> np.ufunc:
    """The ufunc of a verb, a key of `VERBS`: its last result is True where the general way is to be asked.

    It takes and gives records as numbers of their size, as `SAME_SIZE` has them.
    """
    # Numba compiles ufuncs of signatures with "?" nowhere else.
    internal: Any = import_module("numba.np.ufunc._internal")

    from semiring.kernels.cpu.compile.jit import called_from_c

    about = VERBS[verb]
    by = about.over(low)
    addresses = np.zeros(3, np.int64)
    if len(about.code(low)) > 1:
        addresses[:] = by.multiply, by.close_pivots if about is CLOSURES else 0, by.constants
    loop = called_from_c(getattr(cache.load(*_text(low, verb), shown=False), about.loop(low)))
    moved = SAME_SIZE[low.dtype.itemsize] if low.dtype.names else low.dtype
    types = [*[moved.num] * (about.inputs + 1), np.dtype(bool).num]
    made: np.ufunc = internal.fromfunc(
        f"small_{verb}", None, [loop], [types], about.inputs, 2, [addresses.ctypes.data], [(addresses, by)], -1,
        about.signature, (),
    )
    return made


def _text(low: Lowering, verb: str) -> tuple[str, str]:
    """Name and text of the module; that of products is the same for all algebras whose elements enter alike."""
    given = _parts(low.dtype)
    ways = low.by_element
    assert ways
    texts = [
        f"@inline\ndef enter(x):\n    return as_element(ELEMENT, {ways.enter.format('x')})\n",
        f"@inline\ndef leave(x):\n    return as_element(BITS, {ways.leave.format('x')})\n",
        f"@inline\ndef is_unsuited(x):\n    return {ways.strange.format('x')}\n",
        f"@inline\ndef is_left(x):\n    return {ways.leaves.format('x')}\n",
        function("is_element", "x", [_carrier(low)], given, [np.dtype(bool)]),
        function("is_lost", "x", [_lost(low)], low.components, [np.dtype(bool)]),
        "@inline\ndef strange(x):\n    return is_unsuited(x) | (not is_element(x))\n",
        "@inline\ndef leaves(x):\n    return is_left(x) | is_lost(x)\n",
    ]
    if verb == "closure":
        texts.append(function("improves", "x", [_improves(low)], low.components, [np.dtype(bool)]))
    size = sum(part.itemsize for part in low.components)
    sizes = geometry(low.components)
    tile = TILE if size <= 8 else TILE // 2
    rows, width = round_up(tile, sizes.rows), round_up(tile, sizes.lanes)
    most = sizes.product_bytes(rows, width) + 64 * size
    constants: dict[str, Any] = {"TILE": tile, "ROOM": max(most, sizes.close_bytes(tile)), "ITEM": low.dtype.itemsize}
    components, blocks, template = low.components, text_of(BLOCKS), TEMPLATE
    if low.log_sum and VERBS[verb].loop(low) in BY_POWERS:
        components = (low.storage if verb == "product" else DOUBLE,)
        texts.append(powers.text(*components, low.log_sum.binary))
        constants |= _of_powers(low.log_sum, constants["ROOM"], *components)
        blocks, template = blocks + text_of(TEMPLATE), POWERS
    own = "\n\n".join(texts)
    own = f"{imports_of(own)}{own}{blocks}"
    text = small_source(components, given, ways.bits, template, constants, own)
    return f"small_{low.dtype.name}_{blake2b(text.encode(), digest_size=4).hexdigest()}", text


def _of_powers(form: LogSum, room: int, dtype: np.dtype) -> dict[str, Any]:
    """The constants of small_powers_template.py, which computes in some precision."""
    sizes, limits, unit = geometry((dtype,)), np.finfo(dtype), float(np.log(2)) if form.binary else 1.0
    row = round_up(TILE, sizes.lanes) * dtype.itemsize
    space, digits = round_up(TILE, sizes.rows) * row, float(limits.tiny) / float(limits.eps)
    return {
        "SIGN": f"FIRST({-1 if form.negated else 1})", "LOWEST": "FIRST(-np.inf)", "UNIT": f"FIRST({unit!r})",
        "LEAST": f"FIRST({8 * digits!r})", "LEAST_WALK": f"FIRST({TILE**3 * 256 * digits!r})",
        "FARTHEST": f"FIRST({FARTHEST / unit!r})", "LARGEST": "FIRST(1e150)" if dtype == DOUBLE else "FIRST(1e15)",
        "TILE_SPACE": space, "TILE_ROW": row, "NARROW": NARROW, "ROOM": max(room, 3 * space + 2 * row),
    }


def _parts(dtype: np.dtype) -> tuple[np.dtype, ...]:
    """The real and imaginary part of a complex number, and the fields of a record; else itself."""
    if dtype.names:
        return tuple(dtype[name] for name in dtype.names)
    return (np.dtype(f"f{dtype.itemsize // 2}"),) * 2 if dtype.kind == "c" else (dtype,)


@functools.lru_cache(16)
def _of_numbers(dtype: np.dtype) -> Program:
    """Sums of products of floats."""
    step = "fma(a, b, x)" if has_fma() else "x + a * b"
    texts = {"times(a, b, unit)": "a * b", "scaled(a, b)": "a * b", "plus(x, t)": "x + t", "star(a)": "a",
             "defined(a)": "a == a"}
    prelude = "".join(f"@inline\ndef {head}:\n    return {body}\n\n\n" for head, body in texts.items())
    combine = f"@inline\ndef combine(x, a, b, unit):\n    return {step}\n\n\n"
    return Program(f"{dtype.name}_sums", (dtype,), (dtype.type(0),), (dtype.type(1),), prelude, combine)


def _any(conditions: list[Expression]) -> Expression:
    return functools.reduce(lambda x, y: apply("logical_or", x, y), conditions)


def _carrier(low: Lowering) -> Expression:
    """Whether a number is an element, and not NaN; −0 where the general way takes zeros and ones as bits is strange."""
    dtype = low.dtype
    inside = low.algebra.carrier_in(dtype)
    if dtype.kind == "c":
        (inside,) = split_complex([inside])
    parts = [operand(0, c) for c in range(len(_parts(dtype)))]
    wrong = [apply("isnan", part) for part, kind in zip(parts, _parts(dtype), strict=True) if kind.kind == "f"]
    if not wrong:
        return inside
    if low.log_sum:  # sums of such logarithms overflow, and so do differences of ∞
        top = operand(0) if not low.log_sum.negated else apply("negative", operand(0))
        wrong.append(apply("logical_not", _any([
            apply("equal", top, constant(-np.inf)),
            apply("less_equal", apply("absolute", top), constant(float(np.finfo(dtype).max) / 4)),
        ])))
    if dtype.kind == "f" and is_boolean(low.algebra, dtype):
        wrong.append(apply("logical_and", apply("equal", parts[0], constant(0)), apply("signbit", parts[0])))
    return apply("logical_and", inside, apply("logical_not", _any(wrong)))


def _lost(low: Lowering) -> Expression:
    """Whether an element of a result in storage has no value, because infinities met."""
    floats = [c for c, part in enumerate(low.components) if part.kind == "f"]
    if low.drops_nan or low.dtype.kind not in "fcV" or not floats:
        return constant(False)
    return _any([apply("isnan", operand(0, c)) for c in floats])


def _improves(low: Lowering) -> Expression:
    """Whether 1 ⊕ a ≠ 1, where that shows an improving cycle."""
    S = low.algebra
    if low.log_sum:  # of many walks, which may have no sum: where the general way would look
        unit = np.log(2) if low.log_sum.binary else 1.0
        most = -np.log(float(np.finfo(low.storage).eps) * TILE**3) / unit
        return apply("greater", apply("negative", operand(0)) if low.log_sum.negated else operand(0), constant(most))
    if not S.may_diverge:
        return constant(False)
    one = [constant(part.item()) for part in map(np.asarray, low.one)]
    first = {operand(0, c): e for c, e in enumerate(one)}
    second = {operand(1, c): operand(0, c) for c in range(len(one))}
    total = substitute(low.add.outputs, first | second)
    return _any([apply("not_equal", x, e) for x, e in zip(total, one, strict=True)])
