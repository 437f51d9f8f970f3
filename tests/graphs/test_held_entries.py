"""Matrices by their entries: parts with repeated rows and columns, places that are set, ranges of numbers."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.held import Array
from semiring.graphs.held_bits import Bits
from semiring.graphs.held_entries import Entries, expanded
from semiring.graphs.holders import converted

PLACES = st.lists(st.integers(0, 4), max_size=6).map(lambda found: np.array(found, np.int64))
SLICES = st.builds(slice, st.none() | st.integers(-6, 6), st.none() | st.integers(-6, 6),
                   st.none() | st.sampled_from([1, 2, -1, -2]))
LINES = st.integers(0, 4) | PLACES | SLICES


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4)), max_size=6))
def test_numbers_of_ranges(ranges: list[tuple[int, int]]) -> None:
    begins = np.array([a for a, _ in ranges], np.int64)
    of, numbers = expanded(begins, begins + np.array([k for _, k in ranges], np.int64))
    assert list(zip(of.tolist(), numbers.tolist(), strict=True)) == [
        (i, a + x) for i, (a, k) in enumerate(ranges) for x in range(k)]


@pytest.mark.parametrize("kind", ["sparse", "packed"])
@settings(max_examples=60)
@given(LINES, LINES, st.integers(0, 2**32))
def test_parts_and_places_are_those_of_the_array(kind: str, rows: object, columns: object, seed: int) -> None:
    rng = np.random.default_rng(seed)
    whole = Array(rng.random((5, 5)) < 0.4, sr.boolean)
    held = converted(whole, kind)
    assert isinstance(held, Bits if kind == "packed" else Entries)
    if isinstance(rows, int) or isinstance(columns, int):
        assert np.array_equal(held.at(rows, columns), whole.array[rows, columns])  # type: ignore[arg-type, index]
    else:
        assert np.array_equal(held.part(rows, columns).all(), whole.part(rows, columns).array)  # type: ignore[arg-type]
    shape = np.empty((5, 5))[rows][..., columns].shape  # type: ignore[index]
    given_ones = rng.random(shape) < 0.5
    both = isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray)
    wanted = whole.array.copy()
    wanted[np.ix_(rows, columns) if both else (rows, columns)] = given_ones  # type: ignore[arg-type, index]
    found = held.put(rows, columns, given_ones)  # type: ignore[arg-type]
    unclear = any(isinstance(line, np.ndarray) and len(set(line.tolist())) < len(line) for line in (rows, columns))
    assert unclear or np.array_equal(found.all(), wanted)
    assert np.array_equal(held.all(), whole.array), "the matrix is another one"
    assert found.shape == (5, 5) and found.kind == kind and found.count() == np.count_nonzero(found.all())


def test_stored_zeros_and_sums_that_cancel_are_no_entries() -> None:
    A = sr.Matrix(sp.csr_array(np.array([[1.0, 2.0], [0.0, 3.0]])), sr.plus_times)
    assert (A | A.map(lambda w: -w)).nnz == 0 and (A @ A).nnz == 3
    stored = sp.csr_array((np.array([0.0, 1.0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 2))
    assert sr.Matrix(stored, sr.plus_times).nnz == 1 and sr.Matrix(stored, sr.min_plus).nnz == 2
