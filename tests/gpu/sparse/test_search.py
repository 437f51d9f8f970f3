"""Rows of closures by frontiers on the device against the CPU: every selective algebra, groups, hubs, cycles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.api import closure_rows

inf = np.inf
CASES = [
    ("boolean", "?"), ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "i8"),
    ("min_plus", "u1"), ("max_plus", "f4"), ("max_min", "f4"), ("max_min", "i2"), ("min_max", "f8"), ("viterbi", "f4"),
    ("max_times", "f8"), ("lukasiewicz", "f8"),
]


def graph(name: str, dtype: str, n: int, m: int, seed: int) -> Any:
    """A random graph with parts that nothing reaches, and a hub with more edges than a chunk holds."""
    random = np.random.default_rng(seed)
    ends = random.integers(0, max(n - 3, 1), (2, m))
    hub = np.arange(n - 4)
    rows, columns = np.append(ends[0], np.zeros(len(hub), int)), np.append(ends[1], hub)
    kind = np.dtype(dtype).kind
    if kind == "b":
        values = np.ones(len(rows), bool)
    elif name in ("viterbi", "max_times", "lukasiewicz"):
        values = random.choice([1, 0.5, 0.25], len(rows))
    else:
        values = random.integers(0, 5, len(rows)) * (-1 if name == "max_plus" else 1)
    _, first = np.unique(rows * n + columns, return_index=True)
    return sp.csr_array((values[first].astype(dtype), (rows[first], columns[first])), shape=(n, n))


@pytest.mark.parametrize("count", [1, 3, 33, 150])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_rows_are_the_cpus(name: str, dtype: str, count: int) -> None:
    S = sr.catalogue[name]
    A = graph(name, dtype, 700, 1500, count)
    sources = np.random.default_rng(1).permutation(700)[:count]
    found = closure_rows(A, S, sources, device="gpu")
    expected = closure_rows(A, S, sources, device="cpu")
    assert found.dtype == expected.dtype and (found == expected).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_negative_weights(dtype: str) -> None:
    A = graph("min_plus", dtype, 500, 2000, 9)
    potential = np.random.default_rng(2).integers(-50, 50, 500)
    A.data += (np.repeat(potential, np.diff(A.indptr)) - potential[A.indices]).astype(dtype)
    assert (A.data < 0).any()
    found = closure_rows(A, sr.min_plus, range(40), device="gpu")
    assert (found == closure_rows(A, sr.min_plus, range(40), device="cpu")).all()


@pytest.mark.parametrize("dtype", ["f4", "i4"])
def test_improving_cycles(dtype: str) -> None:
    A = sp.csr_array((np.array([1, 2, -4, 5], dtype), ([0, 1, 2, 3], [1, 2, 1, 4])), shape=(6, 6))
    assert closure_rows(A, sr.min_plus, [3, 4, 5], device="gpu")[0, 4] == 5
    with pytest.raises(sr.NoClosureError) as caught:
        closure_rows(A, sr.min_plus, [3, 0], device="gpu")
    assert caught.value.cycle == [1, 2, 1] and caught.value.weight == -2


def test_long_paths_and_graphs_without_edges() -> None:
    n = 3000
    A = sp.csr_array((np.ones(n - 1, "f4"), (np.arange(n - 1), np.arange(1, n))), shape=(n, n))
    assert (closure_rows(A, sr.min_plus, 0, device="gpu") == np.arange(n)).all()
    empty = closure_rows(sp.csr_array((5, 5)), sr.min_plus, [4, 0], device="gpu")
    assert (empty == np.where(np.eye(5)[[4, 0]] == 1, 0, inf)).all()
    assert closure_rows(A, sr.min_plus, [], device="gpu").shape == (0, n)


def test_what_the_gpu_leaves_to_the_cpu() -> None:
    A = sp.csr_array(np.ones((2, 2)))
    with pytest.raises(sr.SemiringError, match="CPU only"):
        closure_rows(A, sr.min_plus, 0, device="gpu", predecessors=True)
    with pytest.raises(sr.SemiringError, match="CPU only"):
        closure_rows(sr.as_graph([(0, 1, (1.0, 1))]), sr.shortest_hops, 0, device="gpu")
