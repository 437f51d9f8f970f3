"""Matrices of numbers and of structures go to the lanes of vectors and come back, with masks and without."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from semiring.kernels.cpu.compile.lane_stacks import Stacks
from semiring.kernels.cpu.dense.lanes import geometry

STRUCTURES = [(np.float32,), (np.float64, np.int16), (np.bool_,), (np.int8, np.float32, np.bool_)]
COUNT = 8


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("parts", [*STRUCTURES[:2], *(pytest.param(x, marks=pytest.mark.slow) for x in STRUCTURES[2:])],
                         ids=lambda parts: "-".join(part.__name__ for part in parts))
def test_matrices_go_to_slots_and_back(parts: tuple[type, ...], masked: bool) -> None:
    """Turned on the way, if slots are; no byte beside them is written, and an entry that is not an element is seen."""
    kinds = tuple(np.dtype(part) for part in parts)
    if masked and not geometry(kinds)[2]:
        pytest.skip("this processor has no masks")
    dtype = kinds[0] if len(parts) == 1 else np.dtype([(f"f{i}", k) for i, k in enumerate(kinds)], align=True)

    def inside(v, x):  # type: ignore[no-untyped-def]
        first = x if len(parts) == 1 else x[0]
        return v.less_equal(v.convert(first, "float64"), v.constant(np.float64(4)))

    by = Stacks(parts, tuple(part(1) for part in parts), COUNT, 1, masked, None, None, inside, None, None)
    enter, leave, slots = by.enter(), by.leave(), by.slots(64, 8)

    @njit
    def turned(source: int, target: int, step: int, live: int, rows: int, columns: int, item: int) -> int:
        room = slots(())
        strange = enter((source, step, live, columns * item, rows, item, columns, room, 1, rows))
        leave((target, step, live, rows * item, columns, item, rows, room, rows, 1))
        return strange

    rng = np.random.default_rng(0)
    for rows, columns in ((1, 1), (3, 5), (8, 8), (2, 7)):
        for live in (1, 5, COUNT):
            for gap in (0, 3):
                size = rows * columns
                A = np.zeros((live, size + gap), dtype)
                for name in dtype.names or [None]:
                    (A if name is None else A[name])[...] = rng.integers(0, 2, A.shape)
                C, want = np.ones_like(A), np.ones_like(A)
                given = A[:, :size].reshape(live, rows, columns)
                want[:, :size] = given.swapaxes(1, 2).reshape(live, size)
                numbers = A.strides[0], live, rows, columns, dtype.itemsize
                assert turned(A.ctypes.data, C.ctypes.data, *numbers) == 0
                assert (want == C).all()
                if kinds[0].kind != "b":
                    (A if not dtype.names else A["f0"])[live - 1, size - 1] = 5
                    assert turned(A.ctypes.data, C.ctypes.data, *numbers) == 1
