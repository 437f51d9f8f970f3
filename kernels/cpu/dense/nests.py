"""Contractions of arrays with many short axes: nests of loops around products of small matrices; nothing is copied.

    C[x, i, j] ← ⊕_t A[x, i, t] ⊗ B[x, t, j]      x: loops,  i, t: strides,  j: elements side by side in B and in C

An array of many axes of four elements cannot be read as a matrix without copying it. But any product of two such arrays
is a nest of loops, one for each axis, around the product of small matrices that lanes.py compiles. A nest is a row of
integers:

    numbers of A, B and C; count, and steps of A, B, C;  m, and rows of A, C;  k, column of A, row of B;  n;  bytes of
    an element;  whether to look;  where A begins;  loops, and for each its size and steps in A, B, C

The innermost of the first steps, `count`, is a loop within the compiled product. Compiled loops run one nest after the
other (nests_loops.py); threads share the passes of large ones. A product without columns, n = 0, may look at A for what
is not an element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.lowering.base import Lowering
from semiring.machine.pieces import share
from semiring.machine.threads import thread_count

from .lanes import MOST_TERMS, SIDE, geometry, small

LOOPS_FILE = Path(__file__).with_name("nests_loops.py")
LOOPS = Code.of_loops(LOOPS_FILE, ("run",), each=1.0)  # what all algebras share
MOST_LOOPS, HEAD = 32, 18
CALL = 12e-9  # seconds of the call of a product beside its work,
WAIT, STEP = 1.6e-9, 0.25e-9  # of a step of k until the next one can begin, and for each vector of a row
SHARED = 4e-5  # seconds of a nest from which threads share it
PARTS = 4  # for each thread
UNLIMITED = 1 << 40


class Loop(NamedTuple):
    """A loop of a nest.

    Attributes
    ----------
    size : int
    a, b, c : int
        Bytes from one element to the next in each array; 0 where an array lacks the axis.
    """

    size: int
    a: int
    b: int
    c: int


NOTHING = Loop(1, 0, 0, 0)


class Nest(NamedTuple):
    """A product of two arrays.

    Attributes
    ----------
    arrays : tuple of int
        The numbers of A, B and C.
    loops : tuple of Loop
        Outermost first.
    within, rows, depth : Loop
        The loop within the call, that over i, that over t.
    width, item : int
        n, and bytes of an element.
    looks : bool
        Whether to look for what is not an element.
    begin : int
        Bytes of A before its first element that takes part.
    """

    arrays: tuple[int, int, int]
    loops: tuple[Loop, ...]
    within: Loop
    rows: Loop
    depth: Loop
    width: int
    item: int
    looks: bool = False
    begin: int = 0

    @property
    def passes(self) -> int:
        """How often the product is called."""
        return prod(loop.size for loop in self.loops)

    @property
    def terms(self) -> int:
        """The products ⊗ of elements."""
        return self.passes * self.within.size * self.rows.size * self.depth.size * max(self.width, 1)

    def seconds(self, lanes: int, height: int) -> float:
        """What one thread is predicted to take."""
        rows, vectors = self.rows.size, -(-max(self.width, 1) // lanes)
        tiles = -(-rows // height)
        each = vectors * self.depth.size * max(tiles * WAIT, rows * STEP)
        return self.passes * (CALL + self.within.size * (CALL / 2 + each))

    def numbers(self) -> list[int]:
        """What the compiled loops read."""
        rows, depth = self.rows, self.depth
        head = [*self.arrays, *self.within, rows.size, rows.a, rows.c, depth.size, depth.a, depth.b, self.width,
                self.item, self.looks, self.begin, len(self.loops)]
        return [*head, *(x for loop in self.loops for x in loop)]


def look(array: int, rows: int, step: int, count: int, item: int, lanes: int) -> list[Nest]:
    """Nests that examine an array: so many rows, `step` bytes apart, of `count` elements that lie together."""
    blocks, rest = divmod(count, SIDE * lanes)
    whole, last = divmod(rest, lanes)
    parts = [(0, blocks, SIDE, lanes), (blocks * SIDE * lanes, 1, whole, lanes), (count - last, 1, 1, last)]
    return [
        Nest((array, array, array), (Loop(rows, step, 0, 0), Loop(n, SIDE * lanes * item, 0, 0)),
             NOTHING, Loop(m, lanes * item, 0, 0), Loop(k, item, item, 0), 0, item, True, place * item)
        for place, n, m, k in parts if n and m and k
    ]


class Nests:
    """Products that follow each other.

    Parameters
    ----------
    nests : sequence of Nest
    lanes, height : int
        As `geometry` gives them for the elements.
    """

    def __init__(self, nests: Sequence[Nest], lanes: int, height: int):
        self._nests = list(nests)
        rows = [nest.numbers() for nest in nests]
        self._width = max(map(len, rows), default=0)
        self._numbers = np.array([row + [0] * (self._width - len(row)) for row in rows], np.int64)
        self._seconds = [nest.seconds(lanes, height) for nest in nests]
        self.seconds = sum(self._seconds)

    def run(self, low: Lowering, bases: np.ndarray) -> bool:
        """Compute all products, of arrays in storage at some addresses; whether all looks found elements alone.

        Results do not depend on the number of threads.
        """
        done = 0
        for i, (nest, seconds) in enumerate(zip(self._nests, self._seconds, strict=True)):
            if nest.passes > 1 and (seconds >= SHARED or nest.terms > MOST_TERMS):
                if not (self._part(low, bases, done, i) and self._part(low, bases, i, i + 1)):
                    return False
                done = i + 1
        return self._part(low, bases, done, len(self._nests))

    def _part(self, low: Lowering, bases: np.ndarray, first: int, last: int) -> bool:
        """Compute some of the products: one alone by several threads."""
        if first == last:
            return True
        call, product = nest_loops(), small(low).product
        side = SIDE if low.log_sum is not None or not geometry(low.components)[2] else UNLIMITED
        numbers, addresses, part = self._numbers.ctypes.data, bases.ctypes.data, (self._width, first, last)
        parts, passes, threads = 1, UNLIMITED, thread_count()
        if last == first + 1:
            nest, seconds = self._nests[first], self._seconds[first]
            passes = nest.passes
            parts = max(min(PARTS * threads, int(seconds / SHARED)), nest.terms // MOST_TERMS)
            parts = max(min(parts, passes), 1)
        strange: list[int] = []

        def work(begin: int, end: int) -> None:
            if not strange and (found := call(numbers, *part, begin, end, addresses, product, side)) >= 0:
                strange.append(found)

        cuts = [passes * i // parts for i in range(parts + 1)]
        share(work, [*pairwise(cuts)], threads)
        return not strange


def looks(low: Lowering) -> bool:
    """Whether a product of elements may be NaN or lie outside the carrier."""
    return not low.drops_nan or low.algebra.carrier_in(low.dtype).op != "constant"


@cache
def nest_loops() -> Callable[..., int]:
    """The compiled loops, which all algebras share."""
    from semiring.kernels.cpu.compile.jit import address_of, from_python  # it imports Numba

    from .nests_loops import run  # it loads Numba

    return from_python(address_of(run), 9)
