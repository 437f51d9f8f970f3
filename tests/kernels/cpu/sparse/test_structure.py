"""The structure of compressed rows against sets of positions, by compiled code and by NumPy."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.sparse import structure
from semiring.kernels.cpu.sparse.structure import (
    BROKEN,
    FINE,
    SORTED,
    UNSORTED,
    alike,
    goes_both_ways,
    is_symmetric,
    narrowed,
    pieces_of,
    product_structure,
    product_work,
    state_of,
    transpose,
    transposed,
)

quick = settings(max_examples=80)
Compressed = tuple[np.ndarray, np.ndarray]


@pytest.fixture(params=["always", "never"], autouse=True)
def when(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it by compiled code, and all by NumPy."""
    monkeypatch.setenv("SEMIRING_COMPILE", request.param)
    monkeypatch.setattr(structure, "CODE", Code(list))


def compressed(rows: list[list[int]]) -> Compressed:
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    return offsets, np.array([j for row in rows for j in row], np.int32)


def entries(offsets: np.ndarray, columns: np.ndarray) -> list[tuple[int, int]]:
    return [(i, j) for i, (a, b) in enumerate(pairwise(offsets.tolist())) for j in columns[a:b].tolist()]


@st.composite
def patterns(draw: st.DrawFn, width: int, height: int | None = None) -> list[list[int]]:
    """The columns of each row, ascending."""
    size = draw(st.integers(0, 6)) if height is None else height
    one = st.sets(st.integers(0, width - 1), max_size=8) if width else st.just(set())
    return [sorted(draw(one)) for _ in range(size)]


class TestStates:
    @pytest.mark.parametrize(("rows", "state"), [
        ([], FINE), ([[]], FINE), ([[], [], []], FINE), ([[0, 1, 4], [0]], FINE), ([[4], [], [0, 4]], FINE),
        ([[0, 0]], SORTED), ([[1], [0, 3, 3, 4]], SORTED), ([[1, 0]], UNSORTED), ([[0, 0, 1, 0]], UNSORTED),
        ([[0], [2, 2, 1]], UNSORTED), ([[5]], BROKEN), ([[0], [-1]], BROKEN), ([[2, 1, 7]], BROKEN),
    ])
    def test_columns(self, rows: list[list[int]], state: int) -> None:
        assert state_of(*compressed(rows), 5) == state

    @pytest.mark.parametrize(("offsets", "state"), [
        ([0, 2, 3], FINE), ([0, 1, 2], FINE), ([0, 3, 2], BROKEN), ([1, 2, 3], BROKEN), ([0, 2, 4], BROKEN),
        ([0, -1, 3], BROKEN), ([0, 9, 3], BROKEN), ([0, 0, 0], FINE),
    ])
    def test_offsets(self, offsets: list[int], state: int) -> None:
        """What follows the last row is not an entry, whatever it is."""
        assert state_of(np.array(offsets), np.array([0, 2, 1], np.int32), 3) == state
        assert state_of(np.array([0, 1]), np.array([0, 99], np.int32), 3) == FINE

    @quick
    @given(st.data(), st.integers(1, 5), st.integers(1, 9))
    def test_any_columns(self, data: st.DataObject, rows: int, width: int) -> None:
        row = st.lists(st.integers(0, width - 1), max_size=4)
        drawn = data.draw(st.lists(row, min_size=rows, max_size=rows))
        if any(sorted(r) != r for r in drawn):
            expected = UNSORTED
        else:
            expected = FINE if all(len(set(r)) == len(r) for r in drawn) else SORTED
        assert state_of(*compressed(drawn), width) == expected


