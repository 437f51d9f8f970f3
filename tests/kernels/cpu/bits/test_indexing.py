"""What `M[…]` gives of packed rows, against NumPy's own indexing of truth values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.errors import SemiringError
from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.cpu.bits import choose, indexing
from semiring.kernels.cpu.bits.indexing import row_entries, select
from semiring.kernels.cpu.compile.price import Code

quick = settings(max_examples=150)


@pytest.fixture(params=["always", "never"], autouse=True)
def when(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it by compiled code, and all by NumPy."""
    monkeypatch.setenv("SEMIRING_COMPILE", request.param)
    monkeypatch.setattr(choose, "CODE", Code(list))


def packed(dense: np.ndarray) -> PackedRows:
    rows, columns = dense.shape
    matrix = PackedRows.zeros(rows, columns)
    padded = np.zeros((rows, 64 * matrix.words.shape[1]), bool)
    padded[:, :columns] = dense
    matrix.words[...] = np.packbits(padded, axis=1, bitorder="little").view("<u8")
    return matrix


def unpacked(found: Any) -> np.ndarray:
    """The answer as an array; of packed rows all words, and nothing beyond the last column."""
    if not isinstance(found, PackedRows):
        return np.asarray(found)
    whole = np.ascontiguousarray(found.words).astype("<u8").view(np.uint8)
    bits = np.unpackbits(whole, axis=1, bitorder="little").view(bool)
    assert not bits[:, found.shape[1] :].any()
    return bits[:, : found.shape[1]]


@st.composite
def part(draw: st.DrawFn, length: int) -> Any:
    """An index of one axis: a position, a slice with any step, positions in an array or a list, truth values."""
    kind = draw(st.sampled_from(["position", "slice", "array", "list", "truth"]))
    if kind == "position" and length:
        position = draw(st.integers(-length, length - 1))
        narrow = np.int8 if position < 128 else np.int16
        return draw(st.sampled_from([int, narrow, np.uint64]))(position) if position >= 0 else position
    if kind == "truth":
        return np.array(draw(st.lists(st.booleans(), min_size=length, max_size=length)), bool)
    if kind in ("array", "list") and length:
        some = draw(st.lists(st.integers(-length, length - 1), max_size=5))
        return some if kind == "list" else np.array(some, np.int64)
    ends = st.none() | st.integers(-length - 3, length + 3)
    return slice(draw(ends), draw(ends), draw(st.sampled_from([None, 1, 2, 3, -1, -5])))


@quick
@given(st.data(), st.integers(0, 9), st.sampled_from([0, 1, 63, 64, 65, 130, 520]), st.integers(0, 2**32 - 1))
def test_indexing_is_numpys(data: st.DataObject, rows: int, columns: int, seed: int) -> None:
    dense = np.random.default_rng(seed).random((rows, columns)) < 0.5
    matrix, i = packed(dense), data.draw(part(rows))
    j = data.draw(part(columns))
    lists = isinstance(i, (list, np.ndarray)) and isinstance(j, (list, np.ndarray))
    if lists and np.arange(rows)[i].shape != np.arange(columns)[j].shape:
        j = np.resize(np.arange(columns)[j], np.arange(rows)[i].shape) if np.arange(columns)[j].size else slice(None)
    as_numpy = [np.asarray(k, np.int64) if isinstance(k, list) else k for k in (i, j)]
    for key, numpys in (((i, j), dense[as_numpy[0], as_numpy[1]]), (i, dense[as_numpy[0]]), ((i,), dense[as_numpy[0]])):
        found = select(matrix, key)
        assert np.array_equal(unpacked(found), numpys), key
        positions = np.ndim(numpys) == 0
        assert isinstance(found, bool) == positions
        assert isinstance(found, PackedRows) == (np.ndim(numpys) == 2)


def test_entries_in_arrays_of_any_shape() -> None:
    dense = np.random.default_rng(0).random((5, 70)) < 0.5
    matrix, rows, columns = packed(dense), np.array([[0], [4], [-1]]), np.array([69, -70])
    assert np.array_equal(select(matrix, (rows, columns)), dense[rows, columns])
    assert np.array_equal(select(matrix, (2, columns)), dense[2, columns])
    assert select(matrix, (np.empty((0, 3), int), 0)).shape == (0, 3)


def test_entries_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "PAIRS", 7)
    dense = np.random.default_rng(0).random((5, 70)) < 0.5
    i, j = np.indices(dense.shape)
    assert np.array_equal(select(packed(dense), (i, j)), dense)


def test_rows_as_truth_values() -> None:
    dense = np.random.default_rng(0).random((3, 70)) < 0.5
    view = packed(np.pad(dense, ((0, 0), (64, 200))))[:, 64:134]
    for matrix in (packed(dense), view):
        found = row_entries(matrix, 1)
        assert found.dtype == bool and np.array_equal(found, dense[1])
    assert row_entries(packed(np.zeros((1, 0), bool)), 0).shape == (0,)


@pytest.mark.parametrize(("key", "shared"), [
    ((slice(1, 3), slice(0, 64)), True), ((slice(1, 3), slice(64, 130)), True), (slice(1, 3), True),
    ((slice(1, 3), slice(1, 64)), False), ((slice(1, 3), slice(0, 63)), False), (slice(None, None, 2), False),
    ([1, 2], False), (np.ones(4, bool), False), ((slice(None), [1, 2]), False),
    ((slice(None), slice(None, None, -1)), False),
])
def test_a_change_is_seen_or_refused(key: Any, shared: bool) -> None:
    matrix = packed(np.ones((4, 130), bool))
    found = select(matrix, key)
    assert found.words.flags.writeable == np.shares_memory(found.words, matrix.words) == shared


@pytest.mark.parametrize(("key", "message"), [
    (4, "row 4 is out of range for 4 rows"), (-5, "row -5 is out of range for 4 rows"),
    ((0, 70), "column 70 is out of range for 70 columns"), ([0, 9], "row 9 is out of range"),
    ((slice(None), [3, -71]), "column -71 is out of range"), (([0], [70]), "column 70 is out of range"),
])
def test_out_of_range(key: Any, message: str) -> None:
    with pytest.raises(IndexError, match=message):
        select(packed(np.ones((4, 70), bool)), key)


@pytest.mark.parametrize(("key", "message"), [
    (1.5, "indexed by integers, slices and arrays of integers, not 1.5"), ("0", "not '0'"), (None, "not None"),
    (True, "not True"), (np.ones(3, bool), "indexed by integers"), ((0, 0, 0), r"not \(0, 0, 0\)"),
    ([[0, 1]], "rows or columns to take are a 1-D array, not one of shape"), (([0, 1], [0, 1, 2]), "do not broadcast"),
    (..., "indexed by integers"),
])
def test_no_index(key: Any, message: str) -> None:
    with pytest.raises(SemiringError, match=message):
        select(packed(np.ones((4, 70), bool)), key)
