"""From a lowering to CUDA source: a generated prelude, the fixed files, and the geometry of each kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semiring.algebra.complexes import split_complex
from semiring.algebra.evaluate import Rules
from semiring.algebra.expression import Expression, Traced, apply, constant, operand, postorder, substitute
from semiring.kernels.lowering.complements import complemented_step
from semiring.kernels.lowering.contraction import fuses_in_step, hides_no_infinity, operand_ranges, sums_products

from .geometry import LIGHT, CloseGeometry, ProductGeometry, panel_geometry
from .rules import CUDA, NON_NEGATIVE, ROUNDED, element, function, literal, memory_type, value_type

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

OPTIONS = ("--std=c++17", "--fmad=false")  # a product and a sum are rounded one after the other, as in NumPy
# About how many instructions an operation of single precision takes where it is not one.
_INSTRUCTIONS = dict.fromkeys(
    "floor_divide remainder power exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2 gcd lcm sin cos tan arcsin "
    "arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh cbrt hypot fmod float_power".split(), 32
) | {"divide": 10, "sqrt": 10, "saturating_multiply": 4, "saturating_add": 3, "sign": 4, "heaviside": 4} | {
    "absolute": 0, "fabs": 0, "negative": 0,
}


class Program:
    """An algebra in one storage type, as CUDA text."""

    def __init__(self, components: tuple[np.dtype, ...], prelude: str, weight: float = 1.5):
        self.components = components
        self.prelude = prelude
        self.weight = weight  # instructions of a ⊕ and a ⊗

    @property
    def light(self) -> bool:
        """Whether they are few."""
        return self.weight <= LIGHT

    @property
    def dtype(self) -> np.dtype:
        """Type of an element in memory: a scalar type, or a structure laid out as in C."""
        if len(self.components) == 1:
            return self.components[0]
        return np.dtype([(f"f{i}", c) for i, c in enumerate(self.components)], align=True)

    @cached_property
    def size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def product(self, geometry: ProductGeometry, whole_tiles: bool) -> str:
        """The source of the tiled product: for whole tiles only, or for any shape."""
        return self.source("#define WHOLE_TILES\n" * whole_tiles + geometry.constants(), "dense/product.cu")

    def tracked(self, geometry: ProductGeometry, whole_tiles: bool) -> str:
        """The source of the same, which notes in which steps elements changed last."""
        return self.source("#define TRACKS\n" + "#define WHOLE_TILES\n" * whole_tiles + geometry.constants(),
                           "dense/product.cu")

    def winners(self, geometry: ProductGeometry) -> str:
        """The source of what finds the term that won among these steps."""
        return self.source(f"constexpr int BK = {geometry.BK};\n", "dense/winners.cu")

    def panels(self) -> str:
        """The source of the two halves of a step of a closure."""
        return self.source("#define PANELS\n" + panel_geometry(self.size, self.light).constants(), "dense/close.cu")

    def stack(self, geometry: CloseGeometry) -> str:
        """The source of the closure of small matrices."""
        return self.source("#define STACK\n" + geometry.constants(), "dense/close.cu")

    def powers(self, geometry: CloseGeometry) -> str:
        """The source of the closure of small matrices of logarithms by their powers; of `sums_of_powers` only."""
        return self.source("#define POWERS\n" + geometry.constants(), "dense/close.cu")

    def elements(self) -> str:
        """The source of the operations on single elements."""
        return self.source("", "dense/elements.cu")

    def source(self, constants: str, name: str) -> str:
        ops, memory = file_text("compile/ops.cuh"), file_text("compile/memory.cuh")
        return "".join([ops, self.prelude, constants, memory, file_text(name)])


@lru_cache(8)
def file_text(name: str) -> str:
    """A fixed file, so that errors of the compiler cite it."""
    return f'#line 1 "{name}"\n' + (Path(__file__).parents[1] / name).read_text(encoding="utf-8")


def program(low: CudaLowering) -> Program:
    """The text of a lowering's algebra."""
    components = low.components
    fuses = partial(hides_no_infinity, operand_ranges(low))
    rules = replace(NON_NEGATIVE if low.non_negative else CUDA, fuses=fuses)
    exact = low.drops_nan or low.algebra.idempotent  # x ⊕ x = x for every x: ⊕ rounds nothing
    rough = rules if exact else replace(ROUNDED, fuses=fuses)
    prelude = [
        *elements_text(low, rules),
        function("times", "a, b", low.mul.outputs, components, rules=rough),
        function("star", "a", low.star.outputs, components, rules=rules),
        function("defined", "a", [low.defined], components, [np.dtype(bool)]),
        *_relax(low, rough),
        f"constexpr bool ABSORBS = {'true' if low.absorbs else 'false'};\n",
        f"constexpr bool UNIT_PIVOTS = {'true' if low.unit_pivots else 'false'};\n",
    ]
    return Program(components, "".join(prelude), _weight(low, rough))


