"""Trees of best walks from their values over compressed rows, on the CPU: what `semiring.algorithms.trees` says.

Rows of values stand side by side, a lane each, so that an edge is looked at once for all of them. The compiled loops
are generated for each semiring, from trees_template.py; from tree_rounds_template.py those that few graphs need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile import cache
from semiring.kernels.cpu.compile.program import Program, program
from semiring.kernels.cpu.compile.program import text_of as below
from semiring.kernels.cpu.dense.operations import exchanged
from semiring.kernels.lowering.base import Lowering
from semiring.machine.threads import scratch

from .edge_numbers import NUMBER, EdgeNumbers
from .kernel import RowsKernel, aligned, comparing
from .search import INDEX

ROUNDS, HOPS = (Path(__file__).with_name(f"{name}_template.py") for name in ("tree_rounds", "tree_hops"))
REST = "settle_vertex", "reach_rest"
LANES = 32  # lines that stand side by side when they are copied
WIDE = 4096  # and when they do already, so that they are read a few pages at a time
ROOM = 1 << 20  # bytes of copied values that a thread's cache holds
TIED = 1024
WHOLE = 64  # threads take so many lines or a multiple: those left over from whole vectors go one by one
BITS = 64 << 20  # bytes of what is known of edges: a bit for each line


class TreeKernel(RowsKernel):
    """Predecessors for one semiring in one storage type, as numbers of edges; see `RowsKernel`.

    No vertex may have more than `edge_numbers.MOST_EDGES` edges. The program is that of `program_of`.
    """

    template, needs = Path(__file__).with_name("trees_template.py"), ("grow",)
    hop: ClassVar[np.dtype] = NUMBER  # as which predecessors are kept

    def __init__(self, program: Program, threads: int | None = None):
        super().__init__(program, threads)
        self._size = sum(component.itemsize for component in program.components)

    @classmethod
    def program_of(cls, lowering: Lowering) -> Program:
        """Its text knows how predecessors are kept, and whether what is no better has products that are no better."""
        given, hop = program(lowering), cls.hop
        constants = f"HOP, HOP_BYTES, MONOTONE = np.{hop.name}, {hop.itemsize}, {is_monotone(lowering)}\n\n\n"
        name = given.name if hop == NUMBER else f"{given.name}_{hop.name}"
        return replace(given, name=name, prelude=constants + given.prelude)

    @classmethod
    def text_of(cls, text: Program) -> tuple[str, str]:
        return cls._text_of(text, cls.template)

    @classmethod
    def _text_of(cls, text: Program, template: Path) -> tuple[str, str]:
        _name, begin = comparing(text, HOPS)
        return f"{template.stem.removesuffix('_template')}_{text.name}", begin + below(template)

    @classmethod
    def seldom(cls, lowering: Lowering) -> list[cache.Function]:
        """What few graphs need, and the same for walks that lead to the roots where ⊗ does not commute."""
        given = cls.program_of(lowering)
        parts = (cls.template, cls.needs), (ROUNDS, REST)
        return [
            cache.Function(*cls._text_of(text, template), name)
            for text in ([given] if lowering.algebra.commutative else [given, exchanged(given)])
            for template, names in parts for name in names
        ]

    @cached_property
    def rounds(self) -> ModuleType:
        """The compiled module of what few graphs need."""
        return cache.load(*self._text_of(self.program, ROUNDS))

    @cached_property
    def _grow(self) -> Callable[..., None]:
        """The compiled function that most graphs need."""
        made: Callable[..., None] = self.module.grow.made()
        return made

    @cached_property
    def _rest(self) -> tuple[int, ...]:
        """The addresses of its functions."""
        from semiring.kernels.cpu.compile.jit import address_of  # it imports Numba

        return tuple(address_of(getattr(self.rounds, name)) for name in REST)

    def predecessors(
        self, entering: Rows, X: np.ndarray, roots: np.ndarray, bounded: bool, tied: bool = False,
        lossless: bool = False, order: np.ndarray | None = None,
    ) -> tuple[EdgeNumbers | np.ndarray, np.ndarray, np.ndarray]:
        """The vertex before each on a best walk from each root.

        Parameters
        ----------
        entering : Rows
            Of every vertex the edges to it, in storage.
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
        P = np.empty((n, count), self.hop).T if across else np.empty((count, n), self.hop)
        lost, guessed = np.empty(count, np.int64), np.zeros(count, bool)
        parts = self.threads if count >= 2 * LANES * self.threads else 1
        most = (TIED if tied or not bounded else WIDE) if across else min(LANES, ROOM // max(n * self._size, 1))
        edges = len(entering.columns)
        words = 2 * edges + 3 * n + 1  # for 64 lines
        width = max(min(most, -(-count // (WHOLE * parts)) * WHOLE, 64 * max(BITS // max(8 * words, 1), 1)), 1)
        order = np.arange(n, dtype=INDEX) if order is None else order.astype(INDEX)
        # The rest is compiled where it is needed, and lines then begin once more; from then on it is at hand.
        grow, rest = self._grow, self.__dict__.get("_rest", (0, 0))
        blocks = -(-count // width)
        stopped = np.empty(blocks, np.int64)  # for each call the line at which it stopped, where its first block is
        x, p, *shared, stops = [a.ctypes.data for a in (X, P, lost, guessed, roots, entering.offsets, entering.columns,
                                                        entering.values, order, stopped)]
        strip = self.module.STRIP
        room = aligned(n * width * self._size) + aligned(4 * width) + width * self._size
        room += strip * (2 * self._size + 9) + aligned(12 * edges + 8 * (n + 1)) + aligned(20 * n)
        room += 128 + aligned(n // 8 + 8) + 8 * -(-width // 64) * words

        def lines(first: int, last: int) -> None:
            nonlocal rest
            _memory, place = scratch(room)
            begin, end = first * width, min(last * width, count)
            while begin >= 0:
                grow(x, *X.strides, p, *P.strides, *shared, n, begin, end, width, bounded,
                     tied, lossless, across, *rest, stops + 8 * first, place)
                begin = int(stopped[first])
                if begin >= 0:
                    rest = self._rest

        self._share("grow", lines, blocks, float(width * (edges + n)))
        numbers = self.hop == NUMBER
        return EdgeNumbers(P, entering.offsets, entering.columns) if numbers else P, lost, guessed


class HubTreeKernel(TreeKernel):
    """The same with predecessors as vertices, which may have any number of edges."""

    hop = INDEX


def is_monotone(lowering: Lowering) -> bool:
    """Whether x ⊗ a of floats is one operation, whose rounding keeps the order, and of zero is zero for every edge.

    So it is where no edge is better than one.
    """
    return [c.kind for c in lowering.components] == ["f"] and lowering.mul.is_plain("add", "multiply")
