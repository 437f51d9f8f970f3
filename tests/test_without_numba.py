"""Without Numba everything is computed all the same: one process in which it cannot be imported tries it all.

The functions of `CHECKS` run there, by `runpy`; one test, so that there is one process, says what each said.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours, stored, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr
from semiring.cli import main

inf = np.inf
FORMATS = "csr", "csc", "coo", "lil", "dok", "bsr", "dia"
Answers = Iterator[tuple[str, Any]]
CHECKS: dict[str, Callable[[], None]] = {}
tried = settings(max_examples=1, deadline=None, database=None, derandomize=True,
                 suppress_health_check=list(HealthCheck))


def check(function: Callable[[], None]) -> Callable[[], None]:
    """What is run without Numba."""
    CHECKS[function.__name__] = function
    return function


def roads(n: int = 12, dtype: str = "f8", seed: int = 0) -> np.ndarray:
    """Lengths of some roads, ∞ (or the largest integer) where there is none."""
    rng = np.random.default_rng(seed)
    nothing = inf if dtype[0] == "f" else np.iinfo(dtype).max
    return np.where(rng.random((n, n)) < 0.2, rng.integers(1, 9, (n, n)), nothing).astype(dtype)


def distances(A: np.ndarray) -> np.ndarray:
    """The lengths of shortest paths, by Bellman's equations."""
    found = np.where(np.eye(len(A)), 0.0, inf)
    for _ in range(len(A)):
        found = np.minimum(found, (found[:, :, None] + A[None]).min(axis=1, initial=inf))
    return found


