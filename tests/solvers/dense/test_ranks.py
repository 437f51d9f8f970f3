"""Values as their ranks: what has them, and that ⊕ and ⊗ are the same on them. NumPy stands in for CuPy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.solvers.dense import narrow
from semiring.solvers.dense.narrow import Ranks, ranked_closure, ranked_product, ranks

inf = np.inf
quick = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
LIKELY = sr.Semiring("likely", add=np.maximum, mul=np.minimum, zero=0, one=1, carrier=lambda a: (a >= 0) & (a <= 1))


class Engine:
    """⊗ and ⊕ of ranks, as a lowering on ranks says: the first is zero, or the last."""

    def __init__(self, low: Any):
        assert low.storage in ("u2", "u4") and {low.zero[0], low.one[0]} == {0, np.iinfo(low.storage).max}
        self.low, self.up = low, bool(low.zero[0] == 0)
        self.add, self.mul = (np.maximum, np.minimum) if self.up else (np.minimum, np.maximum)

    def multiply(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        C[...] = self.add.reduce(self.mul(A[:, :, None], B[None]), axis=1, initial=self.low.zero[0])


LAST = 65_535  # the last rank, however many there are: what ⊕ and ⊗ begin with is known beforehand


def look_up(matrices: list[np.ndarray], table: np.ndarray) -> tuple[list[np.ndarray], Any]:
    """Ranks in the table, and at most `LACKING` elements that it lacks, as `ranks.cu` has them."""
    lacking = np.concatenate([m[~np.isin(m, table)] for m in matrices])
    places = [np.searchsorted(table, m) for m in matrices]
    found = [np.where(p == len(table) - 1, LAST, p).astype(np.uint16) for p in places]
    return found, lacking[: narrow.LACKING] if lacking.size else None


def spread(elements: np.ndarray, order: np.ndarray, places: np.ndarray, table: np.ndarray) -> None:
    """One place for each element, as `ranks.cu` has them."""
    for i, place in enumerate(order):
        places[place], table[i + 1] = i + 1, elements[place]


def values(given: Ranks, found: np.ndarray) -> np.ndarray:
    return given.table[np.where(found == np.iinfo(found.dtype).max, len(given.table) - 1, found)]


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", np)
    monkeypatch.setattr(narrow, "_look_up", look_up)
    monkeypatch.setattr(narrow, "_spread", spread)
    monkeypatch.setattr(narrow, "available_on_device", lambda: 1 << 30)
    monkeypatch.setattr(narrow, "kernel", Engine)
    monkeypatch.setattr(Ranks, "values", values)


def drawn(data: st.DataObject, S: sr.Semiring, shape: tuple[int, int], dtype: str) -> np.ndarray:
    numbers = [S.zero_in(dtype), S.one_in(dtype)]
    numbers += [x for x in (0.25, 0.5, 0.125) if dtype[0] == "f"] or [1, 2, 3]
    seed = data.draw(st.integers(0, 999))
    return np.random.default_rng(seed).choice(np.array(numbers, dtype), shape)


def reference(S: sr.Semiring, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    add, mul = (np.minimum, np.maximum) if S.zero > S.one else (np.maximum, np.minimum)
    return add.reduce(mul(A[:, :, None], B[None]), axis=1, initial=S.zero_in(A.dtype))


ALGEBRAS = [(sr.max_min, "f4"), (sr.max_min, "f8"), (sr.min_max, "f8"), (sr.max_min, "i4"), (sr.min_max, "u4"),
            (LIKELY, "f8"), (sr.max_min, "i8"), (sr.min_max, "u8")]
MOST = st.sampled_from([65_536, 2])  # values up to which ranks are short; with two, wide ones are sorted


@quick
@given(st.data(), st.sampled_from(ALGEBRAS), MOST, st.integers(1, 6), st.integers(1, 6), st.integers(1, 6))
def test_products_of_ranks_are_ranks_of_products(
    data: st.DataObject, which: tuple, most: int, m: int, k: int, n: int
) -> None:
    S, dtype = which
    A, B = drawn(data, S, (m, k), dtype), drawn(data, S, (k, n), dtype)
    before = A.copy(), B.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "SHORT_VALUES", most)
        found = ranked_product(S, A, B)
    if found is None:
        assert most == 2 and np.dtype(dtype).itemsize < 8
        return
    assert found.dtype == np.dtype(dtype) and np.array_equal(found, reference(S, A, B))
    assert np.array_equal(A, before[0]) and np.array_equal(B, before[1])


@quick
@given(st.data(), st.sampled_from(ALGEBRAS), MOST, st.integers(1, 6))
def test_closures_of_ranks_are_ranks_of_closures(data: st.DataObject, which: tuple, most: int, n: int) -> None:
    S, dtype = which
    A = drawn(data, S, (n, n), dtype)

    def close(work: np.ndarray, kernel: Engine) -> None:
        """1 ⊕ A, squared until it is done."""
        np.fill_diagonal(work, kernel.low.one[0])
        for _ in range(n):
            kernel.multiply(work, work.copy(), work.copy())

    expected = A.copy()
    np.fill_diagonal(expected, S.one_in(dtype))
    for _ in range(n):
        expected = reference(S, expected, expected)
    before = A.copy()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(narrow, "SHORT_VALUES", most)
        found = ranked_closure(S, A, close)
    if found is None:
        assert most == 2 and np.dtype(dtype).itemsize < 8
        return
    assert found.dtype == A.dtype and np.array_equal(found, expected) and np.array_equal(A, before)


def test_ranks_keep_the_order_and_lead_back() -> None:
    A, B = np.array([[3.0, -inf], [0.5, inf]]), np.array([[7.0, 0.5]])
    for S, up in ((sr.max_min, True), (sr.min_max, False)):
        found = ranks(S, [A, B])
        assert found is not None and found.table.tolist() == [-inf, 0.5, 3, 7, inf]
        assert [m.tolist() for m in found.matrices] == [[[2, 0], [1, LAST]], [[3, 1]]]
        assert found.kernel.up is up
        assert [found.values(m).tolist() for m in found.matrices] == [A.tolist(), B.tolist()]


def test_zero_and_one_have_ranks_also_where_they_do_not_occur() -> None:
    found = ranks(sr.max_min, [np.array([[2.0]])])
    assert found is not None and found.table.tolist() == [-inf, 2, inf] and found.matrices[0].tolist() == [[1]]
    assert ranks(LIKELY, [np.array([[0.5]])]).table.tolist() == [0, 0.5, 1]  # type: ignore[union-attr]
    beyond = ranks(LIKELY, [np.array([[2.0]])])
    assert beyond is None, "what is beyond one has no rank between zero and one"


@pytest.mark.parametrize(("S", "dtype"), [
    (sr.min_plus, "f4"), (sr.viterbi, "f8"), (sr.max_min, "f2"), (sr.max_min, "i2"), (sr.boolean, "?"),
    (sr.bitset_may, "u4"), (sr.plus_times, "f8"),
])
def test_what_has_no_ranks(S: sr.Semiring, dtype: str) -> None:
    assert ranks(S, [np.full((2, 2), S.one_in(dtype))]) is None
    assert ranked_product(S, *[np.full((2, 2), S.one_in(dtype))] * 2) is None


@pytest.mark.parametrize(("count", "fits"), [(1, True), (98, True), (99, False), (5000, False)])
def test_too_many_values_are_left_to_the_general_way(count: int, fits: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "SHORT_VALUES", 100)  # zero and one are among them
    A = np.arange(5000, dtype="f4").reshape(50, 100) % count
    found = ranks(sr.max_min, [A])
    assert (found is not None) is fits
    assert found is None or np.array_equal(found.values(found.matrices[0]), A)
    wide = ranks(sr.max_min, [A.astype("f8")])
    assert wide is not None and wide.matrices[0].dtype == ("u2" if fits else "u4")
    assert np.array_equal(wide.values(wide.matrices[0]), A)


@pytest.mark.parametrize(("S", "up"), [(sr.max_min, True), (sr.min_max, False)])
def test_wide_values_are_sorted_where_they_are_many(
    S: sr.Semiring, up: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rank for each element, between those of zero and of one; what does not fit is left to the general way."""
    monkeypatch.setattr(narrow, "SHORT_VALUES", 3)
    A, B = np.array([[3.0, -inf], [0.5, 7.0]]), np.array([[7.0, 0.5]])
    found = ranks(S, [A, B])
    assert found is not None and found.kernel.up is up
    assert found.table.tolist() == [-inf, -inf, 0.5, 0.5, 3, 7, 7, inf]
    places = np.concatenate([m.reshape(-1) for m in found.matrices])
    assert sorted(places) == [1, 2, 3, 4, 5, 6] and [m.shape for m in found.matrices] == [A.shape, B.shape]
    assert [found.values(m).tolist() for m in found.matrices] == [A.tolist(), B.tolist()]
    assert ranks(LIKELY, [np.array([[0.25, 0.5, 0.75, 2.0]])]) is None, "beyond one"
    assert ranks(LIKELY, [np.array([[0.25, 0.5, 0.75, -1.0]])]) is None, "below zero"
    for limit, value in (("LONG_ELEMENTS", 5), ("available_on_device", lambda: 6 * narrow.SORTING_BYTES - 1)):
        with monkeypatch.context() as patch:
            patch.setattr(narrow, limit, value)
            assert ranks(S, [A, B]) is None


