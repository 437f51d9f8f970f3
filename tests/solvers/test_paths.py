"""The offer of best paths: whose values it takes, what it says, and what a limit leaves."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.operands.read import read
from semiring.solvers.paths import offer, unnamed
from semiring.solvers.task import Task, options

inf = np.inf


def test_the_plan_is_that_of_the_values() -> None:
    A = np.random.default_rng(0).random((300, 300)).astype("f4")
    asked = options(method="blocked")
    plan = offer(Task("paths", sr.min_plus, (A,), asked, (None, None, None)))
    values = sr.plan(A, sr.min_plus, method="blocked")
    assert plan.operation == "paths" and plan.method == values.method == "blocked"
    assert plan.memory == values.memory + 4 * 300**2
    some = offer(Task("paths", sr.min_plus, (A,), options(), ([3, 5], None, None)))
    assert some.shape == (2, 300) and some.method == sr.plan(A, sr.min_plus, verb="rows", sources=[3, 5]).method


def test_values_are_asked_for_without_names_and_cycles_named() -> None:
    G = sr.as_graph([("a", "b", 1.0), ("b", "a", -2.0)])
    given = unnamed(read(G, sr.min_plus))
    assert not given.of_graph and given.names == ["a", "b"]
    with pytest.raises(sr.NoClosureError, match="the cycle a → b → a"):
        sr.paths(G, sr.min_plus)
    M = sr.adjacency([("a", "b", 1.0)], sr.min_plus)
    assert isinstance(unnamed(read(M, sr.min_plus)).wrap(np.eye(2)), np.ndarray)


def test_packed_and_boolean_graphs() -> None:
    edges = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    for A in (edges, sr.pack(edges), sp.csr_array(edges)):
        assert sr.paths(A, sr.boolean)[0, 2] == (True, [0, 1, 2])


@pytest.mark.parametrize("dtype", ["i1", "i4", "u2", "f4"])
def test_an_infinite_limit_leaves_all_paths(dtype: str) -> None:
    A = np.array([[0, 3], [5, 0]], dtype)
    R = sr.paths(A, sr.min_plus, limit=np.inf)
    assert R[0, 1].weight == 3 and len(R) == 2
    with pytest.raises(sr.SemiringError, match="limit must be an element"):
        sr.paths(A, sr.min_plus, limit="far")
