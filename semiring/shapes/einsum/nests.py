"""The products of an einsum as nests of loops, over arrays with their axes in one order, so that no product is turned.

All arrays have their axes in one order: an axis that is summed earlier is further out. Only operands may be copied into
that order, before the first product. The axes that a product sums are then the outermost ones of both factors, and
become one loop. The innermost axes of the larger factor remain in the product, where they are innermost too: they are
the vectors. All axes between are loops, with strides:

    step       C[…] ← ⊕ L[…] ⊗ R[…]           contraction.py
    axes       batch, left, right, summed      of each, neighbours that lie together are one loop
    nest       C[x, i, j] ← ⊕_t A[x, i, t] ⊗ B[x, t, j], with j innermost, and A and B as L and R or as R and L

Everything follows from the steps and the size of an element, so that it is found once for all arrays of the same
shapes. Arrays between operands and answer lie in one piece of memory, where an array takes the place of those that are
no longer needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import prod
from typing import NamedTuple

import numpy as np

from semiring.kernels.cpu.dense.nests import MOST_LOOPS, NOTHING, Loop, Nest, Nests, look
from semiring.kernels.lowering.base import Lowering

from .contraction import Product, Steps, Sum
from .notation import Axis

ALIGNED = 64  # bytes to a multiple of which arrays begin
FAR = 4096  # bytes: rows that lie a multiple of this apart share few lines of a cache,
APART = 192  # and so many bytes more between them, they do not
MOST_WORK = 2.0**48  # terms, up to which all distances are 64-bit integers
LARGE = 64  # rows, columns and terms from which tiles of packed panels are faster
BY_PRODUCT = 6e-5, 4e-10, 6e-9  # seconds of a product of stacks, of each of its terms and each element that it copies
TURNED = 3e-9  # seconds of an element of an operand whose axes come into another order


class Laid(NamedTuple):
    """How an array lies in memory.

    Attributes
    ----------
    axes : tuple
        Outermost first.
    strides : dict
        Bytes, by axis.
    size : int
        Bytes in all.
    apart : tuple
        The first axes, if there are bytes between what lies at their places.
    """

    axes: tuple[Axis, ...]
    strides: dict[Axis, int]
    size: int
    apart: tuple[Axis, ...]


class Contraction:
    """The products of an einsum as nests.

    Attributes
    ----------
    order : dict
        The place of each axis in the order that all arrays have.
    laid : list of Laid
        The arrays by number, as in `Steps`.
    places : dict
        Where in the workspace the array of each number begins.
    size : int
        Bytes of the workspace.
    """

    def __init__(self, steps: Steps, item: int, lanes: int, height: int, keep: bool):
        self.steps, self._item, self._geometry = steps, item, (lanes, height)
        self.products = [step for step in steps.steps if isinstance(step, Product)]
        self.first = len(steps.operands) + len(steps.steps) - len(self.products)
        self.order = _order(steps)
        last: dict[int, Product] = {number: step for step in self.products for number in (step.left, step.right)}
        given = [*steps.operands, *(step.axes for step in steps.steps if isinstance(step, Sum))]
        made = [(step.axes, last[n].summed if n in last else ()) for n, step in enumerate(self.products, self.first)]
        self.laid = [self._lay(axes) for axes in given] + [self._lay(axes, summed) for axes, summed in made]
        self.places, self.size = self._placed(keep)
        self._own = given
        self._nests = [self._nest(n, step) for n, step in enumerate(self.products, self.first)]
        self._programs: dict[tuple[bool, bool], Nests] = {}

    def _lay(self, axes: tuple[Axis, ...], summed: tuple[Axis, ...] = ()) -> Laid:
        """An array; those that the next product sums come first, and are apart."""
        ordered, sizes = sorted(axes, key=self.order.__getitem__), self.steps.sizes
        strides, size = dict[Axis, int](), self._item
        inner = self._item * prod(sizes[a] for a in ordered if a not in summed)
        apart = tuple(a for a in ordered if a in summed and inner % FAR == 0)
        for axis in reversed(ordered):
            size += APART if apart and axis == apart[-1] else 0
            strides[axis] = size
            size *= sizes[axis]
        return Laid(tuple(ordered), strides, size, apart)

    def _placed(self, keep: bool) -> tuple[dict[int, int], int]:
        """The first place with room for each array while it is needed; all have a place of their own if they stay."""
        places, live, size = dict[int, int](), dict[int, tuple[int, int]](), 0
        for number, step in enumerate(self.products, self.first):
            own = -(-self.laid[number].size // ALIGNED) * ALIGNED
            taken = [(0, 0), *sorted(live.values()), (1 << 62, 1 << 62)]
            place = size if keep else next(end for (_, end), (begin, _) in pairwise(taken) if begin - end >= own)
            places[number], live[number] = place, (place, place + own)
            size = max(size, place + own)
            if not keep:
                live.pop(step.left, None)
                live.pop(step.right, None)
        return places, size

    def _nest(self, number: int, step: Product) -> Nest:
        sizes, (L, R, C) = self.steps.sizes, (self.laid[x] for x in (step.left, step.right, number))
        axes = [a for a in C.axes if sizes[a] > 1]
        inner = axes[-1] if axes else None
        exchanged = inner in step.left_free
        A, B = (R, L) if exchanged else (L, R)

        def joined(some: list[Axis]) -> list[Loop]:
            """Loops over some axes, outermost first, of which neighbours become one where the strides allow it."""
            found: list[Loop] = []
            for axis in some:
                loop = Loop(sizes[axis], *(X.strides.get(axis, 0) for X in (A, B, C)))
                if found and found[-1][1:] == tuple(loop.size * x for x in loop[1:]):
                    loop = loop._replace(size=loop.size * found.pop().size)
                found.append(loop)
            return found

        loops = joined(axes)
        depths = joined([a for a in sorted(step.summed, key=self.order.__getitem__) if sizes[a] > 1])
        if len(depths) > 1:  # an axis that is summed is in both factors, whose outermost axes are those
            raise AssertionError("the summed axes are not one loop")
        width = loops.pop().size if inner is not None and inner not in step.batch else 1
        inside = [loop for loop in loops if not loop.b]  # those in which B is read again, from the nearest cache
        outside = [loop for loop in loops if loop.b]
        rows = inside.pop(inside.index(max(inside))) if inside else NOTHING
        count = inside.pop() if inside else outside.pop(outside.index(max(outside))) if outside else NOTHING
        return Nest(
            (step.right, step.left, number) if exchanged else (step.left, step.right, number),
            tuple(outside + inside), count, rows, depths[0] if depths else NOTHING, width, self._item,
        )

    @property
    def shapes(self) -> list[tuple[int, int, int, int]]:
        """For each product, how many products of small matrices its loops run, and the sizes m, k and n of these."""
        return [(nest.passes * nest.within.size, nest.rows.size, nest.depth.size, nest.width) for nest in self._nests]

    @property
    def repays(self) -> bool:
        """Whether nests are predicted to be faster than products of stacks."""
        call, term, copied = BY_PRODUCT
        stacks = sum(call + term * step.work + copied * self.steps.copied(step) for step in self.products)
        return self.seconds + TURNED * self._turned <= stacks

    @property
    def bytes(self) -> int:
        """Bytes of the workspace, sums of operands, operands whose axes come into another order, and the answer."""
        sums = sum(self.steps.size(step.axes) for step in self.steps.steps if isinstance(step, Sum))
        return self.size + ALIGNED + self._item * (sums + self._turned + self.steps.size(self.steps.fitted.output))

    @property
    def _turned(self) -> int:
        """Elements of operands whose axes come into another order."""
        return sum(self.steps.size(own) for own, laid in zip(self._own, self.laid, strict=False)
                   if self._long(own) != self._long(laid.axes))

    def _long(self, axes: Sequence[Axis]) -> list[Axis]:
        """The axes of more than one element."""
        return [a for a in axes if self.steps.sizes[a] > 1]

    def run(
        self, low: Lowering, given: Sequence[np.ndarray], memory: np.ndarray, looks_given: bool, looks_made: bool
    ) -> list[np.ndarray] | None:
        """All arrays, with axes in the order that `laid` has; None if one holds anything that is not an element.

        Parameters
        ----------
        low : Lowering
        given : sequence of ndarray
            The first arrays, in storage.
        memory : ndarray
            The workspace, which begins at a multiple of `ALIGNED`.
        looks_given, looks_made : bool
            Whether to look at operands, and at what is made.
        """
        arrays = [_turned(A, axes, laid.axes) for A, axes, laid in zip(given, self._own, self.laid, strict=False)]
        sizes = self.steps.sizes
        for number, place in self.places.items():
            laid = self.laid[number]
            shape, strides = [sizes[a] for a in laid.axes], [laid.strides[a] for a in laid.axes]
            arrays.append(np.ndarray(shape, low.storage, memory, place, strides))
        bases = np.array([A.ctypes.data for A in arrays], np.int64)
        return arrays if self._program(looks_given, looks_made).run(low, bases) else None

    @property
    def seconds(self) -> float:
        """What one thread is predicted to take."""
        return self._program(False, False).seconds

    def _program(self, looks_given: bool, looks_made: bool) -> Nests:
        """The nests, with looks at arrays before they are used."""
        key = looks_given, looks_made
        if key not in self._programs:
            operands = len(self.steps.operands)
            nests = [look for n in range(self.first) if (looks_given if n < operands else looks_made)
                     for look in self._looks(n)]
            for number, nest in enumerate(self._nests, self.first):
                nests += [nest, *(self._looks(number) if looks_made else [])]
            self._programs[key] = Nests(nests, *self._geometry)
        return self._programs[key]

    def _looks(self, number: int) -> list[Nest]:
        laid, sizes = self.laid[number], self.steps.sizes
        rows = prod(sizes[a] for a in laid.apart)
        return look(number, rows, laid.size // rows, prod(sizes[a] for a in laid.axes) // rows, self._item,
                    self._geometry[0])


def _turned(A: np.ndarray, own: tuple[Axis, ...], wanted: tuple[Axis, ...]) -> np.ndarray:
    """An array with its axes in another order, next to each other and aligned."""
    turned = A if own == wanted else A.transpose([own.index(a) for a in wanted])
    return turned if turned.flags.c_contiguous and turned.flags.aligned else turned.copy()


def _order(steps: Steps) -> dict[Axis, int]:
    """The place of each axis: earlier if it is summed earlier, last if it is in the answer, as it stands there."""
    output = steps.fitted.output
    ends = {a: number for number, step in enumerate(steps.steps) for a in step.summed}
    return {a: k for k, a in enumerate(sorted(
        steps.sizes, key=lambda a: (ends.get(a, len(steps.steps)), output.index(a) if a in output else 0)))}


@lru_cache(256)
def contraction_of(steps: Steps, item: int, lanes: int, height: int, keep: bool) -> Contraction | None:
    """The products of an einsum as nests; None where products of stacks are predicted to be faster."""
    products = [step for step in steps.steps if isinstance(step, Product)]
    if len(products) < 2 or 0 in steps.sizes.values():
        return None
    if any(min(map(steps.size, (s.left_free, s.summed, s.right_free))) >= LARGE for s in products):
        return None
    if max(len(step.axes) for step in products) > MOST_LOOPS or steps.work >= MOST_WORK:
        return None
    found = Contraction(steps, item, lanes, height, keep)
    return found if found.repays else None
