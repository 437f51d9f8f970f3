"""One pass over a stack of matrices that gathers facts about the values. A template: see scan.py, and template.py.

Floats are ordered as integers: where the sign bit is set all other bits are flipped, and then the integers order as the
numbers do (−0 just below 0, NaN beyond both infinities). Minima and unions of integers vectorise; those of floats,
with their NaN and their two zeros, do not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, types

from semiring.kernels.cpu.compile.jit import njit
from semiring.kernels.cpu.compile.raw import fetch, floor, select, wide_vectors

KEY = np.int32  # integers of the elements' size
FLOAT = np.float32  # the elements' own type (for integers the same as KEY)
FLOATING = True  # whether they are floats
LEAST, GREATEST = np.int32(-(2**31)), np.int32(2**31 - 1)  # of all keys
BOTTOM, TOP = np.int32(-(255 << 23) - 1), np.int32(255 << 23)  # keys of −∞ and +∞, or of the type's ends
KEY_TYPE = types.int32
MATRIX = types.Array(types.float32, 3, "A", readonly=True, aligned=False)

# Template

YES, NO = KEY(1), KEY(0)


@njit(
    [types.Tuple((KEY_TYPE,) * 7)(MATRIX, int64, int64)],
    error_model="numpy",
    no_cfunc_wrapper=True,
    nogil=True,
    cache=True,
)
def scan(array: Any, first: int, last: int) -> Any:
    """In the matrices' rows from `first` to `last`: NaN? +∞? −∞? −0? a fraction? least and greatest other key."""
    wide_vectors()
    nan = top = bottom = negative_zero = fraction = NO
    least, greatest = GREATEST, LEAST
    step = array.strides[2] // array.itemsize
    rows = array.shape[1]
    for r in range(first, last):
        row = int64(array.ctypes.data) + r // rows * array.strides[0] + r % rows * array.strides[1]
        for j in range(array.shape[2]):
            key = fetch(KEY, row, j * step)
            if FLOATING:
                key = select(key < NO, KEY(key ^ GREATEST), key)
                nan = select((key > TOP) | (key < BOTTOM), YES, nan)
                negative_zero = select(key == KEY(-1), YES, negative_zero)
            top = select(key == TOP, YES, top)
            bottom = select(key == BOTTOM, YES, bottom)
            inside = (key < TOP) & (key > BOTTOM)
            if FLOATING:
                x = fetch(FLOAT, row, j * step)
                fraction = KEY(fraction | select(inside & (floor(x) != x), YES, NO))
            least = min(least, select(inside, key, GREATEST))
            greatest = max(greatest, select(inside, key, LEAST))
    return nan, top, bottom, negative_zero, fraction, least, greatest
