"""One best path: what the offer says, and that it is the path of `paths`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr


@settings(max_examples=80)
@given(st.integers(1, 6).flatmap(lambda n: st.lists(
    st.sampled_from([np.inf, np.inf, 0.0, 1.0, 2.5, -0.5]), min_size=n * n, max_size=n * n)))
def test_one_path_weighs_what_paths_says(cells: list[float]) -> None:
    n = int(len(cells) ** 0.5)
    A = np.array(cells).reshape(n, n)
    try:
        R = sr.paths(A, sr.min_plus)
    except sr.NoClosureError:
        return
    for a in range(n):
        for b in range(n):
            weight, walk = sr.path(A, sr.min_plus, a, b)
            assert weight == R[a, b].weight and (walk is None) == (R[a, b].vertices is None)
            if walk is not None:
                assert type(weight) is float and (walk[0], walk[-1]) == (a, b)
                assert sum(A[u, v] for u, v in pairwise(walk)) == weight


def test_the_offer_and_what_it_refuses() -> None:
    A = np.array([[0.0, 2.0], [1.0, 0.0]])
    plan = sr.plan("path", A, sr.min_plus, source=0, target=1)
    assert plan.operation == "path" and plan.method == "search"
    with pytest.raises(sr.LawError, match="a best path needs a selective ⊕"):
        sr.path(A, sr.plus_times, 0, 1)
    with pytest.raises(sr.SemiringError, match="vertex 2"):
        sr.path(A, sr.min_plus, 0, 2)
