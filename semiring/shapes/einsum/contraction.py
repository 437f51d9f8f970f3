"""The steps of an einsum: which axes are summed when, and how each pair of arrays becomes a stack of products.

    steps_of(fitted, …)     axes that one operand alone has are ⊕-summed first; then pairs of arrays, in the order that
                            `semiring.algorithms.contraction` finds: C[b, l, r] = ⊕_s L[b, l, s] ⊗ R[b, s, r]
                            with b, l, s, r any number of axes each

Nothing here touches an element: the steps follow from axes, sizes and laws, so they are computed once for all arrays of
the same shapes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from semiring.algorithms.contraction import Network, Pairs, in_turn, order
from semiring.errors import SemiringError
from semiring.graphs.texts import clip_repr

from .notation import Axis, Fitted

WHICH, PLACE = 4, 8  # bytes of the number of a winning term, and of a place on the walk back to it
MOST_AXES = 32  # of an array that is made: NumPy computes with so many
Optimize = bool | str | Sequence[tuple[int, ...]]


class Sum(NamedTuple):
    """⊕ over some axes of one array."""

    source: int  # the number of the array
    given: tuple[Axis, ...]
    summed: tuple[Axis, ...]
    axes: tuple[Axis, ...]  # of the result
    work: float


class Product(NamedTuple):
    """⊗ of two arrays, and ⊕ over the axes `summed`."""

    left: int
    right: int
    left_axes: tuple[Axis, ...]
    right_axes: tuple[Axis, ...]
    batch: tuple[Axis, ...]
    left_free: tuple[Axis, ...]
    summed: tuple[Axis, ...]
    right_free: tuple[Axis, ...]
    work: float

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes of the result."""
        return self.batch + self.left_free + self.right_free


class Steps:
    """The steps of an einsum, and what they cost.

    Attributes
    ----------
    fitted : Fitted
    operands : tuple of tuple
        The axes of each operand, each once.
    steps : list of Sum or Product
        Each makes one array; arrays are numbered from 0, operands first.
    work : float
        Multiply-adds; a ⊕ alone counts as one.
    """

    def __init__(self, fitted: Fitted, commutes: bool, distributes: bool, optimize: Hashable):
        self.fitted, self.sizes = fitted, fitted.sizes
        self.operands = tuple(tuple(dict.fromkeys(a for a in axes if a is not None)) for axes in fitted.operands)
        self.steps: list[Sum | Product] = []
        self._axes = list(self.operands)  # of all arrays so far
        self._used: set[int] = set()
        live = list(range(len(self.operands)))
        if distributes or len(live) == 1:
            live = [self._summed_alone(i) for i in live]
        pairs = self._order(live, commutes, optimize) if distributes else in_turn(len(live))
        for number, (i, j) in enumerate(pairs, len(self.operands)):
            live.append(self._multiplied(live[i], live[j], live, distributes or number == 2 * len(self.operands) - 2))
        self.work = sum(step.work for step in self.steps)
        if len(axes := max((step.axes for step in self.steps), key=len, default=())) > MOST_AXES:
            raise SemiringError(f"einsum would make an array of {len(axes)} axes here, and NumPy computes with at "
                                f"most {MOST_AXES}: take out axes of one element, or sum more axes")

    def size(self, axes: Iterable[Axis]) -> int:
        """The number of elements of an array."""
        return prod(self.sizes[a] for a in axes)

    @property
    def result(self) -> tuple[Axis, ...]:
        """The axes of the last array, in any order those of the answer."""
        return self._axes[-1] if self.steps else self.operands[0]

    @cached_property
    def unseen(self) -> tuple[int, ...]:
        """The operands that no step looks at as a whole.

        A sum looks at each element, and so does a product with a sum; but of a repeated axis only at a diagonal.
        """
        looks = {number for step in self.steps if step.summed
                 for number in ((step.source,) if isinstance(step, Sum) else (step.left, step.right))}
        return tuple(i for i in range(len(self.operands)) if i not in looks or i in self.diagonal)

    @cached_property
    def diagonal(self) -> tuple[int, ...]:
        """The operands of which an axis is repeated, so that only a diagonal is read."""
        return tuple(i for i, axes in enumerate(self.fitted.operands)
                     if any(a is not None and axes.count(a) > 1 for a in axes))

    @cached_property
    def largest(self) -> tuple[Axis, ...]:
        """The axes of the largest array that is made."""
        return max((step.axes for step in self.steps), key=self.size, default=())

    @cached_property
    def _most(self) -> int:
        """The elements of all arrays that are held at once, beyond the operands."""
        held: dict[int, int] = {}
        most = 0
        for number, step in enumerate(self.steps, len(self.operands)):
            held[number] = self.size(step.axes)
            most = max(most, sum(held.values()) + (self.copied(step) if isinstance(step, Product) else 0))
            for used in (step.source,) if isinstance(step, Sum) else (step.left, step.right):
                held.pop(used, None)
        return most

    def bytes(self, item: int, winners: bool) -> int:
        """Bytes that may be held at once beyond the operands, if the steps run one after the other.

        Winners stay until the walk back. A sum compares all elements with those of its result, and a product with
        winners may copy its factors and number their elements.

        Parameters
        ----------
        item : int
            Bytes of an element.
        winners : bool
        """
        if not winners:
            return self._most * item
        kept = sum(WHICH * self.size(step.axes) for step in self.steps if step.summed)
        beside = [self._compared(step, item) for step in self.steps if step.summed]
        return self._most * item + kept + max(beside, default=0) + self.places

    def _compared(self, step: Sum | Product, item: int) -> int:
        """Bytes beside operands and answer of a step that notes which terms win."""
        if isinstance(step, Product):
            return (item + WHICH) * (self.size(step.left_axes) + self.size(step.right_axes))
        return self.size(step.given) * (2 if self._join(step.given, step.summed) else 2 + item)

    @cached_property
    def places(self) -> int:
        """Bytes of the places of winning terms, and of what is held on the walk back to them."""
        summed = len(self.sizes) - len(self.fitted.output)
        return self.size(self.fitted.output) * PLACE * (summed + 3) if summed else 0

    def copied(self, step: Product) -> int:
        """The elements of factors in which axes that a stack joins do not follow each other.

        A product that sums copies them; one by element reads them in short runs, which takes about as long.
        """
        factors = (step.left_axes, (step.left_free, step.summed)), (step.right_axes, (step.summed, step.right_free))
        return sum(self.size({*axes, *step.summed}) for axes, groups in factors  # without the laws it may lack some
                   if not all(self._join(axes, group) for group in groups))

    def _join(self, axes: Sequence[Axis], group: Sequence[Axis]) -> bool:
        """Whether some axes are at most one of an array, or follow each other in it; those of one element aside."""
        own, wanted = ([a for a in some if self.sizes[a] > 1] for some in (axes, group))
        if len(wanted) < 2:
            return True
        first = own.index(wanted[0]) if wanted[0] in own else len(own)
        return own[first : first + len(wanted)] == wanted

    def _summed_alone(self, i: int) -> int:
        """Sum the axes that only one operand has; return the number of what is left of it."""
        others = {a for j, axes in enumerate(self.operands) if j != i for a in axes}.union(self.fitted.output)
        axes = self.operands[i]
        alone = tuple(a for a in axes if a not in others)
        if not alone:
            return i
        kept = tuple(a for a in axes if a in others)
        self.steps.append(Sum(i, axes, alone, kept, float(self.size(axes))))
        self._axes.append(kept)
        return len(self._axes) - 1

    def _multiplied(self, i: int, j: int, live: list[int], sums: bool) -> int:
        """Multiply two arrays; return the number of the product. `live` are the numbers by the order's own."""
        left, right = self._axes[i], self._axes[j]
        self._used |= {i, j}
        needed = set(self.fitted.output).union(*(self._axes[k] for k in live if k not in self._used))
        summed = tuple(a for a in dict.fromkeys(left + right) if a not in needed) if sums else ()
        batch = tuple(a for a in left if a in right and a not in summed)
        left_free = tuple(a for a in left if a not in right and a not in summed)
        right_free = tuple(a for a in right if a not in left and a not in summed)
        work = float(self.size(batch + left_free + summed + right_free))
        step = Product(i, j, left, right, batch, left_free, summed, right_free, work)
        self.steps.append(step)
        self._axes.append(step.axes)
        return len(self._axes) - 1

    def _order(self, live: list[int], commutes: bool, optimize: Hashable) -> Pairs:
        """The order of the products, by number."""
        count = len(live)
        if isinstance(optimize, tuple):
            return numbered(optimize, count, commutes)
        if optimize is False or count < 3:
            return in_turn(count)
        number = {axis: k for k, axis in enumerate(self.sizes)}
        masks = [sum(1 << number[a] for a in self._axes[i]) for i in live]
        output = sum(1 << number[a] for a in self.fitted.output)
        network = Network(masks, output, [self.sizes[a] for a in number])
        return order(network, commutes)


