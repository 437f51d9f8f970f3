"""Transitive closures of compressed rows against Warshall's algorithm on NumPy booleans and packed matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.bits import components as reachability
from semiring.kernels.cpu.bits import engine as packed
from semiring.kernels.cpu.bits.matrix import PackedMatrix


def rows_of(graph: np.ndarray, random: np.random.Generator | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Compressed rows, the columns of a row in any order."""
    sources, targets = np.nonzero(graph)
    if random is not None:
        order = random.permutation(len(sources))
        sources, targets = sources[order], targets[order]
        order = np.argsort(sources, kind="stable")
        sources, targets = sources[order], targets[order]
    offsets = np.searchsorted(sources, np.arange(len(graph) + 1)).astype(np.int64)
    return offsets, targets.astype(np.int32)


def warshall(graph: np.ndarray, reflexive: bool) -> np.ndarray:
    result = graph.copy()
    for k in range(len(result)):
        result |= result[:, k, None] & result[k]
    return result | np.eye(len(result), dtype=bool) if reflexive else result


def digraph(random: np.random.Generator, n: int, degree: float, kind: str) -> np.ndarray:
    graph = random.random((n, n)) < degree / max(n, 1)
    if kind == "acyclic":
        graph = np.triu(graph, 1)
    elif kind == "cycle":
        graph |= np.roll(np.eye(n, dtype=bool), 1, axis=1)
    elif kind == "loops":
        graph = np.diag(random.random(n) < 0.5)
    order = random.permutation(n)
    return graph[np.ix_(order, order)]


@settings(max_examples=150)
@given(
    n=st.sampled_from([0, 1, 2, 3, 16, 63, 64, 65, 130, 520]), seed=st.integers(0, 2**32 - 1),
    degree=st.sampled_from([0, 0.5, 1, 1.3, 3, 20]), kind=st.sampled_from(["any", "acyclic", "cycle", "loops"]),
    reflexive=st.booleans(), threads=st.sampled_from([1, 2, 3]), patience=st.sampled_from([0, 0.6, 1e6]),
)
def test_closures(
    n: int, seed: int, degree: float, kind: str, reflexive: bool, threads: int, patience: float
) -> None:
    """By unions of rows and by those of packed edges, whichever the patience leads to."""
    random = np.random.default_rng(seed)
    graph = digraph(random, n, degree, kind)
    expected = warshall(graph, reflexive)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reachability, "UNIONS_A_LOOKUP", patience)
        found = reachability.reach(*rows_of(graph, random), threads)
    assert (found.dense(0, 1, bool, reflexive, threads) == expected).all()
    assert (found.dense(np.inf, -2, "f4", reflexive, threads) == np.where(expected, -2, np.inf)).all()
    assert found.packed(reflexive, threads) == PackedMatrix.from_dense(expected)


@pytest.mark.parametrize("kind", ["any", "acyclic", "cycle"])
@pytest.mark.parametrize("degree", [1, 8])
def test_large_closures_are_those_of_packed_matrices(kind: str, degree: float) -> None:
    graph = digraph(np.random.default_rng(7), 2500, degree, kind)
    expected = PackedMatrix.from_dense(graph)
    packed.four_russians_closure(expected)
    assert reachability.reach(*rows_of(graph)).packed() == expected


def test_a_condensation_that_takes_too_long_is_left_to_four_russians() -> None:
    """Layers of complete bipartite graphs: every edge is in the transitive reduction."""
    n = 1500
    graph = np.zeros((n, n), bool)
    graph[:500, 500:1000] = True
    graph[500:1000, 1000:] = True
    found = reachability.reach(*rows_of(graph))
    assert (found.dense(0, 1, bool, False) == warshall(graph, False)).all()


@settings(max_examples=60)
@given(n=st.integers(0, 60), seed=st.integers(0, 2**32 - 1), degree=st.sampled_from([0.5, 1, 1.5, 3]))
def test_components(n: int, seed: int, degree: float) -> None:
    """SciPy's components, each numbered after those that it reaches."""
    random = np.random.default_rng(seed)
    graph = digraph(random, n, degree, "any")
    offsets, columns = rows_of(graph, random)
    label, members, starts, cyclic = found = components(offsets, columns)
    count, expected = sp.csgraph.connected_components(sp.csr_array(graph), connection="strong") if n else (0, [])
    assert len(starts) == count + 1 and len(set(zip(label.tolist(), expected, strict=True))) == count
    assert sorted(members.tolist()) == list(range(n)) and starts[0] == 0 and starts[-1] == n
    for c in range(count):
        assert (label[members[starts[c] : starts[c + 1]]] == c).all()
    sources, targets = np.nonzero(graph)
    assert (label[sources] >= label[targets]).all()
    assert (cyclic == np.diag(warshall(graph, False))).all()
    assert len(found) == 4


def components(offsets: np.ndarray, columns: np.ndarray) -> Any:
    return reachability.strong_components_of_rows(offsets.ctypes.data, columns.ctypes.data, len(offsets) - 1)


def test_a_path_of_many_vertices_needs_no_recursion() -> None:
    n = 200_000
    label, _, starts, cyclic = components(np.minimum(np.arange(n + 1), n - 1), np.arange(1, n, dtype=np.int32))
    assert len(starts) == n + 1 and (label == np.arange(n)[::-1]).all() and not cyclic.any()
