"""Matrices of zeros, and values that combine with ⊕ in the order in which they stand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.combining import scatter, zeros
from semiring.kernels.numpy.structure import stable_order


def test_order_of_keys_too_wide_to_pack():
    keys = np.array([2**62, 5, 2**62, 0, 5])
    np.testing.assert_array_equal(stable_order(keys, 2**62 + 1), [3, 1, 4, 0, 2])
    np.testing.assert_array_equal(stable_order(keys % 7, 7), np.argsort(keys % 7, kind="stable"))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 5), st.text("abc", min_size=1, max_size=1)), max_size=40), st.booleans())
def test_parallel_elements_are_added_in_the_order_in_which_they_stand(entries, far):
    """Even where ⊕ does not commute; keys that are far apart are sorted in another way."""
    spread = 2**60 if far else 1
    order = stable_order(np.array([k * spread for k, _ in entries], np.int64), 5 * spread + 1)
    assert [entries[i] for i in order] == sorted(entries, key=lambda entry: entry[0])
    flat, keys = np.full(6, "", object), np.array([k for k, _ in entries], np.int64)
    scatter(flat, keys, np.array([w for _, w in entries], object), lambda x, y: x + y)
    assert flat.tolist() == ["".join(w for k, w in entries if k == place) for place in range(6)]


@pytest.mark.parametrize(("S", "dtype"), [(sr.min_plus, "i2"), (sr.boolean, "?"), (sr.plus_times, "f4"), (sr.why, "O")])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_matrix_of_no_edges(S, dtype, n):
    found = zeros(S, n, np.dtype(dtype))
    assert found.shape == (n, n) and found.dtype == dtype
    assert all(x == S.zero_in(np.dtype(dtype)) for x in found.flat)