@quick
@given(st.data(), st.sampled_from([0, 1, 5, 64, 200]))
def test_transposes(data: st.DataObject, width: int) -> None:
    rows = data.draw(patterns(width))
    offsets, columns = compressed(rows)
    given_ = np.concatenate([columns, np.array([7, 7], np.int32)])  # behind the last row
    found, sources, order = transposed(offsets, given_, width)
    assert found.dtype == order.dtype == np.int64 and sources.dtype == np.int32 and len(found) == width + 1
    assert entries(found, sources) == sorted((j, i) for i, j in entries(offsets, columns))
    assert columns[order].tolist() == [j for j, _ in entries(found, sources)]
    values = np.random.default_rng(0).random(len(columns))
    A = Rows(offsets, columns, values, width)
    T = transpose(A)
    assert T.shape == (width, len(rows)) and np.array_equal(T.values, values[order])
    back = transpose(T)
    assert back.shape == A.shape
    for name in ("offsets", "columns", "values"):
        assert np.array_equal(getattr(back, name), getattr(A, name))


@quick
@given(st.data(), st.integers(0, 9), st.booleans())
def test_whether_edges_go_both_ways(data: st.DataObject, n: int, made_so: bool) -> None:
    rows = data.draw(patterns(n, n))
    if made_so:
        rows = [sorted({*row, *(j for j in range(n) if i in rows[j])}) for i, row in enumerate(rows)]
    offsets, columns = compressed(rows)
    edges = set(entries(offsets, columns))
    found = goes_both_ways(Rows(offsets, columns, np.zeros(len(columns)), n))
    assert found == (edges == {(j, i) for i, j in edges})


@quick
@given(patterns(6, 6), st.booleans(), st.integers(0, 10**6))
def test_is_symmetric(rows: list[list[int]], both: bool, seed: int) -> None:
    """Of values too, and -0.0 is 0.0."""
    n, rng = len(rows), np.random.default_rng(seed)
    A = np.zeros((n, n))
    for i, row in enumerate(rows):
        A[i, row] = rng.integers(1, 3, len(row))
    A = np.maximum(A, A.T) if both else A
    offsets, columns = compressed([np.flatnonzero(row).tolist() for row in A])
    values = A[A != 0] - 1
    values[values == 0] *= rng.choice([-1, 1], (values == 0).sum())
    assert is_symmetric(Rows(offsets, columns, values, n)) == bool((A == A.T).all())


def test_repeated_entries_keep_their_order() -> None:
    found, sources, order = transposed(*compressed([[1, 0, 1], [1]]), 2)
    assert (found.tolist(), sources.tolist(), order.tolist()) == ([0, 1, 4], [0, 0, 0, 1], [1, 0, 2, 3])


