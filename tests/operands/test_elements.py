"""Sequences of elements, as laws are tried on and tables are made of: read as written, or refused by position."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.operands.elements import read_elements

inf = math.inf


def test_numbers_records_and_objects() -> None:
    assert read_elements([1, inf], sr.min_plus, "samples").tolist() == [1.0, inf]
    assert read_elements(np.array([1, 2], "i2"), sr.min_plus, "samples").dtype == np.int16
    hops = read_elements([(1.0, 2), [0.5, 1]], sr.shortest_hops, "samples")
    assert hops.dtype == sr.shortest_hops.default_dtype and hops.tolist() == [(1.0, 2.0), (0.5, 1.0)]
    sets = read_elements([frozenset(), frozenset({frozenset("a")})], sr.why, "samples")
    assert sets.dtype == object and len(sets) == 2


@pytest.mark.parametrize("given", [[0, 7, inf], (0, 7.0, inf), np.array([0, 7, inf]), iter([0, 7, inf])])
def test_a_dtype_is_taken_exactly(given: Any) -> None:
    found = read_elements(given, sr.min_plus, "samples", "i2")
    assert found.dtype == np.int16 and found.tolist() == [0, 7, 32767]


def test_complex_numbers_where_the_algebra_has_them() -> None:
    found = read_elements([1j, 2], sr.plus_times, "samples")
    assert found.dtype == np.complex128 and found.tolist() == [1j, 2]
    assert sr.check_laws(sr.plus_times, [1j, 0.5 - 1j]).ok
    assert read_elements([1, 2], sr.plus_times, "samples").dtype == np.float64


def test_records_in_a_dtype() -> None:
    narrow = [("cost", "f4"), ("hops", "i4")]
    found = read_elements([(1.5, 2), {"cost": 0, "hops": inf}], sr.shortest_hops, "samples", narrow)
    assert found["cost"].tolist() == [1.5, 0] and found["hops"].tolist() == [2, 2**31 - 1]


@pytest.mark.parametrize(("given", "S", "dtype", "message"), [
    (3, sr.min_plus, None, "samples are not a sequence of elements of min-plus: "),
    (3, sr.min_plus, "i2", "samples are not a sequence of elements of min-plus in int16: "),
    ([0.5], sr.min_plus, "i2", "samples are not a sequence of elements of min-plus in int16: 0.5"),
    ([1 << 20], sr.min_plus, "i2", "samples are not a sequence .* in int16: "),
    ([(1.0, 2), 3], sr.shortest_hops, None, "samples are not a sequence of elements of shortest-hops"),
    ([{"cost": 1.0}], sr.shortest_hops, sr.shortest_hops.default_dtype, "samples are not a sequence .*hops"),
    ([1j], sr.min_plus, None, "elements of min-plus: 1j is complex, and it lives in float64, float32, "),
    ([(0, 1j)], sr.shortest_count, None, "1j is complex, and it lives in dist float64, count float64$"),
    ([1j], sr.plus_times, "f8", "elements of plus-times in float64: .*'complex'"),
    ([[0.0, 1.0]], sr.min_plus, None, r"samples must be a sequence of elements, and have shape \(1, 2\)"),
    ([0.5, 3.0], sr.viterbi, None, r"samples\[1\] is 3, outside the carrier of viterbi"),
    ([0.5, math.nan], sr.min_plus, None, r"samples\[1\] is nan, outside the carrier of min-plus"),
    ([0.5], sr.min_plus, "c16", "min-plus cannot live in complex128"),
])
def test_what_is_no_element_is_refused(given: Any, S: sr.Semiring, dtype: Any, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        read_elements(given, S, "samples", dtype)
