"""The layout of the blocks of a sparse matrix's factors, and conversions between layouts of different machines.

The panel of a supernode of s vertices with u in its boundary holds three blocks, one after the other, each row-major
and with rows up to a multiple of `rows`, the last of them zero; see `semiring.kernels.cpu.sparse.fronts_template`.

    own, s × s      down, s × u              up, u × s
    S*ᵀ             (F[U, S] ⊗ S*)ᵀ          (S* ⊗ F[S, U])ᵀ
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from semiring.algorithms.sparse.analysis import Analysis

AT_ONCE = 1 << 20  # elements that are moved together: their places take eight bytes each, three times


class Blocks(NamedTuple):
    """The blocks of all panels, those of each supernode together.

    Attributes
    ----------
    begins, sizes : int64 array, shape (3 m,)
        Where each begins, and how many elements it has.
    end : int
        Where the last ends, its zeros too.
    """

    begins: np.ndarray
    sizes: np.ndarray
    end: int


def blocks_of(analysis: Analysis, rows: int) -> Blocks:
    """The places of blocks for so many rows."""
    s, u = analysis.pivots, analysis.reach
    padded, high = -(-s // rows) * rows, -(-u // rows) * rows
    room = np.stack([padded * s, padded * u, high * s], axis=1).reshape(-1)
    ends = np.cumsum(room)
    sizes = np.stack([s * s, s * u, s * u], axis=1).reshape(-1)
    return Blocks(ends - room, sizes, int(ends[-1]) if len(ends) else 0)


def move(
    analysis: Analysis, given: Sequence[np.ndarray], rows: int, out: Sequence[np.ndarray], rows_out: int,
    zero: Sequence[Any],
) -> None:
    """Take factors from one layout to another, component by component.

    Parameters
    ----------
    analysis : Analysis
    given, out : sequence of ndarray
        The components of the elements, in a layout for so many rows each.
    rows, rows_out : int
    zero : sequence of numbers
        The components of the algebra's zero, which fill up.
    """
    if rows == rows_out:
        for part, target in zip(given, out, strict=True):
            target[...] = part
        return
    before, after = blocks_of(analysis, rows), blocks_of(analysis, rows_out)
    for target, nothing in zip(out, zero, strict=True):
        target[...] = nothing
    done = np.concatenate([[0], np.cumsum(before.sizes)])
    first = 0
    while first < len(before.sizes):
        last = max(int(np.searchsorted(done, done[first] + AT_ONCE, "right")) - 1, first + 1)
        sizes = before.sizes[first:last]
        within = np.arange(done[last] - done[first]) - np.repeat(done[first:last] - done[first], sizes)
        source = np.repeat(before.begins[first:last], sizes) + within
        place = np.repeat(after.begins[first:last], sizes) + within
        for part, target in zip(given, out, strict=True):
            target[place] = part[source]
        first = last
