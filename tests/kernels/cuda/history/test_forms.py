"""In which form the historical kernels compute, and how large their blocks are."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cuda.history.forms import MOST_SHARED, authors_form, text_of, tile_of
from semiring.kernels.facts import DeviceFacts, Facts


def test_floats_are_numbers_and_integers_have_an_infinity_out_of_reach() -> None:
    known = DeviceFacts(largest=100, least=0)
    assert not authors_form(sr.min_plus, np.dtype("f4"), known, 50).non_negative
    assert authors_form(sr.max_min, np.dtype("f8"), known, 50).storage == np.float64
    sums = authors_form(sr.min_plus, np.dtype("i4"), known, 50)
    assert sums.storage == np.uint16 and "sums" in sums.name


def test_what_the_gpu_cannot_compute_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="device='cpu'"):
        authors_form(sr.plus_times, np.dtype("c16"), Facts(), 5)
    with pytest.raises(sr.SemiringError, match="device='cpu'"):
        authors_form(sr.min_plus, np.dtype("i8"), DeviceFacts(largest=2**62, least=0), 50)


def test_blocks_fit_in_shared_memory() -> None:
    assert [tile_of(size) for size in (1, 4, 8, 16, 32)] == [32, 32, 32, 16, 16]
    for size in (1, 8, 12, 24, 48, 100, 500, 2000):
        assert 3 * tile_of(size) * (tile_of(size) + 1) * size <= MOST_SHARED
    with pytest.raises(sr.SemiringError, match="too large"):
        tile_of(10_000)


def test_a_lowering_has_one_text() -> None:
    low = authors_form(sr.min_plus, np.dtype("f4"), Facts(), 5)
    assert text_of(low) is text_of(low)
