"""Which way round matrices and values go to the kernels of trees: an engine in NumPy stands in for that of the GPU."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import semiring as sr
from semiring.algorithms import trees as rule
from semiring.kernels.cuda.sparse import trees
from semiring.kernels.cuda.sparse.product import DeviceRows
from semiring.operands.device import Device
from semiring.operands.read import read
from semiring.solvers.paths import trees as best
from semiring.solvers.paths.trees import best_trees, cut_off_on_gpu, trees_on_gpu
from semiring.solvers.sparse.analysis import analysis_of, is_analysed

inf = np.inf


class Engine:
    """The rule of trees on edges by their heads, for min-plus."""

    ordered = False  # whether the last call gave an order

    def __init__(self, low: Any, backwards: bool):
        self.backwards, self.T = backwards, sr.min_plus.over("f8")

    def improves(self, values: np.ndarray) -> bool:
        return bool((values < 0).any())

    def edges(self, A: np.ndarray, x: np.ndarray, bounded: bool, all_pairs: bool) -> np.ndarray:
        assert A.flags.c_contiguous and x.flags.c_contiguous
        kept = np.where(np.isfinite(A) & ~np.eye(len(A), dtype=bool), A, inf)
        kept[bounded & (x.max(axis=1, keepdims=True) < A)] = inf
        return np.where(x < A, inf, kept) if all_pairs else kept

    def predecessors(
        self, given: np.ndarray | DeviceRows, x: np.ndarray, roots: np.ndarray, bounded: bool,
        order: np.ndarray | None = None,
    ) -> tuple[Any, Any, Any]:
        A = given
        Engine.ordered = order is not None
        if order is not None:
            assert order.dtype == np.int32 and np.array_equal(np.sort(order), np.arange(len(x)))
        if isinstance(given, DeviceRows):
            assert (given.offsets.dtype, given.columns.dtype) == (np.int64, np.int32)
            assert np.isfinite(given.values).all(), "the kernels take every entry for an edge"
            A = np.full(given.shape, inf)
            A[np.repeat(np.arange(len(A)), np.diff(given.offsets)), given.columns] = given.values
        heads, tails = np.nonzero(np.isfinite(A))
        leaving = np.nonzero(np.isfinite(A.T))
        offsets, out = (np.searchsorted(part, np.arange(len(A) + 1)) for part in (heads, leaving[0]))
        edges = rule.Edges(offsets, tails.astype(np.int32), A[heads, tails], (out, leaving[1]))
        P, lost, rows = rule.predecessors(edges, self.T, x.T, roots, bounded, self.backwards)
        assert not lost
        guessed = np.zeros(len(roots), bool)
        guessed[rows] = True
        return np.ascontiguousarray(P.T), np.full(len(roots), -1), guessed

    def cut_off(self, x: np.ndarray, p: np.ndarray, limit: np.ndarray) -> None:
        far = x > limit[0]
        x[far], p[far] = inf, -1


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    cupy = ModuleType("cupy")
    vars(cupy).update(empty=np.empty, ascontiguousarray=np.ascontiguousarray, asarray=np.asarray)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(trees, "CudaTreeKernel", Engine)
    monkeypatch.setattr(trees, "lowering_for", lambda *_: read(np.eye(2), sr.min_plus).form(2)[1])


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("least", [0.0, -1.0])
@pytest.mark.parametrize("backwards", [False, True])
def test_trees_are_those_of_the_host(backwards: bool, least: float) -> None:
    rng = np.random.default_rng(3)
    for n in (1, 2, 9):
        A = rng.integers(0, 5, (n, n)).astype(float)
        A[rng.random((n, n)) < 0.5] = inf
        if least < 0:
            A = np.where(np.triu(np.ones((n, n), bool)), A - 2, inf)
            np.fill_diagonal(A, 0)
        X = sr.closure(A, sr.min_plus)
        X = X.T if backwards else X
        for roots in (np.arange(n), rng.permutation(n), np.arange(n // 2)):
            P, lost, guessed = trees_on_gpu(read(A, sr.min_plus), X[roots], roots, backwards, True)
            expected = best_trees(read(A, sr.min_plus), X[roots], roots, backwards=backwards)
            assert P.shape == expected.shape and (expected == P).all()
            assert lost.tolist() == [-1] * len(roots) and not guessed.size


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("least", [0.0, -1.0])
@pytest.mark.parametrize("backwards", [False, True])
def test_trees_of_compressed_rows_are_those_of_the_host(backwards: bool, least: float) -> None:
    """With zeros of the algebra and loops among the entries, and walks of weight one around cycles.

    An order of elimination that is known goes along.
    """
    rng = np.random.default_rng(4)
    for n in (1, 2, 9, 30):
        A = rng.integers(0, 3, (n, n)).astype(float)
        stored = rng.random((n, n)) < 0.5
        if least < 0:
            stored &= np.triu(np.ones((n, n), bool))
            A = A - 2 * ~np.eye(n, dtype=bool)
        A[rng.random((n, n)) < 0.3] = inf
        rows, columns = np.nonzero(stored)
        given = read(csr_array((A[rows, columns], (rows, columns)), (n, n)), sr.min_plus)
        X = sr.closure(np.where(stored, A, inf), sr.min_plus)
        X = X.T if backwards else X
        for roots in (np.arange(n), rng.permutation(n), np.arange(n // 2)):
            P, lost, guessed = trees_on_gpu(given, X[roots], roots, backwards, True)
            assert not len(roots) or Engine.ordered == is_analysed(given)
            analysis_of(given)
            expected = best_trees(given, X[roots], roots, backwards=backwards)
            assert P.shape == expected.shape and (expected == P).all()
            assert lost.tolist() == [-1] * len(roots) and not guessed.size


class OnGpu(np.ndarray):
    """An array that is said to be on a GPU."""


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("backwards", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_guesses_that_go_wrong_are_mended_as_on_the_host(backwards: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Potentials: every cycle is 0 but for rounding, and some look as if they improved."""
    monkeypatch.setattr(best, "is_on_gpu", lambda array: isinstance(array, OnGpu))
    monkeypatch.setattr(best, "to_host", lambda array: np.array(array))
    monkeypatch.setattr(best, "upload", lambda array: array.view(OnGpu))
    monkeypatch.setattr(best, "on_host", lambda given: given)
    mended: list[int] = []
    mend = best.mend
    monkeypatch.setattr(best, "mend", lambda *given: mended.append(len(given[1])) or mend(*given))
    asked, changed = 0, 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        n = int(random.integers(3, 12))
        height = random.normal(size=n) * 100
        A = height[:, None] - height + np.where(random.random((n, n)) < 0.6, 0, random.random((n, n)))
        A[random.random((n, n)) < 0.4] = inf
        np.fill_diagonal(A, inf)
        X = sr.closure(A, sr.min_plus)
        X = X.T.copy() if backwards else X
        for roots in (np.arange(n), random.permutation(n)[: n // 2 + 1]):
            host = best_trees(read(A, sr.min_plus), X[roots], roots, backwards=backwards)
            mended.clear()
            there = best_trees(read(A, sr.min_plus), X[roots].view(OnGpu), roots, backwards=backwards)
            assert (host == there).all()
            asked += sum(mended)
            changed += bool((trees_on_gpu(read(A, sr.min_plus), X[roots], roots, backwards, True)[0] != host).any())
    assert asked and changed, "lines of which some walk would not weigh what is said"


@pytest.mark.usefixtures("engine")
def test_limits_and_edges_that_improve() -> None:
    A = read(np.array([[inf, 2.0], [-1.0, inf]]), sr.min_plus)
    assert not Device(A.array, sr.min_plus).bounded and Device(np.array([[0.0]]), sr.min_plus).bounded
    X, tree = np.array([[0.0, 2.0, 5.0]]).T, np.array([[-1, 0, 1]], np.int32).T
    left = cut_off_on_gpu(A, X.T, tree.T, np.array([2.0]))
    assert left.tolist() == [[0.0, 2.0, inf]] and tree.T.tolist() == [[-1, 0, -1]] and X[2, 0] == 5
