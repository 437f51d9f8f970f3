"""From a lowering to Python text that Numba compiles: the functions of its algebra, sizes, and a template.

A `Program` says how elements are stored and what ⊕, ⊗ and star do, as text. `source` joins it with one of the fixed
templates.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.complements import complemented_step
from semiring.kernels.lowering.contraction import fuses_in_step, hides_no_infinity, operand_ranges, whole_step

from .rules import CONTRACTED, HELPERS, NUMBA, function

CHUNK = 64  # steps of k for which a tile keeps A and B packed
TILE_BYTES = 2048  # width of a tile of C, in bytes of a row
COMBINE = """\
@inline
def combine(x, a, b, unit):
    return as_element(ELEMENT, plus(x, as_element(ELEMENT, times(a, b, unit))))


"""


@dataclass(frozen=True)
class Program:
    """One semiring in one storage type, ready to be compiled.

    Attributes
    ----------
    name : str
        Goes into the name of the generated file.
    components : tuple of numpy.dtype
        Storage types of an element's components: one for a scalar, several for a record.
    zero, one : tuple
        The constants, one Python or NumPy scalar for each component.
    prelude : str
        Python source of four functions, each decorated with ``@inline`` (as are helpers they call). An element is a
        scalar when there is one component, else a tuple of scalars.

        - ``times(a, b, unit)``: a ⊗ b. `unit` is a 1 of component 0's type that is known at run time only, so that a
          sum can be written ``fma(b, unit, a)`` and stay one.
        - ``plus(x, t)``: x ⊕ t, where x is the value so far and t the new term.
        - ``star(a)``: a*; and ``defined(a)``: whether a* exists.

        Names in scope: ``np``, ``math``, ``inf``, ``nan``, the scalar types by name (``float32``, ``int16``,
        ``boolean``, …), ``fma(x, y, z)``, ``select(condition, x, y)``, ``floor(x)``, ``ZERO`` and ``ONE``. What `times`
        and `plus` return is cast to the components' types.
    combine : str, optional
        Source of ``combine(x, a, b, unit)``: x ⊕ a ⊗ b of elements, for kernels in which that is all the work. The
        default calls `times` and `plus`.
    """

    name: str
    components: tuple[np.dtype, ...]
    zero: tuple[Any, ...]
    one: tuple[Any, ...]
    prelude: str
    combine: str = COMBINE

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements of a matrix: a scalar type, or an aligned structure."""
        if len(self.components) == 1:
            return np.dtype(self.components[0])
        return np.dtype([(f"f{i}", component) for i, component in enumerate(self.components)], align=True)


