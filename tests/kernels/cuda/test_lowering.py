"""Data in a GPU's memory into storage and back: whose memory is used, what is refused, which code is shared."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Array, Host
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda import lowering
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.lowering import LEAVES, CudaLowering
from semiring.kernels.facts import DeviceFacts, Facts


class Way:
    """An exchange that doubles on the way in and halves on the way out, and finds what a test tells it to find."""

    def __init__(self) -> None:
        self.flags, self.asked = 0, []

    def take_in(self, A: Any, target: Any) -> None:
        self.asked.append((A.shape, target.shape))
        target[...] = 2 * A.astype(target.dtype)

    def hand_out(self, results: Any, target: Any, failed: int, into: Any) -> None:
        assert failed == 0
        self.asked.append(into is not None)
        target[...] = (results // 2).astype(target.dtype)

    def read(self) -> Any:
        return SimpleNamespace(flags=self.flags)


@pytest.fixture
def way(monkeypatch: pytest.MonkeyPatch) -> Way:
    way = Way()
    Host().stand_in(monkeypatch)
    monkeypatch.setattr(lowering, "exchange", lambda low: way)
    monkeypatch.setattr(lowering, "report", lambda: way)
    return way


def sums(dtype: str, largest: int) -> CudaLowering:
    known = DeviceFacts(largest=largest, least=0, high_limit=True)
    return choose(sr.min_plus, np.dtype(dtype), known, 2, in_place=False)


def test_data_that_are_stored_as_they_are(way: Way, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lowering, "copy_of", np.copy)  # by the driver
    low, A = general_on_device(sr.min_plus, np.dtype("f4")), np.ones((2, 3), "f4")
    assert low.is_identity and not low.may_leave and low.on_gpu
    assert low.encode(A, False) is A and low.decode(A) is A
    copied = low.encode(A, True)
    assert copied is not A and not np.shares_memory(copied, A) and np.array_equal(copied, A)
    assert low.empty((0, 5)).shape == (0, 5) and low.empty((2,)).dtype == np.float32
    assert way.asked == []


def test_memory_is_shared_where_it_may_be_and_is_as_wide(way: Way) -> None:
    same, narrow = sums("i2", 100), sums("i4", 100)
    assert (same.storage, narrow.storage) == (np.uint16, np.uint16) and not same.is_identity
    for low, copy, shared in ((same, False, True), (same, True, False), (narrow, False, False)):
        A = np.arange(6, dtype=low.dtype).reshape(2, 3)
        stored = low.encode(A, copy)
        assert stored.dtype == low.storage and np.shares_memory(stored, A) == shared
        assert stored.tolist() == [[0, 2, 4], [6, 8, 10]]
        back = low.decode(stored)
        assert back.dtype == low.dtype and np.shares_memory(back, stored) == (low is same)
        assert back.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_nothing_is_launched_for_nothing(way: Way) -> None:
    low = sums("i4", 100)
    assert low.decode(low.encode(np.empty((0, 3), "i4"), True)).shape == (0, 3)
    assert way.asked == []


def test_a_result_outside_of_the_dtype_is_refused(way: Way) -> None:
    """The device is waited for only where there can be one."""
    low = sums("i1", 100)
    assert low.may_leave and not sums("i4", 100).may_leave
    stored = np.zeros((2, 2), low.storage)
    low.decode(stored)
    way.flags = LEAVES
    with pytest.raises(sr.SemiringError, match=r"min-plus: a result is outside int8; convert .*astype\('int64'\)"):
        low.decode(stored)
    sums("i4", 100).decode(stored)
    assert way.asked == [True, True, False]


def test_forms_with_one_text_share_their_code() -> None:
    """What ⊕ may assume of floats and of pivots is part of the text; how the data are stored is not."""
    plain = general_on_device(sr.min_plus, np.dtype("f4"))
    twin = sr.Semiring("another name", add=np.minimum, mul=np.add, zero=np.inf, one=0)
    fast = choose(sr.min_plus, np.dtype("f4"), DeviceFacts(largest=1, least=0), 2, in_place=False)
    assert general_on_device(twin, np.dtype("f4")).key == plain.key != fast.key
    assert general_on_device(sr.min_plus, np.dtype("f8")).key != plain.key
    assert sums("i4", 100).key == sums("i1", 100).key == sums("u8", 100).key


@given(shape=st.lists(st.integers(1, 4), max_size=5).map(tuple))
def test_any_number_of_axes_is_a_matrix_or_a_stack(shape: tuple[int, ...]) -> None:
    """Of the same memory, the last two axes as they are."""
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).view(Array)
    found = lowering._matrices(array)
    assert found.ndim in (2, 3) and found.ravel().tolist() == array.ravel().tolist()
    assert found.shape[-2:] == ((1, *shape)[-2:] if array.ndim else (1, 1))
    assert np.shares_memory(found, array)
    assert (found is array) == (array.ndim in (2, 3))


def halved() -> sr.Semiring:
    return sr.Semiring("halved", add=np.add, mul=lambda a, b: a * b / 2, zero=0.0, product_only=True)


@pytest.mark.parametrize(
    ("has_zero", "has_tiny", "mul", "absorbs"),
    [
        (True, True, "where((a = 0) or (b = 0), 0, (a · b) · 0.5)", True),
        (True, False, "where((a = 0) or (b = 0), 0, (a · 0.5) · b)", True),
        (False, True, "(a · b) · 0.5", False), (False, False, "(a · 0.5) · b", False),
    ],
)
def test_products_of_data_test_for_nothing_that_is_not_there(
    has_zero: bool, has_tiny: bool, mul: str, absorbs: bool
) -> None:
    """Without a test, tiles may no longer be filled with zeros, so that other code is compiled."""
    low = general_on_device(halved(), np.dtype("f4"))
    known = DeviceFacts(largest=1, least=-1, has_zero=has_zero, has_tiny=has_tiny)
    found = low.for_product(known)
    assert (str(found.mul), found.absorbs) == (mul, absorbs)
    assert found is low.for_product(known) and (found.key == low.key) == (found is low) == (has_zero and has_tiny)
    assert str(found.scale) == str(low.scale)
    positive = low.for_product(DeviceFacts(largest=1, least=0, has_zero=has_zero, has_tiny=has_tiny))
    assert positive.absorbs and str(positive.mul) == ("(a · b) · 0.5" if has_tiny else "(a · 0.5) · b")


def test_forms_of_products_where_nothing_is_known() -> None:
    """For unchecked data, for a different storage, and without a test."""
    low, known = general_on_device(halved(), np.dtype("f4")), DeviceFacts(has_zero=False, has_tiny=False)
    assert low.for_product(Facts()) is low
    least = general_on_device(sr.min_plus, np.dtype("f4"))
    assert least.test_for_zero is None and least.for_product(known) is least
    narrow = choose(sr.min_plus, np.dtype("i4"), DeviceFacts(largest=9, least=0), 2, in_place=False)
    assert narrow.for_product(known) is narrow
    counts = general_on_device(sr.shortest_count, sr.shortest_count.default_dtype)
    assert counts.for_product(DeviceFacts()) is counts
