"""The walk over packed tiles: by NumPy at first, and by machine code once compiling that repays.

All the arithmetic is in the compiled functions of the algebra (operations.py), which both ways call with the same
arguments on the same packed elements, so that the answers are the same bits. The walk itself only moves elements. Its
machine code (template.py) serves all algebras whose elements have the same sizes, and costs as much to compile as
theirs: work of few tiles, as that of most processes is, does without.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.compile.program import geometry, name_of, round_up, shared_source, text_of
from semiring.machine import threads
from semiring.machine.pieces import share

from .operations import Operations

TEMPLATE = Path(__file__).with_name("template.py")
TILE = 1.5e-5  # seconds that NumPy takes longer for a tile of a product or a closure,
STEP = 1e-5  # for a step of k of a tile, or for the pivots that a closure takes at once
ELEMENT = 2e-10  # and for each element that moves


@dataclass(frozen=True)
class Tiling:
    """How one product is cut into tasks."""

    height: int  # rows of a tile of C
    width: int  # columns of a tile of C
    tasks: int  # tiles of C, over all matrices of the stack
    helpers: int  # threads that help the caller
    scratch: int  # bytes of scratch memory for each thread


class Walk:
    """The compiled walk of elements of some sizes, and whether compiling it repays.

    Parameters
    ----------
    words : tuple of numpy.dtype
        Unsigned integers of the sizes of the components.
    """

    def __init__(self, words: tuple[np.dtype, ...]):
        self.words = words
        self._product, self._close = (
            Code.of(functools.partial(self.code, function), shared=True) for function in ("product", "close")
        )

    @functools.cached_property
    def module(self) -> ModuleType:
        """The compiled ``product`` and ``close``, each when it is first called."""
        return cache.load(*self._text, shown=False)

    @property
    def _text(self) -> tuple[str, str]:
        return f"blocks_{name_of(self.words)}", shared_source(self.words, TEMPLATE, text_of(TEMPLATE))

    def code(self, *functions: str) -> list[cache.Function]:
        """What is compiled for ``product`` and ``close``, or one of them."""
        return [cache.Function(*self._text, function, shown=False) for function in functions]

    def compiles_product(self, plan: Tiling, steps: int) -> bool:
        """Whether machine code walks over a product, whose tiles take so many steps."""
        moved = plan.scratch // sum(word.itemsize for word in self.words)
        return self._product.pays(plan.tasks * (TILE + steps * (STEP + moved * ELEMENT)))

    def compiles_close(self, batch: int, n: int) -> bool:
        """Whether machine code walks over the closures of so many blocks of order n."""
        steps = -(-n // geometry(self.words).depth)
        return self._close.pays(batch * (TILE + steps * STEP + n * n * ELEMENT))


@functools.lru_cache(256)
def walk(words: tuple[np.dtype, ...]) -> Walk:
    """The compiled walk of elements of some sizes."""
    return Walk(words)


class ArrayWalk:
    """`product` and `close` of template.py with NumPy's copies in place of compiled loops.

    Matrices come as stacks of their components, a 3-D array of words for each.

    Parameters
    ----------
    operations : Operations
        What is called on packed elements.
    words : tuple of numpy.dtype
        Unsigned integers of the sizes of the components.
    """

    def __init__(self, operations: Operations, words: tuple[np.dtype, ...]):
        self._operations, self._words, self._sizes = operations, words, geometry(words)
        columns = zip(operations.program.components, operations.program.zero, words, strict=True)
        self._zeros = [np.array(zero, component).view(word) for component, zero, word in columns]

    @functools.cached_property
    def _multiply(self) -> Callable[..., int]:
        return self._from_python(self._operations.multiply, 13)

    @functools.cached_property
    def _close_pivots(self) -> Callable[..., int]:
        return self._from_python(self._operations.close_pivots, 6)

    @staticmethod
    def _from_python(address: int, arguments: int) -> Callable[..., int]:
        from semiring.kernels.cpu.compile.jit import from_python  # it imports Numba

        return from_python(address, arguments)

    def product(
        self, C: list[np.ndarray], A: list[np.ndarray], B: list[np.ndarray], plan: Tiling, accumulate: int
    ) -> None:
        """C ← C ⊕ A ⊗ B, or C ← A ⊗ B, on every matrix of a stack."""
        tile = functools.partial(self._tile, C, A, B, plan, accumulate)
        multiply = self._multiply  # compiled now, by one thread
        share(lambda task: tile(multiply, task), [(task,) for task in range(plan.tasks)], plan.helpers + 1)

    def _tile(
        self, C: list[np.ndarray], A: list[np.ndarray], B: list[np.ndarray], plan: Tiling, accumulate: int,
        multiply: Callable[..., int], task: int,
    ) -> None:
        sizes = self._sizes
        (_batch, m, n), depth = C[0].shape, A[0].shape[2]
        s, cut = divmod(task, -(-m // plan.height) * -(-n // plan.width))
        across, down = divmod(cut, -(-m // plan.height))
        rows = slice(down * plan.height, min((down + 1) * plan.height, m))
        columns = slice(across * plan.width, min((across + 1) * plan.width, n))
        c_rows = round_up(rows.stop - rows.start, sizes.rows)
        width = round_up(columns.stop - columns.start, sizes.lanes)
        c_plane, b_plane = c_rows * width, sizes.chunk * width
        a_plane = round_up(c_rows * sizes.chunk, sizes.lanes)
        memory, c = threads.scratch(plan.scratch)
        b = c + c_plane * sizes.size
        a = b + b_plane * sizes.size
        packed_c = self._planes(memory, c, c_plane, c_rows, width)
        packed_b = self._planes(memory, b, b_plane, sizes.chunk, width)
        packed_a = self._planes(memory, a, a_plane, c_rows, sizes.chunk)
        self._pack([part[s, rows, columns][: None if accumulate else 0] for part in C], packed_c)
        for k in range(0, depth, sizes.chunk):
            steps = slice(k, min(k + sizes.chunk, depth))
            count = steps.stop - steps.start
            self._pack([part[s, steps, columns] for part in B], [plane[:count] for plane in packed_b])
            self._pack([part[s, rows, steps] for part in A], packed_a)
            multiply(a, a_plane, 0, sizes.chunk, b, b_plane, c, c_plane, 0, width, c_rows, count, 1)
        for part, plane in zip(C, packed_c, strict=True):
            part[s, rows, columns] = plane[: rows.stop - rows.start, : columns.stop - columns.start]

    def close(self, D: list[np.ndarray], failed: np.ndarray, helpers: int) -> None:
        """D ← D* on every matrix of a stack; `failed` takes −1, or the first pivot without a star for each."""
        multiply, close_pivots = self._multiply, self._close_pivots

        def close_one(task: int) -> None:
            failed[task] = self._close([part[task] for part in D], multiply, close_pivots)

        share(close_one, [(task,) for task in range(len(failed))], helpers + 1)

    def _close(self, D: list[np.ndarray], multiply: Callable[..., int], close_pivots: Callable[..., int]) -> int:
        sizes, n = self._sizes, len(D[0])
        depth, width, height = sizes.depth, round_up(n, sizes.lanes), round_up(n, sizes.rows)
        plane, p_plane, f_plane = height * width, depth * width, round_up(height * depth, sizes.lanes)
        memory, matrix = threads.scratch(sizes.close_bytes(n))
        panel = matrix + plane * sizes.size
        factors = panel + p_plane * sizes.size
        whole = self._planes(memory, matrix, plane, height, width)
        pivot_rows = self._planes(memory, panel, p_plane, depth, width)
        pivot_columns = self._planes(memory, factors, f_plane, height, depth)
        self._pack(D, whole)
        for p in range(0, n, depth):
            these = slice(p, min(p + depth, n))
            pivots = these.stop - p
            for rows, part in zip(pivot_rows, whole, strict=True):
                rows[:pivots] = part[these]
            failure = close_pivots(panel, p_plane, width, p, pivots, 1)
            if failure >= 0:
                return failure + p
            for columns, part, zero in zip(pivot_columns, whole, self._zeros, strict=True):
                columns[:, :pivots] = part[:, these]
                part[:, these] = zero
            multiply(factors, f_plane, 0, depth, panel, p_plane, matrix, plane, 0, width, height, pivots, 1)
            for rows, part in zip(pivot_rows, whole, strict=True):
                part[these] = rows[:pivots]
        for given, part in zip(D, whole, strict=True):
            given[...] = part[:n, :n]
        return -1

    def _planes(self, memory: np.ndarray, address: int, plane: int, rows: int, width: int) -> list[np.ndarray]:
        """The components of packed elements from an address on, in a plane each."""
        place, planes = address - memory.ctypes.data, []
        for word in self._words:
            planes.append(np.ndarray((rows, width), word, memory, place))
            place += plane * word.itemsize
        return planes

    def _pack(self, block: list[np.ndarray], planes: list[np.ndarray]) -> None:
        """Copy a block of a matrix; what is right of it or below it becomes zero."""
        for part, plane, zero in zip(block, planes, self._zeros, strict=True):
            rows, columns = part.shape
            plane[:rows, :columns] = part
            plane[:rows, columns:] = zero
            plane[rows:] = zero
