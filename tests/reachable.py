"""Graphs of truth values in every form, and who reaches whom by Warshall's definition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import PackedMatrix, SemiringError


def drawn(rows: int, columns: int, seed: int) -> np.ndarray:
    """A random matrix with no entry, few, half or all of them."""
    rng = np.random.default_rng(seed)
    return rng.random((rows, columns)) < rng.choice([0.0, 0.01, 0.5, 1.0])


def same(matrix: PackedMatrix, expected: np.ndarray) -> None:
    """The entries are as expected, and no bit is set beyond the last column."""
    bits = np.unpackbits(np.ascontiguousarray(matrix.words).view(np.uint8), axis=1, bitorder="little")
    assert matrix.shape == expected.shape
    assert np.array_equal(bits[:, : matrix.shape[1]], expected)
    assert not bits[:, matrix.shape[1] :].any()


def refused(message: str, call: Callable[..., Any], *arguments: Any, **more: Any) -> None:
    with pytest.raises(SemiringError, match=message):
        call(*arguments, **more)


def warshall(dense: np.ndarray, reflexive: bool) -> np.ndarray:
    result = dense.copy()
    for k in range(len(dense)):
        result |= result[:, k, None] & result[k]
    return result | np.eye(len(dense), dtype=bool) if reflexive else result


def makes(dense: np.ndarray) -> dict[str, object]:
    """The same graph in every form."""
    nx = pytest.importorskip("networkx")
    i, j = np.nonzero(dense)
    n = len(dense)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip(i.tolist(), j.tolist(), strict=True))
    return {
        "bool": dense, "int": dense.astype(np.int16), "float": np.asfortranarray(dense, np.float32),
        "csr": sp.csr_array(dense), "coo": sp.coo_matrix(dense.astype(float)), "networkx": graph,
        "graph": sr.as_graph((i, j, np.zeros(len(i))), n), "packed": PackedMatrix.from_dense(dense),
        "min-plus": sr.adjacency((i, j, np.zeros(len(i))), sr.min_plus, n),
    }
