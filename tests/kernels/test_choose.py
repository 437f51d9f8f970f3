"""Which form is chosen: the table of forms, and that no fact is asked for which does not decide."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import choose, only_form
from semiring.kernels.cpu.bits.lowering import FEWEST
from semiring.kernels.facts import Facts

# Algebra, dtype, facts, most factors of a product, other arguments; and the form.
TABLE: list[tuple[str, str, dict[str, Any], int, dict[str, bool], str]] = [
    ("boolean", "?", {"two_valued": True}, 9, {}, "packed bits"),
    ("boolean", "f4", {"two_valued": True}, 9, {}, "packed bits"),
    ("boolean", "?", {"two_valued": True}, 9, {"packed": False}, "general"),
    ("boolean", "?", {}, 9, {}, "general"),
    ("min_plus", "f8", {"two_valued": True}, 9, {}, "packed bits"),
    ("min_plus", "f8", {"two_valued": True}, 9, {"packed": False}, "fused sum"),
    ("min_plus", "f8", {}, 9, {}, "fused sum"),
    ("min_plus", "f2", {}, 9, {}, "fused sum, single precision"),
    ("gf2", "?", {"two_valued": True}, 9, {}, "general"),
    ("plus_times", "f8", {"two_valued": True}, 9, {}, "BLAS"),
    ("plus_times", "c8", {}, 9, {}, "real and imaginary parts"),
    ("plus_times", "f2", {}, 9, {}, "BLAS, single precision"),
    ("max_min", "f8", {}, 9, {}, "ordered integers"),
    ("max_min", "f2", {}, 9, {}, "ordered integers, single precision"),
    ("max_min", "i4", {}, 9, {}, "general"),
    ("viterbi", "f4", {}, 9, {}, "general"),
    ("min_plus", "u1", {"largest": 200}, 9, {}, "int16 sums"),
    ("min_plus", "u1", {"largest": 200}, 9, {"in_place": True}, "int16 sums"),
    ("min_plus", "i4", {"largest": 200}, 9, {}, "int16 sums"),
    ("min_plus", "i4", {"largest": 200}, 9, {"in_place": True}, "int32 sums"),
    ("min_plus", "i4", {"largest": 200}, 1000, {}, "int32 sums"),
    ("max_plus", "i2", {"largest": 2**14}, 10**6, {}, "int64 sums"),
    ("min_plus", "i8", {"largest": 2**60}, 9, {}, "Python integers"),
    ("min_plus", "i4", {"largest": 2, "low_limit": True}, 9, {}, "Python integers"),
    ("gcd_lcm", "i4", {"multiple": 2**31 - 1}, 9, {}, "general"),
    ("gcd_lcm", "i4", {"multiple": 2**31}, 9, {}, "Python integers"),
    ("bitset_may", "u2", {"largest": 5}, FEWEST, {}, "bit planes"),
    ("bitset_may", "u2", {"largest": 5}, FEWEST - 1, {}, "general"),
    ("bitset_must", "u2", {"largest": 5}, FEWEST, {"packed": False}, "general"),
    ("bitset_may", "u2", {"two_valued": True}, FEWEST, {}, "packed bits"),
    ("regex", "O", {}, 9, {}, "Python objects"),
    ("min_plus", "O", {}, 9, {}, "Python objects"),
]


@pytest.fixture(autouse=True)
def compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where code may be compiled, whatever the environment says."""
    monkeypatch.setenv("SEMIRING_COMPILE", "auto")


@pytest.mark.parametrize(("name", "dtype", "known", "length", "more", "form"), TABLE, ids=lambda v: str(v))
def test_forms(name: str, dtype: str, known: dict[str, Any], length: int, more: dict[str, bool], form: str) -> None:
    S, kind = sr.catalogue[name], np.dtype(dtype)
    low = choose(S, kind, Facts(**known), length, **{"in_place": False} | more)
    assert (low.name, low.algebra, low.dtype) == (form, S, kind) and low.reason and not low.on_gpu


def test_planes_are_for_compiled_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_COMPILE", "never")
    for name in ("bitset_may", "bitset_must"):
        low = choose(sr.catalogue[name], np.dtype("u2"), Facts(largest=5), FEWEST, in_place=False)
        assert low.name == "general"


def test_the_same_form_is_the_same_object() -> None:
    """Engines are found by it."""
    for name, dtype, known, length, more, _ in TABLE:
        S, kind, more = sr.catalogue[name], np.dtype(dtype), {"in_place": False} | more
        if "Python" not in choose(S, kind, Facts(**known), length, **more).name:
            assert choose(S, kind, Facts(**known), length, **more) is choose(S, kind, Facts(**known), length, **more)


@pytest.mark.parametrize("two_valued", [False, True])
def test_the_only_form_is_chosen_whatever_else_is_known(two_valued: bool) -> None:
    others = [Facts(*some, two_valued) for some in ((0, False, False), (300, True, True), (2**70, False, True))]
    others.append(Facts(two_valued=two_valued, multiple=2**80))
    open_dtypes = set()
    for name in sr.catalogue:
        S = sr.catalogue[name]
        for dtype in (*S.dtypes, np.dtype(object)):
            only = only_form(S, dtype, two_valued)
            open_dtypes |= {dtype.kind} if only is None else set()
            chosen = {
                choose(S, dtype, facts, length, in_place=in_place, packed=packed)
                for facts, length, in_place, packed in product(others, (2, 5000), (False, True), (False, True))
            }
            assert only is None or chosen == {only}, (name, dtype)
            if name in ("min_plus", "boolean") and dtype.kind != "O":
                assert (only is None) == (dtype.kind in "iu" or two_valued)
    assert open_dtypes == set("iubf" if two_valued else "iu")


@pytest.mark.parametrize(("name", "dtype"), [
    ("min_plus", "f2"), ("min_plus", "f8"), ("min_plus", "i2"), ("max_plus", "i4"), ("max_min", "f4"),
    ("max_min", "f2"), ("plus_times", "c8"), ("boolean", "?"), ("boolean", "f4"), ("gcd_lcm", "i4"), ("counting", "u8"),
])
@pytest.mark.parametrize("two_valued", [False, True])
def test_data_come_back_from_every_form(name: str, dtype: str, two_valued: bool) -> None:
    S, kind = sr.catalogue[name], np.dtype(dtype)
    elements = [S.zero_in(kind), S.one_in(kind)]
    if not two_valued and name != "boolean":
        elements += [kind.type(2), kind.type(3)]
    A = np.random.default_rng(0).choice(np.array(elements, kind), (7, 70))
    low = choose(S, kind, Facts(largest=3, two_valued=two_valued or name == "boolean", multiple=6), 70, in_place=False)
    found = low.decode(low.encode(A, True))
    assert found.dtype == kind and (found == A).all()
