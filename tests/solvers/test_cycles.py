"""Closures that do not exist: the error names a vertex and a true cycle, and rounding alone is never one."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from operator import and_
from typing import Any

import networkx as nx
import numpy as np
import oracle
import pytest
import record_bases
import scipy.sparse as sp
import strategies
from bridge import same_bits
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr

inf = np.inf
quick = settings(max_examples=20, suppress_health_check=list(HealthCheck))
IMPROVING = [
    ("min_plus", "f8"),
    ("min_plus", "f4"),
    ("min_plus", "f2"),
    ("min_plus", "i1"),
    ("min_plus", "i2"),
    ("min_plus", "i4"),
    ("min_plus", "i8"),
    ("max_plus", "f8"),
    ("max_plus", "i4"),
    ("max_times", "f8"),
    ("max_times", "f4"),
]


def component(A: list, zero: Any, vertex: int) -> list[int]:
    """The vertices that are on closed walks through a vertex."""
    reach = oracle.closure_by_elimination(oracle.boolean, [[x != zero for x in row] for row in A])
    return [v for v in range(len(A)) if reach[vertex][v] and reach[v][vertex]]


def check_error(S: oracle.Algebra, A: list, error: sr.NoClosureError, *, cycle: bool = True) -> None:
    """The vertex lies on an improving closed walk; the cycle is one, goes through the vertex and is simple."""
    inside = component(A, S.zero, error.vertex)
    assert oracle.has_improving_cycle(S, [[A[i][j] for j in inside] for i in inside]), f"vertex {error.vertex}"
    assert "does not exist" in str(error)
    if not cycle:
        return
    assert error.cycle is not None
    assert error.cycle[0] == error.cycle[-1]
    assert len(set(error.cycle)) == len(error.cycle) - 1
    assert error.vertex in error.cycle
    assert oracle.is_improving(S, A, error.cycle), f"cycle {error.cycle} of {A}"
    exact = oracle.weight_of(S, oracle.exactly(A), error.cycle)
    if exact not in (inf, -inf):  # an integer dtype spells those by its limits
        assert float(error.weight) == pytest.approx(float(exact), rel=1e-2, abs=1e-6)
    assert " → ".join(map(str, error.cycle)) in str(error)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("name", "dtype"), IMPROVING)
def test_random_graphs(name: str, dtype: str, method: str) -> None:
    S, T = oracle.ALGEBRAS[name], sr.catalogue[name]

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n = data.draw(st.integers(1, 6))
        array = data.draw(strategies.matrices(S, dtype, (n, n), safe=False))
        tile = data.draw(st.sampled_from([None, 1, 2, 3]))
        overwrite = data.draw(st.booleans())
        reflexive = data.draw(st.booleans())
        A = oracle.from_numpy(S, array)
        improves = oracle.has_improving_cycle(S, A)
        closed = None if improves else oracle.closure_by_elimination(S, A)
        assume(improves or (oracle.fits(S, closed, dtype)))
        given_ = array.copy()
        try:
            result = sr.closure(given_, T, method=method, tile=tile, overwrite=overwrite, reflexive=reflexive)
        except sr.NoClosureError as error:
            assert improves, f"{array!r}: {error}"
            check_error(S, A, error, cycle=not overwrite)
        else:
            assert not improves, f"{array!r} gave {result!r}"
            if not reflexive:
                closed = oracle.matmul(S, A, closed)
            if oracle.fits(S, closed, dtype):
                oracle.assert_same(S, closed, result, f"A = {array!r}")
        if not overwrite:
            assert same_bits(given_, array), "the input was changed"

    check()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("dtype", "n"), [("f8", 40), ("i4", 130), ("f4", 130), ("i8", 70)])
def test_many_negative_edges(dtype: str, n: int, method: str) -> None:
    """So many negative cycles that sums through them double at every vertex."""
    random = np.random.default_rng(n)
    A = random.integers(-1000, 1000, (n, n)).astype(dtype)
    before = A.copy()
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(A, sr.min_plus, method=method)
    assert same_bits(A, before)
    weight = oracle.weight_of(oracle.min_plus, A.astype(int).tolist(), caught.value.cycle)
    assert weight < 0
    assert float(caught.value.weight) == weight
    with pytest.raises(sr.NoClosureError):
        sr.factor(A, sr.min_plus)
    with pytest.raises(sr.NoClosureError):
        sr.closure(A, sr.min_plus, method=method, overwrite=True)


@pytest.mark.parametrize("method", METHODS)
def test_one_long_negative_cycle(method: str) -> None:
    n = 150
    order = np.random.default_rng(0).permutation(n)
    A = np.full((n, n), inf)
    A[order, np.roll(order, -1)] = 1.0
    A[order[0], order[1]] = -(n - 1.0)
    assert sr.closure(A, sr.min_plus, method=method)[order[0], order[0]] == 0  # weight exactly 0
    A[order[0], order[1]] -= 0.5
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(A, sr.min_plus, method=method)
    assert len(caught.value.cycle) == n + 1
    assert caught.value.weight == -0.5
    assert "…" in str(caught.value)


def test_fractions() -> None:
    third = Fraction(1, 3)
    A = np.full((4, 4), inf, object)
    A[0, 1], A[1, 2], A[2, 0] = third, third, -2 * third
    for method in METHODS:
        closed = sr.closure(A, sr.min_plus, method=method)
        assert closed[0, 2] == 2 * third
        assert closed[0, 0] == 0
    A[2, 0] -= Fraction(1, 10**30)
    for method in METHODS:
        before = A.copy()
        with pytest.raises(sr.NoClosureError) as caught:
            sr.closure(A, sr.min_plus, method=method)
        assert (before == A).all()
        assert caught.value.cycle == [0, 1, 2, 0]
        assert caught.value.weight == -Fraction(1, 10**30)


def test_stacks_say_which_matrix() -> None:
    stack = np.full((4, 3, 3), inf)
    stack[:, 0, 1] = 2.0
    stack[2, 1, 0] = -3.0
    for A in (stack, stack.astype("f2"), np.where(np.isinf(stack), np.iinfo("i4").max, stack).astype("i4")):
        before = A.copy()
        with pytest.raises(
            sr.NoClosureError, match=r"cycle 0 → 1 → 0 of matrix 2 of the stack of weight -1 is improving"
        ) as caught:
            sr.closure(A, sr.min_plus)
        assert caught.value.cycle == [0, 1, 0]
        assert caught.value.index == (2,)
        assert caught.value.vertex in (0, 1)
        with pytest.raises(sr.NoClosureError, match=r"of matrix \(1, 0\) of the stack") as caught:
            sr.closure(A.reshape(2, 2, 3, 3), sr.min_plus)
        assert caught.value.index == (1, 0)
        assert same_bits(A, before)
        with pytest.raises(sr.NoClosureError):
            sr.closure(A, sr.min_plus, overwrite=True)


def test_names() -> None:
    edges = [("a", "b", 1.0), ("b", "c", -2.0), ("c", "b", 1.5), ("c", "d", 1.0)]
    matrix = sr.adjacency(edges, sr.min_plus)
    graph = sr.as_graph(edges)
    network = nx.DiGraph()
    network.add_weighted_edges_from(edges)
    for A in (matrix, graph, network):
        with pytest.raises(sr.NoClosureError, match=r"cycle b → c → b of weight -0\.5") as caught:
            sr.closure(A, sr.min_plus)
        assert caught.value.cycle == ["b", "c", "b"]
        assert caught.value.vertex in ("b", "c")
    with pytest.raises(sr.NoClosureError, match="b → c → b"):
        sr.solve(matrix, np.zeros(4), sr.min_plus)
    with pytest.raises(sr.NoClosureError, match="b → c → b"):
        sr.path(matrix, sr.min_plus, "a", "d")


@pytest.mark.parametrize("name", ["min_plus", "max_plus"])
def test_infinitely_good_loops(name: str) -> None:
    S = sr.catalogue[name]
    for dtype in ("f8", "f4", "i4"):
        A = np.full((2, 2), S.zero_in(dtype), dtype)
        A[0, 1] = 1
        A[1, 1] = -S.zero if dtype[0] == "f" else np.iinfo(dtype).min if name == "min_plus" else np.iinfo(dtype).max
        for method in METHODS:
            with pytest.raises(sr.NoClosureError) as caught:
                sr.closure(A, S, method=method)
            assert caught.value.vertex == 1
            assert caught.value.cycle == [1, 1]
        A[1, 1], A[0, 1] = S.zero_in(dtype), A[1, 1]
        assert sr.closure(A, S)[0, 1] == A[0, 1]


# Cycles of weight one, exactly or up to rounding: a float is known to two machine epsilons, a whole number is exact.


@pytest.mark.parametrize("weights", list(itertools.permutations([0.1, 0.2, -0.3])), ids=str)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_cycle_that_rounds_below_zero(weights: tuple, dtype: str) -> None:
    for signs in (1, -1):
        A = np.full((3, 3), inf, dtype)
        A[[0, 1, 2], [1, 2, 0]] = np.multiply(weights, signs)
        worse = A.copy()
        worse[2, 0] -= np.asarray(20 * np.finfo(dtype).eps, dtype)
        for method in METHODS:
            assert (np.diagonal(sr.closure(A, sr.min_plus, method=method)) == 0).all(), method
            with pytest.raises(sr.NoClosureError) as caught:
                sr.closure(worse, sr.min_plus, method=method)
            assert caught.value.cycle == [0, 1, 2, 0]
            assert float(caught.value.weight) < 0


def everywhere(A: np.ndarray, S: sr.Semiring) -> dict[str, Callable[[], Any]]:
    """All the ways to ask for a closure, or a part of one: what each gives is to be the whole of it, or row 0."""
    n = len(A)
    rows, columns = np.nonzero(S.zero_in(A.dtype) != A)
    graph = sp.coo_array((A[rows, columns], (rows, columns)), shape=A.shape)
    one = S.eye(n, A.dtype)
    ways: dict[str, Callable[[], Any]] = {m: lambda m=m: sr.closure(A, S, method=m) for m in METHODS}
    ways |= {
        "overwrite": lambda: sr.closure(A.copy(), S, overwrite=True),
        "stack": lambda: sr.closure(np.stack([A, A]), S)[1],
        "factor": lambda: sr.factor(A, S).closure(),
        "solve": lambda: sr.solve(A, one, S),
        "rows": lambda: sr.closure_rows(A, S, range(n)),
        "path": lambda: np.array([sr.path(A, S, 0, v)[0] for v in range(n)]),
        "sparse": lambda: sr.closure(graph, S, method="sparse"),
        "sparse factor": lambda: sr.factor(graph, S).closure(),
        "sparse solve": lambda: sr.solve(graph, one, S),
        "sparse rows": lambda: sr.closure_rows(graph, S, range(n)),
    }
    if A.dtype == np.float64:  # Python's floats tell no other precision
        ways["objects"] = lambda: sr.closure(A.astype(object), S)
    return ways


# Records: a cycle improves in the first component that differs from one.


def in_order(signs: tuple[int, ...], fields: str = "pqr") -> sr.Semiring:
    """Signed tuples in lexicographic order, each component the least (1) or the greatest (−1)."""
    names = fields[: len(signs)]

    def first(x: Any, y: Any) -> Any:
        wins: Any = True
        for f, sign in reversed(list(zip(names, signs, strict=True))):
            a, b = getattr(x, f), getattr(y, f)
            wins = (a < b if sign > 0 else a > b) | ((a == b) & wins)
        return wins

    def carrier(a: Any) -> Any:
        parts = [getattr(a, f) for f in names]
        finite, nothing = (abs(p) < inf for p in parts), (p == s * inf for p, s in zip(parts, signs, strict=True))
        return reduce(and_, finite) | reduce(and_, nothing)

    return sr.Semiring(
        f"in order {signs}", fields=dict.fromkeys(names, "f8"),
        zero=tuple(s * inf for s in signs), one=(0,) * len(signs),
        add=lambda x, y: np.where(first(x, y), x, y), mul=lambda x, y: tuple(a + b for a, b in zip(x, y, strict=True)),
        carrier=carrier,
    )


ORDERS = {signs: in_order(signs) for signs in ((1, 1), (1, -1), (-1, -1), (1, -1, 1))}


def edges_as_records(S: sr.Semiring, A: np.ndarray, dtype: str) -> np.ndarray:
    """Records from an array of components, with no edge where they are infinite."""
    kind = np.dtype([(f, dtype) for f in S.default_dtype.names])
    result = np.full(A.shape[:-1], S.zero_in(kind))
    for c, f in enumerate(kind.names):
        result[f] = np.where(np.isfinite(A[..., 0]), A[..., c], result[f])
    return result


def verdicts(S: sr.Semiring, A: np.ndarray) -> dict[str, Any]:
    """What each way to ask for a closure answers: its values, or the refusal."""
    i, j = np.nonzero(S.zero_in(A.dtype) != A)
    graph, n = sr.as_graph((i, j, A[i, j]), len(A)), len(A)
    ways: dict[str, Callable[[], Any]] = {m: lambda m=m: sr.closure(A, S, method=m) for m in METHODS}
    ways |= {
        "stack": lambda: sr.closure(np.stack([A, A]), S)[1],
        "overwrite": lambda: sr.closure(A.copy(), S, overwrite=True),
        "factor": lambda: sr.factor(A, S).closure(),
        "solve": lambda: sr.solve(A, S.eye(n, A.dtype), S),
        "left": lambda: sr.solve(A, S.eye(n, A.dtype), S, left=True),
        "rows": lambda: sr.closure_rows(A, S, range(n)),
        "trees": lambda: sr.closure_rows(A, S, range(n), predecessors=True)[0],
        "paths": lambda: sr.paths(A, S).weights,
        "path": lambda: np.array([[sr.path(A, S, u, v)[0] for v in range(n)] for u in range(n)], A.dtype),
        "graph": lambda: sr.closure(graph, S),
        "sparse": lambda: sr.closure(graph, S, method="sparse"),
        "sparse factor": lambda: sr.factor(graph, S).closure(),
        "sparse rows": lambda: sr.closure_rows(graph, S, range(n)),
    }
    found = {}
    for way, call in ways.items():
        try:
            found[way] = np.asarray(call())
        except sr.NoClosureError as error:
            found[way] = error
    return found


@pytest.mark.parametrize("signs", ORDERS, ids=str)
@pytest.mark.parametrize("dtype", [pytest.param("f4", marks=pytest.mark.slow), "f8"])
def test_a_cycle_improves_in_the_first_component_that_differs(signs: tuple[int, ...], dtype: str) -> None:
    """Whole numbers and quarters tie exactly; tenths are known to two machine epsilons, in each component by itself."""
    S, eps = ORDERS[signs], float(np.finfo(dtype).eps)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        n, unit = data.draw(st.integers(1, 4)), data.draw(st.sampled_from([1, 4, 10]))
        random = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        parts = random.integers(data.draw(st.sampled_from([-2, 0])), 4, (n, n, len(signs))) * np.array(signs)
        height = random.integers(-3, 4, (n, len(signs))) * random.integers(0, 2, len(signs))
        parts = (parts + height[:, None] - height) / unit
        parts[random.random((n, n)) < 0.4] = inf
        A = edges_as_records(S, parts, dtype)
        exact = record_bases.fractions_of(A, signs)
        unknown = [[None if w is None else tuple(x + (x.denominator > 1) * 2 * Fraction(eps) * abs(x) for x in w)
                    for w in row] for row in exact]
        certain = record_bases.improves(exact if unit < 10 else unknown)
        for way, answer in verdicts(S, A).items():
            refused = isinstance(answer, sr.NoClosureError)
            if refused:
                assert record_bases.improves(exact), f"{way}: {A!r}: {answer}"
                if answer.cycle is not None:
                    steps = [exact[u][v] for u, v in itertools.pairwise(answer.cycle)]
                    weight = tuple(map(sum, zip(*steps, strict=True)))
                    assert weight < (0,) * len(signs)
                    told = [s * x for s, x in zip(signs, answer.weight.tolist(), strict=True)]
                    assert told == [float(np.dtype(dtype).type(float(x))) for x in weight]
            assert refused or not certain, f"{way}: {A!r}: {answer!r}"
            if not refused:
                assert (answer.diagonal() == np.array(S.one, A.dtype)).all(), way

    check()


def test_ties_of_whole_numbers_are_no_matter_of_the_rounding_of_others() -> None:
    """Whole lengths that tie, and a second component of tenths that is better, or rounds as if it were."""
    S = ORDERS[1, 1]
    ring = np.full((3, 3, 2), inf)
    for second, better in ((-0.3, False), (-0.4, True)):
        ring[0, 1], ring[1, 2], ring[2, 0] = (3, 0.1), (-1, 0.2), (-2, second)
        for way, answer in verdicts(S, edges_as_records(S, ring, "f8")).items():
            assert isinstance(answer, sr.NoClosureError) == better, way
    ring[0, 1], ring[1, 2], ring[2, 0] = (0.1, 0), (0.7, 0), (-0.1 - 0.7 - 1e-9, 5)
    for way, answer in verdicts(S, edges_as_records(S, ring, "f8")).items():
        assert isinstance(answer, sr.NoClosureError), way


@pytest.mark.parametrize("second", [-4, 4])
@pytest.mark.parametrize(("lengths", "dtype"), [((0.1, 0.2, -0.30000000000000004), "f8"), ((0.1, 0.7, -0.8), "f8"),
                                                ((0.1, 0.7, -0.8), "f4")])
def test_no_walk_goes_round_a_cycle_that_rounding_made_better(lengths: tuple, dtype: str, second: int) -> None:
    """Each round would change the second component of all that it reaches."""
    S, ring = ORDERS[1, 1], np.full((4, 4, 2), inf)
    ring[[0, 1, 2, 1], [1, 2, 0, 3]] = *zip(lengths, (1, 2, second), strict=True), (5, 7)
    A = edges_as_records(S, ring, dtype)
    for way, answer in verdicts(S, A).items():
        assert [answer[0, v]["q"] for v in range(4)] == [0, 1, 3, 8], way
        assert [answer[2, v]["q"] for v in range(4)] == [second, second + 1, 0, second + 8], way
        np.testing.assert_allclose(answer["p"][0], [0, lengths[0], -lengths[2], lengths[0] + 5], rtol=1e-6, err_msg=way)
    plus = sr.closure(np.stack([A, A]), S, reflexive=False)
    assert (plus["q"][:, range(3), range(3)] == 3 + second).all() and (plus["q"][:, 3, 3] == inf).all()


@pytest.mark.parametrize("name", [
    "min_plus", *(pytest.param(name, marks=pytest.mark.slow) for name in ("max_plus", "max_times"))])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n", [2, 5, 24])
def test_consistent_weights_are_no_improving_cycle(n: int, dtype: str, name: str) -> None:
    """Exchange rates p_i / p_j and differences p_i − p_j, rounded; then one of them a little too good."""
    S = sr.catalogue[name]
    random = np.random.default_rng(n)
    for trial in range(3):
        height = random.normal(size=n) * 10.0 ** random.integers(-3, 3)
        if name == "max_times":
            height = np.exp(random.normal(size=n))
            A = (height[:, None] / height).astype(dtype)
        else:
            A = (height[:, None] - height).astype(dtype)
        A[random.random((n, n)) < 0.3] = S.zero
        A[np.arange(n), np.roll(np.arange(n), 1)] = (
            height / np.roll(height, 1) if name == "max_times" else height - np.roll(height, 1)
        )
        true = height[:, None] / height if name == "max_times" else height[:, None] - height
        scale = abs(true).max()
        for way, call in everywhere(A, S).items():
            got = np.asarray(call(), float)
            assert ((got.diagonal() if got.ndim == 2 else got[:1]) == S.one).all(), way
            expected = true if got.ndim == 2 else true[0]
            slack = 20 * n * float(np.finfo(dtype).eps)
            np.testing.assert_allclose(got, expected, rtol=slack, atol=slack * scale, err_msg=f"{way}, trial {trial}")
        better = A.copy()
        much = 1 + 200 * n * float(np.finfo(dtype).eps)
        if name == "max_times":
            better[0, n - 1] *= much
        else:
            better[0, n - 1] -= (1 if name == "min_plus" else -1) * (much - 1) * scale
        for way, call in everywhere(better, S).items():
            with pytest.raises(sr.NoClosureError) as caught:
                call()
            cycle = caught.value.cycle
            assert cycle is not None, way
            assert oracle.is_improving(oracle.ALGEBRAS[name], oracle.from_numpy(oracle.ALGEBRAS[name], better), cycle)
            assert (0, n - 1) in itertools.pairwise(cycle), way


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_whole_numbers_are_exact(dtype: str) -> None:
    """A ring of weight −1 among large whole numbers: with fractional parts, its 64 roundings could explain that."""
    top = int(1 / np.finfo(dtype).eps / 64)
    n = 64
    A = np.full((n, n), inf, dtype)
    A[np.arange(n), np.roll(np.arange(n), -1)] = np.where(np.arange(n) % 2, -top, top)
    assert (sr.closure(A, sr.min_plus)[0] == np.where(np.arange(n) % 2, top, 0)).all()
    A[n - 1, 0] = -top - 1
    for way, call in everywhere(A, sr.min_plus).items():
        with pytest.raises(sr.NoClosureError) as caught:
            call()
        assert caught.value.cycle == [*range(n), 0], way
        assert caught.value.weight == -1, way


def test_a_large_matrix_that_is_overwritten_says_what_it_cannot_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semiring.solvers.dense.schedules.COPIED_BYTES", 0)
    height = np.random.default_rng(0).normal(size=60)
    A = height[:, None] - height
    assert (sr.closure(A, sr.min_plus).diagonal() == 0).all()
    with pytest.raises(sr.NoClosureError, match=r"or rounding errors grew: rerun without overwrite=True"):
        sr.closure(A, sr.min_plus, overwrite=True)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", ["dense", "path", "ring"])
@pytest.mark.parametrize(("dtype", "n"), [("f8", 90), ("f4", 150), ("f8", 200)])
def test_large_graphs_without_improving_cycles(shape: str, method: str, dtype: str, n: int) -> None:
    """Differences of potentials, each rounded upwards: the exact weight of every cycle is at least 0."""
    random = np.random.default_rng(n)
    height = np.cumsum(random.normal(size=n)) * 1e3 if shape == "path" else random.normal(size=n) * 1e3
    true = height[:, None] - height
    A = true.astype(dtype)
    A = np.where(true > A, np.nextafter(A, np.asarray(inf, dtype)), A)
    A = np.nextafter(A, np.asarray(inf, dtype))
    i = np.arange(n)
    apart = abs(i[:, None] - i)
    if shape == "path":
        A[apart != 1] = inf
    elif shape == "ring":
        A[(i[:, None] + 1) % n != i] = inf
    closed = sr.closure(A, sr.min_plus, method=method)
    assert (np.diagonal(closed) == 0).all()
    expected = true if shape != "ring" else closed
    assert np.allclose(closed, expected, rtol=0, atol=n * 40 * float(np.finfo(dtype).eps) * abs(height).max())


def test_half_precision_cycles_of_weight_zero() -> None:
    A = np.full((3, 3), inf, "f2")
    A[[0, 1, 2], [1, 2, 0]] = 0.25, 0.5, -0.75
    for method in METHODS:
        assert (np.diagonal(sr.closure(A, sr.min_plus, method=method)) == 0).all()
    A[2, 0] = np.float16(-0.77)
    with pytest.raises(sr.NoClosureError, match="0 → 1 → 2 → 0"):
        sr.closure(A, sr.min_plus)


def test_unchecked_closures_do_not_look_for_cycles() -> None:
    A = np.array([[np.inf, 3.0], [-4.0, np.inf]])
    with pytest.raises(sr.NoClosureError):
        sr.closure(A, sr.min_plus)
    assert sr.closure(A, sr.min_plus, check=False).shape == (2, 2)
    fine = np.array([[np.inf, 3.0], [-2.0, np.inf]])
    assert np.array_equal(sr.closure(fine, sr.min_plus, check=False), sr.closure(fine, sr.min_plus))


def test_unchecked_sparse_closures_do_not_look_for_cycles() -> None:
    A = sp.diags_array([np.full(299, 2.0), np.full(299, -3.0)], offsets=[1, -1], format="csr")
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(A, sr.min_plus, method="sparse")
    assert caught.value.cycle
    assert sr.closure(A, sr.min_plus, method="sparse", check=False).shape == (300, 300)
