"""The CPU engine: products and small closures over any semiring whose operations compile.

A `Program` says how elements are stored and what ⊕, ⊗ and star do, as Python text. `CpuKernel` joins it with the fixed
template (template.py), has Numba compile the result once, and calls it on blocks: 2-D views in any order, in place.
Numba is imported when the first operation runs, not before.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from semiring.kernels.cpu import cache, threads

CHUNK = 64  # steps of k for which a tile keeps A and B packed
TILE_BYTES = 2048  # width of a tile of C, in bytes of a row
TILE_ROWS = 192  # height of a tile of C: with its panels it takes 570 KB, about half a second-level cache
LEAST_ROWS = 24  # threads may cut tiles down to this height
PACKING = 12  # rows of work that packing a tile's share of B costs
PARALLEL = 4_000_000  # terms ⊗ below which the caller's thread does the work alone
STRIP_BYTES = 1 << 20  # memory that `left` and `right` may copy operands into, or
STRIP_SHARE = 20  # … this fraction (1/20) of the operand, where that is more
CLOSE_TILE = 128  # order of a block that `close` takes directly


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
    """

    name: str
    components: tuple[np.dtype, ...]
    zero: tuple
    one: tuple
    prelude: str

    @property
    def dtype(self) -> np.dtype:
        """Type of the elements of a matrix: a scalar type, or an aligned structure."""
        if len(self.components) == 1:
            return np.dtype(self.components[0])
        return np.dtype([(f"f{i}", component) for i, component in enumerate(self.components)], align=True)