def product_of(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The least of sums."""
    return (A[:, :, None] + B[None]).min(axis=1, initial=inf)


def entries(A: np.ndarray, layout: str = "csr") -> Any:
    """The roads as a sparse matrix of SciPy's."""
    i, j = np.nonzero(inf > A)
    return sp.coo_array((A[i, j], (i, j)), A.shape).asformat(layout)


def walks(A: np.ndarray) -> np.ndarray:
    """Which vertex reaches which by one edge or more."""
    found = A
    for _ in range(len(A).bit_length()):
        found = found | (found.astype(int) @ found.astype(int) > 0)
    return found


def dense(answer: Any, zero: float = inf) -> np.ndarray:
    """A sparse answer as an array."""
    answer = answer.tocoo()
    result = np.full(answer.shape, zero)
    result[answer.row, answer.col] = answer.data
    return result


@check
def numba_is_not_there() -> None:
    for name in ("numba", "llvmlite"):
        with pytest.raises(ModuleNotFoundError):
            __import__(name)
    assert not {"semiring.kernels.cpu.compile.jit", "semiring.kernels.cpu.compile.raw"} & set(sys.modules)


@check
def plans_say_that_it_is_not_there() -> None:
    A = roads()
    for matrix in (A, entries(A), inf > A, A.astype("f4"), sr.pack(inf > A)):
        S = sr.boolean if not hasattr(matrix, "dtype") or matrix.dtype == bool else sr.min_plus
        text = str(sr.plan("closure", matrix, S))
        assert "CPU, 1 thread, NumPy" in text and "(there is no Numba)" in text, text
    S = sr.min_plus
    for verb, more in (("matmul", (A, S)), ("solve", (A, S)), ("factor", (S,)), ("closure_rows", (S, [0]))):
        for matrix in (A, entries(A)):
            assert "there is no Numba" in str(sr.plan(verb, matrix, *more)), verb


@check
def nothing_can_be_compiled_ahead() -> None:
    with pytest.raises(sr.SemiringError, match="nothing can be compiled without Numba: install numba"):
        sr.warmup(sr.min_plus)


def on_some(S: oracle.Algebra, dtype: np.dtype, drawn: st.SearchStrategy, answers: Callable[..., Answers]) -> None:
    """What is answered for a matrix and a right-hand side is what the oracle says, where that has a place."""

    @tried
    @given(drawn, strategies.matrices(S, dtype, (4, 2)))
    def compare(A: np.ndarray, B: np.ndarray) -> None:
        T, a, b, rows = ours(S), to_library(S, A), to_library(S, B), oracle.from_numpy(S, A)
        try:
            closed = oracle.closure_by_elimination(S, rows)
        except oracle.Undefined:
            with pytest.raises(sr.NoClosureError):
                sr.closure(a, T)
            return
        right = oracle.from_numpy(S, B)
        wanted = {
            "closure": closed, "solve": oracle.matmul(S, closed, right, 2), "matmul": oracle.matmul(S, rows, right, 2),
        }
        assume(all(oracle.fits(S, x, dtype) for x in wanted.values()))
        for what, answer in answers(T, A, a, b):
            oracle.assert_same(S, wanted[what], np.asarray(answer), what)

    compare()


@check
def dense_matrices_over_every_algebra() -> None:
    def answers(T: sr.Semiring, A: np.ndarray, a: np.ndarray, b: np.ndarray) -> Answers:
        yield "closure", sr.closure(a, T)
        yield "closure", sr.closure(np.stack([a, a]), T)[1]
        yield "closure", sr.factor(a, T).closure()
        yield "solve", sr.solve(a, b, T)
        yield "matmul", sr.matmul(a, b, T)

    for name, dtype in [case for k, case in enumerate(CASES) if k % 4 == 0 or case[1].kind == "O"]:
        S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
        on_some(S, dtype, strategies.matrices(S, dtype, 4), answers)


@check
def sparse_graphs_over_every_algebra() -> None:
    for name, dtype in CASES[1::4]:
        S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)

        def answers(T: sr.Semiring, A: np.ndarray, a: np.ndarray, b: np.ndarray, S: oracle.Algebra = S) -> Answers:
            edges = [(u, v) for u, v, _ in oracle.edges_of(S, A)]
            i, j = np.array(edges, int).reshape(-1, 2).T
            graph = sr.Graph(i, j, 4, a[i, j])
            F = sr.factor(graph, T)
            yield "closure", sr.closure(graph, T).array
            yield "closure", stored(S, np.asarray(F.rows(range(4))), A.dtype)
            yield "solve", F.solve(b)
            yield "matmul", sr.matmul(graph, b, T)
            if T.selective:
                yield "closure", stored(S, np.asarray(sr.closure_rows(graph, T, range(4))), A.dtype)

        on_some(S, dtype, strategies.acyclic(S, dtype, 4), answers)


@check
def closures_by_every_method_and_option() -> None:
    A = roads()
    wanted, told = distances(A), []
    plus = product_of(A, wanted)
    for method in METHODS:
        for matrix in (A, A.astype("f4"), roads(dtype="i4"), roads(dtype="u2"), np.asfortranarray(A), A[::-1][::-1]):
            found = sr.closure(matrix, sr.min_plus, method=method)
            assert found.dtype == matrix.dtype
            assert np.array_equal(np.where(found == found.max(), inf, found), np.where(wanted == inf, inf, wanted))
        assert np.array_equal(sr.closure(A, sr.min_plus, method=method, reflexive=False), plus)
        assert np.array_equal(sr.closure(A.copy(), sr.min_plus, method=method, overwrite=True, check=False), wanted)
        assert np.array_equal(sr.closure(A, sr.min_plus, method=method, progress=told.append), wanted)
        assert told and told[-1] == 1
    assert np.array_equal(sr.closure(A.tolist(), "min-plus"), wanted)
    stack = np.broadcast_to(A, (2, 3, 12, 12))
    assert np.array_equal(sr.closure(stack, sr.min_plus), np.broadcast_to(wanted, stack.shape))


