"""Folds of arrays over one semiring, piece by piece, at the speed of memory. A template: see folds.py.

Never imported as it stands; the lines above ``# Template`` stand for what folds.py puts before the text below it:
minima in float32. All arrays are addresses and strides in bytes. A piece of a line, or so many rows, gives one partial
result; `top` takes the maxima of a log-sum-exp, and is not used by other operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.lane_folds import SIDE_BY_SIDE, Folds
from semiring.kernels.cpu.compile.raw import put, wide_vectors
from semiring.kernels.cpu.dense.template import ITEM, entry

COUNT = 16  # lanes of a vector
GIVEN = 4  # bytes of an element of x; ITEM are those of a result


def fold_vectors(v: Any, x: Any, t: Any) -> Any:
    return v.minimum(x, t)


def inside_vectors(v: Any, a: Any) -> Any:
    return v.equal(a, a)


by: Any = Folds((np.float32,), (np.float32(np.inf),), COUNT, True, fold_vectors, inside_vectors)

# Template

line, wide, narrow = by.line(), by.down(SIDE_BY_SIDE), by.down(1)
WIDE = SIDE_BY_SIDE * COUNT


@entry(*[int64] * 9)
def fold_lines(
    x: int, step: int, top: int, out: int, out_step: int, count: int, length: int, piece: int, failed: int
) -> None:
    """out[i, p] ← the fold of piece p of line i; `failed` becomes 1 if something is not an element."""
    wide_vectors()
    strange = int64(0)
    for i in range(count):
        for begin in range(0, length, piece):
            n = min(piece, length - begin)
            place = i * out_step + begin // piece * ITEM
            vectors = n // COUNT
            given = x + i * step + begin * GIVEN
            strange |= line((given, top + place, out + place, vectors, n - vectors * COUNT))
    if strange:
        put(np.int64, failed, 0, int64(1))


@entry(*[int64] * 13)
def fold_rows(
    x: int, step: int, row: int, top: int, out: int, out_step: int, out_row: int, count: int, depth: int, piece: int,
    width: int, together: int, failed: int,
) -> None:
    """out[i, p, j] ← the fold of x[i, k, j] over the rows k of piece p, so many at a time; `failed` as above."""
    wide_vectors()
    strange = int64(0)
    whole = width - width % WIDE
    for i in range(count):
        for begin in range(0, depth, piece):
            last = min(begin + piece, depth)
            place = i * out_step + begin // piece * out_row
            for k in range(begin, last, together):  # `out` stays in the cache
                n, more = min(together, last - k), int64(k > begin)
                given = x + i * step + k * row
                for j in range(0, whole, WIDE):
                    at = place + j * ITEM
                    strange |= wide((given + j * GIVEN, row, top + at, out + at, n, COUNT, more))
                for j in range(whole, width, COUNT):
                    at = place + j * ITEM
                    strange |= narrow((given + j * GIVEN, row, top + at, out + at, n, min(COUNT, width - j), more))
    if strange:
        put(np.int64, failed, 0, int64(1))
