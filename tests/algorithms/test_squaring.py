"""Repeated squaring: as many rounds as the longest best path needs, and one matrix besides."""

from __future__ import annotations

from math import ceil, log2
from types import SimpleNamespace

import pytest

from semiring.algorithms.squaring import squaring


def names(calls: list) -> list[str]:
    return [name for name, *_ in calls]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 8, 9, 17])
def test_it_is_the_closure(n: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.lengths(n, n), plain.Kernel(plain.LENGTHS)
    expected = plain.distances(A)
    squaring(A, kernel, 3)
    assert A.read() == expected
    assert names(kernel.calls)[:2] == ["add_one", "like"] and names(kernel.calls).count("like") == 1


@pytest.mark.parametrize("n", [2, 3, 4, 5, 8, 9, 16, 17])
def test_a_path_through_all_vertices_takes_all_rounds(n: int, plain: SimpleNamespace) -> None:
    A, kernel = plain.Block([[plain.LENGTHS.zero] * n for _ in range(n)]), plain.Kernel(plain.LENGTHS)
    for i in range(n - 1):
        A.rows[i][i + 1] = 1
    squaring(A, kernel, 1)
    assert A.read()[0] == list(range(n))
    assert names(kernel.calls).count("multiply") <= ceil(log2(n - 1)) + 1
    assert names(kernel.calls).count("assign") == ceil(log2(n - 1)), "each changed something"


def test_it_ends_when_nothing_changes(plain: SimpleNamespace) -> None:
    n, kernel = 40, plain.Kernel(plain.LENGTHS)
    A = plain.Block([[1] * n for _ in range(n)])
    squaring(A, kernel, 1)
    assert names(kernel.calls) == ["add_one", "like", "multiply", "equal"]
    assert A.read() == [[int(i != j) for j in range(n)] for i in range(n)]


@pytest.mark.parametrize("n", [0, 1])
def test_without_walks_of_two_edges_nothing_is_multiplied(n: int, plain: SimpleNamespace) -> None:
    kernel = plain.Kernel(plain.LENGTHS)
    A = plain.Block([[5] * n for _ in range(n)])
    squaring(A, kernel, 1)
    assert names(kernel.calls) == ["add_one", "like"] and A.read() == [[0]] * n
