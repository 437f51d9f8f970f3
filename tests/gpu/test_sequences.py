"""Scans and chains of arrays on the GPU: against products one after the other on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.elements import algebra, draw

import semiring as sr

inf = np.inf
NAMES = [name for name, S in sr.catalogue.items() if S.traced]


def folded(S: Any, A: np.ndarray, X: np.ndarray | None = None, reverse: bool = False) -> np.ndarray:
    """All products of a stack (T, …, n, n) by `matmul` on the CPU."""
    total, found = X, []
    for step in A[::-1] if reverse else A:
        pair = (step, total) if reverse else (total, step)
        total = step if total is None else sr.matmul(*pair, S, device="cpu")
        found.append(total)
    return np.stack(found[::-1] if reverse else found)


def check(S: Any, A: np.ndarray, X: np.ndarray | None = None, reverse: bool = False) -> None:
    import cupy

    found = sr.scan(cupy.asarray(A), S, reverse=reverse, initial=None if X is None else cupy.asarray(X))
    assert isinstance(found, cupy.ndarray)
    compare(S, found, folded(S, A, X, reverse))


def compare(S: Any, found: Any, wanted: np.ndarray) -> None:
    found = found.get()
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if S.is_bottleneck or wanted.dtype.names or wanted.dtype.kind in "iub" or whole(wanted):
        np.testing.assert_array_equal(found, wanted)
    else:
        eps, steps = np.finfo(wanted.dtype).eps, len(wanted)
        tolerance = (8 if wanted.dtype.itemsize > 2 else 2) * eps * (steps + 1) * max(wanted.shape[-2:])
        np.testing.assert_allclose(found.astype("f8"), wanted.astype("f8"), rtol=tolerance, atol=tolerance)


def whole(A: np.ndarray) -> bool:
    """Whether all numbers are whole, and small enough that sums and minima of them are exact."""
    finite = A[np.isfinite(A)]
    return bool((finite == np.floor(finite)).all() and (np.abs(finite) < 1 / np.finfo(A.dtype).eps).all())


def whole_numbers(shape: tuple[int, ...], dtype: str, seed: int = 0, zeros: float = 0.2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 50, shape).astype(dtype)
    A[rng.random(shape) < zeros] = np.inf if np.dtype(dtype).kind == "f" else np.iinfo(dtype).max
    return A


@pytest.mark.parametrize("name", [*NAMES, "users"])
def test_every_algebra(name: str) -> None:
    import cupy

    S, rng = algebra(name), np.random.default_rng(0)
    kinds = {"boolean": "b", "counting": "iu"}.get(name, "biuf")
    dtypes = [S.default_dtype] if S.fields else [d for d in S.dtypes if d.kind in kinds]
    for dtype in dtypes:
        for n in (3, 16):
            A = draw(S, np.dtype(dtype), (5, 2, n, n), rng)
            try:
                wanted = folded(S, A), folded(S, A, reverse=True)
            except sr.SemiringError:  # a number leaves the dtype
                with pytest.raises(sr.SemiringError):
                    sr.scan(cupy.asarray(A), S)
                continue
            if S.has_multiples and np.lcm.reduce(A[A > 0].astype("i8").ravel()) > np.iinfo(A.dtype).max:
                with pytest.raises(sr.SemiringError, match=r"least common multiple .*pass arrays of the host"):
                    sr.scan(cupy.asarray(A), S)
                continue
            compare(S, sr.scan(cupy.asarray(A), S), wanted[0])
            compare(S, sr.scan(cupy.asarray(A), S, reverse=True), wanted[1])
            compare(S, sr.chain(cupy.asarray(A), S)[None], wanted[0][-1:])


@pytest.mark.parametrize("n", [1, 2, 4, 5, 8, 13, 16, 17, 24, 32, 33, 47, 64, 70])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_orders_and_lengths(n: int, dtype: str) -> None:
    """Whole numbers are added exactly: to the bit, however long a sequence is and however it is cut."""
    for steps in (1, 2, 30, 700 if n < 40 else 120):
        A = whole_numbers((steps, n, n), dtype, steps)
        check(sr.min_plus, A, reverse=steps % 4 == 2)
    check(sr.min_plus, A, reverse=True)


@pytest.mark.parametrize("n", [3, 16])
def test_long_sequences_in_several_levels(n: int) -> None:
    import cupy

    A = whole_numbers((30_001, n, n), "f4", zeros=0.3)
    for reverse in (False, True):
        found = sr.scan(cupy.asarray(A), sr.min_plus, reverse=reverse).get()
        first = -1 if reverse else 0
        assert np.array_equal(found[first], A[first])
        pair = (A[:-1], found[1:]) if reverse else (found[:-1], A[1:])
        assert np.array_equal(sr.matmul(*pair, sr.min_plus, device="cpu"), found[:-1] if reverse else found[1:])
    total = sr.chain(cupy.asarray(A), sr.min_plus)
    assert np.array_equal(total.get(), found[0])


def test_elements_that_do_not_commute() -> None:
    triangular = sr.Semiring(
        "triangular", zero=(inf, inf, inf), one=(0, inf, 0), fields={"p": "f8", "q": "f8", "r": "f8"},
        add=lambda x, y: tuple(np.minimum(a, b) for a, b in zip(x, y, strict=True)),
        mul=lambda x, y: (x[0] + y[0], np.minimum(x[0] + y[1], x[1] + y[2]), x[2] + y[2]),
    )
    A = np.zeros((300, 5, 5), triangular.default_dtype)
    for i, f in enumerate("pqr"):
        A[f] = whole_numbers(A.shape, "f8", i)
    check(triangular, A)
    check(triangular, A, A[0, :2], False)
    check(triangular, A, A[0, :, :2], True)


def test_products_only_go_one_after_the_other() -> None:
    A = np.random.default_rng(0).integers(0, 4, (200, 6, 6)).astype("f8")
    check(sr.plus_min, A)
    check(sr.plus_min, A, reverse=True)


@pytest.mark.parametrize("reverse", [False, True])
def test_initial_matrices_axes_and_views(reverse: bool) -> None:
    import cupy

    A = whole_numbers((90, 2, 3, 6, 6), "f4")
    for m in (1, 4, 6, 9):
        X = whole_numbers((6, m) if reverse else (m, 6), "f4", 1)
        each = np.stack([X, X + 1, X + 2])
        check(sr.min_plus, A[:, 0, 0], X, reverse)
        for initial in (X, each):
            compare(sr.min_plus, sr.scan(cupy.asarray(A), sr.min_plus, reverse=reverse, initial=cupy.asarray(initial)),
                    folded(sr.min_plus, A, np.broadcast_to(initial, (2, 3, *initial.shape[-2:])), reverse))
    wanted = folded(sr.min_plus, A, reverse=reverse)
    for axis in (0, 1, 2):
        moved = cupy.asarray(np.moveaxis(A, 0, axis).copy())
        found = sr.scan(moved, sr.min_plus, axis=axis, reverse=reverse)
        assert np.array_equal(np.moveaxis(found.get(), axis, 0), wanted)
        found = sr.scan(cupy.moveaxis(cupy.asarray(A), 0, axis), sr.min_plus, axis=axis, reverse=reverse)
        assert np.array_equal(np.moveaxis(found.get(), axis, 0), wanted)
    a = cupy.asarray(A[:, 0, 0])
    wide = cupy.zeros((90, 7, 9), "f4")
    wide[:, 1:, 3:] = a
    for view in (cupy.asfortranarray(a), wide[:, 1:, 3:], cupy.asarray(A[::-1, 0, 0])[::-1]):
        assert np.array_equal(sr.scan(view, sr.min_plus, reverse=reverse).get(), wanted[:, 0, 0])


def test_empty_ones() -> None:
    import cupy

    for shape in ((0, 3, 3), (4, 0, 0), (4, 0, 3, 3)):
        assert sr.scan(cupy.zeros(shape), sr.min_plus).shape == shape
    assert sr.scan(cupy.zeros((0, 3, 3)), sr.min_plus, initial=cupy.zeros((2, 3))).shape == (0, 2, 3)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("kind", ["near", "wild", "rows without", "bands"])
def test_log_sums(dtype: str, kind: str) -> None:
    """Also where powers underflow, so that entries are summed by their terms."""
    rng, eps = np.random.default_rng(1), np.finfo(dtype).eps
    scale = 300 if kind == "wild" else 6
    A = (-rng.random((300, 7, 7)) * scale).astype(dtype)
    if kind == "wild":
        A[rng.random(A.shape) < 0.3] = -inf
    elif kind == "rows without":
        A[17, 3], A[29, :, 2], A[200, 1] = -inf, -inf, -inf
    elif kind == "bands":
        A[:, abs(np.subtract.outer(np.arange(7), np.arange(7))) > 1] = -inf
    import cupy

    for reverse in (False, True):
        found = sr.scan(cupy.asarray(A), sr.log, reverse=reverse).get().astype("f8")
        wanted = folded(sr.log, A.astype("f8"), reverse=reverse)
        assert np.array_equal(found == -inf, wanted == -inf)
        there = wanted > -inf
        error = np.abs(found[there] - wanted[there]) / (1 + np.abs(wanted[there]))
        assert error.max() < 300 * 24 * eps
        if kind == "near":
            pairs = (A[:-1], found[1:]) if reverse else (found[:-1], A[1:])
            step = sr.matmul(*(x.astype("f8") for x in pairs), sr.log, device="cpu")
            beside = found[:-1] if reverse else found[1:]
            assert (np.abs(step - beside) <= eps * (7 + 16 + 4 * np.log(7) + 24 + np.abs(step))).all()


@pytest.mark.parametrize("n", [4, 16])
def test_what_is_not_an_element_is_refused_with_its_place(n: int) -> None:
    import cupy

    A = np.full((5000, n, n), 0.5, "f4")
    for S, value, text in ((sr.min_plus, np.nan, "is NaN"), (sr.viterbi, -1, "")):
        for at in ((0, 0, 1), (77, 2, 3), (4999, n - 1, n - 1)):
            B = A.copy()
            B[at] = value
            place = ", ".join(map(str, at))
            with pytest.raises(sr.SemiringError, match=rf"stack\[{place}\].*{text}"):
                sr.scan(cupy.asarray(B), S)
            with pytest.raises(sr.SemiringError, match=rf"matrices\[{place}\].*{text}"):
                sr.chain(cupy.asarray(B), S)
    with pytest.raises(sr.SemiringError, match=r"initial\[0, 1\] is NaN"):
        X = np.zeros((2, n), "f4")
        X[0, 1] = np.nan
        sr.scan(cupy.asarray(A), sr.min_plus, initial=cupy.asarray(X))
    with pytest.raises(sr.SemiringError, match="stack is on a GPU and initial in the host's memory"):
        sr.scan(cupy.asarray(A), sr.min_plus, initial=A[0])


def test_numbers_that_leave_their_range() -> None:
    import cupy

    with pytest.raises(sr.SemiringError, match="int8"):
        sr.scan(cupy.full((5, 1, 1), 50, "i1"), sr.min_plus)
    A = cupy.zeros((3, 2, 2), "f4")
    A[0, 0, 0], A[1, 0, 0], A[1, 0, 1] = 1e30, 1e30, -1e30
    A[2, 0, 0] = A[2, 1, 0] = 1
    with pytest.raises(sr.SemiringError, match=r"no value at \[2, 0, 0\]"):
        sr.scan(A, sr.plus_times)
    B = cupy.zeros((3, 2, 2), "f4")
    B[0, 0, 0] = B[1, 0, 0] = 1e30
    B[2, 1, 1] = 1
    found = sr.scan(B, sr.plus_times).get()  # ∞ · 0 is 0
    assert found[2, 0, 0] == 0 and found[1, 0, 0] == inf


def test_plans() -> None:
    import cupy

    plan = sr.plan("scan", cupy.zeros((7, 4, 4)), sr.min_plus)
    assert (plan.method, plan.shape, plan.memory) == ("chunks of products", (7, 4, 4), 7 * 16 * 8)
    assert sr.plan("scan", cupy.zeros((7, 99, 99)), sr.min_plus).method == "one product after the other"
    assert cupy.cuda.runtime.getDeviceProperties(0)["name"].decode() in str(plan)
