"""Next hops from components that lie within each other, against trees of values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.trees import Edges, predecessors
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.sparse import bottleneck
from semiring.kernels.cpu.sparse.bottleneck import CODE, LOOPS, components, next_hops
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers

NONE = -1


def drawn(seed: int, n: int, degree: float, values: int) -> np.ndarray:
    """Ranks of an undirected graph, with loops; −1 where there is no edge."""
    rng = np.random.default_rng(seed)
    A = rng.integers(0, values, (n, n))
    A[rng.random((n, n)) > degree / max(n, 1)] = NONE
    return np.maximum(A, A.T)


def compressed(A: np.ndarray) -> Rows:
    rows, columns = np.nonzero(A >= 0)
    return Rows(np.searchsorted(rows, np.arange(len(A) + 1)), columns.astype(np.int32), A[rows, columns].astype("i4"),
                len(A))


def edges_of(A: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tails, heads and ranks, best first."""
    tails, heads = np.nonzero(np.triu(A >= 0, 1))
    order = np.argsort(-A[tails, heads], kind="stable")
    tails, heads = tails[order].astype("i4"), heads[order].astype("i4")
    return tails, heads, A[tails, heads].astype("i4")


def expected_hops(A: np.ndarray) -> np.ndarray:
    S, n = sr.max_min, len(A)
    X, rows = np.asarray(sr.closure(np.where(A < 0, S.zero_in("i8"), A), S)), compressed(A)
    edges = Edges(rows.offsets, rows.columns, rows.values.astype("i8"), (rows.offsets, rows.columns))
    return predecessors(edges, S.over("i8"), X.T, np.arange(n), True, backwards=True).predecessors.T


@settings(max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from([0, 1, 2, 3, 7, 8, 9, 33, 70]), st.sampled_from([0.5, 1.5, 3.0, 9.0]),
       st.sampled_from([1, 2, 5, 1000]), st.sampled_from([1, 3]))
def test_they_are_those_of_the_general_way(seed: int, n: int, degree: float, values: int, threads: int) -> None:
    A = drawn(seed, n, degree, values)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bottleneck, "SHARE", 0)
        P = next_hops(len(A), *edges_of(A), None, threads)
        numbers = next_hops(len(A), *edges_of(A), compressed(A), threads)
    assert isinstance(P, np.ndarray) and P.dtype == np.int32 and P.flags.c_contiguous
    assert (expected_hops(A) == P).all()
    assert isinstance(numbers, EdgeNumbers) and numbers.numbers.dtype == np.int8 and (numbers.vertices() == P).all()


@pytest.mark.parametrize(("degree", "values"), [(0.3, 1000), (0.9, 3), (1.1, 1000), (3.0, 5)])
@pytest.mark.parametrize(("n", "threads"), [(203, 3), (300, 16)])
def test_rows_of_several_parts_and_of_forests(
    n: int, threads: int, degree: float, values: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts begin anywhere in the tree; few edges make forests, with trees of one vertex, of few, and of most."""
    A = drawn(int(10 * degree), n, degree, values)
    monkeypatch.setattr(bottleneck, "SHARE", 0)
    numbers = next_hops(n, *edges_of(A), compressed(A), threads)
    P = next_hops(n, *edges_of(A), None, threads)
    assert isinstance(numbers, EdgeNumbers) and isinstance(P, np.ndarray)
    expected = expected_hops(A)
    assert (expected == P).all() and (numbers.vertices() == expected).all()


@pytest.mark.parametrize("leaves", [127, 128])
def test_a_vertex_of_more_edges_than_a_byte_numbers(leaves: int, monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.full((leaves + 1, leaves + 1), NONE)
    A[0, 1:] = A[1:, 0] = np.random.default_rng(leaves).permutation(leaves)
    monkeypatch.setattr(bottleneck, "SHARE", 0)
    P = next_hops(len(A), *edges_of(A), compressed(A))
    assert isinstance(P, EdgeNumbers) == (leaves == 127)
    assert ((P.vertices() if isinstance(P, EdgeNumbers) else P) == expected_hops(A)).all()


@pytest.mark.parametrize("bits", [26, 29])
def test_rounds_of_which_a_key_has_no_bits_for_all(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ring of one level, as if names took more bits: rounds are counted anew after 32 of them, or after 2."""
    n = 200
    A = np.full((n, n), NONE)
    i = np.random.default_rng(bits).permutation(n)
    A[i, np.roll(i, 1)] = A[np.roll(i, 1), i] = 0
    monkeypatch.setattr(bottleneck, "SHARE", 0)
    monkeypatch.setattr(bottleneck, "bits_of", lambda n: bits)
    assert (next_hops(len(A), *edges_of(A)) == expected_hops(A)).all()


def test_where_most_pairs_would_be_searched_it_is_declined() -> None:
    """All of one level: everything is searched from every vertex. Along a path, half of it where levels descend."""
    n = 40
    A = np.full((n, n), NONE)
    i = np.arange(n - 1)
    A[i, i + 1] = A[i + 1, i] = 0
    assert next_hops(len(A), *edges_of(A)) is None
    A[0, 2:] = A[2:, 0] = 0
    assert next_hops(len(A), *edges_of(A)) is None
    halves = np.full((n, n), NONE)  # of pairs, and so on: log n levels, in which n vertices are searched
    for k in range(1, n):
        bit = k & -k
        halves[k, k - bit] = halves[k - bit, k] = n - bit
    hops = next_hops(n, *edges_of(halves))
    assert hops is not None and (hops == expected_hops(halves)).all()


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 30), st.sampled_from([0.5, 1.5, 3.0]), st.sampled_from([1, 3, 1000]))
def test_components_are_those_of_each_level(seed: int, n: int, degree: float, values: int) -> None:
    A = drawn(seed, n, degree, values)
    tails, heads, ranks = edges_of(A)
    tree = components(n, tails, heads, ranks)
    order = np.empty(n, int)
    order[tree.start[:n]] = np.arange(n)
    held = {(int(w), frozenset(order[s : s + k].tolist())) for w, s, k, c in
            zip(tree.level, tree.start, tree.size, np.diff(tree.children), strict=True) if c}
    expected = set()
    for w in np.unique(ranks):
        reached = np.asarray(sr.closure((w <= A) | np.eye(n, dtype=bool), sr.boolean))
        more = np.asarray(sr.closure((w < A) | np.eye(n, dtype=bool), sr.boolean))
        expected |= {(int(w), frozenset(np.flatnonzero(reached[v]).tolist())) for v in range(n)
                     if (reached[v] != more[v]).any()}
    assert held == expected
    for x in range(len(tree.above)):
        below = tree.child[tree.children[x] : tree.children[x + 1]]
        assert (tree.above[below] == x).all() and (np.diff(tree.start[below]) > 0).all()
        assert not len(below) or tree.size[below].sum() == tree.size[x]
        if len(below):
            a = tree.above[x]
            assert tree.base[x] == (1 if a < 0 else tree.base[a] + np.diff(tree.children)[a] - 1)


def test_their_names_on_disk() -> None:
    assert [name.rpartition(".")[2] for name in CODE._names()] == list(LOOPS)
