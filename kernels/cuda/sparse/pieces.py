"""Fronts cut into pieces of work, level by level of their tree: those of one level do not wait for each other.

`Geometry` is how much of a piece a thread holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


class Pieces(NamedTuple):
    """Parts of fronts, level by level.

    Attributes
    ----------
    parts : int32 array, shape (pieces, 2)
        A supernode, and the first of the vertices of its front.
    bounds : int64 array, shape (levels + 1,)
        Where each level begins.
    owners : int64 array, shape (pieces,)
        The supernodes again.
    """

    parts: np.ndarray
    bounds: Index
    owners: Index

    @property
    def levels(self) -> list[tuple[int, int]]:
        """The beginning and the end of each level."""
        return list(pairwise(self.bounds.tolist()))


@dataclass(frozen=True)
class Geometry:
    """How much of a solution a thread holds, and a block that writes it; fronts.cu has the picture."""

    LANES: int  # right-hand sides
    TILE: int  # vertices
    SOURCES: int = 32  # right-hand sides of a tile on its way to the caller's rows,
    ENDS: int = 64  # and how many elements of each lie side by side there: the longer, the nearer to the memory's rate
    DEPTH: int = 32  # steps of k whose elements of a panel are in shared memory at once

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in vars(self).items())


@lru_cache(64)
def geometry(size: int, light: bool) -> Geometry:
    """For elements of `size` bytes: 64 registers of accumulators, fewer where ⊕ and ⊗ take many instructions."""
    written = (32, 128) if size <= 4 else (32, 64) if size <= 8 else (16, 16)
    if not light:
        return Geometry(2 if size <= 8 else 1, 4, *written)
    lanes, tile = (4, 16) if size <= 4 else (2, 16) if size == 8 else (1, 8 if size <= 16 else 4)
    return Geometry(lanes, tile, *written)


def pieces(level: Index, sizes: list[tuple[Index, Index]], tile: int) -> Pieces:
    """Ranges of each front cut into runs of `tile`, in ascending levels.

    Parameters
    ----------
    level : int64 array, shape (m,)
    sizes : list of pairs of int64 arrays, shape (m,)
        Where the ranges begin and end; no run goes from one of them into another.
    tile : int

    Examples
    --------
    Two fronts, the second a level below the first: two runs of the first one's three vertices, one of the other's.

    >>> found = pieces(np.array([0, 1]), [(np.array([0, 0]), np.array([3, 1]))], 2)
    >>> found.parts.tolist(), found.bounds.tolist()
    ([[0, 0], [0, 2], [1, 0]], [0, 2, 3])
    """
    counts = [np.maximum(-(-(end - begin) // tile), 0) for begin, end in sizes]
    owner = np.concatenate([np.repeat(np.arange(len(level)), count) for count in counts])
    rank = [np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) for count in counts]
    column = np.concatenate([
        np.repeat(begin, count) + tile * k for (begin, _), count, k in zip(sizes, counts, rank, strict=True)
    ])
    by_level = np.lexsort((owner, level[owner]))
    bounds = np.searchsorted(level[owner][by_level], np.arange(level.max(initial=-1) + 2))
    parts = np.ascontiguousarray(np.stack([owner, column], axis=1)[by_level], np.int32)
    return Pieces(parts, bounds, owner[by_level])


def chosen(found: Pieces, wanted: np.ndarray) -> Pieces:
    """The pieces of the supernodes that are wanted, which a bool for each says."""
    kept = np.flatnonzero(wanted[found.owners])
    return Pieces(found.parts[kept], np.searchsorted(kept, found.bounds), found.owners[kept])
