"""Batches of sources there and back: a frontier engine in Python stands in for that of the GPU, NumPy for CuPy."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cuda.sparse import search
from semiring.kernels.facts import Facts
from semiring.operands.convert import as_sparse
from semiring.operands.read import read
from semiring.solvers.paths import search as solver
from semiring.solvers.paths.search import rows_on_gpu

inf = np.inf


class Fetched(np.ndarray):
    """An array that can be fetched, as CuPy's can."""

    def get(self) -> np.ndarray:
        return np.asarray(self)


@dataclass
class State:
    """Labels of a batch, and what changed last."""

    x: np.ndarray
    open: np.ndarray


class Engine:
    """Rounds of Bellman–Ford–Moore under min-plus, for batches of sources."""

    rounds = 3
    batches: list[list[int]]
    made: list[tuple[Any, int]]

    def __init__(self, low: Any, A: Rows, values: np.ndarray, group: int):
        self.A, self.values = A, np.asarray(values)
        Engine.made.append((low, group))

    def start(self, sources: np.ndarray) -> State:
        Engine.batches.append(sources.tolist())
        x = np.full((len(sources), self.A.shape[0]), inf)
        x[np.arange(len(sources)), sources] = 0
        return State(x, x == 0)

    def advance(self, state: State, rounds: int) -> bool:
        for _ in range(rounds):
            before, frontier = state.x.copy(), state.open
            for u in range(self.A.shape[0]):
                for q in range(self.A.offsets[u], self.A.offsets[u + 1]):
                    v = self.A.columns[q]
                    better = np.where(frontier[:, u], before[:, u] + self.values[q], inf)
                    state.x[:, v] = np.minimum(state.x[:, v], better)
            state.open = state.x < before
        return bool(state.open.any())

    def unfinished(self, state: State, count: int) -> list[int]:
        assert count == len(state.x)
        return np.flatnonzero(state.open.any(axis=1)).tolist()

    def labels(self, state: State, count: int) -> np.ndarray:
        return state.x[:count]


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = ModuleType("cupy")
    cupy.asarray = np.asarray  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    low = SimpleNamespace(zero=(inf,), encode=lambda values, copy: values, decode=lambda x: x.view(Fetched))

    def lowering_for(*given: Any) -> Any:
        low.given = given
        return low

    monkeypatch.setattr(search, "lowering_for", lowering_for)
    monkeypatch.setattr(search, "CudaFrontierKernel", Engine)
    Engine.batches, Engine.made = [], []


def graph(n: int, m: int, seed: int) -> tuple[Rows, np.ndarray]:
    """Compressed rows, and the matrix."""
    random = np.random.default_rng(seed)
    W = np.full((n, n), inf)
    W[random.integers(0, n, m), random.integers(0, n, m)] = random.integers(0, 9, m)
    return as_sparse(read(W, sr.min_plus)).rows, W


def distances(W: np.ndarray, source: int) -> np.ndarray:
    x = np.where(np.arange(len(W)) == source, 0.0, inf)
    for _ in range(len(W)):
        x = np.minimum(x, (x[:, None] + W).min(axis=0))
    return x


@pytest.mark.parametrize("batch", [1, 2, 5, 128])
@pytest.mark.parametrize("sources", [[0], [3, 1], [4, 4, 0, 11, 2]])
def test_every_source_gets_its_row(batch: int, sources: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "SOURCES_PER_LAUNCH", batch)
    A, W = graph(12, 25, 1)
    facts = Facts(largest=9)
    X, unfinished = rows_on_gpu(sr.min_plus, A, np.array(sources), facts, True)
    assert X.dtype == np.float64 and X.tolist() == [distances(W, s).tolist() for s in sources] and unfinished == []
    assert Engine.batches == [sources[i : i + batch] for i in range(0, len(sources), batch)]
    ((low, group),) = Engine.made
    assert group == search.group_of(len(sources)), "of all sources, not of a batch"
    S, values, told, n, bounded = low.given
    assert (S, told, n, bounded) == (sr.min_plus, facts, 12, True) and values is A.values


@pytest.mark.parametrize("batch", [1, 2, 128])
def test_sources_that_do_not_come_to_an_end_are_listed(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """1 → 2 → 1 improves, and 0 and 3 do not reach it."""
    monkeypatch.setattr(solver, "SOURCES_PER_LAUNCH", batch)
    W = np.full((5, 5), inf)
    W[1, 2], W[2, 1], W[0, 3], W[4, 1] = 1, -2, 5, 1
    A = as_sparse(read(W, sr.min_plus)).rows
    X, unfinished = rows_on_gpu(sr.min_plus, A, np.array([0, 1, 3, 4, 0, 2]), Facts(largest=5), False)
    assert unfinished == [1, 3, 5], "by their places among the sources"
    assert X[[0, 2, 4]].tolist() == [distances(W, s).tolist() for s in (0, 3, 0)]
    assert (X[unfinished] == inf).all(), "nothing of them is given out"


@pytest.mark.parametrize(("n", "sources"), [(0, []), (4, [])])
def test_nothing_is_asked_of_the_gpu_where_there_is_nothing_to_do(n: int, sources: list[int]) -> None:
    A = as_sparse(read(np.full((n, n), inf, "f4"), sr.min_plus)).rows
    X, unfinished = rows_on_gpu(sr.min_plus, A, np.array(sources, int), Facts(), True)
    assert X.shape == (0, n) and X.dtype == np.float32 and unfinished == [] and not Engine.made
