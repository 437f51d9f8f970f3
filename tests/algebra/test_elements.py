"""Arrays of elements of any dtype."""

from __future__ import annotations

import numpy as np

from semiring.algebra.elements import choose, equal, full, is_nan, sequence, show

inf = np.inf


def test_nan_and_its_absence() -> None:
    record = np.array([(1.0, np.nan), (2.0, 3.0)], [("a", "f8"), ("b", "f8")])
    assert is_nan(record).tolist() == [True, False]
    assert is_nan(np.array([np.nan, "nan", None, (np.nan,), np.float32("nan")], object)).tolist() == [
        True, False, False, False, True]
    assert is_nan(np.array([1, 2])).tolist() == [False, False]
    assert is_nan(np.array([complex(0, np.nan), 1j])).tolist() == [True, False]


def test_sequences_stay_whole_as_objects() -> None:
    pairs = [(1, 2), (3, 4)]
    found = sequence(pairs, np.dtype(object))
    assert found.shape == (2,) and found.tolist() == pairs
    assert sequence([1, 2], np.dtype("f4")).dtype == np.float32
    filled = full(np.empty((2, 1), object), (1, 2))
    assert filled.shape == (2, 1) and filled.ravel().tolist() == [(1, 2), (1, 2)]


def test_choosing_between_records() -> None:
    x, y = (np.array([v, v], [("a", "i4"), ("b", "f8")]) for v in ((1, 2.0), (3, 4.0)))
    assert choose(np.array([True, False]), x, y).tolist() == [(1, 2.0), (3, 4.0)]
    assert y.tolist() == [(3, 4.0), (3, 4.0)]
    assert equal(x, y).tolist() == [False, False] and equal(x, x).tolist() == [True, True]
    y["a"] = 1
    assert equal(x, y).tolist() == [False, False]
    assert choose(True, np.array([1, 2]), np.array([3, 4])).tolist() == [1, 2]


def test_elements_are_shown_as_people_write_them() -> None:
    record = np.array([(inf, 2)], [("cost", "f8"), ("hops", "i4")])[0]
    shown = [show(x) for x in (inf, -inf, 0.1, np.float32(2.5), 3, np.int8(-4), 1 + 2j, record, "x", None, True)]
    assert shown == ["∞", "−∞", "0.1", "2.5", "3", "-4", "1+2j", "(∞, 2)", "x", "None", "True"]
