"""Best paths of matrices on a GPU: weights stay there, and the walks are those of the host."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr

cupy = pytest.importorskip("cupy")


@pytest.mark.parametrize(
    ("name", "dtype"), [("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f4"), ("boolean", "?")]
)
def test_walks_are_those_of_the_host(name: str, dtype: str) -> None:
    S, rng = sr.catalogue[name], np.random.default_rng(0)
    for n in (1, 7, 300):
        A = rng.integers(0, 9, (n, n)).astype(dtype)
        A[rng.random((n, n)) < 1 - 3 / n] = S.zero_in(dtype)
        there, here = sr.paths(cupy.asarray(A), S), sr.paths(A, S)
        assert isinstance(there.weights, cupy.ndarray) and (there.weights.get() == here.weights).all()
        assert (there.next_hop == here.next_hop).all() and (there.predecessors == here.predecessors).all()
        some = sr.paths(cupy.asarray(A), S, sources=[0])
        assert some[0, n - 1] == here[0, n - 1] or some[0, n - 1].weight == here[0, n - 1].weight


def test_a_limit_and_a_table() -> None:
    A = cupy.asarray(np.array([[0, 2, 9], [np.inf, 0, 3], [np.inf, np.inf, 0]]))
    R = sr.paths(A, sr.min_plus, limit=4.0)
    assert isinstance(R.weights, cupy.ndarray) and list(R) == [(0, 1, 2.0, [0, 1]), (1, 2, 3.0, [1, 2])]
