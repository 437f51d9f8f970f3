"""Run the steps of an einsum on arrays of the host: sums by ⊕, and pairs as stacks of products.

Each step has the axes of its operands and of its result (contraction.py). An array of NumPy is put into the order that
a product needs by moving axes, which copies nothing; several axes become one by `reshape`, which copies if they do not
lie behind each other. With winners, each step also notes which term is its sum (`Won`), and `assignment` walks back
from the answer: an entry of a product tells the axes that were summed; with its own axes these are places in both
factors, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np

from semiring.algebra.elements import equal, full, is_nan
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.machine.pieces import ranges, share
from semiring.machine.threads import thread_count
from semiring.matrices import matmul
from semiring.operands.devices import module_of

from ..sums.folding import fold_of
from .contraction import Product, Steps, Sum
from .notation import Axis

NONE = np.int32(-1)  # no term won: the sum is zero
PIECE = 1 << 16  # elements that all threads multiply one by one at once: caches hold what is made on the way
LEAST = 1 << 12  # elements of a thread's piece


class Won(NamedTuple):
    """Which terms won a step: numbers of the summed axes together, the last of them fastest, by the step's axes."""

    summed: tuple[Axis, ...]
    axes: tuple[Axis, ...]
    which: np.ndarray


def run(
    steps: Steps, S: Semiring, given: Sequence[np.ndarray], winners: bool, check: bool
) -> tuple[np.ndarray, list[Won]]:
    """The answer of an einsum, with its axes in order, and what won each step.

    Parameters
    ----------
    steps : Steps
    S : Semiring
    given : sequence of ndarray
        The operands, of one dtype that carries the algebra.
    winners : bool
        Whether to note which terms win; then ⊕ selects.
    check : bool
        Whether to refuse arrays without a value somewhere.
    """
    arrays: list[Any] = [diagonals(A, axes) for A, axes in zip(given, steps.fitted.operands, strict=True)]
    won: list[Won] = []
    for step in steps.steps:
        if isinstance(step, Sum):
            made = summed(step, S, arrays[step.source], won if winners else None)
            arrays[step.source] = None
        else:
            pair = arrays[step.left], arrays[step.right]
            made = _multiplied(step, steps.sizes, S, pair, won if winners else None, check)
            arrays[step.left] = arrays[step.right] = None
        if check and not (isinstance(step, Product) and step.summed):  # `matmul` looked itself
            _refuse_nan(S, made)
        arrays.append(made)
    result = arrays[-1]
    order = [steps.result.index(a) for a in steps.fitted.output]
    result = result.transpose(order)
    return (result if steps.steps and result.flags.writeable else result.copy()), won


def diagonals(A: np.ndarray, axes: Sequence[Axis | None]) -> np.ndarray:
    """A view with each axis once, as `each_once` lays them."""
    if len(set(axes)) == len(axes) and None not in axes:
        return A
    return np.lib.stride_tricks.as_strided(A, *each_once(A, axes), writeable=False)


