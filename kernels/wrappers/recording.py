"""A kernel that computes nothing and writes down what a schedule asks of it: schedules look at no element.

What it writes is data, so that a schedule can be replayed step by step over any algebra, and elsewhere than in Python.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from semiring.kernels.interface import Kernel


@dataclass(frozen=True)
class Region:
    """A block without elements: where it lies in a matrix.

    Attributes
    ----------
    matrix : str
        "A", and letters after it for what a schedule makes besides.
    rows, columns : range

    Examples
    --------
    >>> Region("A", range(6), range(6))[2:4, :3]
    Region(matrix='A', rows=range(2, 4), columns=range(0, 3))
    """

    matrix: str
    rows: range
    columns: range

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.rows), len(self.columns)

    def __getitem__(self, key: tuple[slice, slice]) -> Region:
        rows, columns = key
        return Region(self.matrix, self.rows[rows], self.columns[columns])


@dataclass(frozen=True)
class Call:
    """One call of a kernel: the name of its method, and the blocks."""

    operation: str
    blocks: tuple[Region, ...]


class Recording:
    """A kernel on regions; `calls` is what it was asked for.

    Parameters
    ----------
    tile : int
        Order of a block that `close` is asked for.
    align : int
        What the bounds of blocks are multiples of.
    """

    align = 1
    place = "nowhere"

    def __init__(self, tile: int, align: int = 1):
        self.tile, self.align, self.calls = tile, align, list[Call]()
        self._made = 0

    @property
    def unchecked(self) -> Recording:
        """Itself: no pivot is without a star."""
        return self

    def multiply_add(self, C: Region, A: Region, B: Region) -> None:
        """Written down."""
        self._write("multiply_add", C, A, B)

    def multiply(self, C: Region, A: Region, B: Region) -> None:
        """Written down."""
        self._write("multiply", C, A, B)

    def left(self, D: Region, R: Region) -> None:
        """Written down."""
        self._write("left", D, R)

    def right(self, C: Region, D: Region) -> None:
        """Written down."""
        self._write("right", C, D)

    def close(self, D: Region) -> int:
        """Written down."""
        self._write("close", D)
        return -1

    def closes_whole(self, n: int) -> bool:
        """Whether a matrix of this order is one block."""
        return n <= self.tile

    def add_one(self, A: Region) -> None:
        """Written down."""
        self._write("add_one", A)

    def like(self, A: Region) -> Region:
        """A matrix with the next letter."""
        self._made += 1
        return Region(chr(ord("A") + self._made), A.rows, A.columns)

    def equal(self, A: Region, B: Region) -> bool:
        """Written down; the schedule goes on as if they differed, and a replay may stop here."""
        self._write("equal", A, B)
        return False

    def assign(self, A: Region, B: Region) -> None:
        """Written down."""
        self._write("assign", A, B)

    def diagonal(self, A: Region, D: Region) -> np.ndarray:
        """Nothing: there are no elements."""
        raise NotImplementedError("a recording has no elements")

    def set_diagonal(self, A: Region, values: np.ndarray) -> None:
        """Nothing: there are no elements."""
        raise NotImplementedError("a recording has no elements")

    def _write(self, operation: str, *blocks: Region) -> None:
        if all(all(block.shape) for block in blocks):
            self.calls.append(Call(operation, blocks))


def recorded(schedule: Callable[[Any, Kernel[Any], int], None], n: int, tile: int) -> list[Call]:
    """The kernel calls of a schedule on a matrix of order n.

    Examples
    --------
    >>> from semiring.algorithms.r_kleene import r_kleene
    >>> [call.operation for call in recorded(r_kleene, 4, 2)]
    ['close', 'left', 'multiply_add', 'right', 'close', 'left', 'multiply_add', 'right']
    """
    kernel = Recording(tile)
    schedule(Region("A", range(n), range(n)), kernel, tile)
    return kernel.calls
