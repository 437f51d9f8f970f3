"""Which term of a product won: against all terms, one by one, over every algebra whose ⊕ selects."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import together
from semiring.operands.convert import as_sparse
from semiring.operands.read import read
from semiring.solvers.forms import plain_form
from semiring.solvers.products import winners as module
from semiring.solvers.products.winners import Best

inf = np.inf
quick = settings(max_examples=150, suppress_health_check=list(HealthCheck))
SELECTIVE = [case for case in CASES if ours(oracle.for_dtype(oracle.ALGEBRAS[case[0]], case[1])).selective]


def winners(S: oracle.Algebra, A: list, B: list, columns: int) -> tuple[list, list]:
    """The products, and the first of the terms that are equal to them."""
    C, P = [], []
    for row in A:
        C.append([S.zero] * columns)
        P.append([-1] * columns)
        for j in range(columns):
            for k, a in enumerate(row):
                total = S.plus(C[-1][j], S.times(a, B[k][j]))
                if total != C[-1][j]:
                    C[-1][j], P[-1][j] = total, k
    return C, P


def dense(values: Any, S: sr.Semiring, shape: tuple[int, ...]) -> np.ndarray:
    """A sparse answer, or a graph, with the algebra's zero in it."""
    if isinstance(values, sr.Graph):
        return np.asarray(sr.adjacency(values, S).array)
    found = values.tocoo()
    array = np.full(shape, S.zero_in(found.dtype), found.dtype)
    array[found.row, found.col] = found.data
    return array


@quick
@given(case=st.sampled_from(SELECTIVE), data=st.data())
def test_the_least_of_the_terms_that_are_best(case: Any, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    m, k, n = (data.draw(st.integers(0, 4)) for _ in range(3))
    A, B = data.draw(strategies.matrices(S, dtype, (m, k))), data.draw(strategies.matrices(S, dtype, (k, n)))
    C, P = winners(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
    assume(oracle.fits(S, C, dtype))
    found, which = sr.matmul(A, B, T, argmax=True)
    assert which.dtype == np.int32 and which.tolist() == P
    oracle.assert_same(S, C, found)
    if k and n and m:
        line, at = sr.matmul(A[0], B, T, argmax=True)
        assert at.tolist() == P[0] and line.shape == (n,)
        one, at = sr.matmul(A[0], B[:, 0], T, argmax=True)
        assert (np.shape(one), at) == ((), P[0][0])
    if dtype.kind in "OV" or not T.absorbs or not (m and k and n):
        return
    left, right = (as_sparse(read(X, T)) for X in (A, B))
    for a, b in ((left, B), (A, right)):
        found, which = sr.matmul(a, b, T, argmax=True)
        assert which.tolist() == P
        oracle.assert_same(S, C, found)
    if dtype == np.float16:  # of which SciPy has no sparse matrices
        return
    found, which = sr.matmul(left, right, T, argmax=True)
    oracle.assert_same(S, C, dense(found, T, (m, n)))
    assert sp.issparse(which) and which.dtype == np.int32
    full = np.full((m, n), -1)
    at = which.tocoo()
    full[at.row, at.col] = at.data
    assert full.tolist() == P


@quick
@given(case=st.sampled_from(SELECTIVE), data=st.data())
def test_all_terms_at_once_are_one_after_the_other(case: Any, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    count, n, several = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 5)), data.draw(st.booleans())
    x = data.draw(strategies.matrices(S, dtype, (count, n)))
    A = data.draw(strategies.matrices(S, dtype, (n * count if several else n, n))).reshape(-1, n, n)
    low = plain_form(ours(S), x.dtype, together([read(z, ours(S)).facts for z in (x, A)]), 3)
    assume(low.kind == "numba")
    rows, matrices = (low.encode(z, True) for z in (x, A))
    one_by_one = Best(low, rows.shape)
    for k in range(n):
        one_by_one.join(..., rows[:, k, None], matrices[:, k], k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", data.draw(st.sampled_from([1, 1 << 16])))
        values, which = module.best_terms(low, rows, matrices)
    assert np.array_equal(values, one_by_one.values)
    assert np.array_equal(which, np.maximum(one_by_one.which, 0))


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.shortest_hops], ids=lambda S: S.name)
def test_values_are_those_of_the_product(S: sr.Semiring) -> None:
    random = np.random.default_rng(0)
    A, B = (np.zeros(shape, S.default_dtype) for shape in ((2, 1, 70, 40), (3, 40, 50)))
    for X in (A, B):
        for field in X.dtype.names or (...,):
            X[field] = random.integers(0, 30, X.shape)
    C, which = sr.matmul(A, B, S, argmax=True)
    assert np.array_equal(C, sr.matmul(A, B, S)) and which.shape == C.shape == (2, 3, 70, 50)
    p, i, j = which[1, 2], np.arange(70)[:, None], np.arange(50)
    assert np.array_equal(S.mul(A[1, 0][i, p], B[2][p, j]), C[1, 2])


def test_back_pointers_of_viterbi() -> None:
    """The most likely states, by a product for each step, against all sequences of states."""
    random = np.random.default_rng(1)
    steps = random.random((4, 3, 3))
    x, back = np.ones(3), []
    for M in steps:
        x, p = sr.matmul(x, M, sr.viterbi, argmax=True)
        back.append(p)
    states = [int(x.argmax())]
    for p in reversed(back):
        states.append(int(p[states[-1]]))
    states.reverse()
    ways = np.ndindex(*[3] * 5)
    likely = max(ways, key=lambda s: np.prod([M[ends] for M, ends in zip(steps, pairwise(s), strict=True)]))
    assert tuple(states) == likely


def test_kinds_and_names() -> None:
    M = sr.adjacency([("a", "b", 3.0), ("b", "c", 4.0), ("a", "c", 9.0)], sr.min_plus)
    C, which = sr.matmul(M, M, argmax=True)
    assert isinstance(C, sr.Matrix) and C.names == M.names and type(which) is np.ndarray
    assert which[M.index("a"), M.index("c")] == M.index("b")
    G = sr.as_graph([("a", "b", 3.0), ("b", "c", 4.0)])
    C, which = sr.matmul(G, G, sr.min_plus, argmax=True)
    assert isinstance(C, sr.Graph) and which.nnz == 1 and which[0, 2] == 1
    swapped = sr.matmul(M.array.astype(">f8"), M.array.astype(">f8"), sr.min_plus, argmax=True)[0]
    assert swapped.dtype == ">f8"


def test_what_is_refused() -> None:
    A = np.eye(2)
    with pytest.raises(sr.LawError, match=r"argmax needs a selective ⊕ \(one whose result is .*\); in plus-"):
        sr.matmul(A, A, sr.plus_times, argmax=True)
    for more in ({"accumulate": A}, {"out": np.empty((2, 2))}):
        with pytest.raises(sr.SemiringError, match="leave out accumulate and out"):
            sr.matmul(A, A, sr.min_plus, argmax=True, **more)
    P = sr.pack(A.astype(bool))
    with pytest.raises(sr.SemiringError, match="unpack A and B"):
        sr.matmul(P, P, sr.boolean, argmax=True)
    with pytest.raises(sr.SemiringError, match="the array must be 1-D or 2-D"):
        sr.matmul(sp.csr_array(A), np.zeros((2, 2, 2)), sr.min_plus, argmax=True)
    with pytest.raises(sr.SemiringError, match=r"do not fit: A has 2 columns"):
        sr.matmul(A, np.zeros((3, 2)), sr.min_plus, argmax=True)
    assert sr.plan("matmul", A, A, sr.min_plus, argmax=True).method == "terms in turn"
