"""Sums and products of many elements by NumPy: neighbours in pairs, then pairs of pairs.

    x₀ ∘ x₁ ∘ x₂ ∘ x₃ ∘ x₄  =  ((x₀ ∘ x₁) ∘ (x₂ ∘ x₃)) ∘ x₄

Operands keep their order, so that ∘ need not commute. A term passes log₂ n operations, not n, and so do its roundings
(N. J. Higham, The accuracy of floating point summation, 1993). Prefixes are made of those of the pairs (G. E. Blelloch,
Prefix sums and their applications, 1990).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeAlias

import numpy as np

from semiring.kernels.lowering.logsum import LogSum
from semiring.kernels.lowering.parts import CHUNK
from semiring.machine.pieces import share

Operate: TypeAlias = Callable[[Any, Any], Any]
TERMS = 128  # that follow each other in a sum
LEAST = 64  # terms at least of a piece's sums


class NotElements(Exception):
    """An array holds something that is not an element."""


def folded(operate: Operate, x: np.ndarray, axis: int) -> np.ndarray:
    """x₀ ∘ x₁ ∘ … along an axis, which has at least one element, and stays with length 1.

    Examples
    --------
    >>> folded(np.add, np.arange(10.0).reshape(2, 5), 1).tolist()
    [[10.0], [35.0]]
    """
    x, tail = np.moveaxis(x, axis, 0), None
    while len(x) > 1:
        even = len(x) & -2
        if even < len(x):
            tail = x[even:] if tail is None else np.asarray(operate(x[even:], tail))
        x = np.asarray(operate(x[:even:2], x[1:even:2]))
    return np.moveaxis(x if tail is None else np.asarray(operate(x, tail)), 0, axis)


def in_blocks(ufunc: np.ufunc, x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """The ordinary sums or products along axes, which stay with length 1, by `reduce`, which takes terms in turn.

    So it gets blocks of `TERMS`, whose results are folded in pairs. It sums up in pairs itself along an axis whose
    elements lie side by side; products along such an axis run side by side, since each waits for the one before it.

    Examples
    --------
    >>> in_blocks(np.add, np.ones((300, 2), "f4"), [0]).tolist()
    [[300.0, 300.0]]
    """
    if len(axes) > 1 and x.flags.c_contiguous and axes[0] == x.ndim - len(axes):
        found = in_blocks(ufunc, x.reshape(*x.shape[: axes[0]], -1), [axes[0]])
        return found.reshape(*x.shape[: axes[0]], *[1] * len(axes))
    for axis in reversed(axes):
        length, adjacent = x.shape[axis], x.strides[axis] == x.itemsize
        if length > TERMS and not (adjacent and ufunc is np.add):
            many = length // TERMS
            blocks = x[(slice(None),) * axis + (slice(many * TERMS),)]
            rest = x[(slice(None),) * axis + (slice(many * TERMS, None),)]
            shape = (many, TERMS) if not adjacent else (TERMS, many)
            blocks = blocks.reshape(*x.shape[:axis], *shape, *x.shape[axis + 1 :])
            found = ufunc.reduce(blocks, axis=axis if adjacent else axis + 1)
            x = folded(ufunc, np.concatenate([found, rest], axis), axis)
        else:
            x = ufunc.reduce(x, axis=axis, keepdims=True)
    return x


def scanned(operate: Operate, x: np.ndarray) -> np.ndarray:
    """x₀, x₀ ∘ x₁, x₀ ∘ x₁ ∘ x₂, … along the first axis.

    Examples
    --------
    >>> scanned(np.add, np.arange(1, 6)).tolist()
    [1, 3, 6, 10, 15]
    """
    out = np.array(x, subok=False)
    if len(x) < 2:
        return out
    even = len(x) & -2
    pairs = scanned(operate, np.asarray(operate(x[:even:2], x[1:even:2])))
    out[1::2] = pairs
    out[2::2] = operate(pairs[: len(out[2::2])], x[2::2])
    return out


def folded_runs(operate: Operate, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """x₀ ∘ x₁ ∘ … of each run ``values[offsets[i]:offsets[i + 1]]``; no run is empty.

    Examples
    --------
    >>> folded_runs(np.add, np.arange(1, 7), np.array([0, 1, 4, 6])).tolist()
    [1, 9, 11]
    """
    lengths = np.diff(offsets)
    while len(lengths) and lengths.max() > 1:
        place = np.arange(len(values)) - np.repeat(offsets[:-1], lengths)
        first = np.flatnonzero(place % 2 == 0)
        paired = first + 1 < np.repeat(offsets[1:], lengths)[first]
        taken = values[first]
        taken[paired] = operate(taken[paired], values[first[paired] + 1])
        values, lengths = taken, (lengths + 1) // 2
        offsets = np.concatenate([[0], np.cumsum(lengths)])
    return values


def in_pieces(
    piece: Callable[..., np.ndarray], x: np.ndarray, axes: Sequence[int], commutes: bool, most: int = CHUNK,
    again: Callable[..., np.ndarray] | None = None,
) -> np.ndarray:
    """Fold an array along some axes, in pieces that stay in the cache and that threads share.

    Parameters
    ----------
    piece : callable
        Folds an array along axes, which stay with length 1: ``piece(x, axes)``. No axis is empty.
    x : ndarray
    axes : sequence of int
        Ascending.
    commutes : bool
        Whether the operands of the operation may be exchanged.
    most : int
        Elements of a piece.
    again : callable, optional
        Folds the results of pieces; default: `piece`.

    Returns
    -------
    ndarray
        With length 1 along the axes. How it is cut depends on the shape and the strides alone.
    """
    if x.size <= most:
        return piece(x, axes)
    axis, along = _cut(x, axes, commutes, most)
    runs = [(first, min(first + along, x.shape[axis])) for first in range(0, x.shape[axis], along)]
    found: list[Any] = [None] * len(runs)

    def fold(number: int, first: int, last: int) -> None:
        part = x[(slice(None),) * axis + (slice(first, last),)]
        found[number] = in_pieces(piece, part, axes, commutes, most, again)

    share(fold, [(number, *run) for number, run in enumerate(runs)], None)
    partial = np.concatenate(found, axis)
    if axis not in axes or len(runs) == 1:
        return partial
    return in_pieces(again or piece, partial, [axis], commutes, most)


def _cut(x: np.ndarray, axes: Sequence[int], commutes: bool, most: int) -> tuple[int, int]:
    """The axis along which a large array is cut, and how far each piece reaches: what lies together stays together."""
    kept = prod(length for axis, length in enumerate(x.shape) if axis not in axes)
    first = next((axis for axis in axes if x.shape[axis] > 1), None)
    found = [axis for axis in range(x.ndim) if x.shape[axis] > 1 and (commutes or axis == first or axis not in axes)]

    def along(axis: int) -> int:
        return 1 << max(most * x.shape[axis] // x.size, 1).bit_length() - 1  # so that pairs are those of the whole

    def repays(axis: int) -> bool:
        return axis not in axes or kept * -(-x.shape[axis] // along(axis)) * LEAST <= x.size  # what the pieces leave

    found.sort(key=lambda axis: -abs(x.strides[axis]))
    chosen = next(filter(repays, found), found[0])
    return chosen, along(chosen)


def folded_powers(form: LogSum, x: np.ndarray, axes: Sequence[int]) -> np.ndarray:
    """m + log Σ exp(x − m) along axes, which stay with length 1; m is the maximum. NaN if there is one.

    Examples
    --------
    >>> folded_powers(LogSum(), np.log([[1.0, 2.0, 5.0]]), [1]).round(12).tolist() == [[np.log(8).round(12)]]
    True
    """
    exp, log = (np.exp2, np.log2) if form.binary else (np.exp, np.log)
    with np.errstate(all="ignore"):
        greatest = np.maximum.reduce(-x if form.negated else x, axis=tuple(axes), keepdims=True)
        most = np.where(np.isfinite(greatest), greatest, x.dtype.type(0))
        powers = np.asarray(-most - x if form.negated else x - most)
        exp(powers, out=powers)
        for axis in reversed(axes):
            alone = powers.strides[axis] == powers.itemsize  # NumPy adds by pairs along such an axis
            powers = np.add.reduce(powers, axis=axis, keepdims=True) if alone else folded(np.add, powers, axis)
        found = np.where(np.isinf(greatest), greatest, most + log(powers))
    return np.negative(found) if form.negated else found