@check
def sparse_matrices_of_every_format() -> None:
    A, B = roads(), roads(seed=1)
    wanted = distances(A)
    for layout, kind in product(FORMATS, (sp.coo_array, sp.coo_matrix)):
        M = kind(entries(A)).asformat(layout)
        assert np.array_equal(sr.closure(M, sr.min_plus, method="sparse"), wanted), layout
        assert np.array_equal(sr.matmul(M, B, sr.min_plus), product_of(A, B)), layout
        assert sr.pack(M).count() == (inf > A).sum(), layout
    i, j = np.nonzero(inf > A)
    twice = sp.coo_array((np.tile(A[i, j], 2)[::-1], (np.tile(i, 2)[::-1], np.tile(j, 2)[::-1])), A.shape)
    assert np.array_equal(sr.closure(twice, sr.min_plus), wanted)
    long = sp.csr_array(entries(A))
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    assert np.array_equal(sr.closure(long, sr.min_plus, reflexive=False), product_of(A, wanted))


@check
def products_of_every_kind() -> None:
    A, B, C = roads(), roads(seed=1), roads(seed=2)
    wanted = product_of(A, B)
    assert np.array_equal(sr.matmul(A, B, sr.min_plus), wanted)
    assert np.array_equal(sr.matmul(entries(A), B, sr.min_plus), wanted)
    assert np.array_equal(sr.matmul(A, entries(B), sr.min_plus), wanted)
    assert np.array_equal(dense(sr.matmul(entries(A), entries(B), sr.min_plus)), wanted)
    assert np.array_equal(sr.matmul(entries(A), B[:, 0], sr.min_plus), wanted[:, 0])
    assert np.array_equal(sr.matmul(A[3], entries(B), sr.min_plus), wanted[3])
    assert sr.matmul(A[3], B[:, 5], sr.min_plus) == wanted[3, 5]
    for left, right in ((A, B), (entries(A), B), (A, entries(B))):
        out = np.empty_like(C)
        assert sr.matmul(left, right, sr.min_plus, accumulate=C, out=out) is out
        assert np.array_equal(out, np.minimum(C, wanted))
    assert np.array_equal(sr.matmul(np.stack([A, C]), B, sr.min_plus), np.stack([wanted, product_of(C, B)]))
    numbers = np.random.default_rng(0).integers(-3, 4, (3, 4, 4))
    x, y, z = numbers.astype(float)
    assert np.array_equal(sr.matmul(x, y, sr.plus_times, accumulate=z), z + x @ y)
    assert np.array_equal(sr.matmul(x + 1j * z, y + 0j, sr.plus_times), (x + 1j * z) @ y)
    assert np.array_equal(sr.matmul(sp.csr_array(x), y, sr.plus_times), x @ y)
    assert np.array_equal(sr.matmul(x > 0, y > 0, sr.boolean), (x > 0).astype(int) @ (y > 0) > 0)
    packed = sr.matmul(sr.pack(x > 0), sr.pack(y > 0), sr.boolean)
    assert np.array_equal(packed.to_dense(), (x > 0).astype(int) @ (y > 0) > 0)


