"""Sparse factors by an engine of arrays against the oracle's closures, and against the compiled fronts."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours, to_library
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.sparse.analysis import Analysis, analyse
from semiring.algorithms.sparse.elimination import close_front, factor
from semiring.kernels.build import element_kernel
from semiring.kernels.choose import choose
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.sparse.fronts import Fronts
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy import fronts
from semiring.kernels.numpy.dense import ArrayKernel
from semiring.kernels.numpy.fronts import ArrayFronts, seconds
from semiring.operands.dense import Dense

F8 = np.dtype("f8")
inf = np.inf
TWINS = {name: choose(sr.catalogue[name], F8, Facts(), 9, in_place=False)
         for name in ("min_plus", "plus_times")}
WEIGHTS = {"min_plus": [0, 0.5, 2, 3], "plus_times": [0.0625, -0.03125]}
seeds = st.integers(0, 2**32 - 1)


def lowered(T: sr.Semiring, elements: np.ndarray, length: int) -> Lowering:
    """What the library computes products of so many factors of such elements in."""
    given = Dense(elements, T, "A")
    low = choose(T, given.dtype, given.facts, length, in_place=False, packed=False)
    return low.interpreted if low.kind == "numba" else low


def analysed(there: np.ndarray, method: str, leaf: int, merge: bool) -> Analysis:
    """The fronts of a pattern."""
    indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return analyse(indptr, np.nonzero(there)[1], method=method, leaf=leaf, merge=merge)


def engine(analysis: Analysis, low: Lowering) -> ArrayFronts:
    return ArrayFronts(analysis, low, element_kernel(low, "fronts"))


def eliminated(analysis: Analysis, low: Lowering, A: np.ndarray, there: np.ndarray) -> ArrayFronts:
    made = engine(analysis, low)
    factor(made, low.encode(A[there], True))
    return made


ways = st.tuples(st.sampled_from(["levels", "natural"]), st.sampled_from([0, 2, 32]), st.booleans())


@settings(max_examples=30)
@given(st.sampled_from(CASES), ways, st.sampled_from([1, 2, 256]), st.data())
def test_answers_are_the_oracles(
    case: tuple[str, np.dtype], way: tuple[str, int, bool], together: int, data: st.DataObject
) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    array = data.draw(strategies.matrices(S, dtype))
    n, elements = len(array), oracle.from_numpy(S, array)
    try:
        closure = oracle.closure_by_elimination(S, elements)
    except oracle.Undefined:
        closure = []
    assume(n == len(closure))
    plus = oracle.matmul(S, elements, closure, n)
    B = data.draw(strategies.matrices(S, dtype, (n, data.draw(st.integers(0, 3)))))
    X = oracle.matmul(S, closure, oracle.from_numpy(S, B), B.shape[1])
    assume(all(oracle.fits(S, rows, dtype) for rows in (closure, plus, X)))
    A, right = to_library(S, array), to_library(S, B)
    low = lowered(ours(S), np.concatenate([A.ravel(), right.ravel()])[None], 2 * n + 2)
    nothing = oracle.to_numpy(S, [[S.zero]], dtype)[0, 0]
    there = np.array([[x != nothing for x in row] for row in array], bool).reshape(n, n)
    there.ravel()[3::11] = True  # some zeros are stored
    try:
        F = eliminated(analysed(there, *way), low, A, there)
    except UndefinedStar:  # in another order, where elements have none
        assert not S.selective and not S.bounded
        return
    F._together = together
    sources = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=2 * n)) if n else [], np.int64)
    targets = np.array(data.draw(st.permutations(range(len(sources)))), np.int64)
    for reflexive, wanted in ((True, closure), (False, plus)):
        out = low.empty((len(sources), n))
        F.rows(sources, out, reflexive=reflexive, targets=targets)
        for v, row in zip(sources.tolist(), low.decode(out[targets]), strict=True):
            oracle.assert_same(S, [wanted[v]], row[None])
        out = low.empty((len(sources), n))
        F.rows(sources, out, reflexive=reflexive, settled=S.selective)
        for v, row in zip(sources.tolist(), low.decode(out), strict=True):
            oracle.assert_same(S, [wanted[v]], row[None])
        ends = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=3)) if n else [], np.int64)
        part = low.empty((len(sources), len(ends)))
        F.rows(sources, part, reflexive=reflexive, settled=S.selective, ends=ends)
        for v, row in zip(sources.tolist(), low.decode(part), strict=True):
            oracle.assert_same(S, [[wanted[v][w] for w in ends.tolist()]], row[None])
    solved = low.encode(right, True)
    F.columns(solved)
    if solved.size:
        oracle.assert_same(S, X, low.decode(solved))


@settings(max_examples=40)
@given(st.sampled_from(sorted(TWINS)), st.integers(0, 24), ways, seeds, st.booleans())
def test_answers_are_those_of_compiled_code(
    name: str, n: int, way: tuple[str, int, bool], seed: int, reflexive: bool
) -> None:
    rng, low = np.random.default_rng(seed), TWINS[name]
    there = rng.random((n, n)) < rng.choice([0.5, 2, 6]) / max(n, 1)
    A = rng.choice(WEIGHTS[name], (n, n)).astype(F8)
    analysis = analysed(there, *way)
    both: list[Any] = [eliminated(analysis, low.interpreted, A, there), Fronts(analysis, low, 1)]
    factor(both[1], low.encode(A[there], True))
    sources, answers = rng.integers(0, max(n, 1), min(n, 5)), []
    ends = rng.integers(0, max(n, 1), min(n, 3))
    B = low.encode(rng.choice(WEIGHTS[name], (n, 3)).astype(F8), True)
    for made in both:
        out, solved = low.empty((len(sources), n)), B.copy()
        made.rows(sources, out, reflexive=reflexive)
        made.columns(solved)
        part = low.empty((len(sources), len(ends)))
        made.rows(sources, part, reflexive=reflexive, ends=ends)
        assert np.array_equal(part, out[:, ends])
        answers.append((out, solved, made.pivots))
        assert made.pivots.shape == (n,)
    for found, wanted in zip(*answers, strict=True):
        assert found.dtype == wanted.dtype
        if name == "plus_times":
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        else:
            assert np.array_equal(found, wanted)


def graph(n: int = 9) -> tuple[Analysis, np.ndarray, np.ndarray]:
    """A ring of roads of length 1 both ways, in several fronts."""
    there = np.zeros((n, n), bool)
    for v in range(n):
        there[v, (v + 1) % n] = there[(v + 1) % n, v] = True
    return analysed(there, "levels", 0, False), np.ones((n, n)), there


def test_the_first_pivot_without_a_star_is_named() -> None:
    """By its place in the order of elimination."""
    there = np.eye(9, dtype=bool)
    there[0] = there[:, 0] = True  # a star, whose centre comes late
    analysis = analysed(there, "levels", 0, False)
    assert analysis.place[0] > 6
    for v in range(9):
        A = np.zeros((9, 9))
        A[v, v] = 1  # 1 / (1 − 1)
        with pytest.raises(UndefinedStar) as refused:
            eliminated(analysis, TWINS["plus_times"].interpreted, A, there)
        assert refused.value.pivot == analysis.place[v]


def test_what_is_settled_is_one() -> None:
    analysis, A, there = graph()
    F = eliminated(analysis, TWINS["min_plus"].interpreted, A, there)
    assert (F.pivots == 0).all()
    for panel, _, _ in F._panels:  # as rounding may leave it
        panel[np.diag_indices(len(panel))] = -1e-17
    assert (F.pivots == -1e-17).all()
    F.settle(np.array([2, 7]))
    assert np.flatnonzero(F.pivots == 0).tolist() == [2, 7]
    out = np.empty((9, 9))
    F.rows(np.arange(9), out, settled=True)
    assert (out.diagonal() == 0).all()
    F.rows(np.arange(9), out)
    assert (out.diagonal() < 0).any()


def test_weights_are_eliminated_anew() -> None:
    """Nothing of those before is left."""
    analysis, A, there = graph()
    F = eliminated(analysis, TWINS["min_plus"].interpreted, A, there)
    out = np.empty((1, 9))
    for length in (3.0, 0.5):
        factor(F, np.full(there.sum(), length))
        F.rows(np.array([0]), out)
        assert out.tolist() == [[length * min(v, 9 - v) for v in range(9)]]


def test_what_factors_take_and_what_they_are_made_of() -> None:
    analysis, _, there = graph()
    records = general(sr.shortest_hops, sr.shortest_hops.default_dtype).interpreted
    for low in (TWINS["min_plus"].interpreted, records):
        F = engine(analysis, low)
        factor(F, np.zeros(there.sum(), low.storage))
        assert F.nbytes == sum(part.nbytes for panel in F._panels for part in panel)
        assert F.pivots.dtype == low.storage
        assert F.summaries() is None and F.threads == 1


def test_somebody_is_told_how_far_it_is() -> None:
    analysis, A, there = graph()
    told: list[float] = []
    assert engine(analysis, TWINS["min_plus"].interpreted).factor(A[there], close_front, told.append) == -1
    assert len(told) == len(analysis.parent) > 2
    assert told[0] == 0 and told[-1] < 1 and all(before < after for before, after in pairwise(told))


def test_the_time_is_told() -> None:
    analysis, A, there = graph()
    low, code = TWINS["min_plus"].interpreted, Code(list)
    F = ArrayFronts(analysis, low, ArrayKernel(low, code))
    factor(F, A[there])
    before = code.spent
    F.columns(np.zeros((9, 2)))
    assert 0 < before < code.spent


def test_a_matrix_without_vertices() -> None:
    there = np.zeros((0, 0), bool)
    F = eliminated(analysed(there, "natural", 2, True), TWINS["min_plus"].interpreted, np.zeros((0, 0)), there)
    assert F.pivots.shape == (0,) and F.nbytes == 0
    out = np.empty((0, 0))
    F.rows(np.zeros(0, np.int64), out)
    F.columns(np.empty((0, 3)))


def test_rows_are_computed_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of machine numbers; loops over Python objects take each alone."""
    monkeypatch.setattr(fronts, "TOGETHER", 4)
    analysis, A, there = graph()
    for low, together in ((TWINS["min_plus"].interpreted, 4), (lowered(sr.min_plus, A.astype(object), 9), 1)):
        F, seen = eliminated(analysis, low, A, there), []
        one = F._rows
        monkeypatch.setattr(F, "_rows", lambda sources, *a, one=one, seen=seen: seen.append(len(sources)) or one(
            sources, *a))
        out = low.empty((9, 9))
        F.rows(np.arange(9), out)
        assert seen == ([4, 4, 1] if together == 4 else [1] * 9)
        assert out.tolist() == [[min(abs(u - v), 9 - abs(u - v)) for v in range(9)] for u in range(9)]


def test_more_work_is_predicted_to_take_longer() -> None:
    low = TWINS["min_plus"]
    assert 0 == seconds(low, 0, 0) < seconds(low, 10, 1e3) < seconds(low, 10, 1e6) < seconds(low, 1000, 1e6)