def elements_text(low: CudaLowering, rules: Rules) -> list[str]:
    """Elements, 0, 1 and ⊕: all that the ways into storage and out of it need of an algebra."""
    components = low.components
    if len(components) == 1:
        value = f"using Value = {memory_type(components[0])};\n"
    else:
        fields = " ".join(f"{memory_type(c)} f{i};" for i, c in enumerate(components))
        value = f"struct Value {{ {fields} }};\n"
    equal = " && ".join(["x == y"] if len(components) == 1 else [f"x.f{i} == y.f{i}" for i in range(len(components))])
    return [
        '#line 1 "prelude"\n', value,
        _constant("zero", low.zero, components), _constant("one", low.one, components),
        function("plus", "x, t", low.add.outputs, components, rules=rules),
        f"DEVICE bool same(Value x, Value y) {{ return {equal}; }}\n",
    ]


def _relax(low: CudaLowering, rules: Rules) -> list[str]:
    """c ⊕ a ⊗ b: c itself where a or b is zero; a product that joins a sum of floats is not rounded before."""
    components, test = low.components, low.test_for_zero
    mul, lines, result = low.mul, [], "plus(c, times(a, b))"
    if step := complemented_step(low, low.within):
        lines = [function("joined", "c, a, b", [step], components, rules=replace(rules, fuses=lambda *_: True))]
        return [*lines, _RELAX.format("joined(c, a, b)")]
    if test:
        mul, result = test.mul, "absorbed(a, b) ? c : plus(c, times_tested(a, b))"
        lines.append(function("absorbed", "a, b", [test.absorbed], components, [np.dtype(bool)], rules))
        lines.append(function("times_tested", "a, b", mul.outputs, components, rules=rules))
    if sums_products(low, mul.outputs[0]):
        shifted = {operand(i): operand(i + 1) for i in range(2)}
        total = apply("add", operand(0), *substitute(mul.outputs, shifted))
        rules = replace(rules, fuses=fuses_in_step(low, mul.outputs[0]))
        lines.append(function("joined", "c, a, b", [total], components, rules=rules))
        result = "absorbed(a, b) ? c : joined(c, a, b)" if test else "joined(c, a, b)"
    return [*lines, _RELAX.format(result)]


_RELAX = "DEVICE Value relax(Value c, Value a, Value b) {{ return {}; }}\n"


def rank_source(dtype: np.dtype, rank: np.dtype) -> str:
    """The source of the kernels that replace values by ranks of another dtype, and ranks by values."""
    types = f"using Given = {memory_type(dtype)};\nusing Rank = {memory_type(rank)};\n"
    return file_text("compile/ops.cuh") + types + file_text("dense/ranks.cu")


def exchange_source(low: CudaLowering) -> str:
    """The source of the way into storage and out of it; the same for all forms of an algebra in one storage."""
    found = "constexpr int THREADS = 256;\n" + file_text("dense/found.cuh")
    rules = replace(CUDA, fuses=partial(hides_no_infinity, operand_ranges(replace(low, within=None))))
    sums = elements_text(low, rules)
    return Program(low.components, "".join(sums) + data_text(low)).source(found, "dense/exchange.cu")


