"""Best paths from file to file: the weights, next hops and ties of the paths in memory."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engines import slow_but

import semiring as sr
from semiring.operands.sparse import Sparse
from semiring.scale.files import Mapped
from semiring.scale.scratch import read_manifest
from semiring.scale.stores import Output
from semiring.solvers.beyond import stored_paths

SMALL = 64 * 64 * 8 * 24  # bytes


def matrix(S: sr.Semiring, n: int, dtype: Any = "f8", seed: int = 0) -> np.ndarray:
    """Small whole numbers, so that many walks are equally good."""
    random = np.random.default_rng(seed)
    weights = random.integers(0, 5, (n, n)) / (8 if S is sr.viterbi else 1)
    A = np.where(random.random((n, n)) < 0.15, weights, S.zero_in(np.dtype(dtype))).astype(dtype)
    if S is sr.max_plus:
        A[np.tril_indices(n)] = S.zero_in(np.dtype(dtype))
    return A


@pytest.mark.parametrize("given", ["file", "sparse", "graph", "array"])
@pytest.mark.parametrize("n", [0, 1, 5, 90])
@pytest.mark.parametrize(("S", "dtype"), slow_but([
    (sr.min_plus, "f8"), (sr.min_plus, "i4"), (sr.max_min, "f4"), (sr.viterbi, "f8"), (sr.max_plus, "f8"),
], 0, 1), ids=lambda x: getattr(x, "name", x))
def test_ties_break_as_in_memory(S: sr.Semiring, dtype: str, n: int, given: str, tmp_path: Path) -> None:
    A = matrix(S, n, dtype)
    tails, heads = np.nonzero(S.zero_in(A.dtype) != A)
    np.save(tmp_path / "w.npy", A)
    one: Any = {"file": tmp_path / "w.npy", "array": A, "graph": sr.Graph(tails, heads, n, A[tails, heads])}.get(given)
    if given == "sparse":
        one = pytest.importorskip("scipy.sparse").csr_array((A[tails, heads], (tails, heads)), shape=A.shape)
    files = {"out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy"}
    found, expected = sr.paths(one, S, **files, memory=SMALL), sr.paths(A, S)
    shown = expected.weights
    if given == "graph" and A.dtype.kind == "i":  # ∞ is a float there, not the limit that stands for it in files
        shown = np.where(shown == np.iinfo(dtype).max, np.inf, shown)
    assert np.array_equal(found.weights, shown)
    assert np.array_equal(found.next_hop, expected.next_hop)
    assert found.next_hop.dtype == np.int32
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.npy", "p.npy", "w.npy"]
    assert np.array_equal(np.load(files["out"]), expected.weights)
    assert np.array_equal(np.load(files["next_hops"]), expected.next_hop)


def test_edges_better_than_one_and_names(tmp_path: Path) -> None:
    edges = [("a", "b", 3.0), ("b", "c", -2.5), ("a", "c", 1.0), ("c", "d", 0.0), ("d", "e", 0.25), ("b", "e", -2.0)]
    graph = sr.as_graph(edges)
    found = sr.paths(graph, sr.min_plus, out=tmp_path / "d.npy", next_hops=tmp_path / "p.npy")
    assert found["a", "e"] == sr.paths(graph, sr.min_plus)["a", "e"]


def heights(n: int) -> np.ndarray:
    """Differences of heights in quarters, which are off by up to half a quarter each way: cycles improve by that."""
    random = np.random.default_rng(n)
    height = random.integers(-40, 40, n) / 4
    A = height[:, None] - height + random.integers(-1, 2, (n, n)) / 8
    A[random.random((n, n)) < 0.5] = np.inf
    return A


@pytest.mark.parametrize("given", ["file", "sparse", "graph", "array", "zarr"])
@pytest.mark.parametrize("n", [5, 40, 90])
def test_of_edges_that_are_worse_by_a_tolerance(given: str, n: int, tmp_path: Path) -> None:
    """Exact in floats, so that weights and hops are those of the paths in memory to the bit."""
    A = heights(n)
    tails, heads = np.nonzero(np.isfinite(A))
    np.save(tmp_path / "w.npy", A)
    one: Any = {"file": tmp_path / "w.npy", "array": A, "graph": sr.Graph(tails, heads, n, A[tails, heads])}.get(given)
    if given == "sparse":
        one = pytest.importorskip("scipy.sparse").csr_array((A[tails, heads], (tails, heads)), shape=A.shape)
    if given == "zarr":
        one = pytest.importorskip("zarr").array(A)
    files: dict[str, Any] = {"out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy", "memory": SMALL}
    with pytest.raises(sr.NoClosureError):
        sr.paths(one, sr.min_plus, **files)
    found, expected = sr.paths(one, sr.min_plus, **files, tol=0.125), sr.paths(A, sr.min_plus, tol=0.125)
    for other in (expected, sr.paths(A + 0.125, sr.min_plus)):
        assert np.array_equal(found.weights, other.weights)
        assert np.array_equal(found.next_hop, other.next_hop)
    assert np.array_equal(found.predecessors, expected.predecessors)
    for source, target in ((0, n - 1), (n - 1, 1), (2, 3)):
        assert found[source, target] == expected[source, target]
        assert found.edges(source, target) == expected.edges(source, target)
    assert np.array_equal(found.tree(0).weights, expected.tree(0).weights)
    plain = matrix(sr.min_plus, n)  # which needs none
    assert np.array_equal(sr.paths(plain, sr.min_plus, **files, tol=0.5).weights, sr.paths(plain, sr.min_plus).weights)


@pytest.mark.usefixtures("one_column_at_a_time")
@pytest.mark.parametrize("given", ["file", "graph"])
def test_with_a_tolerance_they_go_on_from_the_last_commit(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the first attempt, in the second one, among the columns of next hops, and between the two files."""
    A = heights(40)
    tails, heads = np.nonzero(np.isfinite(A))
    np.save(tmp_path / "w.npy", A)
    options: dict[str, Any] = {
        "A": tmp_path / "w.npy" if given == "file" else sr.Graph(tails, heads, 40, A[tails, heads]), "S": sr.min_plus,
        "out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy", "checkpoint": 1e-9, "memory": SMALL, "tol": 0.125,
    }
    expected = sr.paths(A, sr.min_plus, tol=0.125)

    def tell(part: float) -> None:
        if part >= 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sr.paths(**options, progress=tell)
    saved = read_manifest(tmp_path / "d.npy.partial")
    assert saved is not None and not saved["loosened"]
    for change, named in (({"tol": 0.25}, "tol 0.125"), ({"tol": None}, "tol 0.125"),
                          ({"next_hops": tmp_path / "q.npy"}, "next_hops")):
        with pytest.raises(sr.SemiringError, match=f"was begun with {named}"):
            sr.paths(**{**options, **change}, resume=True)
    real, columns, stops = stored_paths.best_trees, [], [7, 29]

    def trees(edges: Any, X: Any, roots: np.ndarray, **how: Any) -> Any:
        if len(columns) in stops:
            stops.remove(len(columns))
            raise KeyboardInterrupt
        columns.append(int(roots[0]))
        return real(edges, X, roots, **how)

    monkeypatch.setattr(stored_paths, "best_trees", trees)
    for stop in (7, 29):
        with pytest.raises(KeyboardInterrupt):
            sr.paths(**options, resume=True)
        saved = read_manifest(tmp_path / "d.npy.partial")
        assert saved is not None and saved["loosened"] and saved["columns"] == stop
    finish = Output.finish

    def killed(self: Output) -> None:
        if self.path.name == "d.npy":
            raise KeyboardInterrupt
        finish(self)

    with monkeypatch.context() as patched:
        patched.setattr(Output, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            sr.paths(**options, resume=True)
    found = sr.paths(**options, resume=True)
    assert np.array_equal(found.weights, expected.weights) and np.array_equal(found.next_hop, expected.next_hop)
    assert found.edges(0, 39) == expected.edges(0, 39)
    assert columns == list(range(40)), "what was done is not done again"


@pytest.fixture
def one_column_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_paths, "LINES", 1 << 40)
    monkeypatch.setattr(stored_paths, "SLAB_BYTES", 1)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None, raising=False)
    monkeypatch.setattr(Mapped, "sync", lambda _: None)