@check
def equations_and_factors() -> None:
    A, B = roads(), roads(seed=1)[:, :3]
    star = distances(A)
    wanted = product_of(star, B)
    for matrix in (A, entries(A), sr.Graph(*np.nonzero(inf > A), 12, A[inf > A])):
        F = sr.factor(matrix, sr.min_plus)
        assert np.array_equal(F.solve(B), wanted) and np.array_equal(F.solve(B[:, 0]), wanted[:, 0])
        assert np.array_equal(np.asarray(F.closure()), star)
        assert np.array_equal(sr.solve(matrix, B, sr.min_plus), wanted)
    F = sr.factor(entries(A), sr.min_plus)
    assert np.array_equal(F.rows([3, 3, 0]), star[[3, 3, 0]]) and np.array_equal(F.row(5), star[5])
    assert np.array_equal(F.rows(np.arange(12), reflexive=False), product_of(A, star))
    assert np.array_equal(np.asarray(F.closure(reflexive=False)), product_of(A, star))
    assert np.array_equal(np.concatenate([rows for _, rows in F.blocks(rows=5, in_order=True)]), star)
    G = F.refactor(entries(2 * A))
    assert np.array_equal(G.rows([1]), 2 * star[1:2])
    others = star[np.isfinite(star) & ~np.eye(12, dtype=bool)]
    assert F.reduce("mean") == pytest.approx(others.mean())
    far = np.where(np.isfinite(star) & ~np.eye(12, dtype=bool), star, -1).max(axis=1)
    assert np.array_equal(F.reduce("eccentricities"), np.where(far < 0, inf, far))
    with tempfile.TemporaryDirectory() as folder:
        assert np.array_equal(F.save(Path(folder) / "distances.npy"), star)
    numbers = np.random.default_rng(0).random((6, 6)) / 9
    right = np.linalg.solve(np.eye(6) - numbers, np.ones((6, 2)))
    np.testing.assert_allclose(sr.solve(numbers, np.ones((6, 2)), sr.plus_times), right, rtol=1e-10)
    np.testing.assert_allclose(sr.solve(sp.csr_array(numbers), np.ones((6, 2)), sr.plus_times), right, rtol=1e-10)
    np.testing.assert_allclose(sr.solve(1j * numbers, np.ones((6, 2)) + 0j, sr.plus_times),
                               np.linalg.solve(np.eye(6) - 1j * numbers, np.ones((6, 2))), rtol=1e-10)


def assert_tree(A: np.ndarray, source: int, row: np.ndarray, predecessors: np.ndarray) -> None:
    """Every predecessor is the last stop before a vertex on a best path."""
    for v, u in enumerate(predecessors.tolist()):
        if u < 0:
            assert v == source or row[v] == inf
        else:
            assert row[v] == row[u] + A[u, v]


@check
def rows_and_paths() -> None:
    A = roads()
    A[2, 5] = 0
    shifted = A + np.arange(12) - np.arange(12)[:, None]  # some roads are of negative length
    for lengths in (A, shifted):
        star = distances(lengths)
        for matrix in (lengths, entries(lengths)):
            X, P = sr.closure_rows(matrix, sr.min_plus, [4, 0, 4], predecessors=True)
            assert np.array_equal(X, star[[4, 0, 4]]) and P.dtype == np.int32
            for source, row, before in zip((4, 0, 4), X, P, strict=True):
                assert_tree(lengths, source, row, before)
            assert np.array_equal(sr.closure_rows(matrix, sr.min_plus, 7), star[7])
            for source, target in product(range(3), range(12)):
                weight, stops = sr.path(matrix, sr.min_plus, source, target)
                assert weight == star[source, target]
                assert (stops is None) == (weight == inf)
                if stops:
                    assert weight == sum(lengths[u, v] for u, v in pairwise(stops))
    whole = entries(roads()).astype("i4")
    found = sr.closure_rows(whole, sr.min_plus, range(12))
    assert found.dtype == np.int32
    assert np.array_equal(np.where(found == 2**31 - 1, inf, found), distances(roads()))


@check
def what_has_no_closure_is_refused() -> None:
    A = np.full((3, 3), inf)
    A[0, 1], A[1, 0] = 1, -2
    for matrix in (A, entries(A), np.stack([A, A])):
        with pytest.raises(sr.NoClosureError):
            sr.closure(matrix, sr.min_plus)
    with pytest.raises(sr.NoClosureError):
        sr.closure_rows(entries(A), sr.min_plus, [0])
    with pytest.raises(sr.NoClosureError):
        sr.path(entries(A), sr.min_plus, 0, 1)
    with pytest.raises(sr.NoClosureError):
        sr.closure(np.eye(2), sr.plus_times)
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.closure(np.array([[np.nan]]), sr.min_plus)
    with pytest.raises(sr.SemiringError, match="int8 cannot hold"):
        sr.closure(np.array([[127, 100, 127], [127, 127, 100], [127, 127, 127]], np.int8), sr.min_plus)


