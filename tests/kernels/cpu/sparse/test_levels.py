"""Breadth-first searches against settling vertices, where all edges have one value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse.levels import CpuLevelKernel, level_kernel, names_of
from semiring.kernels.lowering.general import general

inf = float("inf")
# An algebra, a dtype, and values than which none is better than 1.
ALGEBRAS: list[tuple[str, str, list[Any]]] = [
    ("min_plus", "f8", [0, 0.1, 1, inf]), ("max_plus", "f4", [0, -0.1, -inf]), ("viterbi", "f8", [0, 0.1, 1]),
    ("max_min", "f4", [0.5, -inf, inf]), ("boolean", "?", [True]), ("lukasiewicz", "f4", [0, 0.6, 1]),
]


def compressed(n: int, edges: set[tuple[int, int]], value: Any, dtype: Any) -> Rows:
    found = sorted(edges)
    offsets = np.searchsorted([u for u, _ in found], np.arange(n + 1)).astype(np.int64)
    return Rows(offsets, np.array([v for _, v in found], np.int32), np.full(len(found), value, dtype), n)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, set[tuple[int, int]]]:
    """Of few edges, so that levels are narrow, and with vertices that have edges to many."""
    n = draw(st.sampled_from([1, 2, 7, 63, 64, 65, 130]))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    edges = draw(st.sets(ends, max_size=3 * min(n, 20)))
    for v in draw(st.lists(st.integers(0, n - 1), max_size=2)):
        edges |= {(v, u) for u in range(n) if u % 5 != v % 3}
    return n, edges


@pytest.mark.parametrize(("name", "dtype", "values"), ALGEBRAS)
def test_rows_are_those_of_settling(name: str, dtype: str, values: list[Any]) -> None:
    low = general(sr.catalogue[name], np.dtype(dtype))

    @settings(max_examples=40, deadline=None)
    @given(graphs(), st.sampled_from(values), st.lists(st.integers(0, 200), max_size=6), st.sampled_from([1, 3]))
    def check(graph: tuple[int, set[tuple[int, int]]], value: Any, some: list[int], threads: int) -> None:
        n, edges = graph
        A, sources = compressed(n, edges, value, dtype), np.array([s % n for s in some], np.int64)
        kernel = CpuLevelKernel(program(low), threads)
        expected = kernel.settle(A, sources, False)[0]
        X, none = kernel.levels(A, sources, False)
        Y, P = kernel.levels(A, sources, True)
        assert none is None and np.array_equal(X, expected) and np.array_equal(Y, expected)
        assert P is not None and P.dtype == np.int32
        check_trees(low, A, sources, X, P)

    check()


def check_trees(low: Any, A: Rows, sources: np.ndarray, X: np.ndarray, P: np.ndarray) -> None:
    """Predecessors lead to the source along edges, each to a label that the edge gives."""
    times = low.algebra.over(X.dtype).mul
    for s, x, before in zip(sources.tolist(), X, P, strict=True):
        assert before[s] == -1
        for v in np.flatnonzero(before >= 0).tolist():
            u, steps = int(before[v]), 1
            assert v in A.columns[A.offsets[u] : A.offsets[u + 1]] and x[v] == times(x[u], A.values[0])
            while u != s:
                u, steps = int(before[u]), steps + 1
                assert steps <= len(x)


def test_levels_of_a_path_and_without_edges() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    kernel = level_kernel(low)
    n = 1000
    path = compressed(n, {(v, v + 1) for v in range(n - 1)}, 0.5, float)
    X, P = kernel.levels(path, np.array([0, n - 1]), True)
    assert X[0].tolist() == [v / 2 for v in range(n)] and P is not None and P[0].tolist() == list(range(-1, n - 1))
    assert X[1, -1] == 0 and (X[1, :-1] == inf).all()
    for n in (1, 64):
        X, _ = kernel.levels(compressed(n, set(), 1, float), np.arange(n), False)
        assert np.array_equal(X, np.where(np.eye(n), 0, inf))
        assert kernel.levels(compressed(n, set(), 1, float), np.empty(0, np.int64), False)[0].shape == (0, n)


def test_what_reads_alike_is_one_kernel() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=inf, one=0, star=lambda a: np.where(a < 0, -inf, 0))
    assert level_kernel(general(twin, np.dtype("f8"))) is level_kernel(low)
    assert [name.rpartition(".")[2] for name in names_of(low)] == ["pass_levels"]
