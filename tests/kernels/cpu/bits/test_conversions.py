"""Arrays, edges and sparse matrices to packed matrices and back, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from reachable import same

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import PackedRows, frozen
from semiring.kernels.cpu.bits import choose, conversions
from semiring.kernels.cpu.bits.conversions import (
    from_dense,
    from_edges,
    from_sparse,
    neighbours,
    set_entries,
    to_dense,
    to_sparse,
)
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.compile.price import Code

EDGES = (0, 1, 2, 3, 16, 63, 64, 65, 127, 128, 129, 200, 511, 512, 513)  # around words and vectors
SETTINGS = settings(max_examples=60)
sizes = st.one_of(st.sampled_from(EDGES[:12]), st.integers(0, 140))
seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(params=["always", "never"], autouse=True)
def when(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it by compiled code, and all by NumPy."""
    monkeypatch.setenv("SEMIRING_COMPILE", request.param)
    monkeypatch.setattr(choose, "CODE", Code(list))


def random_matrix(rng: np.random.Generator, rows: int, columns: int, density: float) -> np.ndarray:
    return rng.random((rows, columns)) < density


@SETTINGS
@given(sizes, sizes, seeds, st.sampled_from([bool, "i1", "u1", "i4", "u8", "f2", "f4", "f8", "c8"]))
def test_pack_and_unpack(rows, columns, seed, dtype):
    rng = np.random.default_rng(seed)
    array = random_matrix(rng, rows, columns, rng.random()).astype(dtype)
    if array.dtype.kind != "b":
        array = array * np.asarray(3, array.dtype)
    array.flags.writeable = False
    matrix = PackedMatrix.from_dense(array)
    same(matrix, array != 0)
    assert matrix.words.shape[1] % 8 == 0
    assert matrix.count() == np.count_nonzero(array)
    dense = matrix.to_dense(dtype)
    assert dense.dtype == array.dtype
    assert np.array_equal(dense, (array != 0).astype(dtype))
    same(matrix.transpose(), array.T != 0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float64])
@pytest.mark.parametrize(
    ("when", "threads"), [("always", 1), ("always", 2), ("always", 3), ("never", 1)], indirect=["when"]
)
def test_pack_any_layout_on_any_number_of_threads(dtype, threads):
    rng = np.random.default_rng(5)
    base = random_matrix(rng, 2 * 1400, 2 * 1777, 0.3).astype(dtype)
    views = (
        base[:1400, :1777], np.asfortranarray(base), base.T, base[::2, ::2], base[::-1, ::-1],
        np.broadcast_to(base[0], (1500, base.shape[1])),
    )
    for view in views:
        matrix = PackedMatrix.from_dense(view, threads)
        same(matrix, view != 0)
        assert np.array_equal(matrix.to_dense(threads=threads), view != 0)
    for out in (np.empty(base.shape, dtype), np.empty(base.shape, dtype, "F"), np.empty(base.shape, "i2")[::-1]):
        matrix = PackedMatrix.from_dense(base, threads)
        assert matrix.to_dense(out=out, threads=threads) is out
        assert np.array_equal(out, base)
    same(matrix.transpose(threads), base.T != 0)


def test_negative_zero_is_false_and_nan_is_true():
    same(PackedMatrix.from_dense([[-0.0, np.nan, 1e-300]]), np.array([[False, True, True]]))


@SETTINGS
@given(st.integers(0, 9), sizes, seeds, st.integers(1, 40))
def test_edges_and_neighbours(rows: int, columns: int, seed: int, entries: int) -> None:
    """There and back by positions, which come in any order and more than once."""
    rng = np.random.default_rng(seed)
    dense = random_matrix(rng, rows, columns, rng.random())
    i, j = np.nonzero(dense)
    again = rng.integers(0, max(len(i), 1), 2 * len(i))
    i, j = np.concatenate([i, i[again]]), np.concatenate([j, j[again]])
    matrix = from_edges(PackedRows, i.astype("u2"), j.tolist(), (rows, columns))
    assert type(matrix) is PackedRows
    same(matrix, dense)
    found, expected_first = [], 0
    for first, offsets, part in neighbours(matrix, entries):
        assert first == expected_first and offsets[0] == 0 and offsets[-1] == len(part)
        assert len(part) <= entries or len(offsets) == 2  # a row is not divided
        found += [part[a:b].tolist() for a, b in pairwise(offsets.tolist())]
        expected_first += len(offsets) - 1
    assert found == [np.flatnonzero(row).tolist() for row in dense]
    stored = to_sparse(matrix)
    assert stored.has_canonical_format and np.array_equal(stored.toarray(), dense)
    same(from_sparse(PackedRows, stored), dense)


