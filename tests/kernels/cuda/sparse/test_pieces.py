"""Fronts cut into pieces: every one is there once, and on its level."""

from __future__ import annotations

import numpy as np
import pytest
from sparse_patterns import RANDOM, of_random_graph

from semiring.kernels.cuda.sparse.pieces import chosen, pieces


@RANDOM
@pytest.mark.parametrize("tile", [1, 3, 16])
def test_every_piece_is_there_once_and_on_its_level(n: int, degree: float, tile: int) -> None:
    a = of_random_graph(n, degree, n)
    s, u, level = a.pivots, a.reach, a.depths
    found = pieces(level, [(np.zeros_like(s), s), (s, s + u)], tile)
    expected = sorted((b, c) for b in range(len(s)) for c in [*range(0, s[b], tile), *range(s[b], s[b] + u[b], tile)])
    assert sorted(map(tuple, found.parts.tolist())) == expected and found.parts.dtype == np.int32
    assert found.bounds[0] == 0 and found.bounds[-1] == len(expected)
    for k, (begin, end) in enumerate(found.levels):
        assert (level[found.parts[begin:end, 0]] == k).all()
    wanted = np.arange(len(s)) % 2 == 0
    some = chosen(found, wanted)
    assert some.parts.tolist() == [p for p in found.parts.tolist() if wanted[p[0]]]
    for k, (begin, end) in enumerate(some.levels):
        assert (level[some.parts[begin:end, 0]] == k).all()
