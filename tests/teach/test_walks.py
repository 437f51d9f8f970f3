"""Sets of walks: a semiring of languages, cut to the shortest words."""

from __future__ import annotations

from itertools import pairwise, product

from hypothesis import given
from hypothesis import strategies as st

from semiring.teach.walks import KEPT_WALKS, NONE, Walks, edge, staying

EDGES = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=9)


def shortest(edges: set[tuple[int, int]], i: int, j: int, most: int) -> list[tuple[int, ...]]:
    """All walks of at most so many edges, one by one."""
    found = [(i,)] if i == j else []
    for k in range(1, most + 1):
        for inner in product(range(4), repeat=k - 1):
            walk = (i, *inner, j)
            if all(pair in edges for pair in pairwise(walk)):
                found.append(walk)
    return sorted(found, key=lambda w: (len(w), w))


@given(EDGES, st.integers(0, 3), st.integers(0, 3))
def test_floyd_warshall_over_walks_finds_the_shortest(edges: set[tuple[int, int]], i: int, j: int) -> None:
    D = {(u, v): edge(u, v) if (u, v) in edges else NONE for u in range(4) for v in range(4)}
    for k in range(4):
        star = D[k, k].repeated(k)
        D = {(u, v): D[u, v] | (D[u, k] @ star @ D[k, v]) for u in range(4) for v in range(4)}
    found = D[i, j] | staying(i) if i == j else D[i, j]
    expected = shortest(edges, i, j, 5)
    assert list(found.shortest) == expected[:KEPT_WALKS] or len(found.shortest[-1]) > 6
    assert found.more or len(expected) <= KEPT_WALKS


def test_nothing_joins_what_is_not_there() -> None:
    assert NONE @ edge(0, 1) == edge(0, 1) @ NONE == NONE
    assert NONE | edge(0, 1) == edge(0, 1)
    assert NONE.repeated(2) == staying(2) == staying(2).repeated(2)


def test_more_says_that_there_are_others() -> None:
    many = Walks(((0, 1),)) | Walks(tuple((0, k, 1) for k in range(2, 7)))
    assert many.shortest == ((0, 1), (0, 2, 1), (0, 3, 1), (0, 4, 1))
    assert many.more
    assert (many @ edge(1, 5)).more
    assert not (many @ NONE).more
