"""Arrays part by part: so much at once as stays in the cache, on several threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from semiring.machine.pieces import share

CHUNK = 1 << 18  # elements that a conversion takes at once: they stay in the cache, and need no second matrix


def chunks(array: np.ndarray) -> Any:
    """Views of runs of rows that together are the array."""
    if array.ndim == 0 or array.size <= CHUNK:
        return [array]
    if array.ndim == 1:
        return [array[i : i + CHUNK] for i in range(0, len(array), CHUNK)]
    rows = max(CHUNK // max(array[0].size, 1), 1)
    return [array[i : i + rows] for i in range(0, len(array), rows)]


def each_part(function: Callable[..., object], *arrays: np.ndarray) -> None:
    """Call a function with the same part of each of the arrays, until all parts had their turn.

    Parameters
    ----------
    function : callable
        Of so many arrays. Threads call it at the same time.
    *arrays : ndarray
        Of one shape. Parts are runs of what lies together in the first, whatever the order of its axes in memory.

    Examples
    --------
    >>> squares, numbers = np.empty((2, 3), int), np.arange(6).reshape(2, 3)
    >>> each_part(lambda target, part: np.multiply(part, part, out=target), squares, numbers)
    >>> squares.tolist()
    [[0, 1, 4], [9, 16, 25]]
    """
    first = arrays[0]
    if first.size <= CHUNK:
        function(*arrays)
        return
    axes = sorted(range(first.ndim), key=lambda axis: -abs(first.strides[axis]))
    share(function, list(zip(*(chunks(a.transpose(axes)) for a in arrays), strict=True)), None)


def like(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A new array of another dtype, whose elements lie in memory in the same order."""
    return np.empty_like(array, dtype, subok=False)


def converted(array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """A copy in another dtype, too large a float as ∞."""
    result = like(array, dtype)

    def convert(target: np.ndarray, part: np.ndarray) -> None:
        with np.errstate(over="ignore"):  # which holds for one thread
            np.copyto(target, part, casting="unsafe")

    each_part(convert, result, array)
    return result
