"""The kernel interface over arrays on the device: views, stacks, diagonals, stars that are missing, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu import device
from gpu.elements import algebra, assert_equal, closable, closure_reference, draw, dtype_of, reference

import semiring as sr


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1"])
def test_views_and_stacks(dtype: str) -> None:
    import cupy

    from semiring.kernels.cuda.choose import kernel

    S, rng = sr.min_plus if dtype != "u1" else sr.bitset_may, np.random.default_rng(4)
    d = np.dtype(dtype)
    A, B, C = (draw(S, d, (3, 2 * m + 1, n + 5), rng) for m, n in ((70, 80), (80, 90), (70, 90)))
    low = device.lowering(S, [cupy.asarray(x) for x in (A, B, C)], 3)
    k = kernel(low)
    a, b, c = (low.encode(cupy.asarray(x), True) for x in (A, B, C))
    wanted = [reference(S, x[1::2, 3:83], y[:160:2, 1:91], z[::2][:70, 2:92]) for x, y, z in zip(A, B, C, strict=True)]
    target = c[:, ::2][:, :70, 2:92]
    k.multiply_add_stack(target, a[:, 1::2, 3:83], b[:, :160:2, 1:91])
    assert_equal(S, cupy.asnumpy(low.decode(c))[:, ::2][:, :70, 2:92], np.stack(wanted))
    outside = np.ones(C.shape, bool)
    outside[:, ::2][:, :70, 2:92] = False
    np.testing.assert_array_equal(cupy.asnumpy(low.decode(c))[outside], C[outside])


@pytest.mark.parametrize("n", [3, 32, 50, 64, 100, 128, 130])
@pytest.mark.parametrize(
    ("name", "dtype"), [("min_plus", "f4"), ("min_plus", "u2"), ("plus_times", "f8"), ("k_best", None)]
)
def test_stack_of_closures(name: str, dtype: str | None, n: int) -> None:
    S, rng = algebra(name), np.random.default_rng(n)
    A = np.stack([closable(S, dtype_of(S, dtype), n, rng) for _ in range(5)])
    assert_equal(S, device.closure(S, A), np.stack([closure_reference(S, x) for x in A]))


@pytest.mark.parametrize("n", [129, 200, 256, 300, 515])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u2"), ("max_min", "f4"),
     ("boolean", "?"), ("plus_times", "f8"), ("shortest_hops", None), ("users", "f4")],
)
def test_stack_of_closures_by_halves(name: str, dtype: str | None, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As one after the other by panels, and the first few by NumPy; some at a time."""
    import cupy

    from semiring.kernels.cuda.choose import kernel
    from semiring.kernels.cuda.dense import engine

    monkeypatch.setattr(engine, "CLOSED_BYTES", 3 << 20)
    S, rng = algebra(name), np.random.default_rng(n)
    A = np.stack([closable(S, dtype_of(S, dtype), n, rng) for _ in range(7)])
    got = device.closure(S, A)
    assert_equal(S, got[:1], closure_reference(S, A[0])[None])
    a = device.on_device(A)
    low = device.lowering(S, [a], n)
    work = low.encode(a, True)
    assert all(kernel(low).close(matrix) == -1 for matrix in work)
    assert_equal(S, got, cupy.asnumpy(low.decode(work)).astype(A.dtype, copy=False))


@pytest.mark.parametrize("n", [200, 500])
def test_stacks_through_the_front_door(n: int) -> None:
    """With edges below zero, an improving cycle in one of the matrices, rows that lie apart, and in place."""
    import cupy

    rng = np.random.default_rng(n)
    A = np.where(rng.random((2, 3, n, n)) < 4 / n, rng.integers(1, 100, (2, 3, n, n)), np.inf).astype("f4")
    A[1, 2] = np.where(np.triu(np.ones((n, n)), 1) == 1, A[1, 2] - 50, np.inf)
    wanted = sr.closure(A, sr.min_plus, device="cpu")
    a = cupy.asarray(A)
    np.testing.assert_array_equal(sr.closure(a, sr.min_plus).get(), wanted)
    np.testing.assert_array_equal(a.get(), A)
    apart = cupy.zeros((2, 3, n, n + 5), "f4")
    apart[..., :n] = a
    np.testing.assert_array_equal(sr.closure(apart[..., :n], sr.min_plus).get(), wanted)
    sr.closure(a, sr.min_plus, overwrite=True)
    np.testing.assert_array_equal(a.get(), wanted)
    A[1, 0, 0, 1], A[1, 0, 1, 0] = 1, -2
    with pytest.raises(sr.NoClosureError, match=r"matrix \(1, 0\) of the stack"):
        sr.closure(cupy.asarray(A), sr.min_plus)


def test_a_missing_star_is_found_at_its_pivot() -> None:
    import cupy

    from semiring.kernels.cuda.choose import kernel

    S = sr.plus_times
    for n, pivot in ((10, 3), (100, 70), (200, 199)):
        A = np.zeros((n, n))
        A[pivot, pivot] = 1
        low = device.lowering(S, [cupy.asarray(A)], n)
        assert kernel(low).close(cupy.asarray(A)) == pivot
    stack = np.zeros((4, 20, 20))
    stack[2, 5, 5] = 1
    assert kernel(low).close_stack(cupy.asarray(stack)).tolist() == [-1, -1, 5, -1]
    for pivot in (0, 100, 150, 299):
        stack = np.zeros((4, 300, 300))
        stack[2, pivot, pivot] = stack[2, 299, 299] = 1
        assert kernel(low).close_stack(cupy.asarray(stack)).tolist() == [-1, -1, pivot, -1]


def test_diagonals() -> None:
    import cupy

    from semiring.kernels.cuda.choose import kernel

    S, rng = sr.min_plus, np.random.default_rng(9)
    A, B = draw(S, np.dtype("f4"), (50, 300), rng), draw(S, np.dtype("f4"), (300, 50), rng)
    a, b = cupy.asarray(A), cupy.asarray(B)
    k = kernel(device.lowering(S, [a, b], 3))
    np.testing.assert_array_equal(cupy.asnumpy(k.diagonal(a, b)), np.diagonal(reference(S, A, B)))
    square: Any = cupy.asarray(A[:, :50] + np.float32(1))
    before = square.copy()
    assert k.equal(square, before)
    k.add_one(square)
    assert cupy.asnumpy(cupy.diagonal(square)).max() == 0 and not k.equal(square, before)
    k.set_diagonal(square, cupy.diagonal(before))
    assert k.equal(square, before)