@quick
@given(st.data(), st.integers(0, 6), st.sampled_from([0, 1, 5, 63, 64, 65, 5000]))
def test_products(data: st.DataObject, inner: int, width: int) -> None:
    left, right = data.draw(patterns(inner)), data.draw(patterns(width, inner))
    A, B = compressed(left), compressed(right)
    offsets, columns = product_structure(A, B, width, data.draw(st.sampled_from([1, 3])))
    expected = sorted({(i, j) for i, k in entries(*A) for j in right[k]})
    assert entries(offsets, columns) == expected and len(offsets) == len(left) + 1
    assert columns.dtype == np.int32
    terms = [sum(len(right[k]) for k in row) for row in left]
    assert product_work(A[0], A[1], B[0]).tolist() == [sum(terms[:i]) for i in range(len(left) + 1)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_product_in_pieces_is_the_whole(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "WORK", 50)
    random = np.random.default_rng(2)
    A, B = (compressed([np.flatnonzero(row).tolist() for row in random.random((90, 90)) < 0.05]) for _ in range(2))
    dense = [np.zeros((90, 90)) for _ in range(2)]
    for X, D in zip((A, B), dense, strict=True):
        D[tuple(zip(*entries(*X), strict=True))] = 1
    rows, columns = np.nonzero(dense[0] @ dense[1])
    assert entries(*product_structure(A, B, 90, threads)) == list(zip(rows.tolist(), columns.tolist(), strict=True))
    pieces = pieces_of(product_work(A[0], A[1], B[0]), threads)
    assert [i for a, b in pieces for i in range(a, b)] == list(range(90))
    assert 1 < len(pieces) <= structure.PIECES * threads


def test_little_work_is_one_piece() -> None:
    assert pieces_of(np.array([0, 3, 5]), 4) == [(0, 2)]
    assert pieces_of(np.array([0]), 4) == []


@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_rows_are_looked_at_by_all_threads(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_NUM_THREADS", threads)
    monkeypatch.setattr(structure, "PARALLEL_ENTRIES", 0)
    monkeypatch.setattr(structure.CODE, "bought", True)
    rows = 60_000
    offsets, columns = np.arange(rows + 1) * 2, np.tile(np.array([3, 5], np.int32), rows)
    assert state_of(offsets, columns, 6) == FINE
    broken = (7, 3, SORTED), (2 * rows - 1, 1, UNSORTED), (rows, 6, BROKEN), (rows + 1, -1, BROKEN)
    for place, value, expected in broken:
        changed = columns.copy()
        changed[place] = value
        assert state_of(offsets, changed, 6) == expected
    for place, value in ((0, 1), (rows // 2, 2 * rows), (rows, 2 * rows + 1)):
        changed_offsets = offsets.copy()
        changed_offsets[place] = value
        assert state_of(changed_offsets, columns, 6) == BROKEN


@quick
@given(st.data(), st.sampled_from(["i1", "u1", "i4", "u4", "i8", "u8", ">i8"]), st.booleans())
def test_columns_of_any_integers(data: st.DataObject, dtype: str, strided: bool) -> None:
    info = np.iinfo(dtype)
    few = st.sampled_from([0, 1, 100, 2**31 - 1, 2**31, -1, -(2**31), 2**32, 2**32 + 1, int(info.min), int(info.max)])
    some = data.draw(st.lists(few.filter(lambda i: info.min <= i <= info.max), max_size=4))
    given_ = np.array(some, dtype)
    if strided:
        given_ = np.repeat(given_, 2)[::2]
    found = narrowed(given_)
    if np.dtype(dtype) != np.int32 and any(not 0 <= i < 2**31 for i in some):
        assert found is None
        return
    assert found is not None and found.dtype == np.int32 and found.flags.c_contiguous and found.tolist() == some


@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_columns_are_narrowed_by_all_threads(threads: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_NUM_THREADS", threads)
    wide = np.arange(200_000)
    found = narrowed(wide)
    assert found is not None and np.array_equal(found, wide)
    for value in (-1, 2**31, 2**40):
        wide[150_000] = value
        assert narrowed(wide) is None


@quick
@given(
    st.sampled_from(["?", "i1", "u2", "f2", "i4", "f4", "i8", "f8"]), st.integers(0, 600), st.sampled_from([0, 1]),
    st.none() | st.tuples(st.integers(0, 599), st.sampled_from([0, 1, 5])), st.booleans(), st.sampled_from([1, 3]),
)
def test_numbers_that_are_alike(
    dtype: str, count: int, value: int, other: tuple[int, int] | None, strided: bool, threads: int
) -> None:
    values = np.full(count, value, dtype)
    if other is not None and count:
        values[other[0] % count] = other[1]
    given_ = np.repeat(values, 2)[::2] if strided else values
    expected = len(set(values.tolist())) < 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEMIRING_NUM_THREADS", str(threads))
        for many in (0, structure.PARALLEL_ENTRIES):
            patch.setattr(structure, "PARALLEL_ENTRIES", many)
            assert alike(given_) is expected


def test_nan_is_like_nothing_and_a_zero_with_a_sign_may_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(structure, "PARALLEL_ENTRIES", 0)
    values = np.zeros(999)
    values[500] = np.nan
    assert not alike(values) and not alike(np.full(999, np.nan)) and not alike(np.full(1, np.nan))
    records = np.zeros(5, [("a", "f8"), ("b", "i4")])
    assert alike(records)
    records["b"][3] = 1
    assert not alike(records)
