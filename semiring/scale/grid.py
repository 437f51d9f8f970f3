"""The distribution of a matrix's tiles to a grid of processes, cyclically by rows and by columns.

Tile (i, j) belongs to the process in row i mod P and column j mod Q of a P × Q grid, so that all have work to the end
(L. S. Blackford et al., ScaLAPACK users' guide, 1997: the block-cyclic distribution). The tiles of a process are one
array, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isqrt


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
    def count(self) -> int:
        """The number of tiles in a row of the matrix."""
        return -(-self.n // self.side)

    @property
    def tile_rows(self) -> range:
        """The rows of tiles of which this process has a part."""
        return self.tile_rows_of(self.row)

    def tile_rows_of(self, row: int) -> range:
        """The rows of tiles that a row of the grid has."""
        return range(row, self.count, self.rows)

    @property
    def tile_columns(self) -> range:
        """The columns of tiles of which this process has a part."""
        return self.tile_columns_of(self.column)

    def tile_columns_of(self, column: int) -> range:
        """The columns of tiles that a column of the grid has."""
        return range(column, self.count, self.columns)

    def span(self, tile: int) -> slice:
        """The rows, or columns, of the matrix that a tile covers."""
        return slice(tile * self.side, min((tile + 1) * self.side, self.n))

    def width(self, tiles: range) -> int:
        """The number of rows or columns of the matrix that some tiles cover together."""
        return sum(self.span(t).stop - self.span(t).start for t in tiles)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """The shape of the array of this process."""
        return self.width(self.tile_rows), self.width(self.tile_columns)

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
        return self._local(tile, self.row, self.rows)

    def local_column(self, tile: int) -> slice:
        """The columns of this process's array for a column of tiles; empty if it has none of them."""
        return self._local(tile, self.column, self.columns)

    def _local(self, tile: int, mine: int, step: int) -> slice:
        if tile % step != mine or tile >= self.count:
            return slice(0, 0)
        start = tile // step * self.side
        return slice(start, start + self.span(tile).stop - self.span(tile).start)


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
