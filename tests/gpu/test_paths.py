"""Best paths of matrices on a GPU: values and trees stay there, and the walks are those of the host."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import semiring as sr
from semiring.operands.read import read
from semiring.solvers.paths.trees import best_trees, trees_on_gpu

cupy = pytest.importorskip("cupy")
inf = np.inf

ALGEBRAS = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "f2"), ("min_plus", "i4"), ("min_plus", "u1"),
    ("max_plus", "f8"), ("max_min", "f4"), ("max_min", "i2"), ("min_max", "f8"), ("boolean", "?"), ("viterbi", "f4"),
    ("max_times", "f8"), ("lukasiewicz", "f8"), ("shortest_hops", None), ("widest_shortest", None),
]


def matrix(S: sr.Semiring, dtype: str | None, n: int, degree: float, seed: int) -> np.ndarray:
    """Edges of few values, so that many walks are equal, some of which cost nothing."""
    rng = np.random.default_rng(seed)
    if dtype is None:
        A = np.empty((n, n), S.dtypes[0])
        first, second = A.dtype.names or ()
        A[first], A[second] = rng.integers(0, 3, (n, n)), rng.integers(1, 3, (n, n))
    elif dtype == "?":
        A = np.ones((n, n), bool)
    elif S.name in ("viterbi", "max-times", "lukasiewicz", "łukasiewicz"):
        A = rng.choice([1, 0.5, 0.75], (n, n)).astype(dtype)
    else:
        A = (rng.integers(0, 5, (n, n)) * (-1 if S.name == "max-plus" else 1)).astype(dtype)
    A[rng.random((n, n)) < 1 - degree / max(n, 1)] = S.zero_in(A.dtype)
    return A


def check(A: np.ndarray, S: sr.Semiring, sources: np.ndarray | None = None) -> None:
    there = sr.paths(cupy.asarray(A), S, sources=sources)
    here = sr.paths(A, S, sources=sources, device="cpu")
    assert all(isinstance(part, cupy.ndarray) for part in (there.weights, there.next_hop, there.predecessors))
    values = there.weights.get()
    rows = sources if sources is not None else np.arange(len(A))
    expected = best_trees(read(A, S), values, rows)  # of the same values, should these round otherwise here
    assert (there.predecessors.get() == expected).all()
    if (values == here.weights).all():
        assert (there.next_hop.get() == here.next_hop).all() and (there.predecessors.get() == here.predecessors).all()
    assert len(there) == len(here)


@pytest.mark.parametrize(("name", "dtype"), ALGEBRAS)
def test_trees_are_those_of_the_host(name: str, dtype: str | None) -> None:
    S, rng = sr.catalogue[name], np.random.default_rng(0)
    for n, degree in itertools.product((1, 7, 40, 300), (1.5, 3, 1000)):
        A = matrix(S, dtype, n, degree, n)
        check(A, S)
        check(A, S, rng.permutation(n))
        check(A, S, rng.permutation(n)[: n // 3 + 1])


def test_more_lines_than_a_block_takes_and_strides() -> None:
    A = matrix(sr.min_plus, "f4", 2500, 5, 1)
    check(A, sr.min_plus)
    B = cupy.asarray(A).T
    assert (sr.paths(B, sr.min_plus).next_hop.get() == sr.paths(A.T, sr.min_plus, device="cpu").next_hop).all()


def test_random_floats_and_edges_that_improve() -> None:
    rng = np.random.default_rng(5)
    for dtype in ("f4", "f8"):
        A = rng.random((400, 400)).astype(dtype)
        A[rng.random(A.shape) < 0.001] = 0
        check(A, sr.min_plus)
        check(A, sr.max_min)
        height = rng.integers(-50, 50, 400).astype(dtype)
        check((rng.integers(0, 9, A.shape) + height[:, None] - height).astype(dtype), sr.min_plus)
        check(rng.integers(0, 2**20, A.shape).astype(dtype) * np.array(1e-9, dtype), sr.min_plus)


def test_trees_grow_where_rounding_left_no_best_edge() -> None:
    """Values with a little noise, so that whole sets of vertices hang together by no best edge."""
    rng = np.random.default_rng(2)
    for n in (5, 60, 300):
        A = rng.integers(0, 4, (n, n)).astype(float)
        A[rng.random((n, n)) < 1 - 3 / n] = inf
        X = sr.closure(A, sr.min_plus)
        X[rng.random(X.shape) < 0.3] += 1e-9
        np.fill_diagonal(X, 0)
        for backwards in (False, True):
            lines = X.T if backwards else X
            there = read(cupy.asarray(A), sr.min_plus), cupy.asarray(lines)
            found = best_trees(*there, np.arange(n), backwards=backwards)
            assert (found.get() == best_trees(read(A, sr.min_plus), lines, np.arange(n), backwards=backwards)).all()


@pytest.mark.parametrize("name", ["min_plus", "max_plus"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_cycles_that_are_one_but_for_rounding(name: str, dtype: str) -> None:
    """Every walk of every pair weighs what is said, and is the host's, though some best edges only go round a cycle."""
    S, sign = sr.catalogue[name], 1 if name == "min_plus" else -1
    mended = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 12))
        height = rng.normal(size=n) * 100
        A = height[:, None] - height + np.where(rng.random((n, n)) < 0.6, 0, rng.random((n, n)))
        A[rng.random((n, n)) < 0.4] = inf
        np.fill_diagonal(A, inf)
        A = (sign * A).astype(dtype)
        for sources in (None, rng.permutation(n), rng.permutation(n)[:2]):
            check(A, S, sources)
            R = sr.paths(cupy.asarray(A), S, sources=sources)
            rows = range(n) if sources is None else sources.tolist()
            for s, t in itertools.product(rows, range(n)):
                weight, vertices = R[s, t]
                assert (vertices is None) == (abs(weight) == inf)
                if s == t or vertices is None:
                    continue
                assert (vertices[0], vertices[-1]) == (s, t) and len(set(vertices)) == len(vertices)
                walked = sum(float(A[u, v]) for u, v in itertools.pairwise(vertices))
                assert abs(walked - weight) <= 4 * n * np.finfo(dtype).eps * 1000
        given = read(cupy.asarray(A), S)
        X = sr.closure(cupy.asarray(A), S)
        mended += trees_on_gpu(given, X, np.arange(n), False, True)[2].size
    assert mended, "there were lines to be looked at once more"


