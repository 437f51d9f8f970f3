"""Algebras that only compare, on ranks: the same answers as on the values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.solvers.dense.schedules import close_best

bottleneck = sr.Semiring("declared here", add=np.minimum, mul=np.maximum, zero=np.inf, one=-np.inf)


def matrix(S: sr.Semiring, n: int, dtype: str, values: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    A = (rng.integers(0, values, (n, n)) - values // 2).astype(dtype)
    if np.dtype(dtype).kind == "f":
        A /= 7
    A[rng.random((n, n)) < 0.7] = S.zero_in(np.dtype(dtype))
    return A


@pytest.mark.parametrize("n", [1, 2, 63, 200, 1300])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8", "u4"])
@pytest.mark.parametrize("S", [sr.max_min, sr.min_max, bottleneck], ids=lambda S: S.name)
def test_ranks_give_the_same(S: sr.Semiring, dtype: str, n: int) -> None:
    import cupy

    from semiring.solvers.dense.narrow import ranked_closure, ranked_product

    if np.dtype(dtype) not in S.dtypes:
        pytest.skip("not a dtype of the algebra")
    A, B = (matrix(S, n, dtype, 1000, seed).clip(0 if dtype == "u4" else None) for seed in (1, 2))
    a, b = cupy.asarray(A), cupy.asarray(B)
    got = ranked_product(S, a, b)
    np.testing.assert_array_equal(got.get(), sr.matmul(A, B, S, device="cpu"))
    np.testing.assert_array_equal(ranked_closure(S, a, close_best).get(), sr.closure(A, S, device="cpu"))
    assert got.dtype == A.dtype


def test_too_many_values_are_left_to_the_general_way() -> None:
    import cupy

    from semiring.solvers.dense.narrow import ranks

    A = cupy.arange(400**2, dtype="f4").reshape(400, 400)
    assert ranks(sr.max_min, [A]) is None
    assert ranks(sr.min_plus, [A]) is None
    few = cupy.arange(65_534.0).repeat(2)[: 256 * 256].reshape(256, 256)
    assert ranks(sr.max_min, [few]) is not None


@pytest.mark.parametrize("n", [1, 2, 63, 200, 1300])
@pytest.mark.parametrize("dtype", ["f8", "i8"])
@pytest.mark.parametrize("S", [sr.max_min, sr.min_max, bottleneck], ids=lambda S: S.name)
def test_wide_values_by_32_bit_ranks(S: sr.Semiring, dtype: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many of them, some equal, and zeros; also of an operand whose rows lie apart."""
    import cupy

    from semiring.solvers.dense import narrow
    from semiring.solvers.dense.narrow import ranked_closure, ranked_product, ranks

    if np.dtype(dtype) not in S.dtypes:
        pytest.skip("not a dtype of the algebra")
    monkeypatch.setattr(narrow, "SHORT_VALUES", 2)
    A, B = (matrix(S, n, dtype, 10**6 if n > 63 else 5, seed) for seed in (1, 2))
    a, b = cupy.asarray(A), cupy.asarray(np.pad(B, 3))[3:-3, 3:-3]
    found = ranks(S, [a, b])
    assert found is not None and (n <= 2 or found.matrices[0].dtype == np.uint32)
    np.testing.assert_array_equal(ranked_product(S, a, b).get(), sr.matmul(A, B, S, device="cpu"))
    np.testing.assert_array_equal(ranked_closure(S, a, close_best).get(), sr.closure(A, S, device="cpu"))
    np.testing.assert_array_equal(a.get(), A)


def test_large_wide_matrices_use_them() -> None:
    """Random numbers, nearly all different: the same as without ranks."""
    import cupy

    for dtype in ("f8", "i8"):
        A = (cupy.random.RandomState(5).random_sample((2100, 2100)) * 1e15).astype(dtype)
        A[A > 5e14] = sr.max_min.zero_in(np.dtype(dtype))
        assert sr.plan("closure", A, sr.max_min).method == sr.plan("matmul", A, A, sr.max_min).method == "ranks"
        assert bool((sr.closure(A, sr.max_min) == sr.closure(A, sr.max_min, method="r-kleene")).all())
        assert bool((sr.matmul(A, A, sr.max_min) == sr.matmul(A, A, sr.max_min, check=False)).all())
        kept = A.copy()
        wanted = sr.closure(kept, sr.max_min)
        sr.closure(A, sr.max_min, overwrite=True)
        assert bool((wanted == A).all())


def test_rare_values_are_found() -> None:
    """Values that a sample misses are collected by the pass over all elements."""
    import cupy

    from semiring.solvers.dense.narrow import ranks

    A = cupy.zeros((1500, 1500), np.float32)
    A.reshape(-1)[1:30_000:3] = cupy.arange(10_000)[: len(A.reshape(-1)[1:30_000:3])]
    found = ranks(sr.max_min, [A])
    assert found is not None
    np.testing.assert_array_equal(found.values(found.matrices[0]).get(), A.get())


def test_large_products_and_closures_use_them(monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    from semiring.solvers.dense import narrow

    answered: list[str] = []

    def counted(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            found = answer(*arguments)
            answered.extend([name] * (found is not None))
            return found

        return call

    for name in ("ranked_closure", "ranked_product"):
        monkeypatch.setattr(narrow, name, counted(name, getattr(narrow, name)))
    A = cupy.asarray(matrix(sr.max_min, 6000, "f4", 100, 3))
    want = sr.closure(A[:, :], sr.max_min, check=False)
    product = sr.matmul(A, A, sr.max_min, check=False)
    assert not answered, "without checks nothing is known of the data"
    assert bool((sr.closure(A, sr.max_min) == want).all())
    assert answered == ["ranked_closure"]
    assert bool((sr.matmul(A, A, sr.max_min) == product).all())
    assert answered == ["ranked_closure", "ranked_product"]
    small = A[:500, :500]
    sr.closure(small, sr.max_min)
    sr.matmul(small, small, sr.max_min)
    assert answered == ["ranked_closure", "ranked_product"]
