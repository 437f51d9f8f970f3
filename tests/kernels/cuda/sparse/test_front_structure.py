"""Where the panels of fronts are: beside each other, with pivots on their diagonals; and the levels they rise by."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from gpu.host import Host
from sparse_patterns import RANDOM, of_random_graph

from semiring.kernels.cuda.sparse.front_structure import Structure


@RANDOM
def test_panels_are_beside_each_other_and_pivots_on_diagonals(
    n: int, degree: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    Host(None).stand_in(monkeypatch)
    a = of_random_graph(n, degree, n)
    at, s, u = Structure(a, 16), a.pivots, a.reach
    assert np.array_equal(np.diff(at.top_at), s * (s + u)) and np.array_equal(np.diff(at.low_at), s * u)
    assert at.top_at[0] == 0 and at.low_at[0] == at.top_at[-1] and at.elements == (s * (s + 2 * u)).sum()
    assert np.array_equal(np.diff(at.update_at), u * u)
    for k in range(len(s)):  # the top panel of a front is s rows of s + u elements
        top = np.arange(at.top_at[k], at.top_at[k + 1]).reshape(s[k], s[k] + u[k])
        assert np.array_equal(at.pivot_at[a.first[k] : a.first[k + 1]], top[:, : s[k]].diagonal())


@RANDOM
def test_fronts_rise_from_the_deepest_level(n: int, degree: float, monkeypatch: pytest.MonkeyPatch) -> None:
    Host(None).stand_in(monkeypatch)
    a = of_random_graph(n, degree, n)
    at = Structure(a, 16)
    fronts, bounds = np.array(at.rising_fronts), at.rising_bounds
    assert np.array_equal(np.sort(fronts), np.arange(len(a.parent)))
    depths = [a.depths[fronts[begin:end]] for begin, end in pairwise(bounds.tolist())]
    assert len(depths) == a.depths.max(initial=-1) + 1 == len(at.rising.levels)
    for depth, found in zip(range(len(depths))[::-1], depths, strict=True):
        assert len(found) and (found == depth).all()


@RANDOM
def test_columns_are_those_of_the_analysis(n: int, degree: float, monkeypatch: pytest.MonkeyPatch) -> None:
    Host(None).stand_in(monkeypatch)
    a = of_random_graph(n, degree, n)
    at = Structure(a, 16)
    for found, wanted in zip(at.columns, a.columns, strict=True):
        assert np.array_equal(np.array(found), wanted)
    assert at.columns is at.columns