def test_what_a_dtype_cannot_hold_is_refused() -> None:
    A = np.array([[0, 6e4, inf], [inf, 0, 6e4], [inf, inf, 0]], np.float16)
    with pytest.raises(sr.SemiringError, match="float16 cannot hold"):
        sr.paths(cupy.asarray(A), sr.min_plus)


def test_nothing_asked_and_nothing_there() -> None:
    A = cupy.asarray(np.array([[0, 2.0], [inf, 0]]))
    assert len(sr.paths(A, sr.min_plus, sources=[])) == len(sr.paths(A[:0, :0], sr.min_plus)) == 0


def test_a_limit_and_a_table() -> None:
    A = cupy.asarray(np.array([[0, 2, 9], [inf, 0, 3], [inf, inf, 0]]))
    R = sr.paths(A, sr.min_plus, limit=4.0)
    assert isinstance(R.weights, cupy.ndarray) and list(R) == [(0, 1, 2.0, [0, 1]), (1, 2, 3.0, [1, 2])]
    with pytest.raises(sr.LawError, match="no edge is better"):
        sr.paths(cupy.asarray(np.array([[0.0, -1.0], [5.0, 0.0]])), sr.min_plus, limit=3.0)
    whole = cupy.asarray(np.array([[0, 2, 9], [99, 0, 3], [99, 99, 0]], np.int32))
    assert len(sr.paths(whole, sr.min_plus, limit=4, sources=[1, 0])) == 2


def test_arrays_of_the_host_come_back_there() -> None:
    A = matrix(sr.min_plus, "f4", 300, 4, 3)
    R, here = sr.paths(A, sr.min_plus, device="gpu"), sr.paths(A, sr.min_plus, device="cpu")
    assert isinstance(R.weights, np.ndarray) and isinstance(R.next_hop, np.ndarray)
    assert (R.next_hop == here.next_hop).all() and (R.predecessors == here.predecessors).all()
