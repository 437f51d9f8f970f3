"""Python integers: which numbers stand for infinities, and that none is ever cut off."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.overflow import refuse
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.objects import in_python_integers, python_integers, python_objects
from semiring.kernels.lowering.sums import tropical_integers

inf = float("inf")
INTEGERS = ("i1", "i8", "u1", "u8")


@settings(max_examples=150)
@given(st.data(), st.sampled_from(INTEGERS), st.sampled_from(["min_plus", "max_min", "gcd_lcm"]))
def test_there_and_back(data: st.DataObject, dtype: str, name: str) -> None:
    limits = np.iinfo(dtype)
    drawn = data.draw(st.lists(st.integers(limits.min, limits.max) | st.sampled_from([limits.min, limits.max])))
    a, low = np.array(drawn, dtype), python_integers(sr.catalogue[name], np.dtype(dtype), "")
    stored = low.encode(a, False)
    assert stored.dtype == object and all(isinstance(x, int) or abs(x) == inf for x in stored)
    infinite = [x for x in drawn if x == limits.max or (x == limits.min and limits.min)]
    assert sum(abs(x) == inf for x in stored) == (len(infinite) if name == "min_plus" else 0)
    assert [x for x in stored if abs(x) != inf] == [x for x in drawn if name != "min_plus" or x not in infinite]
    found = low.decode(stored)
    assert found.dtype == a.dtype and found.tolist() == drawn


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (2, 3), (2, 1, 2)])
def test_shapes(shape: tuple[int, ...]) -> None:
    low, a = python_integers(sr.min_plus, np.dtype("i4"), ""), np.ones(shape, "i4")
    assert low.encode(a, True).shape == low.decode(low.encode(a, True)).shape == shape


@pytest.mark.parametrize(("name", "dtype", "value"), [
    ("min_plus", "i1", 128), ("min_plus", "i1", -129), ("min_plus", "i8", 2**63), ("gcd_lcm", "u1", 256),
    ("gcd_lcm", "u1", -1), ("gcd_lcm", "u8", 2**64),
    # Numbers that would read as infinite: the limits of the dtype under sums.
    ("min_plus", "i1", 127), ("min_plus", "i1", -128), ("min_plus", "u1", 255), ("max_plus", "i8", -(2**63)),
])
def test_what_the_data_cannot_hold_is_refused(name: str, dtype: str, value: int) -> None:
    kind = np.dtype(dtype)
    low = python_integers(sr.catalogue[name], kind, "")
    message = rf"{sr.catalogue[name].name}: a result is {value}, which {kind.name} cannot hold; convert the data first"
    with pytest.raises(sr.SemiringError, match=message):
        low.decode(np.array([0, value], object))


def test_limits_are_numbers_where_nothing_is_infinite() -> None:
    low = python_integers(sr.gcd_lcm, np.dtype("u1"), "")
    assert low.decode(np.array([0, 255], object)).tolist() == [0, 255]
    low = python_integers(sr.min_plus, np.dtype("u1"), "")
    assert low.decode(np.array([0, 254, inf], object)).tolist() == [0, 254, 255]  # 0 is no −∞
    with pytest.raises(sr.SemiringError, match="-1, which uint8 cannot hold"):
        low.decode(np.array([-1], object))


def test_advice() -> None:
    with pytest.raises(sr.SemiringError, match=r"with \.astype\('int64'\) or \.astype\('float64'\)"):
        refuse(sr.min_plus, np.dtype("i2"), 10**6)
    with pytest.raises(sr.SemiringError, match=r"is 18446744073709551616.*\.astype\(object\), which is exact, or"):
        refuse(sr.counting, np.dtype("i8"), 2**64)
    with pytest.raises(sr.SemiringError, match=r"is 9223372036854775806 or more, which int64.*\.astype\(object\)"):
        refuse(sr.counting, np.dtype("i8"), 2**63 - 2, at_least=True)
    with pytest.raises(sr.SemiringError, match=r"\('uint64'\) or \.astype\('float64'\)"):
        refuse(sr.counting, np.dtype("i8"), 2**63)


def test_forms_say_why() -> None:
    low = python_objects(sr.regex, np.dtype(object), "a reason")
    assert (low.name, low.reason, low.kind, low.storage) == ("Python objects", "a reason", "objects", np.dtype(object))
    assert (low.zero, low.one) == ((sr.regex.zero,), (sr.regex.one,)) and low.is_identity
    low = python_integers(sr.min_plus, np.dtype("u2"), "another")
    assert (low.name, low.reason, low.kind, low.dtype) == ("Python integers", "another", "objects", np.dtype("u2"))
    assert not low.is_identity


@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "i4"), ("min_plus", "u1"), ("max_plus", "i2")])
def test_sums_go_on_in_python_integers(name: str, dtype: str) -> None:
    """What machine integers hold by now: finite sums, and an infinity that may have been added to."""
    S, kind = sr.catalogue[name], np.dtype(dtype)
    low = tropical_integers(S, kind, Facts(largest=100), 10, False)
    infinity = int(low.zero[0])
    stored = np.array([0, 900, 5, infinity, infinity + 900, infinity - 900], low.storage)
    wide, found = in_python_integers(low, stored)
    assert found.dtype == object and found.tolist() == [0, 900, 5, *[S.zero] * 3]
    assert stored[3] == infinity  # the matrix in machine integers stays as it was
    assert (wide.name, wide.dtype, wide.algebra) == ("Python integers", kind, S)
    assert wide.decode(found[[0, 2, 3]]).tolist() == [0, 5, S.zero_in(kind)]