@dataclass(frozen=True, eq=False)  # one object for each tuple of components: `tiling` is cached by identity, fast
class Geometry:
    """Sizes that are fixed when a program is compiled."""

    rows: int  # rows of C that the micro-kernel updates at once
    depth: int  # steps of k that it takes at once: rows · depth scalars of A stay in registers
    chunk: int  # steps of k for which a tile keeps A and B packed
    lanes: int  # packed rows are a multiple of this many elements: 64 bytes of the smallest component
    size: int  # bytes of a packed element
    item: int  # bytes of an element in a matrix

    @property
    def width(self) -> int:
        """Columns of a tile of C."""
        return max(TILE_BYTES // self.size // self.lanes, 1) * self.lanes

    def product_bytes(self, height: int, width: int) -> int:
        """Scratch memory for a tile: C, and CHUNK steps of B and of A, with A's plane rounded up."""
        height = _round_up(height, self.rows)
        elements = height * width + self.chunk * width + _round_up(height * self.chunk, self.lanes)
        return elements * self.size

    def close_bytes(self, n: int) -> int:
        """Scratch memory to close a block: a copy of it, and `depth` rows and columns."""
        width, height = _round_up(n, self.lanes), _round_up(n, self.rows)
        elements = height * width + self.depth * width + _round_up(height * self.depth, self.lanes)
        return elements * self.size


def _round_up(number: int, multiple: int) -> int:
    return -(-number // multiple) * multiple


@functools.cache
def _host_features() -> dict[str, bool]:
    from llvmlite import binding

    return dict(binding.get_host_cpu_features())


@functools.cache
def has_fma() -> bool:
    """Whether this CPU multiplies and adds in one instruction (else `fma` in a prelude is a slow library call)."""
    features = _host_features()
    return bool(features.get("fma") or features.get("neon"))


@functools.cache
def geometry(components: tuple[np.dtype, ...]) -> Geometry:
    """The unrolling that keeps an element's operands in registers on this host, and the sizes that follow."""
    features = _host_features()
    registers = 32 if features.get("avx512f") or features.get("neon") else 16
    sizes = [np.dtype(component).itemsize for component in components]
    if len(components) == 1:  # 24 scalars of A, a 1, 3 values of C, one of B: all 32 registers
        rows, depth = (3, 8) if registers == 32 else (2, 4)
    elif len(components) == 2 and registers == 32:
        rows, depth = 2, 4
    else:
        rows, depth = 1, 3
    item = Program("", tuple(components), (), (), "").dtype.itemsize
    return Geometry(rows, depth, CHUNK // depth * depth, 64 // min(sizes), sum(sizes), item)


HEADER = '''\
"""Generated from kernels/cpu/template.py; see there."""

import math

import numpy as np
from math import inf, nan
from typing import Any
from numba import boolean, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64
from numba import types, void
from numba.np.numpy_support import from_dtype

from semiring.kernels.cpu.jit import njit
from semiring.kernels.cpu.raw import (
    ANY, PANEL, ROW_0, ROW_1, ROW_2, ROW_3, as_element, fetch, first_component, floor, fma, load, put,
    select, stay_apart, store, take
)

'''

DECORATORS = '''
MATRIX = types.Array(from_dtype(np.dtype(FIRST)), 3, "A", readonly=True, aligned=False)
compiled = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)
inline = njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)


def entry(*arguments):
    return njit([void(*arguments)], error_model="numpy", no_cfunc_wrapper=True, nogil=True, cache=True)


'''


def source(program: Program, template: str = "template.py") -> str:
    """Text of the generated module: header, prelude, and a template of this directory unrolled."""
    sizes = geometry(program.components)
    classes = [f"np.{np.dtype(component).type.__name__}" for component in program.components]
    constants = {
        "ELEMENT": _element(classes),
        "FIRST": classes[0],
        "ZERO": _element(map(_literal, classes, program.zero)),
        "ONE": _element(map(_literal, classes, program.one)),
        "SIZE": sizes.size,
        "ITEM": sizes.item,
        "ROWS": sizes.rows,
        "DEPTH": sizes.depth,
        "CHUNK": sizes.chunk,
        "LANES": sizes.lanes,
    }
    assignments = "".join(f"{name} = {value}\n" for name, value in constants.items())
    text = Path(__file__).with_name(template).read_text(encoding="utf-8").split("# Template\n", 1)[1]
    header = HEADER.replace("template.py", template)
    return header + assignments + DECORATORS + program.prelude + unroll(text, I=sizes.rows, K=sizes.depth)


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


@dataclass(frozen=True)
class Tiling:
    """How one product is cut into tasks."""

    height: int  # rows of a tile of C
    width: int  # columns of a tile of C
    tasks: int  # tiles of C, over all matrices of the stack
    helpers: int  # threads that help the caller
    scratch: int  # bytes of scratch memory for each thread


@functools.lru_cache(4096)
def tiling(sizes: Geometry, batch: int, m: int, n: int, k: int, thread_count: int) -> Tiling:
    """Tiles as large as the cache allows, and cut so that the threads finish together."""
    down, across = max(-(-m // TILE_ROWS), 1), max(-(-n // sizes.width), 1)
    helpers = 0
    if thread_count > 1 and batch * m * n * k >= PARALLEL:

        def seconds(cut: tuple[int, int]) -> float:  # in units that do not matter
            height = _round_up(-(-m // cut[0]), sizes.rows)
            width = _round_up(-(-n // cut[1]), sizes.lanes)
            waves = -(-batch * cut[0] * cut[1] // thread_count)
            return waves * (height + PACKING) * (width + sizes.lanes / 2)

        most = max(-(-m // LEAST_ROWS), down)
        narrow = max(-(-n // (4 * sizes.lanes)), across)
        cuts = [
            (rows, columns)
            for columns in sorted({across, min(2 * across, narrow), min(4 * across, narrow)})
            for rows in range(down, min(most, down + 4 * thread_count) + 1)
        ]
        down, across = min(cuts, key=seconds)
    height = _round_up(max(-(-m // down), 1), sizes.rows)
    width = _round_up(max(-(-n // across), 1), sizes.lanes)
    tasks = batch * -(-m // height) * -(-n // width)
    if batch * m * n * k >= PARALLEL:
        helpers = min(thread_count, tasks) - 1
    return Tiling(height, width, tasks, max(helpers, 0), sizes.product_bytes(height, width))


class CpuKernel:
    """The operations on blocks that the schedules are written in, for one program.

    Blocks are NumPy arrays of `dtype` (for records: any aligned structure with the same components in the same order),
    with any strides. Operands that are only read may be read-only. Shapes may contain 0.

    Parameters
    ----------
    program : Program
    threads : int, optional
        Threads to use; the default is ``SEMIRING_NUM_THREADS``, or the CPUs this process may run on. Results do not
        depend on it.
    """

    tile = CLOSE_TILE  #: order of a block that `close` takes directly

    def __init__(self, program: Program, threads: int | None = None):
        self.program = program
        self.dtype = program.dtype
        self.threads = _thread_count(threads)

    @functools.cached_property
    def geometry(self) -> Geometry:
        return geometry(self.program.components)

    @functools.cached_property
    def module(self) -> ModuleType:
        """The compiled module: ``product``, ``close``, ``diagonal``; ``micro`` and ``pack`` for other compiled code."""
        return cache.load(self.program.name, source(self.program))

    def multiply_add(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← C ⊕ A ⊗ B. C overlaps neither A nor B."""
        self._product(C[None], A[None], B[None], 1)

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C ← A ⊗ B; what C held is not read. C overlaps neither A nor B."""
        self._product(C[None], A[None], B[None], 0)

    def multiply_add_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C[s] ← C[s] ⊕ A[s] ⊗ B[s] for every s, in one call; A and B may repeat a matrix by a zero stride."""
        self._product(C, A, B, 1)

    def multiply_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        """C[s] ← A[s] ⊗ B[s] for every s, in one call; A and B may repeat a matrix by a zero stride."""
        self._product(C, A, B, 0)

    def left(self, D: np.ndarray, R: np.ndarray) -> None:
        """R ← D ⊗ R in place; D is square and does not overlap R."""
        k, n = R.shape
        width = self._strip(n, k, R.nbytes)
        memory = np.empty((k, width), R.dtype)
        for j in range(0, n, width):
            strip = R[:, j : j + width]
            copy = memory[:, : strip.shape[1]]
            copy[...] = strip
            self.multiply(strip, D, copy)

    def right(self, C: np.ndarray, D: np.ndarray) -> None:
        """C ← C ⊗ D in place; D is square and does not overlap C."""
        m, k = C.shape
        height = self._strip(m, k, C.nbytes)
        memory = np.empty((height, k), C.dtype)
        for i in range(0, m, height):
            strip = C[i : i + height]
            copy = memory[: len(strip)]
            copy[...] = strip
            self.multiply(strip, copy, D)

    def _strip(self, length: int, depth: int, size: int) -> int:
        """How many of `length` columns (rows) of `depth` elements fit in the memory that a copy may take."""
        limit = max(STRIP_BYTES, size // STRIP_SHARE)
        most = max(limit // max(depth * self.dtype.itemsize, 1), 1)
        count = max(-(-length // most), 1)
        return max(min(_round_up(-(-length // count), self.geometry.lanes), most, length), 1)

    def close(self, D: np.ndarray) -> int:
        """D ← D* in place; returns −1, or the first pivot without a star, and then leaves D as it was.

        Any order works; it takes a packed copy of D, and one thread. Larger blocks are for the schedules.
        """
        return int(self.close_stack(D[None])[0])

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        """D[s] ← D[s]* for every s; returns −1 or the first pivot without a star, for each."""
        batch, n, columns = D.shape
        if n != columns:
            raise ValueError(f"a block to close must be square, not {n} × {columns}")
        D = self._first(D)
        failed = np.empty(batch, np.int64)
        size = self.geometry.close_bytes(n)
        close = self.module.close
        helpers = min(self.threads, batch) - 1 if batch * n**3 >= PARALLEL else 0
        self._run(lambda counter, scratch: close(D, failed, counter, scratch, 1), size, helpers)
        return failed

    def diagonal(self, A: np.ndarray, D: np.ndarray) -> np.ndarray:
        """The vector of ⊕ over k of A[i, k] ⊗ D[k, i]: the diagonal of A ⊗ D."""
        if A.shape != D.shape[::-1]:
            raise ValueError(f"shapes {A.shape} and {D.shape} do not fit")
        out = np.empty(A.shape[0], A.dtype)
        self.module.diagonal(self._first(out[None, :, None]), self._first(A[None]), self._first(D[None]), 1)
        return out

    def _product(self, C: np.ndarray, A: np.ndarray, B: np.ndarray, accumulate: int) -> None:
        batch, m, n = C.shape
        k = A.shape[2]
        if A.shape != (batch, m, k) or B.shape != (batch, k, n):
            raise ValueError(f"shapes {C.shape}, {A.shape} and {B.shape} do not fit")
        C, A, B = self._first(C), self._first(A), self._first(B)
        plan = tiling(self.geometry, batch, m, n, k, self.threads)
        product, height, width, tasks = self.module.product, plan.height, plan.width, plan.tasks
        if plan.helpers:
            self._run(
                lambda counter, scratch: product(C, A, B, height, width, accumulate, tasks, counter, scratch, 1),
                plan.scratch,
                plan.helpers,
            )
        else:
            _memory, address = threads.scratch(plan.scratch)
            product(C, A, B, height, width, accumulate, tasks, 0, address, 1)

    def _first(self, block: np.ndarray) -> np.ndarray:
        """The view of component 0, whose address and strides are those of the block."""
        dtype = block.dtype
        if dtype != self.dtype and not _same_layout(dtype, self.dtype):
            raise TypeError(f"a block of {dtype} was given to a kernel for {self.dtype}")
        return block[dtype.names[0]] if dtype.names else block

    def _run(self, work: Callable[[int, int], None], size: int, helpers: int) -> None:
        """Call ``work(counter, scratch)`` on this thread and on helpers, with one counter and each its own memory."""
        if not helpers:
            _memory, address = threads.scratch(size)
            work(0, address)
            return
        counter = np.zeros(1, np.int64)
        place = counter.ctypes.data

        def share() -> None:
            _memory, address = threads.scratch(size)
            work(place, address)

        threads.pool.run(share, helpers)


_thread_count = threads.thread_count


@functools.lru_cache(256)
def _same_layout(given: np.dtype, wanted: np.dtype) -> bool:
    """Whether two structures have the same components at the same places, whatever the names."""

    def layout(dtype: np.dtype) -> Any:
        return dtype.itemsize, [dtype.fields[name][:2] for name in dtype.names or () if dtype.fields]

    return bool(given.names and wanted.names) and layout(given) == layout(wanted)
