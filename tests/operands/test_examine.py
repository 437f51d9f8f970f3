"""Facts about elements against plain Python, and refusals by the place of the first that is not one."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import strategies
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.operands.examine import examine, known, stacked

inf, nan = np.inf, np.nan
quick = settings(max_examples=60)
FLOATS = st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.5, -3.0, inf, -inf, 5e-324, 1e300])


def facts(S: sr.Semiring, *arrays: np.ndarray) -> Facts:
    return examine(S, arrays[0].dtype, [(name, array) for name, array in zip("AB", arrays, strict=False)])


def expected(S: sr.Semiring, low: Any, high: Any, elements: list) -> Facts:
    """What is said of some numbers, one by one."""
    finite = [abs(x) for x in elements if low < x < high]
    dtype = np.dtype("f8") if isinstance(low, float) else np.dtype("i2")
    return Facts(
        largest=max(finite, default=0), low_limit=low in elements, high_limit=high in elements,
        two_valued=all(x in (S.zero_in(dtype), S.one_in(dtype)) for x in elements),
    )


@quick
@given(st.data(), st.lists(st.lists(FLOATS, min_size=3, max_size=3), max_size=4), st.lists(FLOATS, max_size=3))
def test_facts_about_floats(data: st.DataObject, rows: list[list[float]], more: list[float]) -> None:
    A, b = np.array(rows).reshape(-1, 3), np.array(more)
    for S in (sr.min_plus, sr.max_min):
        found = facts(S, data.draw(strategies.views(A)), b)
        assert found == expected(S, -inf, inf, [*A.ravel().tolist(), *more])


@quick
@given(st.data(), st.lists(st.sampled_from([0, 1, 2, -1, 300, -32767, 32766, 32767, -32768]), max_size=9))
def test_facts_about_integers(data: st.DataObject, numbers: list[int]) -> None:
    A = np.array(numbers, "i2")
    found = facts(sr.min_plus, data.draw(strategies.views(A.reshape(1, -1))))
    assert found == expected(sr.min_plus, -32768, 32767, numbers)
    assert type(found.largest) is int


@pytest.mark.parametrize("shape", [(), (1,), (0,), (2, 0), (3, 2), (2, 3, 2), (2, 0, 3), (2, 1, 3, 2), (1, 2, 1, 3, 2)])
def test_any_number_of_axes(shape: tuple[int, ...]) -> None:
    A = np.full(shape, 7.0)
    assert facts(sr.min_plus, A) == (Facts(7.0) if A.size else Facts(two_valued=True))
    if A.size:
        place = tuple(n - 1 for n in shape)
        A[place] = nan
        with pytest.raises(sr.SemiringError) as caught:
            facts(sr.min_plus, np.zeros(2), A)
        assert str(caught.value).startswith(f"B[{', '.join(map(str, place))}] is NaN: NaN is not an element of any")


def test_two_values_are_zero_and_one_of_the_algebra() -> None:
    for S, elements, two in (
        (sr.min_plus, [0, inf], True), (sr.min_plus, [0], True), (sr.min_plus, [inf], True),
        (sr.min_plus, [0, -inf], False), (sr.min_plus, [0, 1], False), (sr.min_plus, [-0.0, inf], True),
        (sr.max_min, [-inf, inf], True), (sr.max_min, [-inf, 0, inf], False), (sr.boolean, [0, 1, 1], True),
        (sr.plus_times, [0, 1], True), (sr.plus_times, [0, 0.5, 1], False), (sr.plus_times, [1, 2], False),
    ):
        assert facts(S, np.array([elements], float)).two_valued is two, (S, elements)
    whole = np.array([[0, 255, 255]], "u1")
    assert facts(sr.bitset_may, whole).two_valued and not facts(sr.min_max, whole + np.uint8(1)).two_valued
    between = np.array([[0, 9, 5]], "i2")
    assert not facts(sr.saturating_min_plus(9), between).two_valued, "the extremes alone do not tell"
    assert facts(sr.boolean, np.array([[True, False]])) == Facts(two_valued=True)
    assert facts(sr.min_plus, np.zeros((1, 2)), np.full((2, 1), 3.0)).two_valued is False, "all operands together"


def test_a_common_multiple_bounds_every_lcm() -> None:
    A = np.array([[4, 6, 0], [0, 10, 15]], "i4")
    assert facts(sr.gcd_lcm, A).multiple == math.lcm(4, 6, 10, 15)
    assert facts(sr.gcd_lcm, A, np.array([7], "i4")).multiple == math.lcm(4, 6, 10, 15, 7)
    assert facts(sr.gcd_lcm, np.zeros((2, 2), "i4")).multiple == 1
    primes = np.array([p for p in range(2, 200) if all(p % q for q in range(2, p))], "i4")
    assert facts(sr.gcd_lcm, primes).multiple >= 2**64, "which is not an integer of the machine"
    assert facts(sr.min_plus, A).multiple == 0


@pytest.mark.parametrize(("S", "dtype", "zero", "one", "low", "everything"), [
    (sr.min_plus, "f8", inf, 0, -inf, True), (sr.min_plus, "i2", 32767, 0, -32768, True),
    (sr.viterbi, "f4", 0, 1, -inf, False), (sr.max_min, "u1", 0, 255, 0, True),
    (sr.plus_min, "f8", 0, inf, -inf, False),
])
def test_what_decides_about_a_dtype(
    S: sr.Semiring, dtype: str, zero: float, one: float, low: float, everything: bool
) -> None:
    found = known(S, np.dtype(dtype))
    assert (found.zero, found.one, found.low, found.everything) == (zero, one, low, everything)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_the_first_that_is_outside_is_named(dtype: str) -> None:
    A = np.full((4, 3), 0.5, dtype)
    facts(sr.viterbi, A)
    A[3, 0] = A[2, 1] = -1
    with pytest.raises(sr.SemiringError, match=r"^A\[2, 1\] is -1: it is outside the carrier of viterbi, \(\[0, 1\]"):
        facts(sr.viterbi, A)
    with pytest.raises(sr.SemiringError, match=r"^A\[0, 3\] is -1: "):
        facts(sr.viterbi, A.T)
    large = np.full((5, 1 << 17), 0.5, dtype)  # it is looked at in parts
    large[4, 99] = 2
    with pytest.raises(sr.SemiringError, match=r"^A\[4, 99\] is 2: "):
        facts(sr.viterbi, large)
    row = large.reshape(-1)
    with pytest.raises(sr.SemiringError, match=rf"^A\[{4 * (1 << 17) + 99}\] is 2: "):
        facts(sr.viterbi, row)


def test_records_are_looked_at_and_have_no_facts() -> None:
    S = sr.shortest_hops
    A = np.full((2, 2), S.one_in(S.default_dtype))
    assert facts(S, A) == Facts()
    A["hops"][1, 0] = -1
    with pytest.raises(sr.SemiringError, match=r"^A\[1, 0\] is \(0, -1\): it is outside the carrier of shortest-hops"):
        facts(S, A)
    A["cost"][0, 1] = nan
    with pytest.raises(sr.SemiringError, match=r"^A\[0, 1\] is NaN: "):
        facts(S, A)


@pytest.mark.parametrize(("stranger", "shown"), [
    (None, "None"), ("3", "'3'"), (b"3", "b'3'"), ([1], r"\[1\]"), ((1, 2), r"\(1, 2\)"), ({}, r"\{\}"),
])
def test_objects_with_which_nobody_computes(stranger: Any, shown: str) -> None:
    A = np.full((2, 2), Fraction(1, 3), object)
    A[0, 1], A[1, 1] = 3, inf
    assert facts(sr.min_plus, A) == Facts()
    A[1, 0] = stranger
    with pytest.raises(sr.SemiringError, match=rf"^A\[1, 0\] is {shown}: min-plus computes with numbers; mark an abs"):
        facts(sr.min_plus, A)
    A[1, 0] = nan
    with pytest.raises(sr.SemiringError, match=r"^A\[1, 0\] is NaN"):
        facts(sr.min_plus, A)


@pytest.mark.parametrize("stranger", [
    datetime(2020, 1, 1), timedelta(1), np.datetime64("2020-01-01"), np.timedelta64(1, "D"), 1 + 2j, object(), int,
])
def test_objects_for_which_an_operation_is_not_defined(stranger: Any) -> None:
    A = np.full((2, 2), Decimal(1), object)
    A[0, 1], A[1, 1] = 3, inf
    assert facts(sr.min_plus, A) == Facts()
    A[1, 0] = stranger
    with pytest.raises(sr.SemiringError, match=r"^A\[1, 0\] is .*: the operations of min-plus are not defined for obj"):
        facts(sr.min_plus, A)


def test_numbers_of_any_type_are_elements_if_their_operations_are_defined() -> None:
    facts(sr.plus_times, np.array([[1 + 2j, 3], [Fraction(1, 3), 4]], object))
    facts(sr.max_min, np.full((2, 2), Decimal("0.5"), object))
    for number in (2.0, Fraction(1, 2), np.float64(2)):
        with pytest.raises(sr.SemiringError, match=r"^A\[0, 0\] is .*: the operations of bitset-may are not def"):
            facts(sr.bitset_may, np.full((2, 2), number, object))


@pytest.mark.parametrize("shape", [(2, 3), (4, 2, 3), (2, 5, 2, 3), (0, 2, 3), (2, 0, 0), (3, 0, 2, 0)])
def test_stacks_have_one_axis(shape: tuple[int, ...]) -> None:
    A = np.arange(math.prod(shape)).reshape(shape)
    S = stacked(A)
    assert S.shape == (math.prod(shape[:-2]), *shape[-2:]) and S.ravel().tolist() == A.ravel().tolist()


def test_an_object_that_numpy_makes_no_array_of_is_refused_by_its_place() -> None:
    ragged = np.empty((2, 2), object)
    ragged[...] = frozenset()
    ragged[1, 0] = [[1, 2], [3]]
    with pytest.raises(sr.SemiringError, match=r"A\[1, 0\] is \[\[1, 2\], \[3\]\]"):
        sr.closure(ragged, sr.why)
