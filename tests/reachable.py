"""Graphs of truth values in every form, and who reaches whom by Warshall's definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import PackedMatrix


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