@pytest.mark.parametrize(("sample", "room", "fits"), [
    (1, 1 << 20, True), (4, 40, True), (10**6, 1, True), (1, 1, False), (1, 8, True),
])
def test_values_that_a_sample_misses_are_collected_in_few_passes(
    sample: int, room: int, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(narrow, "SAMPLED", sample)
    monkeypatch.setattr(narrow, "LACKING", room)
    passes: list[int] = []
    counted: Callable[..., Any] = look_up

    def look(matrices: list[np.ndarray], table: np.ndarray) -> tuple[list[np.ndarray], Any]:
        passes.append(len(table))
        return counted(matrices, table)

    monkeypatch.setattr(narrow, "_look_up", look)
    A = np.tile(np.arange(10, dtype="f4"), (10, 1))
    found = ranks(sr.max_min, [A, A.T])
    assert (found is not None) is fits and passes == sorted(passes) and len(passes) <= narrow.PASSES
    assert found is None or found.table.tolist() == [-inf, *range(10), inf]


def test_every_element_has_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(narrow, "multiprocessors", lambda: 10)
    for count in (0, 1, 256, 257, 20_000, 10**9):
        blocks = narrow._blocks(count)
        assert 1 <= blocks <= 10 * narrow.RESIDENT_BLOCKS
        assert blocks * narrow.THREADS >= count or blocks == 10 * narrow.RESIDENT_BLOCKS
