"""A matrix whose tiles are spread over processes, its closure, and how its rows come in and go out.

One step for each pivot tile D, as in blocked Floyd–Warshall:

        [ X C X ]
    A = [ R D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
        [ X C X ]

R goes down the columns of the grid of processes, C along its rows. Panels are on their way while products are computed:
a step first computes the next pivot's row and column, sends these, and then computes the rest. C is sent before it is
scaled, and each process scales its own part when it has been used, so that nothing needs idempotence (D* D* is not D*).

P. Sao et al., Scalable all-pairs shortest paths for huge graphs on multi-GPU clusters (2021) has the panels and the
look-ahead for idempotent ⊕; see `semiring.algorithms.blocked` for the order without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import close_by_halves
from semiring.kernels.interface import Kernel

from .grid import Grid, without
from .ranks import Ranks, broadcast, nudge, pieces, wait

PARTS = 8  # products that an update is cut into, between which messages get on
LEAST_PART = 1 << 27  # multiply-adds that such a product has at least


@dataclass
class Panels:
    """What a step needs from others: the pivot, its row, its column, and whether all is well; all on their way.

    Attributes
    ----------
    D : ndarray
        The pivot's star, where this process has part of its row or column.
    R, C : ndarray
        This process's columns of the pivot's row, scaled, and its rows of the pivot's column, not scaled.
    told : ndarray of two int64
        The first pivot without a star or −1, and whether all put away what they have after this step.
    requests : list
    """

    D: np.ndarray
    R: np.ndarray
    C: np.ndarray
    told: np.ndarray
    requests: list[Any] = field(default_factory=list)


class Spread:
    """A process's part of a matrix, and its closure together with the others.

    Parameters
    ----------
    grid : Grid
    ranks : Ranks
    storage : dtype
        Not of Python objects.

    Attributes
    ----------
    local : ndarray
        The tiles of this process, side by side.
    """

    def __init__(self, grid: Grid, ranks: Ranks, storage: np.dtype):
        self.grid, self.ranks = grid, ranks
        self.local = np.empty(grid.shape, storage)

    # The closure

    def close(
        self, kernel: Kernel[Any], *, start: int = 0, report: Callable[[float], None] | None = None,
        due: Callable[[], bool] | None = None, put_away: Callable[[int], None] | None = None,
    ) -> None:
        """A ← A*, by all processes together.

        Parameters
        ----------
        kernel : Kernel
            On arrays of the storage.
        start : int
            The pivot tile to go on with.
        report : callable, optional
            Is told the part that is done.
        due, put_away : callable, optional
            The process that has the pivot asks `due` before each step; where it says so all processes call `put_away`
            after the step, with the number of the next one.

        Raises
        ------
        UndefinedStar
            On all processes, when a pivot has no star.
        """
        count = self.grid.count
        ahead = self._panels(start, kernel, due) if start < count else None
        for k in range(start, count):
            assert ahead is not None
            now, ahead = ahead, None
            wait(now.requests)
            pivot, stops = now.told.tolist()
            if pivot >= 0:
                raise UndefinedStar(pivot)
            row, column = self.grid.local_row(k), self.grid.local_column(k)
            if k + 1 < count and not stops:
                next_row, next_column = self.grid.local_row(k + 1), self.grid.local_column(k + 1)
                self._update(now, [next_row], self._columns_without(column), kernel)
                self._update(now, self._rows_without(row, next_row), [next_column], kernel)
                self._scale(now, row, column, kernel)
                ahead = self._panels(k + 1, kernel, due)
                self._update(now, self._rows_without(row, next_row), self._columns_without(column, next_column),
                             kernel, ahead.requests)
            else:
                self._update(now, self._rows_without(row), self._columns_without(column), kernel)
                self._scale(now, row, column, kernel)
                if stops and put_away is not None:
                    put_away(k + 1)
                if k + 1 < count:
                    ahead = self._panels(k + 1, kernel, due)
            if report is not None:
                report((k + 1) / count)

    def _panels(self, k: int, kernel: Kernel[Any], due: Callable[[], bool] | None) -> Panels:
        """Close a pivot, scale its row, and begin to send both panels."""
        grid, ranks, local = self.grid, self.ranks, self.local
        root_row, root_column = k % grid.rows, k % grid.columns
        row, column = grid.local_row(k), grid.local_column(k)
        order = grid.span(k).stop - grid.span(k).start
        D = np.empty((order, order), local.dtype)
        told = np.array([-1, 0])
        in_row, in_column = grid.row == root_row, grid.column == root_column
        if in_row and in_column:
            pivot = local[row, column]
            try:
                close_by_halves(pivot, kernel, kernel.tile, k * grid.side)
            except UndefinedStar as e:
                told[0] = e.pivot
            told[1] = due is not None and due()
            D[...] = pivot
        if in_row:
            wait(broadcast(D, root_column, ranks.along_row))
        if in_column:
            wait(broadcast(D, root_row, ranks.along_column))
        made = Panels(D, np.empty((order, grid.shape[1]), local.dtype), np.empty((grid.shape[0], order), local.dtype),
                      told)
        made.requests += broadcast(told, root_row * grid.columns + root_column, ranks.world)
        if in_column:
            made.C[...] = local[:, column]
        made.requests += broadcast(made.C, root_column, ranks.along_row)
        if in_row:
            for part in self._columns_without(column):
                kernel.left(D, local[row, part])
            made.R = local[row]  # nobody changes it before the next step
        made.requests += broadcast(made.R, root_row, ranks.along_column)
        return made

    def _update(
        self, panels: Panels, rows: list[slice], columns: list[slice], kernel: Kernel[Any],
        under_way: list[Any] | None = None,
    ) -> None:
        """X ← X ⊕ C R on some rows and columns; messages that are under way get on between products."""
        for r in rows:
            for c in columns:
                if r.start >= r.stop or c.start >= c.stop:
                    continue
                height, width = r.stop - r.start, c.stop - c.start
                work = height * width * panels.R.shape[0]
                parts = max(1, min(PARTS, work // LEAST_PART)) if under_way else 1
                step = -(-height // parts)
                for at in range(r.start, r.stop, step):
                    part = slice(at, min(at + step, r.stop))
                    kernel.multiply_add(self.local[part, c], panels.C[part], panels.R[:, c])
                    nudge(under_way or [])

    def _scale(self, panels: Panels, row: slice, column: slice, kernel: Kernel[Any]) -> None:
        """C ← C D, where this process has part of the pivot's column."""
        if column.start < column.stop:
            for part in self._rows_without(row):
                kernel.right(self.local[part, column], panels.D)

    def _rows_without(self, *gone: slice) -> list[slice]:
        return without(self.grid.shape[0], *gone)

    def _columns_without(self, *gone: slice) -> list[slice]:
        return without(self.grid.shape[1], *gone)

    # The diagonal

    def diagonal(self) -> np.ndarray:
        """The diagonal of the whole matrix, on every process."""
        grid = self.grid
        mine = {k: self.local[grid.local_row(k), grid.local_column(k)].diagonal().copy()
                for k in grid.tile_rows if k in grid.tile_columns}
        found = np.empty(grid.n, self.local.dtype)
        for part in self.ranks.world.allgather(mine):
            for k, values in part.items():
                found[grid.span(k)] = values
        return found

    def set_diagonal(self, places: np.ndarray, value: Any) -> None:
        """Write one element at some places of the diagonal, each process its own."""
        for v in places.tolist():
            k, at = divmod(v, self.grid.side)
            row, column = self.grid.local_row(k), self.grid.local_column(k)
            if row.start < row.stop and column.start < column.stop:
                self.local[row.start + at, column.start + at] = value

    # Rows in, rows out

    def take_rows(self, bounds: list[int], encoded: Callable[[slice], np.ndarray]) -> None:
        """Fill the matrix from rows, of which process r has those from ``bounds[r]`` to ``bounds[r + 1]``.

        Parameters
        ----------
        bounds : list of int
        encoded : function of a slice of rows of the whole matrix
            These rows in storage, of those that this process has.
        """
        grid, world = self.grid, self.ranks.world
        for i in range(grid.count):
            requests, kept = [], []
            for sender, rows in _owners(bounds, grid.span(i)):
                if sender == world.rank:
                    given = encoded(rows)
                    for column in range(grid.columns):
                        receiver = i % grid.rows * grid.columns + column
                        part = _joined(given, [grid.span(j) for j in grid.tile_columns_of(column)])
                        if receiver == world.rank:
                            self.local[self._within(i, rows)] = part
                        else:
                            requests += [world.Isend(p, dest=receiver, tag=i & 1) for p in pieces(part)]
                            kept.append(part)
                elif i % grid.rows == grid.row:
                    into = self.local[self._within(i, rows)]
                    requests += [world.Irecv(p, source=sender, tag=i & 1) for p in pieces(into)]
            wait(requests)

    def give_rows(self, bounds: list[int], found: np.ndarray, out: np.ndarray) -> None:
        """The opposite of `take_rows`: each process's part, whatever its dtype now is, into rows.

        Parameters
        ----------
        bounds : list of int
        found : ndarray
            Like `local`.
        out : ndarray
            The rows that this process is to have.
        """
        grid, world = self.grid, self.ranks.world
        for i in range(grid.count):
            requests, arrived = [], []
            for receiver, rows in _owners(bounds, grid.span(i)):
                if i % grid.rows == grid.row and receiver != world.rank:
                    requests += [world.Isend(p, dest=receiver, tag=i & 1)
                                 for p in pieces(np.ascontiguousarray(found[self._within(i, rows)]))]
                if receiver != world.rank:
                    continue
                for column in range(grid.columns):
                    sender, tiles = i % grid.rows * grid.columns + column, grid.tile_columns_of(column)
                    if sender == world.rank:
                        part = found[self._within(i, rows)]
                    else:
                        part = np.empty((rows.stop - rows.start, grid.width(tiles)), found.dtype)
                        requests += [world.Irecv(p, source=sender, tag=i & 1) for p in pieces(part)]
                    arrived.append((rows, tiles, part))
            wait(requests)
            for rows, tiles, part in arrived:
                first = bounds[world.rank]
                here = slice(rows.start - first, rows.stop - first)
                at = 0
                for j in tiles:
                    span = grid.span(j)
                    out[here, span] = part[:, at : at + span.stop - span.start]
                    at += span.stop - span.start

    def _within(self, tile: int, rows: slice) -> slice:
        """Where rows of the matrix, all of one row of tiles, lie in this process's array."""
        start = self.grid.local_row(tile).start + rows.start - tile * self.grid.side
        return slice(start, start + rows.stop - rows.start)


def _owners(bounds: list[int], span: slice) -> list[tuple[int, slice]]:
    """Who has rows of a span, and which."""
    found = []
    for r in range(len(bounds) - 1):
        start, stop = max(bounds[r], span.start), min(bounds[r + 1], span.stop)
        if start < stop:
            found.append((r, slice(start, stop)))
    return found


def _joined(rows: np.ndarray, spans: list[slice]) -> np.ndarray:
    """Some columns of rows, side by side in memory of their own."""
    return np.concatenate([rows[:, span] for span in spans] or [rows[:, :0]], axis=1)