def data_text(low: CudaLowering) -> str:
    """What an element of the data is, and how it becomes one in storage and back."""
    given, components = low.dtype, tuple(low.dtype[f] for f in low.dtype.names or ()) or (low.dtype,)
    if given.kind == "c":
        components = low.components
    plain = len(components) == 1 and given.names is None
    number = value_type(given) if plain else "int"
    floats = [] if plain else [f"x.f{i} != x.f{i}" for i, c in enumerate(components) if c.kind == "f"]
    return "".join([
        '#line 1 "data"\n',
        f"using Given = {memory_type(given) if plain else 'Value'};\nusing Number = {number};\n",
        f"constexpr bool IS_NUMBER = {'true' if plain else 'false'};\n",
        _carrier(low, components),
        f"DEVICE bool has_nan(Given x) {{ return {' || '.join(floats) or 'false'}; }}\n",
        f"DEVICE Value encode(Given x) {{ return {low.codes.encode.format('x')}; }}\n",
        f"DEVICE Given decode(Value y) {{ return {low.codes.decode.format('y')}; }}\n",
        f"DEVICE bool leaves(Value y) {{ return {low.codes.leaves.format('y')}; }}\n",
    ])


def close_source(low: CudaLowering, geometry: CloseGeometry) -> str:
    """The source of the closure of small matrices of data that storage holds as they are, which are looked at."""
    text = program(low)
    numbers = geometry.constants() + f"#define LOOKS\nconstexpr int THREADS = {geometry.threads};\n"
    lines = text.prelude + data_text(low)
    return Program(text.components, lines).source(numbers + file_text("dense/found.cuh"), "dense/close.cu")


def _carrier(low: CudaLowering, given: tuple[np.dtype, ...]) -> str:
    """Whether an element of the data is one of the carrier, computed in the dtype that the algebra works in."""
    carrier, work = low.algebra.carrier_in(low.dtype), low.algebra.working(low.dtype)
    if low.dtype.kind == "c":
        (carrier,) = split_complex([carrier])
    if work == low.dtype or work.names:
        return function("contains", "x", [carrier], given, [np.dtype(bool)], given="Given")
    wide = value_type(work)
    inner = function("contains_wide", "x", [carrier], (work,), [np.dtype(bool)], given=wide)
    return inner + f"DEVICE bool contains(Given x) {{ return contains_wide(({wide})x); }}\n"


def _weight(low: CudaLowering, rules: Rules) -> float:
    """About how many instructions a ⊕ and a ⊗ take, of one pair of elements among many that share them."""
    if complemented_step(low, low.within):
        return 2
    count: float = sum(_instructions(rules, e) for e in postorder(low.add.outputs))
    depends: dict[Expression, set[int]] = {}
    for e in postorder(low.mul.outputs):
        depends[e] = {e.value[0]} if e.op == "input" else set().union(*(depends[a] for a in e.args))
        if len(depends[e]) == 2:  # what has one of the operands in it is computed once for all that the other one is
            count += _instructions(rules, e)
    if sums_products(low, low.mul.outputs[0]):
        count -= 1
    if _plain(low.add, "minimum", "maximum") and (low.non_negative or low.components[0].kind != "f"):
        count -= 0.5  # one instruction compares bits with two terms, or adds too
    return max(count, 1)


def _instructions(rules: Rules, e: Expression) -> int:
    """The instructions of one operation; its reader changes signs, and a sum includes one product."""
    products = [a for a in e.args if a.op == "multiply"]
    if e.op in rules.fused and len(products) == 1 and rules.fuses(e, products[0]):
        return 0
    if e.op == "sqrt" and rules.floating == ROUNDED.floating:
        return 2
    return _INSTRUCTIONS.get(e.op, 1) if e.args else 0


def _constant(name: str, parts: Sequence[Any], components: tuple[np.dtype, ...]) -> str:
    values = [c.type(v) for v, c in zip(parts, components, strict=True)]
    return f"DEVICE Value {name}() {{ return {element(values)}; }}\n"


_FUSED = {("minimum", "add"): "__viaddmin", ("maximum", "add"): "__viaddmax"}


