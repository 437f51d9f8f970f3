"""Arrays of the algebra's zero, and values that combine with ⊕ where they meet."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.tables import dtype_text
from semiring.kernels.numpy.structure import stable_order
from semiring.machine.memory import require

if TYPE_CHECKING:
    from semiring.algebra.semiring import Semiring

CLOSE_GAPS = "if the vertices are numbers with gaps, as_graph(edges).compact() closes them"


def zeros(S: Semiring, n: int, dtype: np.dtype, width: int | None = None) -> np.ndarray:
    """A matrix of zeros, square unless a width is given."""
    width = n if width is None else width
    require(
        n * width * dtype.itemsize,
        f"a {n} × {width} matrix of {dtype_text(dtype)}",
        f"use a narrower dtype or a part of the graph; {CLOSE_GAPS}",
    )
    array = np.empty((n, width), dtype=dtype)
    array.fill(S.zero_in(dtype))
    return array


def scatter(flat: np.ndarray, keys: NDArray[np.int64], values: np.ndarray, add: Callable[[Any, Any], Any]) -> None:
    """Write values to flat[keys]; those with equal keys combine with ⊕, neighbours pairwise."""
    order = stable_order(keys, flat.size)
    keys, values = keys[order], values[order]
    flat[keys] = values
    same = keys[1:] == keys[:-1]
    while same.any():
        parallel = np.concatenate([same, [False]]) | np.concatenate([[False], same])
        keys, values = keys[parallel], values[parallel]
        starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
        rank = np.arange(len(keys)) - np.repeat(starts, np.diff(starts, append=len(keys)))
        first = rank % 2 == 0
        left = np.flatnonzero(first[:-1] & (keys[1:] == keys[:-1]))
        values[left] = add(values[left], values[left + 1])
        keys, values = keys[first], values[first]
        flat[keys] = values
        same = keys[1:] == keys[:-1]
