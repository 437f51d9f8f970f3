"""Closures by a search from every vertex: when they are offered, and that answers are those of other methods."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import ours
from engines import slow_but
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.sparse.buckets import CpuBucketKernel
from semiring.kernels.cpu.sparse.levels import CpuLevelKernel
from semiring.kernels.cpu.sparse.search import CpuSearchKernel
from semiring.kernels.cpu.sparse.sweeps import CpuSweepKernel
from semiring.solvers.costs import SMALL, SparsePlan
from semiring.solvers.paths import searches
from semiring.solvers.plan import Plan
from semiring.solvers.sparse import elimination
from semiring.solvers.task import Task, options

quick = settings(max_examples=30, suppress_health_check=list(HealthCheck))


def random_graph(n: int, degree: int, S: sr.Semiring = sr.min_plus) -> sp.csr_array:
    """Edges between random vertices, with weights that do not round."""
    random = np.random.default_rng(n)
    ends = random.integers(0, n, (2, n * degree))
    A = sp.coo_array((random.integers(1, 64, n * degree) / 64, ends), (n, n)).tocsr()
    A.data = A.data.clip(0, 1)  # parallel edges were added
    return A


def grid(side: int) -> sp.csr_array:
    path = sp.diags_array([np.ones(side - 1)] * 2, offsets=[-1, 1])
    A = sp.csr_array(sp.kron(path, sp.eye_array(side)) + sp.kron(sp.eye_array(side), path))
    A.data = 1 + np.arange(A.nnz) / A.nnz  # of one value they would be searched breadth first
    return A


def asked(A: Any, S: sr.Semiring = sr.min_plus, **more: Any) -> Plan | None:
    """The search that is offered; `elimination` chooses between itself and a search."""
    task = Task("closure", S, (A,), options(**more))
    plan = searches.offer(task) or elimination.offer(task)
    return plan if plan is not None and plan.method == "search" else None


@pytest.mark.usefixtures("machine_code")
def test_it_is_offered_where_that_is_predicted_to_be_faster() -> None:
    wide = random_graph(2000, 12)
    plan = sr.plan("closure", wide, sr.min_plus)
    assert type(plan) is sr.Plan and plan.method == "search" and plan.nnz == wide.nnz
    assert plan.seconds["search"] == min(plan.seconds.values())
    assert "predicted  search" in str(plan) and f"with {wide.nnz} edges" in str(plan) and "threads" in plan.device
    for A in (random_graph(SMALL - 1, 2), sp.csr_array(np.ones((300, 300)))):
        assert asked(A) is None
    streets = grid(60)  # with 32 threads, too, elimination is to win
    assert isinstance(sr.plan("closure", streets, sr.min_plus), SparsePlan)
    predicted = sr.factor(streets, sr.min_plus).predict().seconds
    assert predicted["search"] > predicted["elimination"]


@pytest.mark.usefixtures("machine_code")
def test_what_it_leaves_to_others() -> None:
    A = random_graph(2000, 12)
    assert asked(A) is not None
    for more in ({"method": "r-kleene"}, {"method": "sparse"}, {"tile": 64}):
        assert asked(A, **more) is None
    assert asked(A, sr.plus_times) is None, "whose ⊕ does not select"
    below = A.copy()
    below.data[0] = -1.0
    assert asked(below) is None, "an edge may improve"
    assert asked(A[:200, :200].toarray()) is None
    truths = sp.csr_array(np.eye(3, dtype=bool))
    assert asked(truths, sr.boolean, packed=True, method="search") is None


@pytest.mark.usefixtures("by_numpy")
def test_without_compiled_code_it_is_not_offered() -> None:
    assert asked(random_graph(2000, 12)) is None


def test_what_is_refused() -> None:
    A = random_graph(20, 3)
    for call, error, text in (
        (lambda: sr.closure(A, sr.plus_times, method="search"), sr.LawError, "a search needs a selective ⊕"),
        (lambda: sr.closure(A, sr.min_plus, method="search", tile=8), sr.SemiringError, "tile is for the dense"),
        (lambda: sr.closure(A.toarray(), sr.min_plus, method="search"), sr.SemiringError, "follows the edges"),
        (lambda: sr.closure(A[:3], sr.min_plus, method="search"), sr.SemiringError, "square"),
        (lambda: sr.closure(A > 0, sr.boolean, method="search", packed=True), sr.SemiringError, "one of the two"),
    ):
        with pytest.raises(error, match=text):
            call()


# One for each form of arithmetic, as in test_search.py.
CASES = [("min_plus", "f8"), ("min_plus", "u1"), ("max_min", "f4"), ("viterbi", "f8"), ("max_plus", "i2")]


@pytest.mark.parametrize("reflexive", [True, False])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_closures_are_the_oracles(name: str, dtype: str, reflexive: bool) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], np.dtype(dtype))
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        A = data.draw(strategies.matrices(S, dtype))
        rows = oracle.from_numpy(S, A)
        expected = oracle.closure_by_elimination(S, rows)
        if not reflexive:
            expected = oracle.matmul(S, rows, expected)
        assume(oracle.fits(S, expected, dtype) and len(A))
        found = sr.closure(entries(A, T.zero_in(dtype)), T, method="search", reflexive=reflexive)
        assert found.dtype == A.dtype
        oracle.assert_same(S, expected, found, f"A = {A!r}")

    check()


def entries(array: np.ndarray, zero: Any) -> sp.coo_array:
    rows, columns = np.nonzero(array != zero)
    return sp.coo_array((array[rows, columns], (rows, columns)), shape=array.shape)


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("reflexive", [True, False])
@pytest.mark.parametrize("S", slow_but([[sr.min_plus], [sr.max_min], [sr.viterbi], [sr.min_max]], 0))
def test_large_closures_are_those_of_elimination(S: sr.Semiring, reflexive: bool) -> None:
    A = random_graph(700, 8)
    A.data = np.exp2(-np.ceil(8 * A.data)) if S is sr.viterbi else A.data  # products do not round either
    by_search, eliminated = (sr.closure(A, S, method=m, reflexive=reflexive) for m in ("search", "sparse"))
    assert np.array_equal(by_search, eliminated)


@pytest.mark.usefixtures("machine_code")
def test_all_edges_at_once_or_one_source_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    for name, (kind, _) in WAYS.items():
        do = getattr(kind, name)

        def watched(self: Any, *given: Any, do: Any = do, name: str = name) -> Any:
            calls.append(name)
            return do(self, *given)

        monkeypatch.setattr(kind, name, watched)
    path = sp.diags_array([np.arange(1.0, 3000)], offsets=[1], format="csr")
    steps = sp.diags_array([np.ones(2999)], offsets=[1], format="csr")
    for A, S, wanted in (
        (random_graph(400, 12), sr.min_plus, "sweep"), (path, sr.min_plus, "rows"), (path, sr.min_max, "settle"),
        (steps, sr.min_plus, "levels"),
    ):
        calls.clear()
        found = sr.closure(A, S, method="search")
        assert calls == [wanted] and np.array_equal(found, sr.closure(A, S, method="sparse"))


@pytest.mark.usefixtures("machine_code")
def test_progress_is_told_and_names_are_kept() -> None:
    A = random_graph(300, 6)
    parts: list[float] = []
    found = sr.closure(A, sr.min_plus, method="search", progress=parts.append)
    assert parts == sorted(parts) and parts[0] == 0 and parts[-1] == 1 and len(parts) > 10
    assert np.array_equal(found, sr.closure(A, sr.min_plus, method="search"))
    graph = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0), ("c", "a", 2.0)])
    named = sr.closure(graph, sr.min_plus, method="search")
    assert isinstance(named, sr.Matrix) and named["a", "c"] == 7 and named["a", "a"] == 0
    assert sr.closure(graph, sr.min_plus, method="search", reflexive=False)["a", "a"] == 9


def test_improving_cycles_are_named() -> None:
    A = sp.csr_array(np.array([[0, 1.0, 0], [0, 0, -3.0], [1.0, 0, 0]]))
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(A, sr.min_plus, method="search")
    assert caught.value.weight == -1
    A.data[1] = -2.0
    assert np.array_equal(sr.closure(A, sr.min_plus, method="search"), sr.closure(A, sr.min_plus, method="sparse"))


def test_a_matrix_without_vertices_or_edges() -> None:
    for n in (0, 1, 4):
        found = sr.closure(sp.csr_array((n, n)), sr.min_plus, method="search", reflexive=False)
        assert found.shape == (n, n) and (found == np.inf).all()


WAYS = {
    "settle": (CpuSearchKernel, "label setting"), "correct": (CpuSearchKernel, "label correcting"),
    "sweep": (CpuSweepKernel, "sweeps over the edges, of many sources at once"),
    "levels": (CpuLevelKernel, "breadth-first search"), "rows": (CpuBucketKernel, "labels in buckets"),
}


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize(("name", "predecessors"), [
    ("settle", True), ("rows", True), ("sweep", False), ("levels", True), ("levels", False), ("correct", False),
    ("correct", True),
])
def test_plans_name_the_way_that_runs(name: str, predecessors: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    A, S = random_graph(800, 8), sr.max_min if name == "settle" else sr.min_plus
    if name == "levels":
        A.data[:] = 1
    elif name == "correct":
        A = sp.triu(A, 1).tocsr()
        A.data -= 0.5
    ran: list[str] = []

    def recording(way: str, kernel: type) -> None:
        run = getattr(kernel, way)

        def record(*arguments: Any) -> Any:
            ran.append(way)
            return run(*arguments)

        monkeypatch.setattr(kernel, way, record)

    for way, (kernel, _) in WAYS.items():
        recording(way, kernel)
    plan = sr.plan("closure_rows", A, S, sources=range(400), predecessors=predecessors)
    plan.run()
    assert ran[0] == name and plan.method == WAYS[name][1]
    ran.clear()
    if not predecessors:
        plan = sr.plan("closure", A, S, method="search")
        plan.run()
        assert plan.method == "search" and plan.reasons["method"] == f"{WAYS[ran[0]][1]}, as asked"


LONG = {
    "settle": "sr.closure_rows(A, sr.min_plus, range(n), predecessors=True)",
    "sweep": "sr.closure_rows(A, sr.min_plus, range(n))",
    "levels": "sr.closure_rows(ONES, sr.min_plus, range(n), predecessors=True)",
    "correct": "sr.closure_rows(LESS, sr.min_plus, range(n))",
    "mean": "F.reduce('mean')",
}


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    "name", [name if name == "sweep" else pytest.param(name, marks=pytest.mark.slow) for name in LONG]
)
def test_an_interrupt_ends_a_long_search(name: str) -> None:
    """It would take many seconds more. How soon it ends is for people to measure: it ends before it is done."""
    code = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
import numpy as np, semiring as sr, scipy.sparse as sp
if {name!r} == "mean":
    side = sp.diags_array(np.ones(399), offsets=1)
    grid = sp.kron(side, sp.eye_array(400)) + sp.kron(sp.eye_array(400), side)
    grid = (grid + grid.T).tocsr()
    grid.data = np.random.default_rng(0).random(grid.nnz)
    F = sr.factor(grid, sr.min_plus)
else:
    n = 6000
    A = sp.random_array((n, n), density=0.1, random_state=np.random.default_rng(0)).tocsr()
    ONES = sp.csr_array((np.ones(A.nnz), A.indices, A.indptr))
    potential = np.random.default_rng(1).random(n)
    rows = np.repeat(np.arange(n), np.diff(A.indptr))
    LESS = sp.csr_array((A.data + potential[rows] - potential[A.indices], A.indices, A.indptr))
print("begin", flush=True)
{LONG[name]}
print("done", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begin\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert (out, error.strip().splitlines()[-1:]) == ("", ["KeyboardInterrupt"])
