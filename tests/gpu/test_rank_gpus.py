"""Processes with a GPU each, which threads play on this host's GPUs: bit for bit the closures of one GPU."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.elements import algebra, draw
from scale.played import World, together
from strategies import nearly_consistent

import semiring as sr
from semiring.scale.connection import MPI

CASES = [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "i2"), ("min_plus", "f2"),
         ("max_min", "f4"), ("viterbi", "f4"), ("counting", "i8"), ("bitset_may", "u8"), ("users", "f4")]


def closures(size: int, call: Callable[[MPI], Any]) -> list[Any]:
    """What each process gets, or the error that it raises."""
    def one(world: World) -> Any:
        try:
            return call(MPI(world))
        except sr.SemiringError as e:
            return e

    return together(one, size)


def closed(size: int, A: np.ndarray, S: Any, **options: Any) -> Any:
    """The answer of the first process, which has the matrix."""
    found = closures(size, lambda here: sr.closure(A if here.rank == 0 else None, S, on=here, device="gpu", **options))
    assert len({type(e) for e in found[1:]}) < 2
    if isinstance(found[0], sr.SemiringError):
        raise found[0]
    return found[0]


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("n", [1, 130, 700])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_it_is_the_closure_of_one_gpu(name: str, dtype: str, n: int, size: int) -> None:
    S = algebra(name)
    A = draw(S, np.dtype(dtype), (n, n), np.random.default_rng(n))
    if name == "counting":
        A[np.tri(n, dtype=bool)] = 0
        A[np.random.default_rng(1).random((n, n)) < 1 - 2 / n] = 0
    kept = A.copy()
    found, expected = closed(size, A, S), sr.closure(A, S, device="gpu")
    assert isinstance(found, np.ndarray) and found.dtype == A.dtype and np.array_equal(A, kept)
    if name == "viterbi" or dtype == "f2" or name == "users":
        np.testing.assert_allclose(found.astype(float), expected.astype(float), rtol=1e-3 if dtype == "f2" else 1e-5)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("size", [2, 3])
def test_sums_logarithms_records_and_truths(size: int) -> None:
    n, random = 600, np.random.default_rng(0)
    A = random.random((n, n)) / n
    np.testing.assert_allclose(closed(size, A, sr.plus_times), np.linalg.inv(np.eye(n) - A), rtol=1e-6, atol=1e-9)
    L = np.log(random.random((n, n)) / (2 * n))
    np.testing.assert_allclose(closed(size, L, sr.log), sr.closure(L, sr.log, device="gpu"), rtol=1e-9, atol=1e-9)
    S = sr.shortest_hops
    R = S.array([[(float(random.integers(1, 9)), 1) for _ in range(300)] for _ in range(300)])
    R[random.random((300, 300)) < 0.9] = S.zero_in(R.dtype)
    np.testing.assert_array_equal(closed(size, R, S), sr.closure(R, S, device="cpu"))
    B = random.random((n, n)) < 1.2 / n
    np.testing.assert_array_equal(closed(size, B, sr.boolean), sr.closure(B, sr.boolean, device="cpu"))


def test_walks_with_edges_and_a_tolerance() -> None:
    A = np.random.default_rng(1).integers(1, 1000, (700, 700)).astype(np.float32)
    np.testing.assert_array_equal(closed(2, A, sr.min_plus, reflexive=False),
                                  sr.closure(A, sr.min_plus, device="gpu", reflexive=False))
    D = nearly_consistent(300, 2)
    np.testing.assert_allclose(closed(2, D, sr.min_plus, tol=0.002),
                               sr.closure(D, sr.min_plus, device="cpu", tol=0.002), rtol=0, atol=1e-9)


def test_rows_in_and_rows_out() -> None:
    A, cuts = np.random.default_rng(3).integers(1, 1000, (650, 650)).astype(np.float32), [0, 100, 100, 650]
    found = closures(3, lambda here: sr.closure(here.rows(A[cuts[here.rank] : cuts[here.rank + 1]]), sr.min_plus,
                                                on=here, device="gpu"))
    np.testing.assert_array_equal(np.concatenate(found), sr.closure(A, sr.min_plus, device="gpu"))


def test_from_file_to_file(tmp_path: Path) -> None:
    A = np.random.default_rng(4).integers(1, 1000, (650, 650)).astype(np.float32)
    np.save(tmp_path / "a.npy", A)
    for found in closures(2, lambda here: sr.closure(tmp_path / "a.npy", sr.min_plus, on=here, device="gpu",
                                                     out=tmp_path / "c.npy", checkpoint=1e-9)):
        np.testing.assert_array_equal(found, sr.closure(A, sr.min_plus, device="gpu"))


def test_what_has_no_closure() -> None:
    A = np.full((500, 500), 3.0, np.float32)
    A[7, 8] = A[8, 7] = -1
    with pytest.raises(sr.NoClosureError, match="weight -2"):
        closed(2, A, sr.min_plus)
    B = np.zeros((400, 400), np.float32)
    B[333, 333] = 1
    with pytest.raises(sr.NoClosureError, match="333"):
        closed(2, B, sr.plus_times)
    B[5, 6] = np.nan
    with pytest.raises(sr.SemiringError, match="NaN"):
        closed(2, B, sr.min_plus)
