"""Record a schedule as operations on tiles: its calls on blocks are cut into operations on cells of one tile each.

A matrix of order n is cut into tiles of t × t, with smaller ones in the last row and column. A cell holds the element
values of one tile of the matrix, or of its replacement: if a panel is multiplied in place, ``R ← D ⊗ R``, the product
is made in new cells, strip by strip, which then replace the panel. So every operation reads cells and writes one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isqrt
from typing import Any, NamedTuple

from semiring.kernels.interface import Kernel
from semiring.kernels.wrappers.recording import Call, Recording, Region

Tile = tuple[int, int]


class Operation(NamedTuple):
    """One operation on tiles.

    Attributes
    ----------
    kind : {"close", "multiply", "multiply_add"}
    target : int
        The cell that is written; `multiply` does not read it.
    first, second : int
        The factors' cells; −1 for "close".
    tile : (int, int)
        The target's tile in the matrix.
    """

    kind: str
    target: int
    first: int
    second: int
    tile: Tile


@dataclass
class Program:
    """The operations on cells that close a matrix.

    Cell i · count + j begins as tile (i, j) of the matrix.

    Attributes
    ----------
    n, side, count : int
        The order of the matrix, the order of a tile, and the number of tiles in a row.
    operations : list of Operation
    cells : dict of (int, int) to int
        The cell that holds a tile of the closure at the end.
    used : int
        The number of cells.
    """

    n: int
    side: int
    count: int
    operations: list[Operation] = field(default_factory=list)
    cells: dict[Tile, int] = field(default_factory=dict)
    used: int = 0

    def shape(self, tile: Tile) -> tuple[int, int]:
        """Rows and columns of a tile.

        >>> from semiring.algorithms.r_kleene import r_kleene
        >>> program(r_kleene, 5, 2, 8).shape((2, 0))
        (1, 2)
        """
        rows, columns = (min(self.side, self.n - k * self.side) for k in tile)
        return rows, columns

    def block(self, tile: Tile) -> tuple[slice, slice]:
        """The rows and columns of the matrix that a tile covers."""
        rows, columns = (slice(k * self.side, min((k + 1) * self.side, self.n)) for k in tile)
        return rows, columns

    def tiles(self) -> dict[int, Tile]:
        """The tile of each cell."""
        first = {i * self.count + j: (i, j) for i in range(self.count) for j in range(self.count)}
        return first | {o.target: o.tile for o in self.operations}


Schedule = Callable[[Any, Kernel[Any], int], None]


def program(schedule: Schedule, n: int, side: int, room: int) -> Program:
    """Record a schedule on tiles.

    Parameters
    ----------
    schedule : function of a matrix, a kernel and a tile
    n : int
        Order of the matrix.
    side : int
        Order of a tile.
    room : int
        Cells that fit in memory together, 3 or more: products use squares of as many cells, panels use strips.

    Examples
    --------
    >>> from semiring.algorithms.r_kleene import r_kleene
    >>> p = program(r_kleene, 4, 2, 8)
    >>> [(o.kind, o.target) for o in p.operations][:4]
    [('close', 0), ('multiply', 4), ('multiply_add', 3), ('multiply', 5)]
    """
    count = -(-n // side)
    made = Program(n, side, count, cells={(i, j): i * count + j for i in range(count) for j in range(count)},
                   used=count * count)
    kernel = Recording(side, align=side)
    schedule(Region("A", range(n), range(n)), kernel, side)
    writer = _Writer(made, room)
    for call in kernel.calls:
        writer.write(call)
    return made


class _Writer:
    """Cuts calls into operations."""

    def __init__(self, made: Program, room: int):
        self._made, self._square = made, max(1, isqrt(room) - 1)
        # Counted for 16 to 32 tiles per row and room for 26 to 106: strips slightly wider than the room
        # move least, 1.7 to 2.05 times 2 n³ / √M; with half of it 2.0 to 3.
        self._strip = max(1, 5 * room // 4)

    def write(self, call: Call) -> None:
        blocks = [(self._tiles(b.rows), self._tiles(b.columns)) for b in call.blocks]
        if call.operation == "close":
            self._close(*blocks[0])
        elif call.operation == "multiply_add":
            (rows, columns), (_, inner), _ = blocks
            for part in _squares(rows, columns, self._square):
                self._product(part, inner)
        elif call.operation == "left":
            self._panel(blocks[1], blocks[0][0], by_columns=True)
        elif call.operation == "right":
            self._panel(blocks[0], blocks[1][0], by_columns=False)
        else:
            raise NotImplementedError(f"{call.operation} of whole matrices is not an operation on tiles")

    def _tiles(self, positions: range) -> range:
        side = self._made.side
        assert positions.start % side == 0 and (positions.stop % side == 0 or positions.stop == self._made.n)
        return range(positions.start // side, -(-positions.stop // side))

    def _close(self, rows: range, columns: range) -> None:
        assert len(rows) == len(columns) == 1, "the recording kernel closes single tiles"
        tile = rows[0], columns[0]
        self._add("close", self._made.cells[tile], -1, -1, tile)

    def _product(self, tiles: Sequence[Tile], inner: range) -> None:
        """Add all terms to some tiles, one k after the other, so that a square of them stays in memory."""
        cells = self._made.cells
        for k in inner:
            for i, j in tiles:
                self._add("multiply_add", cells[i, j], cells[i, k], cells[k, j], (i, j))

    def _panel(self, panel: tuple[range, range], inner: range, by_columns: bool) -> None:
        """Multiply a panel in place: strips of it go to new cells, which replace it."""
        rows, columns = panel
        cells, wide = self._made.cells, max(1, self._strip // len(inner))
        across = columns if by_columns else rows
        for at in range(across.start, across.stop, wide):
            strip = range(at, min(at + wide, across.stop))
            part = (rows, strip) if by_columns else (strip, columns)
            fresh = {tile: self._made.used + k for k, tile in enumerate(_all(*part))}
            self._made.used += len(fresh)
            for square in _squares(*part, self._square):
                for k in inner:
                    for i, j in square:
                        kind = "multiply" if k == inner.start else "multiply_add"
                        self._add(kind, fresh[i, j], cells[i, k], cells[k, j], (i, j))
            cells.update(fresh)

    def _add(self, kind: str, target: int, first: int, second: int, tile: Tile) -> None:
        self._made.operations.append(Operation(kind, target, first, second, tile))


def _all(rows: range, columns: range) -> Iterator[Tile]:
    return ((i, j) for i in rows for j in columns)


def _squares(rows: range, columns: range, side: int) -> Iterable[list[Tile]]:
    """The tiles of a block in squares, which are ordered by rows."""
    for i in range(rows.start, rows.stop, side):
        for j in range(columns.start, columns.stop, side):
            yield list(_all(range(i, min(i + side, rows.stop)), range(j, min(j + side, columns.stop))))