def test_a_view_is_read_by_its_rows() -> None:
    dense = random_matrix(np.random.default_rng(1), 9, 300, 0.3)
    matrix = from_dense(PackedRows, dense, None)
    part = matrix[2:8, 64:192]
    assert np.array_equal(to_sparse(part).toarray(), dense[2:8, 64:192])
    assert np.array_equal(to_dense(part, np.empty((6, 128), "f4"), None), dense[2:8, 64:192])
    set_entries(part, [0, 5], [0, 127])
    dense[2, 64] = dense[7, 191] = True
    same(matrix, dense)


def test_chunks_are_of_the_same_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where rows without entries fill a chunk by themselves."""
    dense = np.zeros((100, 70), bool)
    dense[[3, 50, 99], [0, 69, 64]] = True
    matrix = from_dense(PackedRows, dense, None)
    whole = to_sparse(matrix)
    monkeypatch.setattr(conversions, "ENTRIES", 16)
    assert len(list(neighbours(matrix, 1000))) > 10
    assert (to_sparse(matrix) != whole).nnz == 0
    same(from_edges(PackedRows, *np.nonzero(dense), dense.shape), dense)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_what_is_stored_is_true(form: str) -> None:
    """But for the formats that store zeros to fill up with, and truth values, which say it themselves."""
    stored = sp.coo_array(([0.0, 2.0, -1.0], ([0, 1, 1], [2, 0, 0])), shape=(2, 3)).asformat(form)
    expected = np.zeros((2, 3), bool)
    expected[1, 0] = True
    if form not in ("bsr", "dia"):
        expected[0, 2] = True
    same(from_sparse(PackedRows, stored), expected)
    bits = sp.csr_array((np.array([True, False]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    same(from_sparse(PackedRows, bits), np.array([[True, False]]))


@pytest.mark.parametrize(("call", "message"), [
    (lambda: from_dense(PackedRows, np.zeros(3), None), "only a 2-D bool or numeric array can be packed, not 1-D"),
    (lambda: from_dense(PackedRows, np.zeros((2, 2), object), None), "not 2-D object"),
    (lambda: from_edges(PackedRows, [0], [0], -1), "a matrix of -1 rows and -1 columns cannot be made"),
    (lambda: from_edges(PackedRows, [0, 1], [0], 3), "2 rows and 1 columns: an entry needs one of each"),
    (lambda: from_edges(PackedRows, [0, 3, 9], [0, 0, 0], 3), r"rows\[1\] is 3, outside 0 … 2"),
    (lambda: from_edges(PackedRows, [0, 1], [0, -1], (2, 5)), r"columns\[1\] is -1, outside 0 … 4"),
    (lambda: from_edges(PackedRows, [0.0], [0], 3), "rows of entries are a 1-D array of integers, not 1-D float64"),
    (lambda: from_edges(PackedRows, [0], [[0]], 3), "columns of entries are a 1-D array of integers, not 2-D int64"),
    (lambda: from_sparse(PackedRows, np.eye(3)), "a sparse matrix of two axes can be packed so, not ndarray"),
    (lambda: from_sparse(PackedRows, sp.coo_array([1, 0, 2])), "a sparse matrix of two axes"),
    (lambda: list(neighbours(PackedRows.zeros(2, 2), 0)), "chunks of 0 entries: give 1 or more"),
    (lambda: set_entries(frozen(PackedRows.zeros(2, 2)), [0], [0]), "read-only"),
])
def test_refusals(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(SemiringError, match=message):
        call()


def test_nothing_is_set_where_a_position_is_wrong() -> None:
    matrix = PackedRows.zeros(2, 2)
    with pytest.raises(SemiringError):
        set_entries(matrix, [0, 1, 2], [0, 1, 0])
    assert not matrix.count()
    set_entries(matrix, [], [])
    assert not matrix.count()