@pytest.mark.usefixtures("one_column_at_a_time")
@pytest.mark.parametrize("stop", [0, 7, 39])
def test_they_go_on_from_the_last_commit(stop: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    A = matrix(sr.min_plus, 40)
    options = {"A": A, "S": sr.min_plus, "out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy",
               "checkpoint": 1e-9, "memory": SMALL}
    real, columns = stored_paths.best_trees, []

    def trees(given: Any, X: Any, roots: np.ndarray, **how: Any) -> Any:
        if len(columns) == stop:
            raise KeyboardInterrupt
        columns.append(int(roots[0]))
        return real(given, X, roots, **how)

    with monkeypatch.context() as patched:
        patched.setattr(stored_paths, "best_trees", trees)
        with pytest.raises(KeyboardInterrupt):
            sr.paths(**options)
    saved = read_manifest(tmp_path / "d.npy.partial")
    assert saved is not None
    assert saved.get("columns", 0) == stop
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.npy.partial"], "neither is there before both are whole"
    with pytest.raises(sr.SemiringError, match="was begun with next_hops"):
        sr.closure(A, sr.min_plus, out=tmp_path / "d.npy", memory=SMALL, resume=True)
    stop = -1
    columns.clear()
    monkeypatch.setattr(stored_paths, "best_trees", trees)
    found = sr.paths(**options, resume=True)
    assert columns == list(range(saved.get("columns", 0), 40)), "what was done is not done again"
    assert np.array_equal(found.next_hop, sr.paths(A, sr.min_plus).next_hop)


def test_killed_between_the_two_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    A = matrix(sr.min_plus, 40)
    options = {"A": A, "S": sr.min_plus, "out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy", "checkpoint": 60}
    real = Output.finish

    def killed(self: Output) -> None:
        if self.path.name == "d.npy":
            raise KeyboardInterrupt
        real(self)

    with monkeypatch.context() as patched:
        patched.setattr(Output, "finish", killed)
        with pytest.raises(KeyboardInterrupt):
            sr.paths(**options)
    found = sr.paths(**options, resume=True)
    assert np.array_equal(found.next_hop, sr.paths(A, sr.min_plus).next_hop)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.npy", "p.npy"]


def test_edges_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    A = np.random.default_rng(0).random((400, 400)) - 1e-9  # some are better than one, so that all edges count
    A = np.triu(A, 1) + np.where(np.tril(np.ones_like(A)) > 0, np.inf, 0)
    A[0, 1] = -0.5
    files = {"out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy"}
    with pytest.raises(sr.SemiringError, match="next hops need in memory the edges"):
        sr.paths(A, sr.min_plus, **files, memory=64 * 64 * 8 * 9)
    assert list(tmp_path.iterdir()) == []


def test_no_dense_matrix_of_a_sparse_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(self: Any) -> None:
        raise AssertionError("the whole matrix was made")

    monkeypatch.setattr(Sparse, "array", whole)
    graph = sr.as_graph([(i, i + 1, 1.0) for i in range(70)])
    found = sr.paths(graph, sr.min_plus, out=tmp_path / "d.npy", next_hops=tmp_path / "p.npy", memory=SMALL)
    assert found[0, 70].weight == 70


def test_refusals(tmp_path: Path) -> None:
    A = np.zeros((4, 4))
    files = {"out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy"}
    for options, why in (
        ({"out": tmp_path / "d.npy"}, "paths writes two files"), ({"next_hops": tmp_path / "p.npy"}, "pass out= too"),
        ({**files, "sources": [0]}, "paths with out= has no option 'sources'"),
        ({**files, "limit": 1.0}, "leave out sources"),
        ({**files, "out": tmp_path / "d.zarr"}, "written as .npy"),
        ({**files, "next_hops": tmp_path / "p.zarr"}, "must end in .npy"),
        ({**files, "next_hops": tmp_path / "d.npy"}, "is out, too"), ({**files, "tol": -1}, "0 or more"),
    ):
        with pytest.raises(sr.SemiringError, match=why):
            sr.paths(A, sr.min_plus, **options)
    with pytest.raises(sr.LawError, match="selective"):
        sr.paths(A, sr.plus_times, **files)
    with pytest.raises(sr.LawError, match="adds or multiplies"):
        sr.paths(A, sr.max_min, **files, tol=0.1)
    with pytest.raises(sr.SemiringError, match="are exact"):
        sr.paths(A.astype(int), sr.min_plus, **files, tol=0.1)
    with pytest.raises(sr.NoClosureError):
        sr.paths(A - 1, sr.min_plus, **files, tol=0.5)
    with pytest.raises(sr.NoClosureError):
        sr.paths(A - 1, sr.min_plus, **files)
    assert list(tmp_path.iterdir()) == []


def test_the_plan(tmp_path: Path) -> None:
    A = matrix(sr.min_plus, 100)
    files = {"out": tmp_path / "d.npy", "next_hops": tmp_path / "p.npy"}
    plan = sr.plan("paths", A, sr.min_plus, **files)
    assert plan.operation == "paths"
    assert plan.output == 100 * 100 * (8 + 4)
    assert "117.2 KiB for the answer" in str(plan)
    assert np.array_equal(plan.run().next_hop, sr.paths(A, sr.min_plus).next_hop)
    with pytest.raises(sr.SemiringError, match="next_hops"):
        sr.plan("paths", A, sr.min_plus, out=tmp_path / "d.npy")
