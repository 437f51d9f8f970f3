"""Paths in stacks: those of each matrix."""

from __future__ import annotations

import numpy as np
import pytest
from bridge import same_bits
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf


@settings(max_examples=40)
@given(st.data())
def test_each_is_as_if_it_were_alone(data: st.DataObject) -> None:
    n, leading = data.draw(st.integers(1, 5)), data.draw(st.sampled_from([(1,), (3,), (2, 2)]))
    size = int(np.prod(leading)) * n * n
    A = np.array(data.draw(st.lists(st.sampled_from([inf, 0.0, 1.0, 2.0]), min_size=size, max_size=size)))
    A = A.reshape(*leading, n, n)
    vertices = st.lists(st.integers(0, n - 1), min_size=1, max_size=n, unique=True)
    sources, targets = (data.draw(st.one_of(st.none(), vertices)) for _ in range(2))
    limit = data.draw(st.sampled_from([None, 2.0]))
    R = sr.paths(A, sr.min_plus, sources=sources, targets=targets, limit=limit)
    assert R.shape == leading and len(R) == len(list(R)) == np.prod(leading)
    for place in np.ndindex(leading):
        alone = sr.paths(A[place], sr.min_plus, sources=sources, targets=targets, limit=limit)
        one = R[place[0] if len(place) == 1 else place]
        assert list(one) == list(alone) and one.sources == alone.sources and one.targets == alone.targets
        assert same_bits(R.weights[place], alone.weights)
        assert same_bits(R.next_hop[place], alone.next_hop)
        assert same_bits(R.predecessors[place], alone.predecessors)


def test_places() -> None:
    R = sr.paths(np.full((2, 3, 2, 2), 1.0), sr.min_plus)
    assert "in 6 matrices: Paths(2 paths" in repr(R)
    assert R[-1, 2][0, 1].vertices == [0, 1]
    for wrong in (0, "a", (0, 3), (0, 1, 0), None, slice(None)):
        with pytest.raises(sr.GraphError, match=r"2 × 3 matrices need the index of a matrix"):
            R[wrong]
    with pytest.raises(sr.GraphError, match="there are no matrices in the stack"):
        _ = sr.paths(np.zeros((0, 2, 2)), sr.min_plus).weights
