"""Cyclic distributions: of the rows of a matrix to workers, and of its tiles to a grid of processes.

Row i of tiles belongs to worker i modulo their number, so that all have work to the end (L. S. Blackford et al.,
ScaLAPACK users' guide, 1997: the block-cyclic distribution). A worker keeps its rows one below the other. On a grid of
P × Q processes rows of tiles are dealt to the P rows of the grid, and columns of tiles to its Q columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isqrt


@dataclass(frozen=True)
class Deal:
    """The distribution of the rows, or the columns, of a matrix.

    Attributes
    ----------
    n : int
        The number of rows.
    side : int
        Rows of a tile; the last has fewer if `n` is not a multiple.
    workers : int

    Examples
    --------
    >>> deal = Deal(10, 4, 2)
    >>> deal.count, deal.owner(2), deal.span(2), deal.place(2)
    (3, 0, slice(8, 10, None), slice(4, 6, None))
    >>> list(deal.spans(0)), deal.rows(0)
    ([slice(0, 4, None), slice(8, 10, None)], 6)
    """

    n: int
    side: int
    workers: int

    @property
    def count(self) -> int:
        """The number of rows of tiles."""
        return -(-self.n // self.side)

    def owner(self, i: int) -> int:
        """The worker of a row of tiles."""
        return i % self.workers

    def span(self, i: int) -> slice:
        """The rows of the matrix in a row of tiles."""
        return slice(i * self.side, min((i + 1) * self.side, self.n))

    def place(self, i: int) -> slice:
        """The rows of its worker's block for a row of tiles."""
        start, span = i // self.workers * self.side, self.span(i)
        return slice(start, start + span.stop - span.start)

    def tiles(self, worker: int) -> range:
        """The rows of tiles of a worker."""
        return range(worker, self.count, self.workers)

    def spans(self, worker: int) -> Iterator[slice]:
        """The rows of the matrix that a worker has, one row of tiles after the other."""
        return map(self.span, self.tiles(worker))

    def rows(self, worker: int) -> int:
        """The number of rows of a worker."""
        return sum(s.stop - s.start for s in self.spans(worker))

    def local(self, i: int, worker: int) -> slice:
        """The rows of a worker's block for a row of tiles; empty if it is another worker's."""
        return self.place(i) if i < self.count and self.owner(i) == worker else slice(0, 0)

    def others(self, worker: int, *left_out: int) -> list[slice]:
        """A worker's rows without some rows of tiles, as the longest possible ranges."""
        return without(self.rows(worker), *(self.local(i, worker) for i in left_out))


@dataclass(frozen=True)
class Grid:
    """The part of a square matrix that one of several processes has.

    Attributes
    ----------
    n, side : int
        The order of the matrix, and of its tiles, the last of which may be smaller.
    size, rank : int
        The number of processes, and the number of this one: row by row in the grid.

    Examples
    --------
    >>> g = Grid(n=10, side=4, size=6, rank=4)
    >>> g.rows, g.columns, (g.row, g.column), list(g.tile_rows), list(g.tile_columns), g.shape
    (2, 3, (1, 1), [1], [1], (4, 4))
    """

    n: int
    side: int
    size: int
    rank: int

    @cached_property
    def rows(self) -> int:
        """Rows of the grid: the largest divisor of the size that is at most its root."""
        return next(d for d in range(isqrt(self.size), 0, -1) if self.size % d == 0)

    @property
    def columns(self) -> int:
        """Columns of the grid."""
        return self.size // self.rows

    @property
    def row(self) -> int:
        """The row of the grid of this process."""
        return self.rank // self.columns

    @property
    def column(self) -> int:
        """The column of the grid of this process."""
        return self.rank % self.columns

    @cached_property
    def down(self) -> Deal:
        """The distribution of rows to the rows of the grid."""
        return Deal(self.n, self.side, self.rows)

    @cached_property
    def across(self) -> Deal:
        """The distribution of columns to the columns of the grid."""
        return Deal(self.n, self.side, self.columns)

    @property
    def count(self) -> int:
        """The number of tiles in a row of the matrix."""
        return self.down.count

    @property
    def tile_rows(self) -> range:
        """The rows of tiles of which this process has a part."""
        return self.down.tiles(self.row)

    @property
    def tile_columns(self) -> range:
        """The columns of tiles of which this process has a part."""
        return self.across.tiles(self.column)

    def span(self, tile: int) -> slice:
        """The rows, or columns, of the matrix that a tile covers."""
        return self.down.span(tile)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The shape of the array of this process."""
        return self.down.rows(self.row), self.across.rows(self.column)

    @property
    def received(self) -> int:
        """Elements that this process receives while the matrix is closed: pivots, and parts of both panels.

        >>> [Grid(n=8, side=2, size=4, rank=r).received for r in range(4)]
        [32, 48, 48, 32]
        """
        height, width = self.shape
        total = 0
        for k in range(self.count):
            order = self.span(k).stop - self.span(k).start
            in_row, in_column = k % self.rows == self.row, k % self.columns == self.column
            total += order * (height * (not in_column) + width * (not in_row) + order * (in_row != in_column))
        return total

    def local_row(self, tile: int) -> slice:
        """The rows of this process's array for a row of tiles; empty if it has none of them."""
        return self.down.local(tile, self.row)

    def local_column(self, tile: int) -> slice:
        """The columns of this process's array for a column of tiles; empty if it has none of them."""
        return self.across.local(tile, self.column)


def without(length: int, *gone: slice) -> list[slice]:
    """0 … length as ranges that leave out some ranges.

    Examples
    --------
    >>> without(10, slice(4, 6), slice(0, 0), slice(8, 10))
    [slice(0, 4, None), slice(6, 8, None)]
    """
    found, start = [], 0
    for run in sorted((g for g in gone if g.start < g.stop), key=lambda g: g.start):
        found.append(slice(start, run.start))
        start = run.stop
    return [s for s in (*found, slice(start, length)) if s.start < s.stop]
