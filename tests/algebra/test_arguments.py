"""Plain arguments: whole numbers are taken as such, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.arguments import truth_value, whole_number

CALLS: dict[str, tuple[Callable[[Any], Any], int]] = {
    "k of k_best": (sr.k_best, 1),
    "the modulus of mod_p": (sr.mod_p, 2),
    "the bound of saturating_min_plus": (sr.saturating_min_plus, 1),
    "n": (sr.min_plus.eye, 0),
}


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
def test_whole_numbers_of_any_type(value: Any) -> None:
    number = whole_number(value, "k", 1, 3)
    assert number == 3 and type(number) is int


@pytest.mark.parametrize("value", [0, 4, 2.5, 2.0, "2", None, True, [2], np.float64(2)])
def test_what_is_none_is_refused_by_name(value: Any) -> None:
    with pytest.raises(sr.SemiringError, match=f"from 1 to 3, and is {re.escape(repr(value))}"):
        whole_number(value, "k", 1, 3)


@pytest.mark.parametrize("value", [True, np.True_, 1])
def test_truth_values_may_be_0_and_1(value: Any) -> None:
    assert truth_value(value, "check") is True and truth_value(not value, "check") is False


@pytest.mark.parametrize("value", [2, -1, 1.0, "yes", None, [True], np.array(True)])
def test_what_is_no_truth_value_is_refused_by_name(value: Any) -> None:
    with pytest.raises(sr.SemiringError, match=f"check must be True or False, and is {re.escape(repr(value))}"):
        truth_value(value, "check")


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("value", ["a", 2.5, None, -1])
def test_functions_that_take_one(what: str, value: Any) -> None:
    call, least = CALLS[what]
    with pytest.raises(sr.SemiringError, match=f"{what} must be a whole number .*{least}"):
        call(value)


def test_packed_matrices_have_no_negative_sides() -> None:
    for make in (lambda: sr.PackedMatrix.zeros(-1, 3), lambda: sr.PackedMatrix.identity(-2)):
        with pytest.raises(sr.SemiringError, match="cannot have"):
            make()
