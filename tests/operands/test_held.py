"""Verbs of a `Matrix` that is sparse or packed: the answers of the dense one, with its names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs.listing import refused
from graphs.test_holders import DENSE, EDGES, ROADS

import semiring as sr

VERBS: dict[str, Any] = {
    "closure": lambda M: M.closure(), "closure_rows": lambda M: sr.closure_rows(M, None, ["b", "a"]),
    "power": lambda M: M**3, "power 0": lambda M: M**0, "power 1": lambda M: M**1,
    "chain": lambda M: sr.chain([M, M, M]),
    "paths": lambda M: sr.paths(M).to_frame("pandas").values.tolist(), "path": lambda M: sr.path(M, None, "a", "c"),
    "nearest": lambda M: sr.nearest(M, None, ["a"]).weights, "solve": lambda M: sr.solve(M, np.arange(3.0)),
    "factor": lambda M: sr.factor(M).solve(np.arange(3.0)), "product": lambda M: M @ M[["c", "b", "a"]],
    "residual": lambda M: sr.residual(M, M.closure()), "reach": lambda M: sr.reach(M).closure.count(),
    "graph": lambda M: M @ sr.as_graph(EDGES), "of graph": lambda M: sr.as_graph(EDGES) @ M,
    "plan": lambda M: sr.plan("closure", M).shape, "prepared": lambda M: sr.closure(sr.prepare(M)),
    "argmax": lambda M: sr.matmul(M, M, argmax=True)[0], "walks": lambda M: M.closure(max_edges=2),
    "acyclic": lambda M: sr.topological_order(M), "components": lambda M: sr.condensation(M),
    "renamed": lambda M: M.T.closure().T,
}


@pytest.mark.parametrize("verb", VERBS)
def test_verbs_do_what_they_do_for_a_dense_matrix(verb: str) -> None:
    sparse, dense = VERBS[verb](ROADS), VERBS[verb](DENSE)
    if isinstance(dense, sr.Matrix):
        assert isinstance(sparse, sr.Matrix) and sparse.equals(dense) and sparse.names == dense.names
    else:
        assert np.array_equal(sparse, dense) if isinstance(dense, np.ndarray) else repr(sparse) == repr(dense)


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_a_right_hand_side_with_columns_of_its_own(kind: str) -> None:
    B = sr.Matrix([[1.0, 2.0], [0.0, 5.0], [7.0, 7.0]], sr.min_plus, ["c", "a", "b"], columns=["x", "y"])
    for A in (ROADS, DENSE, sr.as_graph(EDGES)):
        wanted = DENSE.closure() @ B
        for found in (sr.solve(A, B.hold(kind), sr.min_plus), sr.factor(A, sr.min_plus).solve(B.hold(kind))):
            assert found.equals(wanted) and found.row_names == ["a", "b", "c"] and found.column_names == ["x", "y"]
        assert sr.solve(A, B.T.hold(kind), sr.min_plus, left=True).equals(B.T @ DENSE.closure())
    assert sr.solve(DENSE.array, B).row_names == ["c", "a", "b"]
    with refused("'a' is in the vertices of A and not in the rows of B"):
        sr.solve(DENSE, B.T)
