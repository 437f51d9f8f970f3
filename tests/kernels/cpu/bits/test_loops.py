"""The compiled loops of the packed engine one by one, against NumPy's booleans and SciPy's components."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.bits import loops
from semiring.kernels.cpu.bits.engine import CLOSE, MULTIPLY
from semiring.kernels.cpu.bits.loops import PANEL
from semiring.kernels.cpu.bits.vectors import PIVOTS, SUBSET, TABLES, VECTOR

quick = settings(max_examples=30)
sizes = st.sampled_from([1, 2, 63, 64, 65, 130, 520])
seeds = st.integers(0, 2**32 - 1)


def words_of(dense: np.ndarray, width: int | None = None, around: int = 0) -> np.ndarray:
    """Rows of bits in words of 64, so many a row; words beyond the columns hold `around`."""
    rows, columns = dense.shape
    used = -(-columns // 64)
    padded = np.zeros((rows, 64 * used), bool)
    padded[:, :columns] = dense
    words = np.full((rows, used if width is None else width), around, np.uint64)
    words[:, :used] = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    return words


def dense_of(words: np.ndarray, columns: int) -> np.ndarray:
    whole = np.ascontiguousarray(words).astype("<u8").view(np.uint8).reshape(len(words), 8 * words.shape[1])
    bits = np.unpackbits(whole, axis=1, bitorder="little").view(bool)
    assert not bits[:, columns:].any()  # nothing beyond the last column
    return bits[:, :columns]


def vectors_for(columns: int) -> int:
    """Words of a row of whole vectors."""
    return VECTOR * -(-columns // PANEL)


def digraph(rng: np.random.Generator, n: int, degree: float) -> np.ndarray:
    return rng.random((n, n)) < degree / n


def warshall(graph: np.ndarray) -> np.ndarray:
    closed = graph.copy()
    for k in range(len(closed)):
        closed |= closed[:, k, None] & closed[k]
    return closed


@quick
@given(st.integers(1, 4), st.integers(1, 140), st.integers(0, 2), st.integers(0, 5), seeds)
def test_packing(rows: int, columns: int, more: int, gap: int, seed: int) -> None:
    """From rows of bytes with something between them, and back without touching it."""
    rng = np.random.default_rng(seed)
    room = rng.integers(0, 3, (rows, columns + gap), np.uint8)
    entries = room[:, :columns]
    width = -(-columns // 64) + more
    words = np.full((rows, width), 99, np.uint64)
    loops.pack_rows(words.ctypes.data, width, room.ctypes.data, columns + gap, rows, columns)
    assert (dense_of(words, columns) == (entries != 0)).all()
    back = np.full_like(room, 77)
    loops.unpack_rows(back.ctypes.data, columns + gap, words.ctypes.data, width, rows, columns)
    assert (back[:, :columns] == (entries != 0)).all() and (back[:, columns:] == 77).all()


@pytest.mark.parametrize("words", range(1, VECTOR + 1))
def test_rows_as_vectors(words: int) -> None:
    """Filled up with zeros, and put back without touching what lies beside."""
    rng = np.random.default_rng(words)
    source = rng.integers(0, 2**64, (3, 11), np.uint64)
    vectors = np.full((3, VECTOR), 5, np.uint64)
    loops.gather(vectors.ctypes.data, source.ctypes.data, 11, 3, words)
    assert (vectors[:, :words] == source[:, :words]).all() and not vectors[:, words:].any()
    target = np.full((3, 11), 6, np.uint64)
    loops.scatter(target.ctypes.data, 11, vectors.ctypes.data, 3, words)
    assert (target[:, :words] == source[:, :words]).all() and (target[:, words:] == 6).all()
    total, row = vectors[0].copy(), source[1].copy()
    loops.add_row(total.ctypes.data, row.ctypes.data, words)
    assert (total[:words] == source[0, :words] | row[:words]).all() and not total[words:].any()


def test_bits_and_prefixes() -> None:
    assert [loops.bit(j) for j in (0, 5, 63, 64, 130)] == [1, 32, 2**63, 1, 4]
    for n in (0, 1, 63, 64, 65, 511, 512):
        row = np.full(VECTOR, 9, np.uint64)
        loops.fill(row.ctypes.data, VECTOR, n)
        assert int.from_bytes(row.astype("<u8").tobytes(), "little") == 2**n - 1
    room = np.full(3 * VECTOR, 9, np.uint64)
    loops.clear(room.ctypes.data, 2)
    assert not room[: 2 * VECTOR].any() and (room[2 * VECTOR :] == 9).all()


@quick
@given(st.lists(st.integers(0, 4), max_size=40), st.integers(1, 600), seeds)
def test_transposed_unions(lengths: list[int], columns: int, seed: int) -> None:
    """Row j of the result: in which groups some row has bit j."""
    rng, lengths = np.random.default_rng(seed), [max(length, 1) for length in lengths]
    dense = rng.random((9, columns)) < 0.2
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    members = rng.integers(0, 9, offsets[-1])
    groups, stride = len(lengths), vectors_for(max(len(lengths), 1))
    source, target = words_of(dense), np.full((columns, stride), 5, np.uint64)
    panels = -(-columns // PANEL)
    for panel in range(panels):  # by itself
        loops.transpose_unions(
            target.ctypes.data, stride, source.ctypes.data, source.shape[1], members, offsets, columns, panel, panel + 1
        )
    united = [dense[members[a:b]].any(axis=0) for a, b in pairwise(offsets)]
    expected = np.array(united).reshape(groups, columns).T
    assert (dense_of(target, groups) == expected).all()


@quick
@given(seeds, st.sampled_from([0.03, 0.5]))
def test_tables_hold_the_union_of_every_subset(seed: int, density: float) -> None:
    rows = words_of(np.random.default_rng(seed).random((PIVOTS, PANEL)) < density)
    tables = np.zeros((TABLES, 2**SUBSET, VECTOR), np.uint64)
    loops.build_tables(tables.ctypes.data, rows.ctypes.data)
    for t in range(TABLES):
        some = rows[SUBSET * t : SUBSET * (t + 1)]
        for subset in range(2 ** len(some)):
            chosen = [some[b] for b in range(len(some)) if subset >> b & 1]
            assert (tables[t, subset] == np.bitwise_or.reduce(chosen or [np.zeros(VECTOR, np.uint64)])).all()


def test_pivot_rows_are_multiplied_in_place() -> None:
    """With at most 512 pivots, P ← P ⊕ D P, where D lies within P."""
    rng = np.random.default_rng(4)
    for n in (5, 64, 130, 512):
        dense = rng.random((n, 600)) < 0.01
        words, room = words_of(dense), np.empty(MULTIPLY + 64, np.uint8)
        address, stride = words.ctypes.data, words.shape[1]
        diagonal = address + 8  # columns 64 to 64 + n
        loops.multiply_rows(
            address, stride, diagonal, stride, address, stride, n, stride, n, True, room.ctypes.data
        )
        expected = dense | (dense[:, 64 : 64 + n].astype("f4") @ dense.astype("f4") > 0)
        assert (dense_of(words, 600) == expected).all(), n


@quick
@given(st.integers(0, 64), seeds, st.floats(0.1, 3))
def test_a_word_of_vertices(n: int, seed: int, degree: float) -> None:
    graph = digraph(np.random.default_rng(seed), max(n, 1), degree)[:n, :n]
    x = np.full(64, 2**64 - 1, np.uint64)
    x[:n] = words_of(graph)[:, 0] if n else []
    loops.close_word(x, n)
    assert (dense_of(x[:n, None], n) == warshall(graph)).all()
    assert (x[n:] == 2**64 - 1).all()


@quick
@given(st.sampled_from([1, 63, 64, 65, 128, 200, 511, 512]), seeds, st.floats(0.1, 3), st.booleans())
def test_a_diagonal_block(n: int, seed: int, degree: float, reflexive: bool) -> None:
    """Within a wider matrix, of which it is all that changes."""
    graph = digraph(np.random.default_rng(seed), n, degree)
    width = -(-n // 64)
    words, room = words_of(graph, width + 1, 7), np.empty(CLOSE + 64, np.uint8)
    loops.close_diagonal(words.ctypes.data, width + 1, n, reflexive, room.ctypes.data)
    expected = warshall(graph) | (np.eye(n, dtype=bool) & reflexive)
    assert (dense_of(words[:, :width], n) == expected).all() and (words[:, width] == 7).all()


@quick
@given(sizes, seeds)
def test_diagonals(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense, kept = rng.random((n, n)) < 0.5, rng.random(n) < 0.5
    words = words_of(dense)
    loops.clear_diagonal(words.ctypes.data, words.shape[1], kept)
    assert (dense_of(words, n) == dense & (~np.eye(n, dtype=bool) | kept)).all()
    loops.set_diagonal(words.ctypes.data, words.shape[1], n)
    assert (dense_of(words, n) == dense | np.eye(n, dtype=bool)).all()


def components(graph: np.ndarray) -> Any:
    """By the matrix and its transpose, in rows of whole vectors."""
    n = len(graph)
    stride = vectors_for(n)
    forward, back, room = words_of(graph, stride), words_of(graph.T.copy(), stride), np.zeros(stride, np.uint64)
    return loops.strong_components(forward.ctypes.data, back.ctypes.data, stride, n, room.ctypes.data)


@quick
@given(sizes, seeds, st.sampled_from([0.3, 1, 1.4, 3]))
def test_strong_components(n: int, seed: int, degree: float) -> None:
    """SciPy's, each numbered before those that it reaches."""
    graph = digraph(np.random.default_rng(seed), n, degree)
    label, members, offsets, cyclic = components(graph)
    count, expected = sp.csgraph.connected_components(sp.csr_array(graph), connection="strong")
    assert len(offsets) == count + 1 and len(set(zip(label.tolist(), expected.tolist(), strict=True))) == count
    assert sorted(members.tolist()) == list(range(n)) and (offsets[0], offsets[-1]) == (0, n)
    assert all((label[members[a:b]] == c).all() for c, (a, b) in enumerate(pairwise(offsets)))
    sources, targets = np.nonzero(graph)
    assert (label[sources] <= label[targets]).all()
    assert (cyclic == warshall(graph).diagonal()).all()


