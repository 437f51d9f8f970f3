"""Closures of any order, by blocks of threads and by products, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import device
from gpu.elements import algebra, assert_equal, closable, closure_reference, dtype_of

CLOSURES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u2"), ("max_min", "f4"), ("boolean", "?"),
    ("viterbi", "f4"), ("plus_times", "f8"), ("log", "f8"), ("shortest_hops", None), ("k_best", None),
    ("expectation", None), ("users", "f4"), ("gf2", "u1"),
]


@pytest.mark.parametrize("n", [1, 31, 33, 64, 65, 128, 200, 257])
@pytest.mark.parametrize(("name", "dtype"), CLOSURES)
def test_closure_of_any_order(name: str, dtype: str | None, n: int) -> None:
    S, rng = algebra(name), np.random.default_rng(n)
    A = closable(S, dtype_of(S, dtype), n, rng)
    wanted = closure_reference(S, A)
    for method, tile in (("floyd-warshall", n), ("r-kleene", 32), ("blocked", 64), ("elimination", 64)):
        assert_equal(S, device.closure(S, A, method, tile), wanted)


@pytest.mark.parametrize(
    ("name", "dtype"), [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "u2"), ("shortest_hops", None)]
)
def test_large_closure_by_blocks(name: str, dtype: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge matrices, with the limit lowered: one product a panel and one for the rest, the pivot left out."""
    from semiring.kernels.cuda.dense import closure

    monkeypatch.setattr(closure, "HUGE", 1)
    S, rng = algebra(name), np.random.default_rng(7)
    A = closable(S, dtype_of(S, dtype), 2048, rng)
    got = device.closure(S, A, "floyd-warshall", 2048)
    other = device.closure(S, A, "r-kleene", 512)
    assert_equal(S, got, other)
    assert_equal(S, device.product(S, got, got), got)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [1, 30, 64, 100, 128])
def test_small_closures_over_log_sum_exp(n: int, dtype: str) -> None:
    """By powers where these are near each other, and by logarithms where not: of one stack each as it is."""
    import cupy

    import semiring as sr

    rng = np.random.default_rng(n)
    near, far, few, one_way, infinite = np.log(rng.random((5, n, n)) / n)
    far *= 40
    few[rng.random((n, n)) < 0.8] = -np.inf
    one_way[np.tril_indices(n)] = -np.inf
    infinite[0, 0] = 1
    A = np.stack([near, far, few, one_way, infinite, near]).astype(dtype)
    wanted = sr.closure(A.astype("f8"), sr.log, device="cpu")
    unit = 2 * np.finfo(dtype).eps * (n + 16 + np.where(np.isfinite(wanted), abs(wanted), 0))
    for _ in range(2):  # carefully, and on the guess that all is as before
        found = cupy.asnumpy(sr.closure(cupy.asarray(A), sr.log)).astype("f8")
        same = found == wanted
        assert (same | (abs(np.where(same, 0, found) - np.where(same, 0, wanted)) <= unit)).all()


def test_a_copy_from_a_device_does_not_break_what_another_thread_records_there() -> None:
    from threading import Event, Thread

    import cupy

    import semiring as sr
    from semiring.kernels.build import kernel as build_kernel
    from semiring.kernels.cuda.choose import general_on_device
    from semiring.kernels.cuda.dense.closure import Graph
    from semiring.kernels.cuda.dense.engine import CudaKernel
    from semiring.kernels.cuda.dense.rows import here

    kernel = build_kernel(general_on_device(sr.min_plus, np.dtype("f4")))
    assert isinstance(kernel, CudaKernel)
    A, done, copies = cupy.ones((64, 64), np.float32), Event(), []

    def copy() -> None:
        while not done.is_set():
            copies.append(here(A))
            del copies[:-1]

    thread = Thread(target=copy)
    thread.start()
    try:
        for _ in range(100):
            Graph(kernel.closure, 512)
    finally:
        done.set()
        thread.join()
    assert (copies[0] == A).all()
