"""Trees of best walks from their values over compressed rows, on the CPU: what `semiring.algorithms.trees` says.

Rows of values stand side by side, a lane each, so that an edge is looked at once for all of them. The compiled loops
are generated for each semiring, from trees_template.py; from tree_rounds_template.py those that few graphs need.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache
from pathlib import Path
from types import ModuleType

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program, program
from semiring.kernels.cpu.compile.program import text_of as below
from semiring.kernels.cpu.dense.operations import exchanged
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import scratch

from .edge_numbers import MOST, NUMBER, EdgeNumbers
from .kernel import RowsKernel
from .search import INDEX, aligned, text_of

SURE, ROUNDS, HOPS = (Path(__file__).with_name(f"{name}_template.py") for name in ("trees", "tree_rounds", "tree_hops"))
LANES = 32  # lines that stand side by side when they are copied
WIDE = 4096  # and when they do already, so that they are read a few pages at a time
ROOM = 1 << 20  # bytes of copied values that a thread's cache holds
TIED = 1024
WHOLE = 64  # threads take so many lines or a multiple: those left over from whole vectors go one by one
BITS = 64 << 20  # bytes of what is known of edges: a bit for each line


class TreeKernel(RowsKernel):
    """Predecessors for one semiring in one storage type; see `RowsKernel`.

    Parameters
    ----------
    program, threads
    hop : {NUMBER, INDEX}
        As predecessors are kept: as numbers of edges, of which no vertex may have more than `MOST`, or as vertices.
    monotone : bool
        Whether what is no better is known to have products that are no better, to the bit: see `is_monotone`.
    """

    def __init__(
        self, program: Program, threads: int | None = None, hop: np.dtype = NUMBER, monotone: bool = False
    ):
        super().__init__(program, threads)
        self._hop, self._monotone = hop, monotone
        self._size = sum(component.itemsize for component in program.components)

    @cached_property
    def rounds(self) -> ModuleType:
        """The compiled module of what few graphs need."""
        return cache.load(*_text(self.program, self._hop, self._monotone, ROUNDS))

    @cached_property
    def _rest(self) -> tuple[int, int]:
        """Where its functions lie."""
        from semiring.kernels.cpu.compile.jit import address_of  # it imports Numba

        return address_of(self.rounds.settle_vertex), address_of(self.rounds.reach_rest)

    @property
    def _text(self) -> tuple[str, str]:
        return _text(self.program, self._hop, self._monotone)

    def predecessors(
        self, entering: Rows, leaving: Rows, X: np.ndarray, roots: np.ndarray, bounded: bool, tied: bool = False,
        lossless: bool = False, order: np.ndarray | None = None,
    ) -> tuple[EdgeNumbers | np.ndarray, np.ndarray, np.ndarray]:
        """The vertex before each on a best walk from each root.

        Parameters
        ----------
        entering, leaving : Rows
            Of every vertex the edges to it, and those from it, whose weights are not looked at, each the transpose of
            the other; in storage.
        X : ndarray, shape (k, n)
            Rows of the closure, in storage, of any strides.
        roots : ndarray of int64, shape (k,)
        bounded : bool
            Whether no edge is better than one.
        tied : bool
            Whether many best edges are expected to lead between equal values, which takes memory for each edge.
        lossless : bool
            Whether the product of a best walk and an edge, neither zero, is known not to be zero.
        order : ndarray of int, shape (n,), optional
            All vertices, neighbours next to each other: values are then read from farther memory less often.

        Returns
        -------
        P : EdgeNumbers, or ndarray of int32, shape (k, n)
            −1 at the root, and where no walk leads. In the order of X in memory.
        lost : ndarray of int64, shape (k,)
            Of each line the first vertex whose value is zero though one before it is not; −1 where there is none.
        guessed : ndarray of bool, shape (k,)
            In which lines rounding left no best edge to some vertices.
        """
        count, n = X.shape
        plain = len(self.program.components) == 1 and X.itemsize == self._size  # fields of records lie in turn
        across = plain and X.strides[0] == X.itemsize < X.strides[1]
        P = np.empty((n, count), self._hop).T if across else np.empty((count, n), self._hop)
        lost, guessed = np.empty(count, np.int64), np.zeros(count, bool)
        parts = self.threads if count >= 2 * LANES * self.threads else 1
        most = (TIED if tied or not bounded else WIDE) if across else min(LANES, ROOM // max(n * self._size, 1))
        words = 2 * len(entering.columns) + 3 * n + 1  # for 64 lines
        width = max(min(most, -(-count // (WHOLE * parts)) * WHOLE, 64 * max(BITS // max(8 * words, 1), 1)), 1)
        order = np.arange(n, dtype=INDEX) if order is None else order.astype(INDEX)
        shared = [a.ctypes.data for a in (lost, guessed, roots, entering.offsets, entering.columns,
                                          entering.values, leaving.offsets, leaving.columns, order)]
        strip = self.module.STRIP
        room = aligned(n * width * self._size) + aligned(4 * width) + width * self._size
        room += strip * (2 * self._size + 9) + aligned(8 * len(entering.columns)) + aligned(20 * n)
        room += 128 + aligned(8 * n + 4) + aligned(n // 8 + 8) + 8 * -(-width // 64) * words
        # The rest is compiled where it is needed, and lines then begin once more; from then on it is at hand.
        grow, rest = self.module.grow.made(), self.__dict__.get("_rest", (0, 0))

        def lines(first: int, last: int) -> None:
            nonlocal rest
            _memory, place = scratch(room)
            begin, end, stopped = first * width, min(last * width, count), np.full(1, -1)
            while begin >= 0:
                grow(X.ctypes.data, *X.strides, P.ctypes.data, *P.strides, *shared, n, begin, end, width, bounded,
                     tied, lossless, across, *rest, stopped.ctypes.data, place)
                begin = int(stopped[0])
                if begin >= 0:
                    rest = self._rest

        edges = len(entering.columns) + n
        self._share("grow", lines, -(-count // width), float(width * edges))
        numbers = self._hop == NUMBER
        return EdgeNumbers(P, entering.offsets, entering.columns) if numbers else P, lost, guessed


def names_of(lowering: Lowering) -> list[str]:
    """The name under which the compiled function is kept on disk."""
    return [f"{cache.stem(*_text(program(lowering), NUMBER, is_monotone(lowering)))}.grow"]


def names_of_hubs(lowering: Lowering) -> list[str]:
    """The same where a vertex has more than `MOST` edges."""
    return [f"{cache.stem(*_text(program(lowering), INDEX, is_monotone(lowering)))}.grow"]


def is_monotone(lowering: Lowering) -> bool:
    """Whether x ⊗ a of floats is one operation, whose rounding keeps the order, and of zero is zero for every edge.

    So it is where no edge is better than one.
    """
    return [c.kind for c in lowering.components] == ["f"] and lowering.mul.is_plain("add", "multiply")


def purpose_of(entering: Rows) -> tuple[str, np.dtype]:
    """What compiled code is for that makes trees along such edges, and as what it keeps them."""
    hubs = int(np.diff(entering.offsets).max(initial=0)) > MOST
    return ("trees of hubs", INDEX) if hubs else ("trees", NUMBER)


def _text(text: Program, hop: np.dtype, monotone: bool, template: Path = SURE) -> tuple[str, str]:
    """Name and text of the module that keeps predecessors as some dtype."""
    constants = f"HOP, HOP_BYTES, MONOTONE = np.{hop.name}, {hop.itemsize}, {monotone}\n\n\n"
    _name, begin = text_of(replace(text, prelude=constants + text.prelude), HOPS)
    name = f"{template.stem.removesuffix('_template')}_{text.name}"
    return name if hop == NUMBER else f"{name}_{hop.name}", begin + below(template)


@lru_cache(1024)
def tree_kernel(lowering: Lowering, *, exchange: bool = False, hop: np.dtype = NUMBER) -> TreeKernel:
    """The kernel of a lowering of machine numbers; with the operands of ⊗ exchanged, for walks that lead to the roots.

    `hop` is as for `TreeKernel`.
    """
    return _kernel(program(lowering), exchange, hop, is_monotone(lowering))


@lru_cache(256)
def _kernel(text: Program, exchange: bool, hop: np.dtype, monotone: bool) -> TreeKernel:
    return TreeKernel(exchanged(text) if exchange else text, None, hop, monotone)