def numbered(path: Sequence[tuple[int, ...]], count: int, commutes: bool) -> Pairs:
    """A path as numpy.einsum_path writes it: each pair is taken out of the list, and the product goes to its end.

    If ⊗ does not commute, the product takes the place of the left one instead, so that operands keep their order.

    Examples
    --------
    >>> numbered([(1, 2), (0, 1)], 3, True)
    [(1, 2), (0, 3)]
    """
    left, pairs = list(range(count)), Pairs()
    for group in path:
        places = sorted(group)
        if not places or places[0] < 0 or places[-1] >= len(left) or len(set(places)) < len(places):
            raise SemiringError(f"optimize names {clip_repr(group)}, but {len(left)} arrays are left then, with places "
                                f"from 0 to {len(left) - 1}")
        if not commutes and places != list(range(places[0], places[-1] + 1)):
            raise SemiringError(f"optimize names {clip_repr(group)}, but ⊗ does not commute: it must be a "
                                "run of neighbours; or leave out optimize")
        chosen = [left[k] for k in places]
        for k in reversed(places):
            del left[k]
        made = chosen[0]
        for other in chosen[1:]:
            pairs.append((made, other))
            made = count + len(pairs) - 1
        left.insert(len(left) if commutes else places[0], made)
    if len(left) > 1:
        raise SemiringError(f"optimize leaves {len(left)} arrays: a path multiplies all of them")
    return pairs


def read_optimize(optimize: Optimize) -> Hashable:
    """Check the option `optimize`: True, False, or a path as numpy.einsum_path gives it.

    Examples
    --------
    >>> read_optimize(["einsum_path", (0, 1)]), read_optimize(True)
    (((0, 1),), True)
    """
    if isinstance(optimize, (bool, np.bool_)):
        return bool(optimize)
    if isinstance(optimize, (list, tuple)):
        steps = optimize[1:] if optimize and optimize[0] == "einsum_path" else optimize
        if all(isinstance(s, (list, tuple)) and all(isinstance(k, (int, np.integer)) for k in s) for s in steps):
            return tuple(map(tuple, steps))
    raise SemiringError("optimize must be True, False, or a path as numpy.einsum_path gives it, such as "
                        f"['einsum_path', (1, 2), (0, 1)], and is {clip_repr(optimize)}")
