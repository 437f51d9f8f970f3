"""Trees as numbers of edges: by compiled loops, by NumPy, and element by element."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.sparse import edge_numbers
from semiring.kernels.cpu.sparse.edge_numbers import EdgeNumbers


def drawn(seed: int, k: int, n: int, most: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, most + 1, n)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return rng.integers(-1, lengths, (k, n)).astype(np.int8), offsets, rng.integers(0, n, offsets[-1]).astype(np.int32)


@given(st.integers(0, 10**6), st.integers(0, 9), st.integers(1, 40), st.sampled_from([0, 1, 4, 127]), st.booleans(),
       st.booleans(), st.sampled_from([1, 30, 1 << 16]))
def test_vertices(seed: int, k: int, n: int, most: int, by_vertex: bool, compiled: bool, strip: int) -> None:
    numbers, offsets, columns = drawn(seed, k, n, most)
    expected = [[int(columns[offsets[v] + p]) if p >= 0 else -1 for v, p in enumerate(line)]
                for line in numbers.tolist()]
    tree = EdgeNumbers(np.asfortranarray(numbers) if by_vertex else numbers, offsets, columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(edge_numbers, "CODE", code(compiled))
        patch.setattr(edge_numbers, "STRIP", strip)
        found = tree.vertices()
        assert found.tolist() == expected and found.dtype == np.int32
        assert found.strides == tuple(4 * s for s in tree.numbers.strides) or 0 in found.shape or 1 in found.shape
        assert tree.T.vertices().tolist() == np.array(expected, np.int32).reshape(k, n).T.tolist()
    i, v = np.indices((k, n))
    assert tree.at(i, v).tolist() == tree.T.at(v, i).tolist() == expected


def code(compiled: bool) -> Code:
    found = Code(edge_numbers.CODE._names, shared=True)
    found.bought = compiled
    found.repays = lambda seconds: compiled  # type: ignore[method-assign]
    return found


def test_the_last_vertex_is_before_the_first() -> None:
    tree = EdgeNumbers(np.array([[-1, 0]], np.int8), np.array([0, 0, 1]), np.array([0], np.int32))
    assert tree.at(np.array([0]), np.array([-1])).tolist() == [0]
