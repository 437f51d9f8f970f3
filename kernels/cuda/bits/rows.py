"""Some rows of a packed matrix on one GPU, and back; on the current device, and done when a function returns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.compile.launch import synchronize
from semiring.kernels.cuda.dense.rows import here, put

from .matrix import DevicePackedMatrix


def taken(matrix: PackedMatrix, spans: Sequence[slice]) -> DevicePackedMatrix:
    """The rows of some spans of a packed matrix, on the host or on any GPU, one below the other."""
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
    """The words back in their places of a matrix on the host or on any GPU, which has as many in a row."""
    start = 0
    for span in spans:
        stop = start + span.stop - span.start
        put(rows.words[start:stop], result[span])
        start = stop
    synchronize()
