"""Some rows of a packed matrix on one GPU: copied to it, eliminated, and copied back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.launch import synchronize
from semiring.kernels.cuda.dense.product import NO_GAP
from semiring.kernels.cuda.dense.rows import here, put

from . import product
from .closure import schedule
from .engine import strips, transposed
from .matrix import DevicePackedMatrix


def taken(matrix: PackedMatrix, spans: Sequence[slice]) -> DevicePackedMatrix:
    """Copy the rows of some spans of a packed matrix, on the host or on any GPU, one below the other, and wait."""
    columns, start = matrix.shape[1], 0
    rows = DevicePackedMatrix.zeros(sum(s.stop - s.start for s in spans), columns)
    used = matrix.used_words
    for span in spans:
        stop = start + span.stop - span.start
        rows.words[start:stop, :used] = here(matrix.words[span, :used])
        start = stop
    synchronize()
    return rows


def handed_out(rows: DevicePackedMatrix, spans: Sequence[slice], result: np.ndarray) -> None:
    """Copy the words back to their places in a matrix on the host or on any GPU, of rows as long, and wait."""
    start = 0
    for span in spans:
        stop = start + span.stop - span.start
        put(rows.words[start:stop], result[span])
        start = stop
    synchronize()


class Rows:
    """Block rows of a matrix on one GPU, and which of their tiles are full, which products pass over.

    Parameters
    ----------
    held : DevicePackedMatrix
        The block rows, one below the other, on the current device.
    """

    def __init__(self, held: DevicePackedMatrix):
        self._bits = held.bits
        looks = schedule(held.shape[1]).skip  # as the closure on one GPU does
        tiles: tuple[product.Known, Any] = product.known_tiles(held.bits) if looks else (product.NOTHING, None)
        self._known, self._memory = tiles
        synchronize()

    def __contains__(self, part: DevicePackedMatrix) -> bool:
        here, address = self._bits, part.bits.address
        return here.address <= address < here.address + here.rows * here.ld

    def eliminate(self, A: DevicePackedMatrix, R: DevicePackedMatrix, k: slice) -> None:
        """X ← X ⊕ C R, C ← C D for some of the rows, by the rows of a pivot, whose columns k are D.

        One product does both, since C ⊕ C D is C D if D contains the identity. C may change while X is computed from
        it: a bit that is set stays set, and belongs to the answer.
        """
        C, (m, n) = A.bits.part(0, A.shape[0], k.start, k.stop), A.shape
        top = (A.bits.address - self._bits.address) // self._bits.ld
        for first, last in strips(n, k.stop - k.start):
            T, _transposed = transposed(R.bits.part(0, R.shape[0], first, last))
            part = A.bits.part(0, m, first, last)
            known, _settled = product.settled(part, C, T, NO_GAP, self._known.part(top, first))
            product.multiply(part, C, T, True, known=known)
