"""What is known of a matrix's fronts without its weights, in the memory of a GPU: where they are, and their order."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .pieces import pieces

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis


class Structure:
    """The structure of a matrix's fronts, in the current device's memory."""

    def __init__(self, analysis: Analysis, tile: int):
        import cupy

        a, self.analysis = analysis, analysis
        s, u = a.pivots, a.reach
        self.order = s + u
        self.top_at, low_at = _starts(s * self.order), _starts(s * u)
        self.low_at = low_at + self.top_at[-1]
        self.update_at = _starts(u * u)
        self.pivot_at = self.top_at[a.owner] + (np.arange(a.n) - a.first[a.owner]) * (self.order[a.owner] + 1)
        self.height, depth = a.heights, a.depths
        levels = int(depth.max(initial=-1)) + 1
        nothing = np.zeros_like(s)
        self.falling = pieces(depth, [(nothing, s)], tile)
        self.rising = pieces(levels - 1 - depth, [(nothing, s), (s, self.order)], tile)
        rising = np.argsort(-depth, kind="stable")
        self.rising_fronts = cupy.asarray(rising.astype(np.int32))
        self.rising_bounds = np.searchsorted(-depth[rising], np.arange(1 - levels, 2))
        child, sibling = a.children
        narrow = [a.first, a.boundary, child, sibling, a.position, a.entry, a.entry_row, a.entry_column, a.place,
                  a.order]
        (self.first, self.boundary, self.child, self.sibling, self.position, self.entry, self.entry_row,
         self.entry_column, self.place, self.by_place) = (cupy.asarray(x.astype(np.int32)) for x in narrow)
        wide = [a.pointer, a.entry_pointer, self.update_at, self.top_at, self.low_at]
        self.pointer, self.entry_pointer, self.updates, self.tops, self.lows = (cupy.asarray(x) for x in wide)
        self.all_falling = cupy.asarray(self.falling.parts)
        self.range: tuple[Any, Any, list[Any]] | None = None  # what chunks were kept last, when they are there, they
        cupy.cuda.get_current_stream().synchronize()  # a structure is kept: any stream may use it next

    @property
    def elements(self) -> int:
        """The number of elements in both panels of all fronts."""
        return int(self.low_at[-1])

    @cached_property
    def columns(self) -> tuple[Any, Any, Any]:
        """The matrix by columns, as `Analysis.columns`."""
        import cupy

        pointer, rows, entries = self.analysis.columns
        found = cupy.asarray(pointer), cupy.asarray(rows.astype(np.int32)), cupy.asarray(entries.astype(np.int32))
        cupy.cuda.get_current_stream().synchronize()
        return found


def _starts(sizes: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
