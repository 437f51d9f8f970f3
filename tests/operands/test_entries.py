"""Entries in any order as compressed rows: what is combined, in which order, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.operands.entries import compressed_rows, refuse_outside
from semiring.operands.sparse import Sparse

quick = settings(max_examples=60)


def test_duplicates_combine_from_left_to_right() -> None:
    values = np.array([1e16, 1.0, -1e16, 1.0, 2.0])
    rows = compressed_rows(sr.plus_times, np.zeros(5, int), np.zeros(5, int), values, (1, 1))
    assert rows.values.tolist() == [(1e16 + 1.0) + (-1e16 + 1.0) + 2.0]  # pairs of neighbours


@quick
@given(st.data(), st.integers(1, 5), st.integers(1, 5))
def test_rows_are_compressed_from_any_order(data: st.DataObject, height: int, width: int) -> None:
    triples = data.draw(st.lists(st.tuples(
        st.integers(0, height - 1), st.integers(0, width - 1), st.integers(-9, 9)), max_size=20))
    i, j, x = (np.array(part, int) for part in (zip(*triples, strict=True) if triples else ((), (), ())))
    for S, combine in ((sr.min_plus, min), (sr.max_plus, max), (sr.plus_times, lambda a, b: a + b)):
        rows = compressed_rows(S, i, j, x.astype(float), (height, width))
        expected: dict[tuple[int, int], float] = {}
        for a, b, value in triples:
            expected[a, b] = combine(expected[a, b], value) if (a, b) in expected else value
        assert rows.shape == (height, width) and rows.offsets[0] == 0 and rows.offsets[-1] == len(expected)
        found = {(a, int(rows.columns[q])): float(rows.values[q])
                 for a in range(height) for q in range(rows.offsets[a], rows.offsets[a + 1])}
        assert list(found.items()) == sorted(expected.items())


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_rows_of_nothing(shape: tuple[int, int]) -> None:
    nothing = np.array([], int)
    rows = compressed_rows(sr.min_plus, nothing, nothing, np.array([]), shape)
    assert rows.shape == shape and rows.offsets.tolist() == [0] * (shape[0] + 1)
    operand = Sparse(rows, sr.min_plus)
    assert operand.array().shape == shape and operand.nnz == 0


def test_the_first_that_is_no_element_is_refused_with_its_place() -> None:
    rows, columns = np.array([0, 1, 2]), np.array([2, 0, 1])
    refuse_outside(sr.min_plus, "B", np.array([1.0, -np.inf, np.inf]), rows, columns)
    with pytest.raises(sr.SemiringError, match=r"^B\[1, 0\] is NaN: NaN is not an element"):
        refuse_outside(sr.min_plus, "B", np.array([1.0, np.nan, np.nan]), rows, columns)
    with pytest.raises(sr.SemiringError, match=r"^A\[2, 1\] is -1: it is outside the carrier of max-times"):
        refuse_outside(sr.max_times, "A", np.array([1.0, 0.5, -1.0]), rows, columns)
