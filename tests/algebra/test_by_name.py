"""Algebras by name: spellings of one name, families with their number, and unknown names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.by_name import algebra

KNOWN = {**sr.catalogue, **sr.counter_examples}


@pytest.mark.parametrize("name", KNOWN)
@pytest.mark.parametrize("spelled", [
    lambda name: name, str.upper, str.title, lambda name: name.replace("_", "-"), lambda name: name.replace("_", " "),
    lambda name: f"\t{name} \n",
], ids=["plain", "upper", "title", "dashes", "blanks", "surrounded"])
def test_spellings_of_one_name(name: str, spelled: Any) -> None:
    assert algebra(spelled(name)) is KNOWN[name]


def test_an_algebra_is_itself() -> None:
    mine = sr.Semiring("min-plus", add=np.maximum, mul=np.minimum, zero=-np.inf, one=np.inf)
    assert algebra(mine) is mine and algebra("min-plus") is sr.min_plus


@pytest.mark.parametrize(("text", "S"), [
    ("mod_p(5)", sr.mod_p(5)), ("MOD-P(007)", sr.mod_p(7)), ("k-best(2)", sr.k_best(2)),
    ("saturating min plus(9)", sr.saturating_min_plus(9)), ("mod_p", sr.mod_p(7)), ("k_best", sr.k_best(3)),
])
def test_families(text: str, S: sr.Semiring) -> None:
    assert algebra(text) is S


@pytest.mark.parametrize(("text", "message"), [
    ("mod_p(6)", r"mod_p\(6\): the modulus must be a prime"), ("k_best(9)", "from 1 to 8"),
    ("saturating_min_plus(0)", "at least 1"),
])
def test_numbers_that_a_family_refuses(text: str, message: str) -> None:
    with pytest.raises(sr.SemiringError, match=message):
        algebra(text)


@pytest.mark.parametrize("text", [
    "", "()", "mod_p()", "mod_p(-5)", "mod_p(+5)", "mod_p(5.0)", "mod_p(5", "mod_p(5)x", "mod_p( 5)", "mod_p(٥)",
    "mod_p(5)(7)", f"mod_p({10**18})", "min_plus(3)", "min__plus", "min_plus2",
])
def test_what_is_no_name(text: str) -> None:
    with pytest.raises(sr.SemiringError, match=r"^unknown algebra "):
        algebra(text)


def test_the_near_name_is_suggested_or_else_all_are_listed() -> None:
    with pytest.raises(sr.SemiringError, match="'boolaen': did you mean 'boolean'"):
        algebra("boolaen")
    with pytest.raises(sr.SemiringError, match="'Plus-Mim': did you mean 'plus_min'"):  # no semiring, but it has a name
        algebra("Plus-Mim")
    with pytest.raises(sr.SemiringError) as caught:
        algebra("?")
    assert str(caught.value).endswith(f"the catalogue has {', '.join(sr.catalogue)}")


@pytest.mark.parametrize("given", [None, 3, np.minimum, b"min_plus", ["min_plus"], sr.Semiring])
def test_what_has_no_name(given: Any) -> None:
    with pytest.raises(sr.SemiringError, match=r"is not a semiring; pass a semiring, such as sr\.min_plus, or its"):
        algebra(given)
