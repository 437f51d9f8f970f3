"""Single entries by address: which bits are set, and which positions are listed."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.bits.entries import list_columns, set_entries

quick = settings(max_examples=80)


def numbers(words: np.ndarray) -> list[int]:
    """The number that each row of words is."""
    return [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in words]


@quick
@given(st.integers(1, 5), st.integers(1, 200), st.integers(0, 3), st.data())
def test_there_and_back(rows: int, columns: int, more: int, data: st.DataObject) -> None:
    """With words of a row that hold no entries, and a row on either side that does not belong to the matrix."""
    width = -(-columns // 64)
    words = np.zeros((rows + 2, width + more), np.uint64)
    words[[0, -1]] = words[:, width:] = 77
    before = words.copy()
    places = data.draw(st.lists(st.tuples(st.integers(0, rows - 1), st.integers(0, columns - 1)), max_size=20))
    i, j = np.array(places, np.int64).reshape(-1, 2).T.copy()
    inside, stride = words[1:-1], width + more
    set_entries(inside.ctypes.data, stride, i, j)
    expected = [0] * rows
    for row, column in places:
        expected[row] |= 1 << column
    assert numbers(inside[:, :width]) == expected
    assert (words[[0, -1]] == before[[0, -1]]).all() and (words[:, width:] == 77).all()
    found = np.full(len(set(places)), -1)
    list_columns(inside.ctypes.data, stride, rows, width, found)
    assert found.tolist() == [column for _, column in sorted(set(places))]


def test_entries_that_are_set_stay_so() -> None:
    words = np.array([[2**64 - 1]], np.uint64)
    set_entries(words.ctypes.data, 1, np.array([0, 0]), np.array([5, 63]))
    assert numbers(words) == [2**64 - 1]
    found = np.empty(64, np.int64)
    list_columns(words.ctypes.data, 1, 1, 1, found)
    assert found.tolist() == list(range(64))


def test_a_row_may_be_listed_again() -> None:
    """A stride of 0, as one row of a matrix has."""
    words = np.array([0b101], np.uint64)
    found = np.empty(4, np.int64)
    list_columns(words.ctypes.data, 0, 2, 1, found)
    assert found.tolist() == [0, 2, 0, 2]


def test_nothing() -> None:
    words, none = np.array([[7]], np.uint64), np.empty(0, np.int64)
    set_entries(words.ctypes.data, 1, none, none)
    list_columns(words.ctypes.data, 1, 0, 1, none)
    list_columns(words.ctypes.data, 1, 1, 0, none)
    assert words.tolist() == [[7]]