@dataclass(frozen=True, eq=False)  # one object for each tuple of components: `tiling` is cached by identity, fast
class Geometry:
    """Sizes that are fixed when a program is compiled."""

    rows: int  # rows of C that `multiply` updates at once
    depth: int  # steps of k that it takes at once: rows · depth scalars of A stay in registers
    chunk: int  # steps of k for which a tile keeps A and B packed
    lanes: int  # packed rows are a multiple of this many elements: 64 bytes of the smallest component, or twice that
    size: int  # bytes of a packed element
    item: int  # bytes of an element in a matrix

    @property
    def half(self) -> int:
        """Steps of k of what is left over that are taken at once."""
        return max(self.depth // 2, 1)

    @property
    def width(self) -> int:
        """Columns of a tile of C."""
        return max(TILE_BYTES // self.size // self.lanes, 1) * self.lanes

    def product_bytes(self, height: int, width: int) -> int:
        """Scratch memory for a tile: C, and CHUNK steps of B and of A, with A's plane rounded up."""
        height = round_up(height, self.rows)
        elements = height * width + self.chunk * width + round_up(height * self.chunk, self.lanes)
        return elements * self.size

    @functools.lru_cache(256)  # noqa: B019 - there are few geometries, and they stay
    def close_bytes(self, n: int) -> int:
        """Scratch memory to close a block: a copy of it, and `depth` rows and columns."""
        width, height = round_up(n, self.lanes), round_up(n, self.rows)
        elements = height * width + self.depth * width + round_up(height * self.depth, self.lanes)
        return elements * self.size


def round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@functools.cache
def host_features() -> dict[str, bool]:
    """What this CPU has, by LLVM's names."""
    from llvmlite import binding

    return dict(binding.get_host_cpu_features())


@functools.cache
def has_fma() -> bool:
    """Whether this CPU multiplies and adds in one instruction (else `fma` in a prelude is a slow library call)."""
    features = host_features()
    return bool(features.get("fma") or features.get("neon"))


def has_halves() -> bool:
    """Whether this CPU converts halves to single precision (else that is a library call for each)."""
    features = host_features()
    return bool(features.get("f16c") or features.get("neon"))


@functools.cache
def geometry(components: tuple[np.dtype, ...]) -> Geometry:
    """The unrolling that keeps an element's operands in registers on this host, and the sizes that follow."""
    features = host_features()
    registers = 32 if features.get("avx512f") or features.get("neon") else 16
    sizes = [np.dtype(component).itemsize for component in components]
    if len(components) == 1:  # 24 scalars of A, a 1, 3 values of C, one of B: all 32 registers
        rows, depth = (3, 8) if registers == 32 else (2, 4)
    elif len(components) == 2 and registers == 32:
        rows, depth = 2, 4
    else:
        rows, depth = 1, 3
    item = Program("", tuple(components), (), (), "").dtype.itemsize
    lanes = 64 // min(sizes)
    if registers == 16:  # LLVM unrolls loops of 8 short steps as a whole, and finds no vectors in what is left
        lanes = max(lanes, 16)
    return Geometry(rows, depth, CHUNK // depth * depth, lanes, sum(sizes), item)


HEADER = '''\
"""Generated from kernels/cpu/TEMPLATE; see there."""

import math

import numpy as np
from math import inf, nan
from typing import Any
from numba import boolean, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
from numba import types, void
from numba.np.numpy_support import from_dtype

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import (
    ANY, PANEL, ROW_0, ROW_1, ROW_2, ROW_3, as_element, bits_as, bits_of_bytes, call, clear_exceptions, combine_block,
    fetch, first_component, floor, fma, fold, load, load_block, put, room, select, stay_apart, store, take,
    trailing_zeros, wide_vectors
)

'''

DECORATORS = '''
MATRIX = types.Array(from_dtype(np.dtype(FIRST)), 3, "A", readonly=True, aligned=False)
# Nothing here allocates, so references need not be counted.
plain = dict(error_model="numpy", no_cfunc_wrapper=True, _nrt=False)
compiled = njit(no_cpython_wrapper=True, **plain)
inline = njit(no_cpython_wrapper=True, forceinline=True, **plain)


def entry(*arguments):
    return njit([void(*arguments)], nogil=True, cache=True, **plain)


def operation(function):
    signature = int64(*[int64] * function.__code__.co_argcount)
    return njit([signature], no_cpython_wrapper=True, cache=True, **plain)(function)


'''

SMALL = '''\
def loop(function):
    return njit([void(*[int64] * 4)], no_cpython_wrapper=True, cache=True, error_model="numpy", _nrt=False)(function)


'''


def source(program: Program, template: Path) -> str:
    """Text of the module of an algebra: header, prelude, and a template unrolled."""
    classes = _classes(program.components)
    zero, one = (_element(map(_literal, classes, values)) for values in (program.zero, program.one))
    return f"{_header(program.components, template, ZERO=zero, ONE=one)}{program.prelude}{text_of(template, program)}"


def shared_source(components: tuple[np.dtype, ...], template: Path, text: str) -> str:
    """Text of a module that serves all algebras whose elements have such components: a header, and `text`."""
    return _header(components, template) + text


def small_source(
    components: tuple[np.dtype, ...], given: tuple[np.dtype, ...], bits: bool, template: Path,
    constants: dict[str, Any], text: str,
) -> str:
    """Text of the module of small calls (../dense/small.py): a header, `text`, and a template.

    `given` are the parts of an element of the data, and `bits` says that the bits of these are what enters storage.
    """
    classes = _classes(given)
    raw = _classes(components) if bits else classes
    size = max(part.itemsize for part in given)
    more = constants | {"GIVEN": _element(classes), "BITS": _element(raw), "FLAG": f"np.int{8 * size}"}
    return f"{_header(components, template, **more)}{SMALL}{text}{text_of(template)}"


def text_of(template: Path, program: Program | None = None) -> str:
    """What a template holds below the lines that stand for its header; unrolled for a program."""
    text = template.read_text(encoding="utf-8").split("# Template\n", 1)[1]
    if program is None:
        return text
    sizes = geometry(program.components)
    return unroll(text, K=sizes.depth)


def _header(components: tuple[np.dtype, ...], template: Path, **more: Any) -> str:
    classes, sizes = _classes(components), geometry(components)
    constants: dict[str, Any] = {
        "ELEMENT": _element(classes),
        "FIRST": classes[0],
        "SIZE": sizes.size,
        "ITEM": sizes.item,
        "ROWS": sizes.rows,
        "DEPTH": sizes.depth,
        "HALF": sizes.half,
        "CHUNK": sizes.chunk,
        "LANES": sizes.lanes,
    }
    assignments = "".join(f"{name} = {value}\n" for name, value in (constants | more).items())
    return HEADER.replace("TEMPLATE", f"{template.parent.name}/{template.name}") + assignments + DECORATORS


def _classes(components: tuple[np.dtype, ...]) -> list[str]:
    return [f"np.{np.dtype(component).type.__name__}" for component in components]


def _element(parts: Any) -> str:
    parts = list(parts)
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def _literal(scalar_class: str, value: Any) -> str:
    """Text of a constant in the type it is stored in; floats print with all their digits."""
    return f"{scalar_class}({np.asarray(value).item()!r})"


def unroll(text: str, **counts: int) -> str:
    """Repeat each line that ends in ``# each I``, or several letters, outermost first, with the letters replaced.

    >>> print(unroll("x_I = I + 1  # each I", I=2))
    x_0 = 0 + 1
    x_1 = 1 + 1
    """
    lines: list[str] = []
    for line in text.split("\n"):
        code, _, letters = line.partition("  # each ")
        copies = [code]
        for letter in letters.split():
            name = re.compile(rf"(?<![A-Za-z0-9]){letter}(?![A-Za-z0-9])")
            copies = [name.sub(str(i), copy) for copy in copies for i in range(counts[letter])]
        lines += copies
    return "\n".join(lines)


@functools.cache
def words_of(components: tuple[np.dtype, ...]) -> tuple[np.dtype, ...]:
    """Unsigned integers of the same sizes: code that only moves elements does not depend on their meaning."""
    return tuple(np.dtype(f"u{np.dtype(component).itemsize}") for component in components)


def name_of(components: tuple[np.dtype, ...]) -> str:
    """For the names of generated files."""
    return "_".join(np.dtype(component).name for component in components)


def program(lowering: Lowering) -> Program:
    """The Numba text of a lowering."""
    components, rules = lowering.components, NUMBA
    if has_fma():
        rules = replace(CONTRACTED, fuses=functools.partial(hides_no_infinity, operand_ranges(lowering)))
    mul = function("times", "a, b, unit", lowering.mul.outputs, components, rules=rules)
    if lowering.fused_sum and has_fma():
        mul = "@inline\ndef times(a, b, unit):\n    return fma(b, unit, a)\n"
    functions = [
        mul,
        function("scaled", "a, b", lowering.scale.outputs, components, rules=rules),
        function("plus", "x, t", lowering.add.outputs, components),
        function("star", "a", lowering.star.outputs, components),
        function("defined", "a", [lowering.defined], components, [np.dtype(bool)]),
    ]
    text = "\n\n".join(functions)
    prelude = f"{imports_of(text)}{text}\n\n"
    combine = _combine(lowering)
    digest = blake2b((prelude + combine).encode(), digest_size=4).hexdigest()
    return Program(f"{name_of(components)}_{digest}", components, lowering.zero, lowering.one, prelude, combine)


def imports_of(text: str) -> str:
    """The line that imports the functions of scalar.py that a text calls; nothing if it calls none.

    >>> imports_of("return gcd(a, np.fmod(b, 2))").strip()
    'from semiring.kernels.cpu.compile.scalar import gcd'
    """
    helpers = [name for name in HELPERS if re.search(rf"\b(?<!\.){name}\(", text)]
    return f"from semiring.kernels.cpu.compile.scalar import {', '.join(helpers)}\n\n\n" if helpers else ""


def _combine(lowering: Lowering) -> str:
    """x ⊕ a ⊗ b with as few roundings and instructions as the processor allows."""
    (mul, *_), components = lowering.mul.outputs, lowering.components
    if has_fma() and (step := complemented_step(lowering)):
        rules = replace(CONTRACTED, fuses=lambda *_: True)
        return function("combine", "x, a, b, unit", [step], components, rules=rules) + "\n\n"
    step = whole_step(lowering, mul) if has_fma() else None
    if step is None:
        return COMBINE
    rules = replace(CONTRACTED, fuses=fuses_in_step(lowering, mul))
    return function("combine", "x, a, b, unit", [step], components, rules=rules) + "\n\n"
