"""The transitive closure of compressed rows by NumPy against searches in plain Python, and against compiled code."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_patterns import patterns

from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.cpu.bits import components
from semiring.kernels.numpy.components import reach

PAIR = np.dtype([("cost", "f8"), ("hops", "i4")])


def rows(n: int, edges: list[tuple[int, int]], shuffle: int) -> tuple[np.ndarray, np.ndarray]:
    """Compressed rows with some entries twice, in any order, and a place behind the last that means nothing."""
    rng = np.random.default_rng(shuffle)
    columns = [[v for u, v in [*edges, *edges[::3]] if u == i] for i in range(n)]
    for row in columns:
        rng.shuffle(row)
    offsets = np.cumsum([0, *map(len, columns)])
    return offsets, np.array([v for row in columns for v in row] + [-5], np.int32)


def walks(n: int, edges: list[tuple[int, int]]) -> np.ndarray:
    """Whether a walk of one edge or more leads from each vertex to each, by a search from every one."""
    found = np.zeros((n, n), bool)
    for source in range(n):
        waiting = [source]
        while waiting:
            u = waiting.pop()
            for a, v in edges:
                if a == u and not found[source, v]:
                    found[source, v] = True
                    waiting.append(v)
    return found


@settings(max_examples=80)
@given(patterns(20), st.booleans(), st.integers(0, 2**32 - 1))
def test_every_closure(graph: tuple[int, list[tuple[int, int]]], reflexive: bool, seed: int) -> None:
    n, edges = graph
    offsets, columns = rows(n, edges, seed)
    for array in (offsets, columns):
        array.flags.writeable = False
    expected = walks(n, edges) | (reflexive * np.eye(n, dtype=bool))
    for module_reach in (reach, lambda *given: components.reach(*given, threads=1)):
        R = module_reach(offsets, columns).packed(reflexive)
        assert type(R) is PackedRows and R.shape == (n, n)
        bits = np.unpackbits(R.words.view(np.uint8), axis=1, bitorder="little")
        assert np.array_equal(bits[:, :n], expected) and not bits[:, n:].any()
        for zero, one, dtype in ((0, 1, bool), (np.inf, 0, "f8"), (2, -7, "i2"), (0, 1, "u1")):
            found = module_reach(offsets, columns).dense(zero, one, dtype, reflexive)
            assert found.dtype == dtype
            assert np.array_equal(found, np.where(expected, one, zero))


def test_more_vertices_than_a_word_has_bits() -> None:
    n = 200
    ring = [(v, (v + 1) % 100) for v in range(100)] + [(v, v + 1) for v in range(99, n - 1)]
    offsets, columns = rows(n, ring, 0)
    found = reach(offsets, columns).dense(0, 1, bool, False)
    i, j = np.indices((n, n))
    assert np.array_equal(found, (i < 100) | (i < j))
    assert np.array_equal(found, components.reach(offsets, columns).dense(0, 1, bool, False))


def test_records_for_zero_and_one() -> None:
    zero, one = np.array((np.inf, 9), PAIR)[()], np.array((0, 0), PAIR)[()]
    found = reach(np.array([0, 1, 1]), np.array([1], np.int32)).dense(zero, one, PAIR)
    assert found.dtype == PAIR
    assert found.tolist() == [[(0, 0), (0, 0)], [(np.inf, 9), (0, 0)]]


def test_answers_do_not_depend_on_those_before() -> None:
    for module_reach in (components.reach, reach):
        found = module_reach(np.array([0, 1, 1]), np.array([1], np.int32))
        assert found.dense(0, 1, int).tolist() == [[1, 1], [0, 1]]
        assert found.dense(0, 1, int, reflexive=False).tolist() == [[0, 1], [0, 0]]
        found.packed(False).words[...] = 0
        assert found.dense(0, 1, int).tolist() == [[1, 1], [0, 1]]
