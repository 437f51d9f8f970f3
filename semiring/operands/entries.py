"""Entries of a matrix, in any order, as compressed rows of elements; the first that is not an element is refused."""

from __future__ import annotations

import numpy as np

from semiring.algebra.elements import is_nan, show
from semiring.algebra.semiring import Semiring
from semiring.errors import SemiringError
from semiring.graphs.adjacency import require_rows
from semiring.graphs.combining import scatter
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.numpy.structure import stable_order

OFFSET, COLUMN = np.dtype(np.int64), np.dtype(np.int32)
SHORT = 16  # entries of a row, on average, up to which NumPy's merges sort rows faster than digits do


def compressed_rows(
    S: Semiring, rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: tuple[int, int]
) -> Rows:
    """Compressed rows of entries in any order; entries at the same place combine with ⊕, in their order."""
    require_rows(shape[0])
    keys = rows.astype(np.int64) * shape[1] + columns
    step = np.diff(keys)
    if not (step > 0).all():
        if (step < 0).any():
            if len(keys) <= SHORT * shape[0] and (rows[1:] >= rows[:-1]).all():  # then few pass each other
                order = np.argsort(keys, kind="stable")
            else:
                order = stable_order(keys, max(shape[0] * shape[1], 1))
                rows = rows[order]
            keys, columns, values = keys[order], columns[order], values[order]
        again = keys[1:] == keys[:-1]
        if again.any():
            fresh = np.concatenate([[True], ~again])
            combined = np.empty(int(fresh.sum()), values.dtype)
            scatter(combined, np.cumsum(fresh) - 1, values, S.over(values.dtype).add)
            rows, columns, values = rows[fresh], columns[fresh], combined
    offsets = np.zeros(shape[0] + 1, OFFSET)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=offsets[1:])
    return Rows(offsets, columns.astype(COLUMN), np.ascontiguousarray(values), shape[1])


def refuse_outside(S: Semiring, what: str, values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> None:
    """Refuse anything that is not an element, with its row and column."""
    inside = S.over(values.dtype).contains(values)
    if inside.all():
        return
    i = int(np.argmin(inside))
    place = f"{what}[{int(rows[i])}, {int(columns[i])}]"
    if np.any(is_nan(np.asarray(values[i]))):
        raise SemiringError(f"{place} is NaN: NaN is not an element of any algebra; remove or correct the entry")
    raise SemiringError(f"{place} is {show(values[i])}: it is outside the carrier of {S.name}, {S.notation}"
                        f"{S.how_written}")
