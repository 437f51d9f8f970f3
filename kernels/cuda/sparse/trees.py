"""Trees of best walks from their values, on the GPU: the rule of `semiring.algorithms.trees`; trees.cu has the kernels.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from semiring.algebra.semiring import Semiring
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.launch import Function, Module, multiprocessors
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import Facts

from .product import DeviceRows

THREADS = 256  # as in trees.cu
WARP, PER, ROUNDS = 32, 8, 4
VERTICES = ROUNDS * THREADS // WARP  # of a block
RESIDENT = 8  # blocks of a multiprocessor
NOWHERE = np.iinfo(np.int32).max  # in place of a vertex that was lost
ANY_OPEN, ANY_FOUND = 1, 2  # as in trees.cu


class CudaTreeKernel:
    """Predecessors for one semiring in one storage type, on the current device.

    Arrays are CuPy's, in storage and in C order. `x` and `p` have a row for each vertex and a column for each line.

    Parameters
    ----------
    low : CudaLowering
    backwards : bool
        Whether walks lead to the roots, so that products are a ⊗ x.
    """

    def __init__(self, low: CudaLowering, backwards: bool):
        self._low, self._backwards = low, backwards

    def improves(self, values: Any) -> bool:
        """Whether one of some elements is better than one."""
        import cupy

        flag = cupy.zeros(1, np.int32)
        if values.size:
            self._launch("improves", blocks(values.size), 1, values.data.ptr, values.size, flag.data.ptr)
        return bool(flag.get()[0])

    def edges(self, A: Any, x: Any, bounded: bool, all_pairs: bool) -> DeviceRows:
        """The edges of a matrix that best walks can have, by their heads.

        Parameters
        ----------
        A : array, shape (n, n)
            Element (v, u) is the edge from u to v.
        x : array, shape (n, lines)
            Values.
        bounded : bool
            Whether no edge is better than one and products round monotonically: then the edges that are worse than
            every walk to their heads are left out.
        all_pairs : bool
            Whether a best walk consists of best walks too, and line u is that of vertex u: then the edges that are
            worse than the best walk between their ends are left out as well.
        """
        import cupy

        n, lines = x.shape
        worst = cupy.empty(n if bounded else 0, x.dtype)
        counts, across = cupy.empty(n, np.int64), -(-n * 32 // THREADS)
        if bounded:
            self._launch("worst_of_each", across, 1, x.data.ptr, n, lines, worst.data.ptr)
        known = A.data.ptr, x.data.ptr, worst.data.ptr if bounded else 0, int(all_pairs), n
        self._launch("count_edges", across, 1, *known, counts.data.ptr)
        offsets = cupy.zeros(n + 1, np.int64)
        cupy.cumsum(counts, out=offsets[1:])
        tails, weights = (cupy.empty(int(offsets[n].get()), dtype) for dtype in (np.dtype(np.int32), x.dtype))
        self._launch("keep_edges", across, 1, *known, offsets.data.ptr, tails.data.ptr, weights.data.ptr)
        return DeviceRows(offsets, tails, weights, n)

    def predecessors(
        self, edges: DeviceRows, x: Any, roots: Any, bounded: bool, order: Any = None
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        """The vertex before each on a best walk from each root.

        Parameters
        ----------
        edges : DeviceRows
            Those into each vertex, tails ascending.
        x : array, shape (n, lines)
        roots : array of int64, shape (lines,)
        bounded : bool
            Whether no edge is better than one.
        order : array of int32, shape (n,), optional
            All vertices, neighbours next to each other: values are then read from farther memory less often.

        Returns
        -------
        p : array of int32, shape (n, lines)
            −1 at the root, and where no walk leads.
        lost : ndarray of int64, shape (lines,)
            Of each line the first vertex whose value is zero though one before it is not; −1 where there is none.
        guessed : ndarray of bool, shape (lines,)
            In which lines rounding left no best edge to some vertices.
        """
        import cupy

        n, lines = x.shape
        p, lost = cupy.empty((n, lines), np.int32), cupy.full(lines, NOWHERE, np.int32)
        flags = cupy.zeros(1, np.uint32)
        graph = roots.data.ptr, edges.offsets.data.ptr, edges.columns.data.ptr, edges.values.data.ptr
        known = x.data.ptr, p.data.ptr, lost.data.ptr, *graph, 0 if order is None else order.data.ptr
        down = -(-lines // (WARP * PER))
        self._launch("grow", -(-n // VERTICES), down, *known, n, lines, int(bounded), flags.data.ptr)
        states, guessed, parity = cupy.empty(lines, np.uint32), cupy.zeros(lines, np.uint8), 0
        while int(flags.get()[0]):
            states.fill(0)
            flags.fill(0)
            shared = x.data.ptr, p.data.ptr, *graph, n, lines, parity, states.data.ptr
            self._launch("take_tails", blocks(n * lines), 1, *shared, flags.data.ptr)
            if int(flags.get()[0]) & ANY_OPEN:
                self._launch("take_nearest", lines, 1, *shared, guessed.data.ptr)
            parity = 1 - parity
        found = lost.get().astype(np.int64)
        return p, np.where(found == NOWHERE, -1, found), guessed.get().astype(bool)

    def cut_off(self, x: Any, p: Any, limit: Any) -> None:
        """x ← zero and p ← −1 where x is worse than a limit, an array of one element."""
        if x.size:
            self._launch("cut_off", blocks(x.size), 1, x.data.ptr, p.data.ptr, x.size, limit.data.ptr)

    def _launch(self, name: str, across: int, down: int, *arguments: int) -> None:
        _function(self._low, self._backwards, name)(across, down, *arguments)


def blocks(count: int) -> int:
    """The blocks of a grid with a thread for each element, or with as many as the device runs at once."""
    return max(1, min(-(-count // THREADS), RESIDENT * multiprocessors()))


def lowering_for(S: Semiring, dtype: np.dtype, facts: Facts, length: int) -> CudaLowering:
    """The form for walks of so many edges: of floats as they are, since others save less than they cost."""
    low = choose(S, dtype, facts, length, in_place=False)
    plain = general_on_device(S, dtype) if dtype in (np.float32, np.float64) else low
    return plain if plain.is_identity else low


def source(low: CudaLowering, backwards: bool) -> str:
    """The text of all kernels."""
    return program(low).source(f"constexpr bool BACKWARDS = {'true' if backwards else 'false'};\n", "sparse/trees.cu")


@lru_cache(64)
def _module(low: CudaLowering, backwards: bool) -> Module:
    return Module(source(low, backwards))


@lru_cache(256)
def _function(low: CudaLowering, backwards: bool, name: str) -> Function:
    return _module(low, backwards).function(name, THREADS)
