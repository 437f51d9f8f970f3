"""The structure of matrices in compressed rows by NumPy: what `semiring.kernels.cpu.sparse.structure` compiles."""

from __future__ import annotations

import numpy as np

OFFSET = np.dtype(np.int64)
COLUMN = np.dtype(np.int32)
FINE, SORTED, UNSORTED, BROKEN = 0, 1, 2, 3
DIGIT = 16  # bits that are sorted at a time
LOOK = 1e-8  # seconds an entry that is looked at
SORT = 1.5e-7  # seconds an entry that is sorted


def rows_of(offsets: np.ndarray) -> np.ndarray:
    """The row of every entry."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def state_of(offsets: np.ndarray, columns: np.ndarray, width: int) -> int:
    """`FINE`, `SORTED` (with repetitions), `UNSORTED`, or `BROKEN`: columns outside, or offsets that descend."""
    if offsets[0] != 0 or offsets[-1] > len(columns) or (np.diff(offsets) < 0).any():
        return BROKEN
    columns = columns[: offsets[-1]]
    if len(columns) and (columns.min() < 0 or columns.max() >= width):
        return BROKEN
    step = np.diff(columns.astype(np.int64))
    ends = offsets[1:-1]
    step[ends[(ends > 0) & (ends < len(columns))] - 1] = 1  # from the last entry of a row to the first of another
    least = step.min(initial=1)
    return FINE if least > 0 else SORTED if least == 0 else UNSORTED


def column_offsets(columns: np.ndarray, width: int) -> np.ndarray:
    """Offsets of compressed columns."""
    result = np.zeros(width + 1, OFFSET)
    np.bincount(columns, minlength=width).cumsum(out=result[1:])
    return result


def stable_order(keys: np.ndarray, limit: int) -> np.ndarray:
    """Like `argsort` for integers from 0 to limit − 1; equal keys keep their order.

    NumPy sorts 16 bits in linear time, so the keys are sorted by 16 bits after the other, the lowest first.

    Examples
    --------
    >>> stable_order(np.array([70000, 3, 70000, 1]), 70001)
    array([3, 1, 0, 2])
    """
    order = np.argsort(keys.astype(np.uint16), kind="stable").astype(OFFSET, copy=False)
    for shift in range(DIGIT, (limit - 1).bit_length(), DIGIT):
        order = order[np.argsort((keys >> shift).astype(np.uint16)[order], kind="stable")]
    return order


def transposed(offsets: np.ndarray, columns: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Offsets and columns of the transposed matrix, ascending, and which entry each of its entries was."""
    columns = columns[: offsets[-1]]
    order = stable_order(columns, width)
    return column_offsets(columns, width), rows_of(offsets)[order].astype(COLUMN), order


def product_work(A_offsets: np.ndarray, A_columns: np.ndarray, B_offsets: np.ndarray) -> np.ndarray:
    """How many terms the rows of A ⊗ B before each row have; the last number is that of all."""
    terms = np.zeros(int(A_offsets[-1]) + 1, OFFSET)
    np.cumsum(np.diff(B_offsets)[A_columns[: len(terms) - 1]], out=terms[1:])
    return terms[A_offsets]


def terms_of(
    A: tuple[np.ndarray, np.ndarray], B: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Row and column of every term of A ⊗ B, and the entries of A and of B that it multiplies; k ascends in a row."""
    lengths = np.diff(B[0])[A[1][: A[0][-1]]]
    left = np.repeat(np.arange(len(lengths)), lengths)
    first = np.cumsum(lengths) - lengths
    right = B[0][A[1][left]] + np.arange(len(left)) - first[left]
    return rows_of(A[0])[left], B[1][right], left, right


def product_structure(
    A: tuple[np.ndarray, np.ndarray], B: tuple[np.ndarray, np.ndarray], width: int
) -> tuple[np.ndarray, np.ndarray]:
    """Offsets and columns (ascending) of A ⊗ B, from those of A and of B; `width` is the number of B's columns."""
    rows, columns, _, _ = terms_of(A, B)
    keys = np.unique(rows * max(width, 1) + columns)
    offsets = np.zeros(len(A[0]), OFFSET)
    np.cumsum(np.bincount(keys // max(width, 1), minlength=len(A[0]) - 1), out=offsets[1:])
    return offsets, (keys % max(width, 1)).astype(COLUMN)