@check
def graphs_keep_their_names() -> None:
    edges = [("a", "b", 2.0), ("b", "c", 3.0), ("a", "c", 9.0), ("d", "a", 1.0)]
    M = sr.adjacency(edges, sr.min_plus)
    wanted = {("a", "c"): 5.0, ("d", "c"): 6.0, ("c", "a"): inf, ("b", "b"): 0.0}
    graph = sr.as_graph(edges)
    for matrix in (M, graph):
        closed = sr.closure(matrix, sr.min_plus)
        assert {pair: closed[pair] for pair in wanted} == wanted
        assert sr.path(matrix, sr.min_plus, "d", "c") == (6.0, ["d", "a", "b", "c"])
    assert sr.factor(graph, sr.min_plus).row("d").tolist() == [
        closed["d", v] for v in closed.names]
    squared = sr.matmul(M, M, sr.min_plus)
    assert squared["a", "c"] == 5 and squared["a", "b"] == inf
    R = sr.reach(edges)
    assert R.reaches("d", "c") and not R.reaches("c", "d")
    with tempfile.TemporaryDirectory() as folder:
        sr.write_matrix(Path(folder) / "closed.csv", closed)
        assert "6.0" in (Path(folder) / "closed.csv").read_text(encoding="utf-8")


@check
def who_reaches_whom() -> None:
    for n in (0, 1, 12, 150):
        A = np.random.default_rng(n).random((n, n)) < 1.5 / max(n, 1)
        plus = walks(A)
        star = plus | np.eye(n, dtype=bool)
        for matrix in (A, sr.pack(A), sp.csr_array(A)):
            R = sr.reach(matrix)
            assert np.array_equal(R.closure.to_dense(), star)
            for packed in (True, False):
                closed = sr.closure(matrix, sr.boolean, packed=packed, reflexive=False)
                assert np.array_equal(np.asarray(closed), plus)
        i, j = np.indices((n, n))
        assert np.array_equal(R.pairs(i, j), star)
        assert R.descendant_counts().tolist() == (star.sum(axis=1) - 1).tolist()
        assert R.ancestor_counts().tolist() == (star.sum(axis=0) - 1).tolist()
        mutual = star & star.T
        first = [row.index(True) for row in mutual.tolist()]
        assert R.component_labels().tolist() == [sorted(set(first)).index(v) for v in first]
        groups = [group.tolist() for group in R.strongly_connected_components()]
        assert groups == [np.flatnonzero(mutual[v]).tolist() for v in range(n) if first[v] == v]
        for v in range(min(n, 5)):
            others = np.arange(n) != v
            assert R.descendants(v).tolist() == np.flatnonzero(star[v] & others).tolist()
            assert R.ancestors(v).tolist() == np.flatnonzero(star[:, v] & others).tolist()
            assert R.reaches(v, 0) == star[v, 0]
        above = np.triu(A, 1)
        reduced = sr.transitive_reduction(above).to_dense()
        longer = walks(above).astype(int) @ above > 0
        assert np.array_equal(reduced, above & ~longer)
        between, components = sr.condensation(A)
        assert [c.tolist() for c in components] == groups and between.shape == (len(groups),) * 2


