"""Rows of single numbers and of structures, as vectors, with masks and without."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from semiring.kernels.cpu.compile.lane_rows import Rows
from semiring.kernels.cpu.dense.lanes import geometry

STRUCTURES = [(np.float32,), (np.bool_,), (np.float64, np.int16), (np.int8, np.float32, np.bool_), (np.float32,) * 2]


@pytest.mark.parametrize("parts", STRUCTURES, ids=lambda parts: "-".join(part.__name__ for part in parts))
def test_rows_are_moved_and_looked_at(parts: tuple[type, ...]) -> None:
    kinds = tuple(np.dtype(part) for part in parts)
    dtype = kinds[0] if len(parts) == 1 else np.dtype([(f"f{i}", k) for i, k in enumerate(kinds)], align=True)
    masked, count = geometry(kinds)[2], 8
    zero = tuple(part(1) for part in parts)
    by = Rows(parts, zero, count, 1, masked, None, None, lambda v, x: v.equal(
        *(v.convert((x if len(parts) == 1 else x[0]), kinds[0].name) for _ in range(2))))
    move, strangers = by.move(), by.strangers()
    item = dtype.itemsize

    @njit
    def moved(source: int, target: int, rows: int, live: int, full: int) -> int:
        move((source, rows * 0 + 11 * item, target, 8 * item, rows, live, full))
        return strangers((source, 11 * item, rows, live))

    rng = np.random.default_rng(0)
    A, C = np.zeros((3, 11), dtype), np.zeros((3, 8), dtype)
    for name in dtype.names or [None]:
        part = A if name is None else A[name]
        part[...] = rng.integers(0, 2, A.shape)
    for live in range(1, 9) if masked else [8]:
        for full in (0, 1):
            C[...] = np.zeros((), dtype)
            assert moved(A.ctypes.data, C.ctypes.data, 3, live, full) == 0
            assert (C[:, :live] == A[:, :live]).all()
            rest = C[:, live:]
            assert all(((rest if name is None else rest[name]) == full).all() for name in dtype.names or [None])
    if kinds[0].kind == "f":
        (A if not dtype.names else A["f0"])[1, 3] = np.nan
        assert moved(A.ctypes.data, C.ctypes.data, 3, 8, 0) == 1
