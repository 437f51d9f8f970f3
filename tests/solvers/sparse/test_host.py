"""What the host does with the factors of a sparse matrix, and values that name where they lie."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from solvers.paths.test_measures import grid

import semiring as sr
from semiring.solvers.sparse import substitution
from semiring.solvers.sparse.on_gpus import Gpus


def test_a_function_is_given_every_vertex_with_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(substitution, "CHUNK_ROWS", 7)
    F = sr.factor(grid(5), sr.min_plus)
    D, seen = F.closure(), []

    def look(vertices: np.ndarray, rows: np.ndarray) -> np.ndarray:
        assert rows.shape == (len(vertices), 25) and len(vertices) <= 7
        seen.extend(vertices.tolist())
        found = np.stack([vertices, rows.sum(axis=1)], axis=1)
        np.testing.assert_array_equal(rows, D[vertices])
        rows[...] = -1  # they are the function's own
        return found

    for _ in range(2):
        seen.clear()
        found = F.reduce(look)
        assert sorted(seen) == list(range(25))
        assert found.tolist() == [[v, D[v].sum()] for v in range(25)], "in the order of the vertices"
    np.testing.assert_array_equal(F.closure(), D)


def test_engines_are_values() -> None:
    kinds = substitution.HOST, Gpus(), Gpus((0,)), Gpus((0, 1))
    assert len(set(kinds)) == 4 and [engine.devices for engine in kinds] == [None, None, (0,), (0, 1)]
    assert pickle.loads(pickle.dumps(kinds)) == kinds


def test_values_are_put_into_memory_of_their_own() -> None:
    by = sr.factor(grid(3), sr.min_plus)._by
    values = by.A.values
    assert by.engine is substitution.HOST and not np.shares_memory(by.engine.put(by.lowering, values), values)
