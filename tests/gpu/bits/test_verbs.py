"""Every verb on packed matrices of the device: computed there, answered there, as on the host."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu.truths import closure, entries, product

import semiring as sr

N = 700


@pytest.fixture(scope="module")
def A() -> np.ndarray:
    return entries((N, N), 1.3 / N)


def is_there(answer: Any, wanted: np.ndarray) -> None:
    assert isinstance(answer, sr.PackedMatrix) and answer.device != "cpu"
    np.testing.assert_array_equal(answer.get().to_dense(), wanted)


def is_here(answer: Any, wanted: np.ndarray) -> None:
    assert isinstance(answer, sr.PackedMatrix) and answer.device == "cpu"
    np.testing.assert_array_equal(answer.to_dense(), wanted)


def test_products(A: np.ndarray) -> None:
    """Where one operand is on the device, so is the answer; `out` may be anywhere."""
    B = entries((N, 300), 0.02)
    C = entries((N, 300), 0.02, 5)
    a, b, c = (sr.pack(X) for X in (A, B, C))
    there = [X.to_device("gpu") for X in (a, b, c)]
    wanted = product(A, B)
    for x, y in ((there[0], there[1]), (a, there[1]), (there[0], b)):
        is_there(sr.matmul(x, y, sr.boolean), wanted)
        is_there(sr.matmul(x, y, sr.boolean, accumulate=c), wanted | C)
        is_there(sr.matmul(x, y, sr.boolean, device="cpu"), wanted)
        for out in (sr.PackedMatrix.zeros(N, 300), sr.PackedMatrix.zeros(N, 300).to_device("gpu")):
            assert sr.matmul(x, y, sr.boolean, out=out) is out
            np.testing.assert_array_equal(out.get().to_dense(), wanted)
    is_here(sr.matmul(a, b, sr.boolean, device="gpu"), wanted)
    is_there(sr.matmul(a, b, sr.boolean, accumulate=there[2]), wanted | C)
    assert there[2] == c
    square = sr.pack(A).to_device("gpu")
    assert sr.matmul(square, square, sr.boolean, out=square) is square
    np.testing.assert_array_equal(square.get().to_dense(), product(A, A))


def test_closures_and_powers(A: np.ndarray) -> None:
    M, one, plus = sr.pack(A).to_device("gpu"), np.eye(N, dtype=bool), closure(A)
    is_there(sr.closure(M, sr.boolean), plus | one)
    is_there(sr.closure(M, sr.boolean, reflexive=False), plus)
    is_there(sr.closure(M, sr.boolean, device="cpu"), plus | one)
    is_there(sr.closure(sr.prepare(M, sr.boolean), sr.boolean), plus | one)
    for method in ("blocked", "r-kleene", "squaring", "floyd-warshall", "elimination"):
        is_there(sr.closure(M, sr.boolean, method=method), plus | one)
    for k in (0, 1, 2, 5):
        power, upto = one, one
        for _ in range(k):
            power = product(power, A)
            upto = upto | power
        is_there(sr.power(M, sr.boolean, k), power)
        is_there(sr.closure(M, sr.boolean, max_edges=k), upto)
    np.testing.assert_array_equal(M.get().to_dense(), A)
    assert sr.closure(M, sr.boolean, overwrite=True).device == M.device


def test_equations_rows_and_paths(A: np.ndarray) -> None:
    import cupy

    M, H = sr.pack(A).to_device("gpu"), sr.pack(A)
    B = entries((N, 3), 0.01)
    for right in (B, cupy.asarray(B)):
        got = sr.solve(M, right, sr.boolean)
        assert isinstance(got, type(right))
        np.testing.assert_array_equal(cupy.asnumpy(got), sr.solve(H, B, sr.boolean))
    np.testing.assert_array_equal(cupy.asnumpy(sr.closure_rows(M, sr.boolean, [0, 5])),
                                  sr.closure_rows(H, sr.boolean, [0, 5]))
    source, target = (int(end) for end in np.argwhere(closure(A))[0])
    assert sr.path(M, sr.boolean, source, target) == sr.path(H, sr.boolean, source, target)
    there, here = sr.paths(M, sr.boolean), sr.paths(H, sr.boolean)
    np.testing.assert_array_equal(cupy.asnumpy(there.weights), here.weights)
    assert there[source, target] == here[source, target]


def test_reachability_and_reductions(A: np.ndarray) -> None:
    import cupy

    there, here = sr.reach(cupy.asarray(A)), sr.reach(A)
    assert there.closure.device != "cpu" and there.closure == here.closure and repr(there) == repr(here)
    assert there.reaches(0, 5) == here.reaches(0, 5)
    for question in ("descendants", "ancestors"):
        np.testing.assert_array_equal(getattr(there, question)(3), getattr(here, question)(3))
    for question in ("descendant_counts", "ancestor_counts", "component_labels"):
        np.testing.assert_array_equal(getattr(there, question)(), getattr(here, question)())
    np.testing.assert_array_equal(there.pairs([0, 3], [5, 6]), here.pairs([0, 3], [5, 6]))
    matrix, members = sr.condensation(cupy.asarray(A))
    assert matrix.device != "cpu" and matrix == sr.condensation(A)[0] and len(members) == matrix.shape[0]
    for density in (3 / N, 0.3):
        acyclic = np.triu(entries((N, N), density), 1)
        reduced = sr.transitive_reduction(cupy.asarray(acyclic))
        assert reduced.device != "cpu" and reduced == sr.transitive_reduction(acyclic)
