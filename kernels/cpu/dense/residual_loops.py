"""The compiled loop that compares small inverses with their equations; `residuals.py` has the equations."""

from __future__ import annotations

from typing import Any

from numba import types

from semiring.kernels.cpu.compile.jit import njit


def signature(kind: Any) -> Any:
    """That for floats of a kind, of which only scratch memory is written."""
    stack = types.Array(kind, 3, "C", readonly=True)
    return types.void(stack, stack, kind, kind, kind, kind[:, ::1], types.boolean[::1])


@njit([signature(types.float32), signature(types.float64)], nogil=True, error_model="numpy", cache=True)
def compare(A: Any, X: Any, rounding: Any, room: Any, worth: Any, scratch: Any, right: Any) -> None:
    """right[s] ← whether X[s] = 1 + A[s] X[s] within `rounding` of each sum, and `worth` · sensitivity < 1.

    Sums of the rows of |X| are multiplied by `room`, so that they do not overflow. `scratch` has 4 rows of n numbers.
    """
    count, n, _ = A.shape
    left, size, total, spread = scratch[0], scratch[1], scratch[2], scratch[3]
    for s in range(count):
        a, x, fine = A[s], X[s], True
        for i in range(n):
            total[i] = 0
            for j in range(n):
                left[j], size[j] = x[i, j], abs(x[i, j])
                total[i] += size[j] * room
            left[i] -= 1
            for k in range(n):
                factor = a[i, k]
                weight = abs(factor)
                for j in range(n):
                    left[j] -= factor * x[k, j]
                    size[j] += weight * abs(x[k, j])
            for j in range(n):
                fine &= abs(left[j]) <= rounding * size[j]
        for i in range(n):
            spread[i] = abs(1 - a[i, i]) * total[i]
            for k in range(n):
                if k != i:
                    spread[i] += abs(a[i, k]) * total[k]
        for i in range(n):
            most = 0 * room
            for j in range(n):
                most += abs(x[i, j]) / total[i] * spread[j]
            fine &= most * worth < 1
        right[s] = fine