@check
def packed_matrices() -> None:
    rng = np.random.default_rng(0)
    for m, n in ((0, 0), (1, 1), (3, 64), (70, 130), (130, 70)):
        A, B = rng.random((2, m, n)) < 0.3
        M, N = sr.PackedMatrix.from_dense(A), sr.PackedMatrix.from_dense(np.asfortranarray(B.astype("f4")))
        for found, wanted in ((M & N, A & B), (M | N, A | B), (M ^ N, A ^ B), (~M, ~A), (M.transpose(), A.T),
                              (M.copy(), A), (M[::2], A[::2]), (M[:, ::-3], A[:, ::-3]), (M[1:, 5:], A[1:, 5:])):
            assert np.array_equal(found.to_dense(), wanted)
        i, j = rng.integers(0, max(m, 1), 9 * bool(m)), rng.integers(0, max(n, 1), 9 * bool(m))
        assert np.array_equal(M[i, j], A[i, j])
        assert np.array_equal(M[i].to_dense(), A[i]) and np.array_equal(M[:, j].to_dense(), A[:, j])
        if m:
            assert np.array_equal(M[0], A[0]) and np.array_equal(M[:, n - 1], A[:, -1])
            assert M[m - 1, 0] is bool(A[-1, 0])
        N.set(i, j)
        B[i, j] = True
        assert N == sr.PackedMatrix.from_sparse(sp.csr_array(B)) == sr.PackedMatrix.from_edges(*np.nonzero(B), (m, n))
        assert np.array_equal(N.to_sparse().toarray(), B)
        assert np.array_equal(N.to_dense("i2"), B.astype("i2")) and np.array_equal(np.asarray(N), B)
        assert N.column_degrees().tolist() == B.sum(axis=0).tolist()
        found = [first + k for first, offsets, _ in N.neighbours(7) for k in range(len(offsets) - 1)]
        assert found == list(range(m))
        assert [v for _, _, part in N.neighbours(7) for v in part.tolist()] == np.nonzero(B)[1].tolist()
        with tempfile.TemporaryDirectory() as folder:
            N.save(Path(folder) / "bits.npy")
            assert sr.PackedMatrix.load(Path(folder) / "bits.npy") == N
    for matrix in ([(0, 1), (1, 2)], sr.Graph(np.array([0, 1]), np.array([1, 2]), 3)):
        assert np.argwhere(sr.pack(matrix).to_dense()).tolist() == [[0, 1], [1, 2]]


@check
def laws_and_algebras_of_ones_own() -> None:
    assert sr.check_laws(sr.min_plus)
    S = sr.Semiring("least of the greatest", add=np.minimum, mul=np.maximum, zero=np.inf, one=-np.inf)
    A = np.array([[inf, 3, 9], [inf, inf, 4], [1, inf, inf]])
    assert sr.closure(A, S).tolist() == [[-inf, 3, 4], [4, -inf, 4], [1, 3, -inf]]


@check
def the_command_line() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "roads.csv"
        file.write_text("from,to,weight\na,b,2\nb,c,3\n", encoding="utf-8")
        for arguments in (["closure", str(file), "--algebra", "min-plus"], ["laws", "min-plus"], ["catalogue"]):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                assert main(arguments) == 0
            assert out.getvalue()


@check
def the_command_line_says_what_is_there() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(["info"]) == 0
    assert "there is no Numba" in " ".join(out.getvalue().split())


@check
def sets_of_bits_over_many_vertices() -> None:
    A = np.zeros((1100, 1100), np.uint8)
    A[np.arange(1099), np.arange(1, 1100)] = 6
    A[3, 4] = 5
    found = sr.closure(A, sr.bitset_may)
    i, j = np.indices(A.shape)
    wanted = np.where(i == j, 255, np.where(i > j, 0, np.where((i <= 3) & (j > 3), np.where(j - i > 1, 4, 5), 6)))
    wanted[3, 4] = 5
    assert np.array_equal(found, wanted)


@check
def numba_was_not_asked_for() -> None:
    assert sys.modules["numba"] is None and sys.modules["llvmlite"] is None


def report() -> None:
    """Run all, and print what went wrong in each, as JSON."""
    said = {}
    for name, function in CHECKS.items():
        try:
            function()
            said[name] = ""
        except (Exception, SystemExit):
            said[name] = traceback.format_exc(limit=-6)
    print(json.dumps(said))


PROCESS = """
import runpy, sys
sys.modules["numba"] = sys.modules["llvmlite"] = None
sys.path.insert(0, {folder!r})
runpy.run_path({file!r}, run_name="without_numba")["report"]()
"""


def test_all_is_computed_without_numba(tmp_path: Path) -> None:
    text = PROCESS.format(folder=str(Path(__file__).parent), file=__file__)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    assert set(said) == set(CHECKS)
    assert not any(said.values()), "\n".join(f"{name}: {wrong}" for name, wrong in said.items() if wrong)
