"""Whether expressions match the same words, against Python's own expressions, and where sets of positions are many."""

from __future__ import annotations

import re
from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.languages import same_words
from semiring.algebra.objects import EMPTY, EPSILON, alternative, concatenation, iteration

WORDS = ["".join(w) for k in range(9) for w in product("ab", repeat=k)]
SHORT = st.recursive(  # of at most four letters, so that they differ in a word of at most eight, if at all
    st.sampled_from([EMPTY, EPSILON, sr.letter("a"), sr.letter("b")]),
    lambda parts: st.builds(alternative, parts, parts) | st.builds(concatenation, parts, parts) | st.builds(
        iteration, parts),
    max_leaves=4,
)


def language(x: sr.Regex) -> list[bool]:
    pattern = re.compile(str(x).replace("ε", "(?:)").replace("∅", "(?!)"))
    return [pattern.fullmatch(word) is not None for word in WORDS]


@settings(max_examples=200)
@given(SHORT, SHORT)
def test_same_words_are_those_that_match(x: sr.Regex, y: sr.Regex) -> None:
    expected = language(x) == language(y)
    assert same_words(x, y) is expected and same_words(y, x) is expected and (x == y) is expected


def by_pivots(A: np.ndarray, order: list[int]) -> list[list[sr.Regex]]:
    """The closure, by Kleene's algorithm with the vertices in an order."""
    n, D = len(A), [[alternative(A[i, j], EPSILON) if i == j else A[i, j] for j in range(len(A))]
                    for i in range(len(A))]
    for k in order:
        loops = iteration(D[k][k])
        D = [[alternative(D[i][j], reduce(concatenation, (D[i][k], loops, D[k][j]))) for j in range(n)]
             for i in range(n)]
    return D


@pytest.mark.parametrize("seed", [0, 2, 3, 8])
def test_long_expressions_of_one_language_are_equal(seed: int) -> None:
    random = np.random.default_rng(seed)
    A = np.empty((4, 4), object)
    A[...] = [[sr.letter("abc"[c % 3]) if c > 2 else EMPTY for c in row] for row in random.integers(0, 9, (4, 4))]
    one, other = by_pivots(A, [0, 1, 2, 3]), by_pivots(A, [3, 1, 0, 2])
    assert one == other and sr.closure(A, sr.regex).tolist() == one
    assert max(len(x.text) for row in one for x in row) > 100
    longest = max((x for row in one for x in row), key=lambda x: len(x.text))
    assert longest != alternative(longest, reduce(concatenation, [sr.letter("d")] * 3))