def packed_program(low: CudaLowering) -> Program | None:
    """Two 16-bit elements a word, where ⊕ and ⊗ have instructions for that; None elsewhere.

    Words run along the rows of B and C. An element of A meets both halves, so A is given with each element twice.
    """
    (dtype,) = low.components if len(low.components) == 1 else (np.dtype(object),)
    if dtype not in (np.dtype("i2"), np.dtype("u2"), np.dtype("f2")):
        return None
    plus, times = _plain(low.add, "minimum", "maximum"), _plain(low.mul, "add", "minimum", "maximum")
    if not plus or not times:
        return None
    fused = None
    if dtype.kind == "f":
        calls = {"add": "sums_of_halves", "minimum": "least_of_halves", "maximum": "greatest_of_halves"}
    else:
        sign = "s" if dtype.kind == "i" else "u"
        calls = {"add": "__vadd2", "minimum": f"__vmin{sign}2", "maximum": f"__vmax{sign}2"}
        fused = _FUSED.get((plus, times))
    relax = f"{fused}_{sign}16x2(a, b, c)" if fused else f"{calls[plus]}(c, {calls[times]}(a, b))"
    both = int(np.array(low.zero[0], dtype).view("u2")) * 0x10001
    prelude = [
        '#line 1 "prelude"\n', "using Value = unsigned;\n",
        f"DEVICE Value zero() {{ return {literal(np.uint32(both))}; }}\n",
        f"DEVICE Value relax(Value c, Value a, Value b) {{ return {relax}; }}\nconstexpr bool ABSORBS = true;\n",
    ]
    return Program((np.dtype("u4"),), "".join(prelude))


def boolean_words() -> Program:
    """The Boolean product, 32 elements a word."""
    prelude = (
        '#line 1 "prelude"\nusing Value = unsigned;\nDEVICE Value zero() { return 0; }\n'
        "DEVICE Value relax(Value c, Value a, Value b) { return c | (a & b); }\nconstexpr bool ABSORBS = true;\n"
    )
    return Program((np.dtype("u4"),), prelude)


def sums_of_powers(low: CudaLowering) -> Program | None:
    """Sums and products of positive numbers, for closures over log-sum-exp; None where that is not the algebra.

    The star has to be −log(1 − eᵃ), which follows from ⊕ and ⊗ where a < 0, but not in an algebra that declares none.
    """
    form, (dtype,) = low.log_sum, low.components if len(low.components) == 1 else (np.dtype(object),)
    if form is None or dtype not in (np.dtype("f4"), np.dtype("f8")):
        return None
    sign, base, unit = (-1 if form.negated else 1), "2" * form.binary, np.log(2) if form.binary else 1
    a = np.array([-20, -3, -0.5, -0.01])
    there, expected = (sign * a).astype(dtype), -sign * np.log1p(-np.exp(unit * a)) / unit
    S = low.algebra.over(dtype)
    if not (np.all(S.defined(there)) and np.allclose(S.star(there), expected, rtol=1e-4, atol=1e-4)):
        return None
    minus = "-" * form.negated
    prelude = [
        '#line 1 "prelude"\n', f"using Value = {memory_type(dtype)};\n",
        "DEVICE Value zero() { return 0; }\nDEVICE Value one() { return 1; }\n",
        "DEVICE Value times(Value a, Value b) { return a * b; }\n",
        "DEVICE Value plus(Value x, Value t) { return x + t; }\n",
        "DEVICE Value relax(Value c, Value a, Value b) { return ops::multiply_add(a, b, c); }\n",
        # whether a star is infinite is for the logarithms to say, which may be rounded to the other side of 0
        "DEVICE Value star(Value a) { return 1 / (1 - a); }\n",
        "DEVICE bool defined(Value a) { return a < Value(0x1p10 - 1) / Value(0x1p10); }\n",
        f"DEVICE Value power(Value a) {{ return ops::exp{base}({minus}a); }}\n",
        f"DEVICE Value logarithm(Value x) {{ return {minus}ops::log{base}(x); }}\n",
        f"DEVICE bool is_absent(Value a) {{ return a == {literal(low.zero[0])}; }}\n",
        "constexpr bool UNIT_PIVOTS = false;\n",
    ]
    return Program((dtype,), "".join(prelude))


def word_filler(dtype: np.dtype) -> str:
    """The source of the kernel that gives every element of A a word of its own."""
    narrow = np.dtype("u2") if dtype == np.float16 else dtype  # only the bits matter
    return file_text("compile/ops.cuh") + f"using Narrow = {memory_type(narrow)};\n" + file_text("dense/words.cu")


def _plain(operation: Traced, *names: str) -> str:
    """Which of these binary operations it is; empty if none."""
    return operation.outputs[0].op if operation.is_plain(*names) else ""


def is_linear(low: CudaLowering) -> bool:
    """Whether the product is that of ordinary matrices, which the vendor's library computes."""
    dtype = low.storage
    return low.blas and dtype.names is None and dtype.itemsize >= 4


def always_defined(low: CudaLowering) -> bool:
    """Whether every star exists, so that the device need not be synchronized."""
    return low.defined is constant(True)
