"""Scans and chains on a GPU: what is decided before one is needed; tests/gpu/test_sequences.py has their answers."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.operands.devices import HOSTS, without_the_option
from semiring.shapes.sequences.scan_on_gpu import form_of_any, refuse_elements, sequences


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_sequences_are_stacks_of_stacks(axis: int) -> None:
    """The other leading axes count sequences, in order; elements of a row lie side by side."""
    A = np.arange(2 * 3 * 4 * 5 * 5).reshape(2, 3, 4, 5, 5)
    for given in (A, A.swapaxes(-1, -2)):
        found = sequences(given, axis)
        assert found.strides[-1] == found.itemsize
        assert np.array_equal(found, np.moveaxis(given, axis, 2).reshape(-1, given.shape[axis], 5, 5))


def test_forms_that_serve_any_elements() -> None:
    """Floats have one, integers do not: it depends on how large they are."""
    for S in (sr.min_plus, sr.max_min, sr.log, sr.plus_times):
        low = form_of_any(S, np.dtype("f4"), 64)
        assert low is not None and low.dtype == np.dtype("f4")
    assert form_of_any(sr.min_plus, np.dtype("i4"), 64) is None
    assert form_of_any(sr.gcd_lcm, np.dtype("i8"), 64) is None


def test_what_only_the_host_computes() -> None:
    refuse_elements(sr.min_plus, np.dtype("f4"))
    refuse_elements(sr.plus_times, np.dtype("c8"))
    with pytest.raises(sr.SemiringError, match="sequences of Python objects"):
        refuse_elements(sr.min_plus, np.dtype(object))


def test_no_advice_names_an_option_that_is_not_there() -> None:
    with pytest.raises(sr.SemiringError) as found, without_the_option():
        raise sr.SemiringError("too large; use device='cpu'")
    assert str(found.value) == f"too large; {HOSTS}"
    with pytest.raises(sr.SemiringError, match=r"^too large$"), without_the_option():
        raise sr.SemiringError("too large")
