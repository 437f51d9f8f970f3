"""The engine of plain loops against NumPy's, over numbers, records and an algebra that is not idempotent."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.build import kernel
from semiring.kernels.cpu.history.plain import WIDTH, PlainKernel
from semiring.kernels.lowering.general import general


def engines(S: sr.Semiring, dtype: np.dtype, entries: bool = False) -> tuple[PlainKernel, object]:
    low = general(S, dtype)
    return PlainKernel(low, entries), kernel(low.interpreted)


def some(S: sr.Semiring, shape: tuple[int, int], seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    if S is sr.shortest_hops:
        A = np.zeros(shape, [("cost", "f8"), ("hops", "i8")])
        A["cost"], A["hops"] = random.integers(0, 9, shape), 1
        return A
    return random.integers(0, 9, shape) / (1.0 if S is sr.min_plus else 256.0)


@pytest.mark.parametrize("entries", [False, True])
@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.shortest_hops], ids=lambda S: S.name)
def test_products_are_numpys(S: sr.Semiring, entries: bool) -> None:
    A, B, C = some(S, (5, 70), 0), some(S, (70, 9), 1), some(S, (5, 9), 2)
    plain, numpy = engines(S, A.dtype, entries)
    for multiply in ("multiply", "multiply_add"):
        X, Y = C.copy(), C.copy()
        getattr(plain, multiply)(X, A, B)
        getattr(numpy, multiply)(Y, A, B)
        assert (X == Y).all()
    X, Y = (some(S, (9, 9), 3) for _ in range(2))
    plain.left(X, B[:9])
    assert plain.diagonal(A[:, :5].copy(), A[:, 5:10].copy()).shape == (5,)


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.shortest_hops], ids=lambda S: S.name)
def test_closures_in_one_call_and_vertex_by_vertex(S: sr.Semiring) -> None:
    A = some(S, (20, 20), 4)
    plain, _ = engines(S, A.dtype)
    X, Y = A.copy(), A.copy()
    assert plain.close(X) == -1
    assert all(plain.eliminate(Y, k) for k in range(20))
    expected = sr.closure(A, S)
    for answer in (X, Y):
        assert np.allclose(answer, expected, rtol=1e-12) if not A.dtype.names else (answer == expected).all()


def test_products_wider_and_deeper_than_a_tile() -> None:
    random = np.random.default_rng(6)
    A, B = random.integers(0, 99, (3, 150)).astype("f4"), random.integers(0, 99, (150, WIDTH + 5)).astype("f4")
    C = random.integers(0, 50, (3, WIDTH + 5)).astype("f4")
    plain, _ = engines(sr.min_plus, A.dtype)
    product = np.array([(row[:, None] + B).min(axis=0) for row in A])
    expected = np.minimum(C, product)
    plain.multiply_add(C, A, B)
    assert (expected == C).all()
    plain.multiply(C, A, B)
    assert (product == C).all()
    plain.multiply(C, A[:, :0], B[:0])
    assert (np.inf == C).all()


def test_a_pivot_without_a_star_is_told() -> None:
    plain, _ = engines(sr.plus_times, np.dtype("f8"))
    A = np.diag([0.5, 1.0, 0.5])
    assert plain.close(A.copy()) == 1
    assert not plain.eliminate(A, 1)


def test_in_place_products_and_views() -> None:
    plain, _ = engines(sr.min_plus, np.dtype("f8"))
    whole = some(sr.min_plus, (12, 12), 5)
    D, R = whole[:4, :4], whole[:4, 4:]
    expected = (D[:, :, None] + R).min(axis=1)
    plain.left(D, R)
    assert (expected == R).all()
    C = whole[4:, :4]
    expected = (C[:, :, None] + D).min(axis=1)
    plain.right(C, D)
    assert (expected == C).all()


def test_what_does_not_fit_is_refused() -> None:
    plain, _ = engines(sr.min_plus, np.dtype("f8"))
    with pytest.raises(ValueError, match="contiguous"):
        plain.close(np.zeros((3, 3)).T.copy(order="F").T[:, ::-1])
    with pytest.raises(ValueError):
        plain.multiply(np.zeros((2, 2)), np.zeros((2, 3)), np.zeros((2, 2)))
    assert plain.closes_whole(plain.tile) and not plain.closes_whole(plain.tile + 1)
    assert plain.place == "CPU, 1 thread"
