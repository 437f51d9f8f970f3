"""Searches from many vertices at once: what settling vertices finds, to the bit; and what falls back to that."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile import rounds
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse import sweeps as module
from semiring.kernels.cpu.sparse.sweeps import CpuSweepKernel
from semiring.kernels.lowering.general import general

LOW = general(sr.min_plus, np.dtype("f8"))
inf = float("inf")


def kernel(threads: int = 1) -> CpuSweepKernel:
    return CpuSweepKernel(program(LOW), threads)


def compressed(n: int, edges: dict[tuple[int, int], float]) -> Rows:
    found = sorted((u, v, w) for (u, v), w in edges.items())
    offsets = np.searchsorted([u for u, _, _ in found], np.arange(n + 1)).astype(np.int64)
    columns, values = np.array([v for _, v, _ in found], np.int32), np.array([w for _, _, w in found], float)
    return Rows(offsets, columns, values, n)


def random_rows(n: int, m: int, seed: int = 0) -> Rows:
    random = np.random.default_rng(seed)
    ends, weights = random.integers(0, n, (m, 2)).tolist(), random.random(m).tolist()
    return compressed(n, {(u, v): w for (u, v), w in zip(ends, weights, strict=True)})


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, dict[tuple[int, int], float]]:
    n = draw(st.integers(1, 20))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    return n, draw(st.dictionaries(ends, st.sampled_from([0, 0.1, 0.2, 0.3, 1, 7, inf]), max_size=60))


@settings(max_examples=150)
@given(graphs(), st.lists(st.integers(0, 19), max_size=40), st.sampled_from([1, 2, 3]))
def test_rows_are_those_of_settling(
    graph: tuple[int, dict[tuple[int, int], float]], some: list[int], threads: int
) -> None:
    """To the bit, though sums of tenths round: for sources in any order, and the same ones again."""
    A, sources = compressed(*graph), np.array([s % graph[0] for s in some], np.int64)
    assert np.array_equal(kernel(threads).sweep(A, sources), kernel().settle(A, sources))


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("count", [1, 7, 8, 33, 300])
def test_groups_of_any_size(count: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "ROUND", 1e-6)  # seconds: a thread takes one group after the other
    A = random_rows(300, 1500)
    sources = np.random.default_rng(1).permutation(300)[:count]
    assert np.array_equal(kernel(threads).sweep(A, sources), kernel().settle(A, sources))


def test_vertices_that_the_hub_does_not_reach() -> None:
    n = 400
    A = random_rows(n, 300)
    hub = int(np.diff(A.offsets).argmax())
    places, edges = kernel()._renumbered(A)
    assert sorted(places.tolist()) == list(range(n)) and places[hub] == 0
    before = {(u, int(v), float(w)) for u in range(n) for v, w in row_of(A, u)}
    after = {(u, int(v), float(w)) for u in range(n) for v, w in row_of(edges, u)}
    assert after == {(int(places[u]), int(places[v]), w) for u, v, w in before}
    length = kernel().settle(A, np.array([hub]))[0]
    in_order = length[np.argsort(places)]
    assert np.array_equal(in_order, np.sort(length)), "as they settle, and those at last that do not"
    every = np.arange(n)
    assert np.array_equal(kernel().sweep(A, every), kernel().settle(A, every))


def row_of(A: Rows, u: int) -> zip:
    part = slice(A.offsets[u], A.offsets[u + 1])
    return zip(A.columns[part], A.values[part], strict=True)


def test_what_takes_too_long_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    A, every = random_rows(200, 1000), np.arange(200)
    settled: list[int] = []
    by_settling = CpuSweepKernel.settle

    def settle(self: CpuSweepKernel, A: Rows, sources: np.ndarray) -> np.ndarray:
        settled.extend(sources.tolist())
        return by_settling(self, A, sources)

    expected = kernel().settle(A, every)
    monkeypatch.setattr(CpuSweepKernel, "settle", settle)
    assert np.array_equal(kernel().sweep(A, every), expected) and settled == []
    monkeypatch.setattr(module, "MOST_PASSES", 1)
    assert np.array_equal(kernel().sweep(A, every), expected)
    assert sorted(settled) == every.tolist(), "for no group are the edges relaxed once only"


def test_a_path_against_its_numbering_is_settled_in_the_end() -> None:
    """The hub's own edges are dear, and every best walk is long and leads backwards: a pass moves labels one step."""
    n = 700
    edges = {(v, v - 1): 0.001 for v in range(1, n)} | {(0, v): 10.0 for v in range(1, n)}
    A = compressed(n, edges)
    sources = np.arange(0, n, 3)
    assert np.array_equal(kernel(2).sweep(A, sources), kernel().settle(A, sources))


@pytest.mark.parametrize("name", ["max_min", "viterbi", "max_times", "boolean"])
def test_other_algebras(name: str) -> None:
    S = sr.catalogue[name]
    low = general(S, np.dtype(bool if name == "boolean" else "f4"))
    A = random_rows(60, 240)
    values = np.ones(len(A.values), bool) if name == "boolean" else (A.values + 1e-3).clip(0, 1).astype("f4")
    A, every = Rows(A.offsets, A.columns, values, 60), np.arange(60)
    engine = CpuSweepKernel.of(low)
    assert np.array_equal(engine.sweep(A, every), engine.settle(A, every))


def test_records() -> None:
    """Of lengths that do not round: where they do, walks may become as long as others that have fewer edges."""
    S = sr.catalogue["shortest_hops"]
    low = general(S, S.default_dtype)
    A = random_rows(60, 240)
    values = np.zeros(len(A.values), low.storage)
    first, second = low.storage.names
    values[first], values[second] = (8 * A.values).round() / 8, 1
    A, every = Rows(A.offsets, A.columns, values, 60), np.arange(60)
    engine = CpuSweepKernel.of(low)
    assert engine.sweep(A, every).tolist() == engine.settle(A, every).tolist()


def test_without_edges_or_sources() -> None:
    for n in (1, 3):
        assert np.array_equal(kernel().sweep(compressed(n, {}), np.arange(n)), np.where(np.eye(n), 0, inf))
        assert kernel(2).sweep(compressed(n, {}), np.empty(0, np.int64)).shape == (0, n)


def test_what_reads_alike_is_one_kernel() -> None:
    twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=inf, one=0, star=lambda a: np.where(a < 0, -inf, 0))
    assert CpuSweepKernel.of(general(twin, np.dtype("f8"))) is CpuSweepKernel.of(LOW)
    assert [function.name for function in CpuSweepKernel.code(LOW)] == ["settle", "sweep"]
