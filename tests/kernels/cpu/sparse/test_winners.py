"""Compiled products that say which term won, against NumPy's, for any number of threads and width of strips."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse import winners
from semiring.kernels.cpu.sparse.winners import MaskedWinnersKernel, WinnersKernel
from semiring.kernels.lowering.general import general
from semiring.solvers.products.winners import Best, _sparse_dense

inf = np.inf
ALGEBRAS: list[tuple[str, str, list[Any]]] = [
    ("min_plus", "f8", [inf, inf, -inf, 0.0, -0.0, 1.5, 2.0]), ("max_min", "f4", [-inf, 1.0, 2.0, 3.0]),
    ("max_times", "f8", [0.0, inf, 0.5, 2.0]),
]


@pytest.mark.parametrize(("name", "dtype", "elements"), ALGEBRAS)
def test_they_are_those_of_numpy(name: str, dtype: str, elements: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    low = general(sr.catalogue[name], np.dtype(dtype))
    random = np.random.default_rng(0)
    for m, depth, n in ((0, 3, 2), (3, 0, 2), (1, 1, 1), (7, 5, 0), (40, 30, 70), (9, 65, 200)):
        there = random.random((m, depth)) < 0.6
        values = random.choice(np.array(elements, dtype), (m, depth))[there]
        columns = np.nonzero(there)[1].astype(np.int32)
        A = Rows(np.concatenate([[0], np.cumsum(there.sum(axis=1))]), columns, values, depth)
        B = random.choice(np.array(elements, dtype), (depth, n))
        best = Best(low, (m, n))
        _sparse_dense(best, A, B)
        for threads, room in ((1, 1 << 18), (3, 1 << 10)):
            monkeypatch.setattr(winners, "ROOM", room)
            monkeypatch.setattr(winners, "NARROWEST", 8)
            C, which = WinnersKernel(program(low), threads).multiply(A, B)
            assert np.array_equal(C, best.values) and np.array_equal(which, best.which)
            assert which.dtype == np.int32


@pytest.mark.parametrize(("name", "dtype", "elements"), ALGEBRAS)
def test_wanted_entries_are_those_of_all_entries(name: str, dtype: str, elements: list[Any]) -> None:
    low = general(sr.catalogue[name], np.dtype(dtype))
    random = np.random.default_rng(0)
    for m, depth, n in ((0, 3, 2), (3, 0, 2), (1, 1, 1), (7, 5, 0), (40, 30, 70), (9, 65, 200)):
        there, mask = random.random((m, depth)) < 0.6, random.random((m, n)) < 0.3
        A = np.where(there, random.choice(np.array(elements, dtype), (m, depth)), low.zero[0]).astype(dtype)
        B = random.choice(np.array(elements, dtype), (depth, n))
        C, which = WinnersKernel(program(low), 1).multiply(rows_of(A, np.ones(A.shape, bool)), B)
        wanted = np.concatenate([[0], np.cumsum(mask.sum(axis=1))]), np.nonzero(mask)[1].astype(np.int32)
        for threads in (1, 3):
            kernel = MaskedWinnersKernel(program(low), threads)
            for left, right in ((A, B), (rows_of(A, there), np.asfortranarray(B)),
                                (rows_of(A, there), rows_of(B, np.ones(B.shape, bool)))):
                values = np.full(len(wanted[1]), low.zero[0], dtype)
                multiply = kernel.by_rows if isinstance(right, Rows) else kernel.by_dots
                found = multiply(values, wanted, left, right)
                assert np.array_equal(values, C[mask]) and np.array_equal(found, which[mask])


def rows_of(array: np.ndarray, there: np.ndarray) -> Rows:
    columns = np.nonzero(there)[1].astype(np.int32)
    return Rows(np.concatenate([[0], np.cumsum(there.sum(axis=1))]), columns, array[there], array.shape[1])


def test_by_the_verb(machine_code: None) -> None:
    random = np.random.default_rng(1)
    for dtype in ("f8", "i4"):
        A, B = (random.integers(0, 9, shape).astype(dtype) for shape in ((2, 20, 30), (30, 25)))
        plan = sr.plan("matmul", A, B, sr.min_plus, argmax=True)
        assert plan.lowering.compiled
        C, which = plan.run()
        assert np.array_equal(C, sr.matmul(A, B, sr.min_plus))
        terms = A[..., :, :, None].astype(int) + B
        assert np.array_equal(which, terms.argmin(axis=-2))


def test_the_name_on_disk() -> None:
    assert [function.name for function in WinnersKernel.code(general(sr.min_plus, np.dtype("f8")))] == ["multiply"]
