"""What errors of closures say where stars do not exist: a vertex, and a true cycle that has no limit."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from bridge import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr

inf = np.inf
GAUSSIAN = tuple(m for m in METHODS if m != "squaring")
quick = settings(max_examples=20, suppress_health_check=list(HealthCheck))
UNDEFINED = [("plus_times", "f8"), ("plus_times", "f4"), ("gf2", "u1"), ("gf2", "?"), ("mod_p", "i4")]


@pytest.mark.parametrize(("name", "dtype"), UNDEFINED)
@pytest.mark.parametrize(
    ("n", "at"), [(1, (0, 0)), (5, (3, 3)), (5, (1, 3)), (70, (3, 68)), (70, (40, 69)), (70, (65, 65))]
)
def test_undefined_stars_name_the_vertex(name: str, dtype: str, n: int, at: tuple[int, int]) -> None:
    """A loop of weight one at a vertex, or one that is made when the other vertex of a cycle is eliminated."""
    S = sr.catalogue[name]
    A = np.zeros((n, n), dtype)
    A[at] = A[at[::-1]] = 1
    names = [f"v{i}" for i in range(n)]
    # Over a field nothing is refused for the order of elimination, but because 1 − A is singular.
    said = "I − A is singular: going" if name == "plus_times" else f"eliminating vertex {at[1]} needs the star"
    for method in GAUSSIAN:
        for overwrite in (False, True):
            work = A.copy()
            with pytest.raises(sr.NoClosureError, match=said) as caught:
                sr.closure(work, S, method=method, overwrite=overwrite, tile=None if n > 5 else 2)
            cycle = [at[1], at[1]] if at[0] == at[1] else [at[1], at[0], at[1]]
            assert (caught.value.vertex, caught.value.cycle, caught.value.weight) == (at[1], cycle, 1)
            route = " → ".join(map(str, cycle))
            weight = "True" if dtype == "?" else "1"
            assert f"round the cycle {route} of weight {weight} has no limit" in str(caught.value)
            assert overwrite or same_bits(work, A)
        with pytest.raises(sr.NoClosureError, match=rf"the cycle v{at[1]} →|eliminating vertex 'v{at[1]}'") as caught:
            sr.closure(sr.Matrix(A, S, names), S, method=method)
        assert caught.value.cycle == [names[v] for v in cycle]
    with pytest.raises(sr.NoClosureError) as caught:
        sr.factor(A, S)
    assert caught.value.vertex == at[1]
    with pytest.raises(sr.NoClosureError) as caught:
        sr.closure(np.stack([np.zeros_like(A), A]), S)
    assert (caught.value.vertex, caught.value.cycle, caught.value.index) == (at[1], cycle, (1,))


def test_undefined_stars_of_records_and_objects() -> None:
    S = sr.expectation
    A = np.zeros((3, 3), S.default_dtype)
    A[0, 2], A[2, 0] = (0.5, 1), (2.0, 0)
    for method in GAUSSIAN:
        with pytest.raises(sr.NoClosureError) as caught:
            sr.closure(A, S, method=method)
        assert (caught.value.vertex, caught.value.cycle) == (2, [2, 0, 2])
        assert S.over(A.dtype).mul(A[2, 0], A[0, 2]) == caught.value.weight
    F = np.array([[Fraction(0), Fraction(1, 3)], [Fraction(3), Fraction(0)]], object)
    for method in GAUSSIAN:
        with pytest.raises(sr.NoClosureError) as caught:
            sr.closure(F, sr.plus_times, method=method)
        assert (caught.value.vertex, caught.value.cycle, caught.value.weight) == (1, [1, 0, 1], 1)


@quick
@given(data=st.data())
def test_an_undefined_star_names_a_cycle_that_it_sums(data: st.DataObject) -> None:
    """Through vertices that were eliminated before; one without a limit of its own where a shortest one has none."""
    n = data.draw(st.integers(1, 5))
    entries = st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(-1)])
    rows = data.draw(st.lists(st.lists(entries, min_size=n, max_size=n), min_size=n, max_size=n))
    A = np.array([[Fraction(0)] * n] * n, object)
    A[...] = rows
    graph = sp.csr_array(A.astype(float))
    for call, order in (
        (lambda: sr.closure(A, sr.plus_times), range(n)),
        (lambda: sr.factor(A, sr.plus_times), range(n)),
        (lambda: sr.solve(np.stack([np.zeros_like(A), A])[1], A, sr.plus_times), range(n)),
        (lambda: sr.factor(graph, sr.plus_times), None),
    ):
        try:
            call()
        except sr.NoClosureError as error:
            cycle, steps = error.cycle, list(itertools.pairwise(error.cycle))
            weight = np.prod([A[i, j] for i, j in steps])
            assert weight == Fraction(error.weight) != 0
            assert cycle[0] == cycle[-1] == error.vertex and len(set(cycle)) == len(steps)
            assert order is None or max(cycle) == error.vertex
            assert ("together" in str(error) or "Markov chain" in str(error)) == (weight != 1)
            short = [(u,) for u in range(error.vertex) if A[error.vertex, u] * A[u, error.vertex] == 1]
            assert order is None or weight == 1 or not short, "a cycle of two edges that has no limit"


def test_a_cycle_of_the_transposed_equations_goes_the_right_way() -> None:
    A = np.zeros((3, 3))
    A[0, 1], A[1, 2], A[2, 0] = 0.5, 4, 0.5
    for given_ in (sr.Matrix(A, sr.plus_times, list("abc")), sr.adjacency(
        [("a", "b", 0.5), ("b", "c", 4.0), ("c", "a", 0.5)], sr.plus_times
    )):
        for left in (False, True):
            with pytest.raises(sr.NoClosureError, match="c → a → b → c of weight 1 has no limit") as caught:
                sr.solve(given_, np.ones(3), left=left)
            assert caught.value.cycle == ["c", "a", "b", "c"]


def test_sums_of_cycles_that_have_no_limit_together() -> None:
    A = np.array([[0.5, 0.25], [1.0, 0.5]])  # 1/2 ⋅ 1/2 = 1/4 ⋅ 1
    for S, vertex, said in (
        (sr.plus_times, 0, r"I − A is singular: the walks round vertex 0, such as the cycle 0 → 0 of weight 0\.5,"),
        (sr.mod_p(7), 1, r"eliminating vertex 1 .*: the walks round it, such as the cycle 1 → 1 of weight 4,"),
    ):  # 4 is a half modulo 7
        given_ = A if S is sr.plus_times else np.full((2, 2), 4)
        with pytest.raises(sr.NoClosureError, match=said + " have no limit together") as e:
            sr.closure(given_, S)
        assert (e.value.vertex, e.value.cycle, e.value.weight) == (vertex, [vertex, vertex], given_[0, 0])


def test_a_markov_chain_without_an_exit_is_named() -> None:
    third = 1 / 3
    never = r"no walk leaves the vertices {}, and each of their rows adds up to 1, .* exit\. Lower a weight in one"
    for rows, inside in (
        ([[.5, .5], [.5, .5]], "0, 1"),
        ([[.5, .5, 0, 0], [0, third, third, third], [0, third, third, third], [0, .5, .5, 0]], "1, 2, 3"),
    ):
        P, scale = np.array(rows), np.arange(1.0, len(rows) + 1)
        for A in (P, P.astype("f4"), sp.csr_array(P)):
            with pytest.raises(sr.NoClosureError, match=never.format(inside)) as caught:
                sr.closure(A, sr.plus_times)
            assert caught.value.cycle is not None
        with pytest.raises(sr.NoClosureError, match=r"the walks round vertex .* Remove or mend an edge\."):
            sr.closure(scale[:, None] * P / scale, sr.plus_times)  # as singular, but no chain
        P[-1] *= 0.9  # one exit is enough
        assert np.isfinite(sr.closure(P, sr.plus_times)).all()
    edges = [("a", "a", 0.5), ("a", "b", 0.5), ("b", "b", 0.5), ("b", "a", 0.5), ("c", "a", 0.5)]
    with pytest.raises(sr.NoClosureError, match=never.format("a, b")):
        sr.closure(sr.adjacency(edges, sr.plus_times))


def test_where_nothing_is_left_of_the_matrix_there_is_a_vertex_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semiring.solvers.dense.schedules.COPIED_BYTES", 0)
    with pytest.raises(sr.NoClosureError, match="a cycle through it has no limit") as caught:
        sr.closure(np.eye(3, dtype=bool)[None], sr.gf2, overwrite=True)
    assert (caught.value.vertex, caught.value.cycle, caught.value.index) == (0, None, (0,))
    with pytest.raises(sr.NoClosureError, match=r"matrix 0 of the stack is singular: .* 0 → 0 of") as caught:
        sr.closure(np.eye(3)[None], sr.plus_times, overwrite=True)  # whose answer is compared with what was given
    assert (caught.value.vertex, caught.value.cycle, caught.value.index) == (0, [0, 0], (0,))


def test_elements_whose_star_does_not_exist() -> None:
    for S, bad in ((sr.plus_times, 1.0), (sr.gf2, 1), (sr.mod_p(7), 1), (sr.plus_times, Fraction(1))):
        with pytest.raises(sr.SemiringError, match=r"the star of 1 does not exist"):
            S.star(bad)
        with pytest.raises(sr.SemiringError, match=r"the star of 1 does not exist"):
            S.star(np.array([0, bad], object if isinstance(bad, Fraction) else None))
