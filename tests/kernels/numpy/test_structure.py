"""The structure of compressed rows by NumPy against sets in plain Python, and against the compiled loops."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.sparse import structure as compiled
from semiring.kernels.numpy import structure
from semiring.kernels.numpy.structure import BROKEN, FINE, SORTED, UNSORTED

Rows = tuple[np.ndarray, np.ndarray]
Pattern = list[list[int]]  # the columns of each row
few = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def patterns(draw: st.DrawFn, rows: int, width: int, sets: bool = True) -> Pattern:
    """Columns of every row: ascending and different, or any."""
    if not width:
        return [[] for _ in range(rows)]
    columns = st.lists(st.integers(0, width - 1), max_size=draw(st.sampled_from([0, 2, 6])), unique=sets)
    return [sorted(row) if sets else row for row in draw(st.lists(columns, min_size=rows, max_size=rows))]


def stored(pattern: Pattern, spare: int = 0) -> Rows:
    """Offsets and columns, with some places behind the last entry that mean nothing."""
    offsets = np.cumsum([0, *map(len, pattern)])
    return offsets, np.array([j for row in pattern for j in row] + [-7] * spare, np.int32)


@pytest.fixture(autouse=True)
def bought(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other module calls its compiled loops."""
    code = Code(lambda: [])
    code.bought = True
    monkeypatch.setattr(compiled, "CODE", code)


sizes = st.tuples(*[st.integers(0, 9)] * 3)

def state(pattern: Pattern, width: int) -> int:
    """What is said of the columns, from the definitions."""
    if any(not 0 <= j < width for row in pattern for j in row):
        return BROKEN
    if any(j > k for row in pattern for j, k in pairwise(row)):
        return UNSORTED
    return SORTED if any(j == k for row in pattern for j, k in pairwise(row)) else FINE


@few
@given(st.integers(0, 7), st.integers(0, 9), st.booleans(), st.integers(0, 3), st.data())
def test_the_state_of_rows(rows: int, width: int, sets: bool, spare: int, data: st.DataObject) -> None:
    pattern = data.draw(patterns(rows, width, sets))
    narrow = data.draw(st.integers(0, width))
    if not sets and data.draw(st.booleans()):
        pattern = [sorted(row) for row in pattern]
    offsets, columns = stored(pattern, spare)
    for array in (offsets, columns):
        array.flags.writeable = False
    for w in (width, narrow):
        assert structure.state_of(offsets, columns, w) == compiled.state_of(offsets, columns, w) == state(pattern, w)


@pytest.mark.parametrize("offsets", [[1, 1, 2], [0, 2, 1], [0, 1, 3], [0, -1, 2], [0, 5, 2], [-1, 0, 2], [0, 2, -1]])
def test_offsets_that_descend_or_lead_beyond_the_entries_are_broken(offsets: list[int]) -> None:
    columns = np.array([0, 1], np.int32)
    assert structure.state_of(np.array(offsets), columns, 9) == BROKEN
    assert compiled.state_of(np.array(offsets), columns, 9) == BROKEN
    assert structure.state_of(np.array([0, 1, 2]), columns, 9) == FINE


def test_columns_at_the_limits() -> None:
    most = np.iinfo(np.int32).max
    offsets = np.array([0, 2])
    for row, width, wanted in (
        ([0, most - 1], most, FINE), ([0, most], most, BROKEN), ([most, 0], most + 1, UNSORTED), ([-1, 0], 3, BROKEN),
        ([np.iinfo(np.int32).min, most], most, BROKEN), ([most - 1] * 2, most, SORTED),
    ):
        columns = np.array(row, np.int32)
        assert structure.state_of(offsets, columns, width) == compiled.state_of(offsets, columns, width) == wanted


@few
@given(st.integers(0, 7), st.integers(0, 9), st.integers(0, 3), st.data())
def test_transposing(rows: int, width: int, spare: int, data: st.DataObject) -> None:
    pattern = data.draw(patterns(rows, width))
    offsets, columns = stored(pattern, spare)
    entries = [(i, j) for i, row in enumerate(pattern) for j in row]
    assert structure.rows_of(offsets).tolist() == [i for i, _ in entries]
    begins, sources, order = structure.transposed(offsets, columns, width)
    assert [x.dtype for x in (begins, sources, order)] == [np.int64, np.int32, np.int64]
    assert [entries[e] for e in order] == sorted(entries, key=lambda e: (e[1], e[0]))
    assert sources.tolist() == [entries[e][0] for e in order]
    assert begins.tolist() == [sum(j < k for _, j in entries) for k in range(width + 1)]
    assert structure.column_offsets(columns[: len(entries)], width).tolist() == begins.tolist()
    for found, wanted in zip((begins, sources, order), compiled.transposed(offsets, columns, width), strict=True):
        assert found.dtype == wanted.dtype and np.array_equal(found, wanted)


@few
@given(sizes, st.integers(0, 3), st.data())
def test_products(size: tuple[int, int, int], spare: int, data: st.DataObject) -> None:
    m, k, n = size
    left, right = data.draw(patterns(m, k)), data.draw(patterns(k, n))
    A, B = stored(left, spare), stored(right, spare)
    terms = [(i, j, p, q) for i, row in enumerate(left) for p, inner in enumerate(row, int(A[0][i]))
             for q, j in enumerate(right[inner], int(B[0][inner]))]
    work = structure.product_work(*A, B[0])
    assert work.dtype == np.int64
    assert work.tolist() == [sum(t[0] < i for t in terms) for i in range(m + 1)]
    assert list(zip(*(x.tolist() for x in structure.terms_of(A, B)), strict=True)) == terms
    offsets, columns = structure.product_structure(A, B, n)
    pattern = [sorted({t[1] for t in terms if t[0] == i}) for i in range(m)]
    wanted = stored(pattern)
    assert (offsets.dtype, columns.dtype) == (np.int64, np.int32)
    assert np.array_equal(offsets, wanted[0]) and np.array_equal(columns, wanted[1])
    for found, other in zip((offsets, columns), compiled.product_structure(A, B, n, 1), strict=True):
        assert found.dtype == other.dtype and np.array_equal(found, other)


def test_products_of_very_wide_matrices() -> None:
    """Rows times columns is beyond 32 bits."""
    width = np.iinfo(np.int32).max
    A = np.array([0, 1, 2, 3]), np.array([0, 1, 0], np.int32)
    B = np.array([0, 2, 3]), np.array([0, width - 1, width - 2], np.int32)
    offsets, columns = structure.product_structure(A, B, width)
    assert offsets.tolist() == [0, 2, 3, 5]
    assert columns.tolist() == [0, width - 1, width - 2, 0, width - 1]


def test_what_loops_are_paid_for() -> None:
    """While they are not bought, NumPy answers, and its time is counted."""
    compiled.CODE.bought = False
    offsets, columns = stored([[0, 2], [1]])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIRING_COMPILE", "never")
        assert compiled.state_of(offsets, columns, 3) == FINE
        before = compiled.CODE.spent
        compiled.transposed(offsets, columns, 3)
        between = compiled.CODE.spent
        compiled.product_structure((offsets, columns), stored([[0], [1], []]), 2)
        assert 0 < before < between < compiled.CODE.spent
