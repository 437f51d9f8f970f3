"""A matrix whose tiles are distributed over processes: its closure, and its rows in and out.

One step for each pivot tile D, as in blocked Floyd–Warshall:

        [ X C X ]
    A = [ R D R ]     D ← D*,   R ← D R,   X ← X ⊕ C R,   C ← C D
        [ X C X ]

R is sent down the columns of the grid of processes, C along its rows. Panels are sent while products are computed: a
step first computes the next pivot's row and column, sends these, and then computes the rest. C is sent before it is
scaled, and each process scales its own part after use, so that ⊕ need not be idempotent (D* D* is not D*).
If tiles are on GPUs, the products are started before the panels are made, and run while these are sent.

P. Sao et al., Scalable all-pairs shortest paths for huge graphs on multi-GPU clusters (2021) has the panels and the
look-ahead for idempotent ⊕; see `semiring.algorithms.blocked` for the order without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.r_kleene import close_pivot
from semiring.kernels.interface import Kernel

from .grid import Grid, without
from .memories import Memory, Panel
from .ranks import broadcast, nudge, pieces, wait

PARTS = 8  # products into which an update is cut, so that messages make progress in between
LEAST_PART_WORK = 1 << 27  # multiply-adds of the smallest such product


@dataclass
class Panels:
    """What a step receives from others: the pivot, its row, its column, and a status; all still on their way.

    Attributes
    ----------
    D : Panel or None
        The pivot's star, if this process has part of its row or column.
    R, C : Panel
        This process's columns of the pivot's row, scaled, and its rows of the pivot's column, not scaled.
    told : ndarray of two int64
        The first pivot without a star or −1, and whether all processes save their state after this step.
    coming : list of Panel
        Those of R and C that another process sends.
    requests : list
    """

    D: Panel | None
    R: Panel
    C: Panel
    told: np.ndarray
    coming: list[Panel]
    requests: list[Any] = field(default_factory=list)


class Spread:
    """A process's part of a matrix, and the closure that all processes compute together.

    Parameters
    ----------
    grid : Grid
    world : mpi4py.MPI.Comm
        Its processes are numbered row by row in the grid.
    memory : Memory
        The memory of this process's tiles.

    Attributes
    ----------
    local : block
        The tiles of this process, as one block, in storage.
    """

    def __init__(self, grid: Grid, world: Any, memory: Memory):
        self.grid, self.world, self.memory = grid, world, memory
        self.along_row, self.along_column = (
            world.Split(grid.row, grid.column), world.Split(grid.rows + grid.column, grid.row))
        self.local = memory.empty(grid.shape)

    def free(self) -> None:
        """Free the communicators."""
        self.along_row.Free()
        self.along_column.Free()

    # The closure

    def close(
        self, kernel: Kernel[Any], *, start: int = 0, report: Callable[[float], None] | None = None,
        due: Callable[[], bool] | None = None, commit: Callable[[int], None] | None = None,
    ) -> None:
        """A ← A*, by all processes together.

        Parameters
        ----------
        kernel : Kernel
            It works on arrays of the storage.
        start : int
            The first pivot tile to eliminate.
        report : callable, optional
            Called with the fraction that is done.
        due, commit : callable, optional
            The process with the pivot calls `due` before each step; if it returns true, all processes call `commit`
            after the step, with the number of the next one.

        Raises
        ------
        UndefinedStar
            On all processes, if a pivot has no star.
        """
        count, memory = self.grid.count, self.memory
        ahead = self._panels(start, kernel, due) if start < count else None
        for k in range(start, count):
            assert ahead is not None
            now, ahead = ahead, None
            wait(now.requests)
            pivot, stops = now.told.tolist()
            if pivot >= 0:
                memory.wait()
                raise UndefinedStar(pivot)
            memory.begin(k, now.coming)
            row, column = self.grid.local_row(k), self.grid.local_column(k)
            if k + 1 < count and not stops:
                next_row, next_column = self.grid.local_row(k + 1), self.grid.local_column(k + 1)
                below, beside = self._rows_without(row, next_row), self._columns_without(column, next_column)
                memory.do(self._update, now, [next_row], self._columns_without(column), kernel)
                memory.do(self._update, now, below, [next_column], kernel)
                memory.do(self._scale, now, row, column, kernel)
                if memory.is_late:
                    memory.rest(self._update, now, below, beside, kernel)
                    ahead = self._panels(k + 1, kernel, due)
                else:
                    ahead = self._panels(k + 1, kernel, due)
                    memory.rest(self._update, now, below, beside, kernel, ahead.requests)
            else:
                memory.do(self._update, now, self._rows_without(row), self._columns_without(column), kernel)
                memory.do(self._scale, now, row, column, kernel)
                memory.wait()
                if stops and commit is not None:
                    commit(k + 1)
                if k + 1 < count:
                    ahead = self._panels(k + 1, kernel, due)
            if report is not None:
                report((k + 1) / count)

    def _panels(self, k: int, kernel: Kernel[Any], due: Callable[[], bool] | None) -> Panels:
        """Close a pivot, scale its row, and start to send both panels."""
        grid, memory, local = self.grid, self.memory, self.local
        root_row, root_column = k % grid.rows, k % grid.columns
        row, column = grid.local_row(k), grid.local_column(k)
        order = grid.span(k).stop - grid.span(k).start
        told = np.array([-1, 0])
        in_row, in_column = grid.row == root_row, grid.column == root_column
        D = memory.panel("D", k, (order, order)) if in_row or in_column else None
        if D is not None and in_row and in_column:
            pivot = local[row, column]
            try:
                memory.do(close_pivot, pivot, kernel, k * grid.side)
            except UndefinedStar as e:
                told[0] = e.pivot
            told[1] = due is not None and due()
            memory.do(kernel.assign, D.here, pivot)
            memory.send(D)
        if D is not None and in_row:
            wait(broadcast(D.message, root_column, self.along_row))
        if D is not None and in_column:
            wait(broadcast(D.message, root_row, self.along_column))
        if D is not None and not (in_row and in_column):
            memory.receive(D)
        requests = broadcast(told, root_row * grid.columns + root_column, self.world)
        C = memory.panel("C", k, (grid.shape[0], order))
        if in_column:
            memory.do(kernel.assign, C.here, local[:, column])
            memory.send(C)
        requests += broadcast(C.message, root_column, self.along_row)
        if D is not None and in_row:
            for part in self._columns_without(column):
                memory.do(kernel.left, D.here, local[row, part])
            R = memory.shown("R", k, local[row])
            memory.send(R)
        else:
            R = memory.panel("R", k, (order, grid.shape[1]))
        requests += broadcast(R.message, root_row, self.along_column)
        coming = [panel for panel, mine in ((C, in_column), (R, in_row)) if not mine]
        return Panels(D, R, C, told, coming, requests)

    def _update(
        self, panels: Panels, rows: list[slice], columns: list[slice], kernel: Kernel[Any],
        under_way: list[Any] | None = None,
    ) -> None:
        """X ← X ⊕ C R on some rows and columns; messages make progress between products."""
        for r in rows:
            for c in columns:
                if r.start >= r.stop or c.start >= c.stop:
                    continue
                height, width = r.stop - r.start, c.stop - c.start
                C, R = panels.C.here, panels.R.here
                work = height * width * R.shape[0]
                parts = max(1, min(PARTS, work // LEAST_PART_WORK)) if under_way else 1
                step = -(-height // parts)
                for at in range(r.start, r.stop, step):
                    part = slice(at, min(at + step, r.stop))
                    kernel.multiply_add(self.local[part, c], C[part], R[:, c])
                    nudge(under_way or [])

    def _scale(self, panels: Panels, row: slice, column: slice, kernel: Kernel[Any]) -> None:
        """C ← C D, if this process has part of the pivot's column."""
        if panels.D is not None and column.start < column.stop:
            for part in self._rows_without(row):
                kernel.right(self.local[part, column], panels.D.here)

    def _rows_without(self, *gone: slice) -> list[slice]:
        return without(self.grid.shape[0], *gone)

    def _columns_without(self, *gone: slice) -> list[slice]:
        return without(self.grid.shape[1], *gone)

    # The diagonal

    def diagonal(self) -> np.ndarray:
        """The diagonal of the whole matrix, on every process."""
        grid = self.grid
        mine = {k: self.memory.stored(self.local[grid.local_row(k), grid.local_column(k)].diagonal()[:, None])[:, 0]
                for k in grid.tile_rows if k in grid.tile_columns}
        found = np.empty(grid.n, self.local.dtype)
        for part in self.world.allgather(mine):
            for k, values in part.items():
                found[grid.span(k)] = values
        return found

    # Rows in, rows out

    def take_rows(self, bounds: list[int], encoded: Callable[[slice], np.ndarray]) -> None:
        """Fill the matrix from rows; process r has those from ``bounds[r]`` to ``bounds[r + 1]``.

        Parameters
        ----------
        bounds : list of int
        encoded : function of a slice of rows of the whole matrix
            Converts these rows of this process for `memory`.
        """
        grid, memory = self.grid, self.memory

        def receivers(i: int) -> list[tuple[int, range]]:
            return [(i % grid.rows * grid.columns + column, grid.across.tiles(column))
                    for column in range(grid.columns)]

        def room(i: int, rows: slice) -> np.ndarray:
            view = self.local[self._within(i, rows)]
            return memory.raw(view.shape, view)

        def arrived(i: int, rows: slice, part: np.ndarray) -> None:
            memory.put(part, self.local[self._within(i, rows)])

        self._deal(bounds, encoded, receivers, room, arrived)

    def meet_rows(
        self, bounds: list[int], given: Callable[[slice], np.ndarray], dtype: np.dtype,
        use: Callable[[int, slice, np.ndarray], None],
    ) -> None:
        """Pass each process, for its columns of tiles, the same rows of another matrix.

        The diagonal of a product needs them: ⊕_k a_ik ⊗ x_ki, of which this process has the x_ki for some k and i.

        Parameters
        ----------
        bounds : list of int
            For the rows of the other matrix, as in `take_rows`.
        given : function of a slice of rows
            Returns these rows of this process.
        dtype : dtype
            The dtype of its elements.
        use : function of a column of tiles, a slice of rows within it, and their elements
            Receives those in the columns that are this process's rows, contiguous.
        """
        grid = self.grid

        def receivers(i: int) -> list[tuple[int, range]]:
            return [(row * grid.columns + i % grid.columns, grid.down.tiles(row)) for row in range(grid.rows)]

        def room(i: int, rows: slice) -> np.ndarray:
            return np.empty((rows.stop - rows.start, grid.shape[0]), dtype)

        self._deal(bounds, given, receivers, room, use)

    def _deal(
        self, bounds: list[int], given: Callable[[slice], np.ndarray],
        receivers: Callable[[int], list[tuple[int, range]]], room: Callable[[int, slice], np.ndarray],
        arrived: Callable[[int, slice, np.ndarray], None],
    ) -> None:
        """Send rows, a row of tiles at a time, to processes that each take some of their columns.

        Parameters
        ----------
        bounds, given
            As in `take_rows`.
        receivers : function of a row of tiles
            The ranks, and the columns of tiles that each takes.
        room, arrived : function of a row of tiles and a slice of rows in it, and of what came
        """
        grid, world = self.grid, self.world
        for i in range(grid.count):
            requests, kept, arriving, to = [], [], [], receivers(i)
            for sender, rows in _owners(bounds, grid.span(i)):
                if sender == world.rank:
                    mine = given(rows)
                    for receiver, tiles in to:
                        part = _joined(mine, [grid.span(j) for j in tiles])
                        if receiver == world.rank:
                            arrived(i, rows, part)
                        else:
                            requests += [world.Isend(p, dest=receiver, tag=i & 1) for p in pieces(part)]
                            kept.append(part)
                elif any(receiver == world.rank for receiver, _ in to):
                    into = room(i, rows)
                    requests += [world.Irecv(p, source=sender, tag=i & 1) for p in pieces(into)]
                    arriving.append((rows, into))
            wait(requests)
            for rows, into in arriving:
                arrived(i, rows, into)

    def give_rows(self, bounds: list[int], found: np.ndarray, out: np.ndarray) -> None:
        """Convert back to rows: the opposite of `take_rows`, for tiles of any dtype.

        Parameters
        ----------
        bounds : list of int
        found : ndarray
            An array like `local`.
        out : ndarray
            The rows of this process.
        """
        grid, world = self.grid, self.world
        for i in range(grid.count):
            requests, arrived = [], []
            for receiver, rows in _owners(bounds, grid.span(i)):
                if i % grid.rows == grid.row and receiver != world.rank:
                    requests += [world.Isend(p, dest=receiver, tag=i & 1)
                                 for p in pieces(np.ascontiguousarray(found[self._within(i, rows)]))]
                if receiver != world.rank:
                    continue
                for column in range(grid.columns):
                    sender, tiles = i % grid.rows * grid.columns + column, grid.across.tiles(column)
                    if sender == world.rank:
                        part = found[self._within(i, rows)]
                    else:
                        part = np.empty((rows.stop - rows.start, grid.across.rows(column)), found.dtype)
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
        """The rows of this process's array for some rows of the matrix, all in one row of tiles."""
        start = self.grid.local_row(tile).start + rows.start - tile * self.grid.side
        return slice(start, start + rows.stop - rows.start)


def _owners(bounds: list[int], span: slice) -> list[tuple[int, slice]]:
    """The processes that have rows of a span, and their rows."""
    found = []
    for r in range(len(bounds) - 1):
        start, stop = max(bounds[r], span.start), min(bounds[r + 1], span.stop)
        if start < stop:
            found.append((r, slice(start, stop)))
    return found


def _joined(rows: np.ndarray, spans: list[slice]) -> np.ndarray:
    """Some columns of rows, in contiguous memory of their own."""
    return np.concatenate([rows[:, span] for span in spans] or [rows[:, :0]], axis=1)
