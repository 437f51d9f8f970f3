"""Cutting a matrix into blocks around a pivot, and the error of a pivot that has no star."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from semiring.kernels.interface import AnyBlock, Kernel


class UndefinedStar(Exception):
    """The star of a pivot does not exist; `pivot` is its position in the matrix, and `matrix` which one of a stack."""

    def __init__(self, pivot: int, matrix: int | None = None):
        super().__init__(f"the star at pivot {pivot} does not exist")
        self.pivot, self.matrix = pivot, matrix


def spans(n: int, tile: int) -> list[slice]:
    """0 … n in runs of `tile`, the last one shorter.

    Examples
    --------
    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(i, min(i + tile, n)) for i in range(0, n, tile)]


def pivots(A: Any, tile: int) -> Iterator[tuple[slice, Any, list[Any], list[Any], list[Any]]]:
    """Each pivot block D with the rest of its rows R, of its columns C, and everything else X.

    ::

            [ X C X ]       R and C are lists of the (at most two) parts before and after D,
        A = [ R D R ]       X is the list of rows of the (at most four) parts around them.
            [ X C X ]
    """
    n = A.shape[0]
    for k in spans(n, tile):
        others = [s for s in (slice(0, k.start), slice(k.stop, n)) if s.start < s.stop]
        rows, columns = [A[k, j] for j in others], [A[i, k] for i in others]
        yield k, A[k, k], rows, columns, [[A[i, j] for j in others] for i in others]


def close(D: AnyBlock, kernel: Kernel[AnyBlock], start: int) -> None:
    """D ← D* for a block that begins at `start` of the whole matrix."""
    pivot = kernel.close(D)
    if pivot >= 0:
        raise UndefinedStar(start + pivot)