@quick
@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), seeds)
def test_united_rows(lengths: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.random((9, 600)) < 0.1
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    members, stride = rng.integers(0, 9, offsets[-1]), vectors_for(600)
    source, target = words_of(dense, stride), np.full((len(lengths), stride), 3, np.uint64)
    middle = len(lengths) // 2
    loops.unite_rows(target.ctypes.data, source.ctypes.data, stride, members, offsets, middle, len(lengths))
    assert (target[:middle] == 3).all()  # not asked for
    expected = [dense[members[a:b]].any(axis=0) for a, b in pairwise(offsets)][middle:]
    assert (dense_of(target[middle:], 600) == np.array(expected)).all()


@quick
@given(sizes, seeds, st.sampled_from([0.5, 2, 10]), st.integers(0, 300))
def test_closures_along_an_order(n: int, seed: int, degree: float, budget: int) -> None:
    """The reflexive closure of edges that ascend; or, where it takes too long, a graph with the same closure."""
    graph = np.triu(digraph(np.random.default_rng(seed), n, degree), 1)
    expected = warshall(graph) | np.eye(n, dtype=bool)
    stride = vectors_for(n)
    for limit in (10**9, budget):
        words, room = words_of(graph, stride), np.zeros(stride, np.uint64)
        ended = loops.propagate(words.ctypes.data, stride, n, limit, room.ctypes.data)
        found = dense_of(words, n)
        assert ended or limit == budget
        assert (found == expected).all() if ended else not (found & ~expected).any()
        assert (warshall(found | np.eye(n, dtype=bool)) == expected).all()


def test_a_row_is_united_for_edges_of_the_reduction_alone() -> None:
    """A total order of n vertices has n − 1 of those; the last one is taken though it costs too much."""
    n = 200
    for budget, ended in ((n - 1, True), (n - 2, True), (n - 3, False)):
        words, room = words_of(np.triu(np.ones((n, n), bool), 1), VECTOR), np.zeros(VECTOR, np.uint64)
        assert loops.propagate(words.ctypes.data, VECTOR, n, budget, room.ctypes.data) == ended