def each_once(A: Any, axes: Sequence[Axis | None]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Sizes and strides of each axis once: a repeated axis is a diagonal, whose stride is the sum of the strides."""
    shape: dict[Axis, int] = {}
    strides: dict[Axis, int] = {}
    for axis, size, stride in zip(axes, A.shape, A.strides, strict=True):
        if axis is not None:
            shape[axis] = size
            strides[axis] = strides.get(axis, 0) + stride
    return tuple(shape.values()), tuple(strides.values())


def summed(step: Sum, S: Semiring, A: np.ndarray, won: list[Won] | None) -> np.ndarray:
    """⊕ over some axes."""
    moved = A.transpose([step.given.index(a) for a in step.axes + step.summed])
    shape, count = moved.shape[: len(step.axes)], prod(moved.shape[len(step.axes) :])
    if count:
        axes = [k for k, a in enumerate(step.given) if a in step.summed]
        total = fold_of(S, "add", A.dtype).along(A, axes).reshape(shape)
        total = total.copy() if count == 1 else total  # nothing was added: it is A itself
    else:
        total = full(np.empty(shape, A.dtype), S.over(A.dtype).zero)
    if won is not None:
        which = np.full(shape, NONE)
        if count:
            which[...] = np.asarray(equal(moved.reshape(*shape, count), total[..., None])).argmax(-1)
        which[np.asarray(equal(total, full(total, S.over(A.dtype).zero)), bool)] = NONE
        won.append(Won(step.summed, step.axes, which))
    return total


def _refuse_nan(S: Semiring, made: np.ndarray) -> None:
    """Refuse an array without a value somewhere; operands and arrays before it have values everywhere."""
    if made.dtype.kind in "fcV" and is_nan(made).any():
        refuse_range(S, made.dtype)


def refuse_range(S: Semiring, dtype: np.dtype) -> NoReturn:
    """Refuse numbers that leave the dtype between the operands and the answer."""
    raise SemiringError(f"{S.name}: on the way to the answer numbers leave the range of {dtype}, and infinities of "
                        "both signs meet. Convert the data to a wider dtype, or scale them")


def _multiplied(
    step: Product, sizes: Mapping[Axis, int], S: Semiring, pair: tuple[np.ndarray, np.ndarray], won: list[Won] | None,
    check: bool,
) -> np.ndarray:
    """⊗ of two arrays, and ⊕ over the axes that only they have."""
    L, R = pair
    shape = tuple(sizes[a] for a in step.axes)
    if not step.summed:
        left = laid(L, step.left_axes, (step.batch, step.left_free, step.right_free), sizes, grouped=False)
        right = laid(R, step.right_axes, (step.batch, step.left_free, step.right_free), sizes, grouped=False)
        arithmetic = S.over(L.dtype)
        multiply = arithmetic.raw_mul if S.product_only and not S.absorbs else arithmetic.mul
        return by_element(multiply, left, right, shape)
    left = laid(L, step.left_axes, (step.batch, step.left_free, step.summed), sizes)
    right = laid(R, step.right_axes, (step.batch, step.summed, step.right_free), sizes)
    if won is None:
        made = matmul(left, right, S) if check else matmul(left, right, S, check=False)  # few options: a short way
        return made.reshape(shape)
    total, which = matmul(left, right, S, check=check, argmax=True)
    won.append(Won(step.summed, step.axes, which.reshape(shape)))
    return total.reshape(shape)


def by_element(
    multiply: Callable[[np.ndarray, np.ndarray], Any], left: np.ndarray, right: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    """⊗ of arrays that broadcast to a shape, in pieces, so that only these have arrays on the way to their product."""
    if prod(shape) <= PIECE:
        return np.asarray(multiply(left, right), left.dtype)
    made = np.empty(shape, left.dtype)
    threads = 1 if left.dtype == object else thread_count()
    most = max(PIECE // threads, LEAST)
    cut = next(k for k in range(len(shape)) if prod(shape[k + 1 :]) <= most)
    spans = ranges(shape[cut], -(-shape[cut] * prod(shape[cut + 1 :]) // most))

    def piece(place: tuple[int, ...], first: int, last: int) -> None:
        at: Any = (*place, slice(first, last))
        made[at] = multiply(_part(left, place, first, last), _part(right, place, first, last))

    share(piece, [(place, *span) for place in np.ndindex(shape[:cut]) for span in spans], threads)
    return made


def _part(A: np.ndarray, place: tuple[int, ...], first: int, last: int) -> np.ndarray:
    """At a place along the first axes, a range along the next one; axes of one element repeat it."""
    at: list[Any] = [0 if n == 1 else i for i, n in zip(place, A.shape, strict=False)]
    found: np.ndarray = A[tuple(at) if A.shape[len(at)] == 1 else (*at, slice(first, last))]
    return found


def laid(
    A: Any, axes: tuple[Axis, ...], groups: tuple[tuple[Axis, ...], ...], sizes: Mapping[Axis, int],
    grouped: bool = True, reshape: Callable[[Any, tuple[int, ...]], Any] = np.reshape,
) -> Any:
    """An array with its axes in the order of some groups.

    Axes that it lacks repeat it if the array is to be summed over them, and have one element otherwise. The last two
    groups become one axis each if `grouped`.
    """
    wanted = [a for group in groups for a in group]
    A = A.transpose([axes.index(a) for a in wanted if a in axes])
    if len(axes) < len(wanted):
        A = A[tuple(slice(None) if a in axes else None for a in wanted)]
        if grouped:
            A = module_of(A).broadcast_to(A, [sizes[a] for a in wanted])
    if not grouped:
        return A
    batch = len(groups[0])
    two = [prod(sizes[a] for a in group) for group in groups[1:]]
    return reshape(A, (*A.shape[:batch], *two))


def assignment(steps: Steps, won: Sequence[Won], nothing: Any) -> dict[Axis, Any]:
    """For each axis that was summed, the place of the term that is the answer, by the axes of the answer.

    Parameters
    ----------
    steps : Steps
    won : sequence of Won
        As `run` gives it.
    nothing : ndarray of bool
        Where the answer is zero, so that no term won; of NumPy or CuPy, as the winners are.
    """
    xp = module_of(nothing)
    output, shape = steps.fitted.output, nothing.shape
    summed = [a for a in steps.sizes if a not in output]
    if 0 in steps.sizes.values():
        return {a: xp.full(shape, NONE) for a in summed}
    places: dict[Axis, Any] = {
        a: xp.arange(shape[k]).reshape([-1 if i == k else 1 for i in range(len(shape))]) for k, a in enumerate(output)
    }
    for step in reversed(won):
        found = step.which[tuple(places[a] for a in step.axes)] if step.axes else step.which
        flat = xp.maximum(found, 0)
        for axis in reversed(step.summed):
            flat, places[axis] = xp.divmod(flat, steps.sizes[axis])
    return {a: xp.where(nothing, NONE, places[a]).astype(NONE.dtype) for a in summed}
