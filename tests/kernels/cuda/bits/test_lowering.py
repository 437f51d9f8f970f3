"""Truth values of any algebra as bits on the device."""

from __future__ import annotations

import numpy as np
import pytest
from gpu.host import Host
from gpu.played_bits import Bits

import semiring as sr
from semiring.kernels.cuda.choose import packed_on_device


def test_two_valued_data_of_all_algebras_share_a_kernel() -> None:
    boolean, distances = (packed_on_device(S, np.dtype(d)) for S, d in ((sr.boolean, "?"), (sr.min_plus, "f4")))
    assert boolean.key == distances.key and not boolean.is_identity and boolean.kind == "packed"
    assert (distances.zero[0], distances.one[0]) == (np.inf, 0)


@pytest.mark.parametrize(
    ("S", "dtype"), [(sr.boolean, "?"), (sr.boolean, "u1"), (sr.min_plus, "f8"), (sr.max_min, "i4")]
)
def test_zeros_and_ones_of_any_algebra(S: sr.Semiring, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One bit each, true where an element is 1; and back in the dtype of the data."""
    Bits(Host(), monkeypatch)
    low = packed_on_device(S, np.dtype(dtype))
    truths = np.random.default_rng(0).random((70, 90)) < 0.3
    data = np.where(truths, S.one_in(low.dtype), S.zero_in(low.dtype)).astype(dtype)
    stored = low.encode(data, True)
    np.testing.assert_array_equal(stored.get().to_dense(), truths)
    back = low.decode(stored)
    assert back.dtype == low.dtype
    np.testing.assert_array_equal(back, data)
    empty = low.empty((3, 70))
    assert empty.shape == (3, 70) and empty.count() == 0


def test_plans_count_a_bit_for_each_truth_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the eight bytes of the words that hold them: 131,072 vertices take 2 GiB, and no 128."""
    Bits(Host(), monkeypatch)
    low = packed_on_device(sr.boolean, np.dtype("?"))
    assert [low.matrix_bytes(n) for n in (0, 1, 600)] == [low.empty((n, n)).words.nbytes for n in (0, 1, 600)]
    assert low.matrix_bytes(1 << 17) == 2 << 30
