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
from semiring.kernels.cpu.sparse.levels import CpuLevelKernel
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

    @settings(max_examples=40)
    @given(graphs(), st.sampled_from(values), st.lists(st.integers(0, 200), max_size=6), st.sampled_from([1, 3]))
    def check(graph: tuple[int, set[tuple[int, int]]], value: Any, some: list[int], threads: int) -> None:
        n, edges = graph
        A, sources = compressed(n, edges, value, dtype), np.array([s % n for s in some], np.int64)
        kernel = CpuLevelKernel(program(low), threads)
        assert np.array_equal(kernel.levels(A, sources), kernel.settle(A, sources))

    check()


@pytest.mark.parametrize(("name", "dtype", "values"), ALGEBRAS)
def test_rows_are_the_same_where_edges_go_both_ways_and_that_is_known(
    name: str, dtype: str, values: list[Any]
) -> None:
    low = general(sr.catalogue[name], np.dtype(dtype))

    @settings(max_examples=40)
    @given(graphs(), st.sampled_from(values), st.lists(st.integers(0, 200), max_size=6), st.booleans())
    def check(graph: tuple[int, set[tuple[int, int]]], value: Any, some: list[int], limited: bool) -> None:
        n, edges = graph
        A = compressed(n, edges | {(v, u) for u, v in edges}, value, dtype)
        sources, kernel = np.array([s % n for s in some], np.int64), CpuLevelKernel(program(low), 1)
        limit = np.array([value], dtype) if limited else None
        assert np.array_equal(kernel.levels(A, sources, limit, both_ways=True), kernel.levels(A, sources, limit))
        if not limited:
            assert np.array_equal(kernel.levels(A, sources, both_ways=True), kernel.settle(A, sources))

    check()


def test_who_waits_looks_for_an_edge_where_a_level_has_many_of_those_left() -> None:
    """Told so of edges that go one way only, it goes them backwards: that is how one sees that it looks."""
    n = 300
    A = compressed(n, {(0, v) for v in range(1, 200)} | {(v, 0) for v in range(200, n)}, 1, float)
    kernel = CpuLevelKernel.of(general(sr.min_plus, np.dtype("f8")))
    (row,) = kernel.levels(A, np.array([0]))
    assert (row[1:200] == 1).all() and (row[200:] == inf).all()
    (row,) = kernel.levels(A, np.array([0]), both_ways=True)
    assert (row[200:] == 1).all()


def test_levels_of_a_path_and_without_edges() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    kernel = CpuLevelKernel.of(low)
    n = 1000
    path = compressed(n, {(v, v + 1) for v in range(n - 1)}, 0.5, float)
    X = kernel.levels(path, np.array([0, n - 1]))
    assert X[0].tolist() == [v / 2 for v in range(n)]
    assert X[1, -1] == 0 and (X[1, :-1] == inf).all()
    for n in (1, 64):
        X = kernel.levels(compressed(n, set(), 1, float), np.arange(n))
        assert np.array_equal(X, np.where(np.eye(n), 0, inf))
        assert kernel.levels(compressed(n, set(), 1, float), np.empty(0, np.int64)).shape == (0, n)


def test_what_reads_alike_is_one_kernel() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=inf, one=0, star=lambda a: np.where(a < 0, -inf, 0))
    assert CpuLevelKernel.of(general(twin, np.dtype("f8"))) is CpuLevelKernel.of(low)
    assert [function.name for function in CpuLevelKernel.code(low)] == ["pass_levels"]
