"""What every lowering has: storage in and out, sizes, 1 ⊕ a, and the key by which engines are shared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.objects import python_objects

F8, OBJECT = np.dtype("f8"), np.dtype(object)
PLAIN = general(sr.min_plus, F8)
RECORDS = general(sr.shortest_hops, sr.shortest_hops.default_dtype)
OBJECTS = python_objects(sr.min_plus, OBJECT, "as a test")


def test_data_as_they_are() -> None:
    A = np.array([[1.0, np.inf]])
    assert PLAIN.is_identity
    assert PLAIN.encode(A, False) is not None and np.shares_memory(PLAIN.encode(A, False), A)
    assert not np.shares_memory(PLAIN.encode(A, True), A) and (PLAIN.encode(A, True) == A).all()
    assert PLAIN.decode(A) is A


def test_data_in_another_form() -> None:
    low = replace(PLAIN, recode=(lambda a, copy: a + copy, lambda b: b - 1))
    assert not low.is_identity
    assert low.encode(np.array([5.0]), True) == 6 and low.encode(np.array([5.0]), False) == 5
    assert low.decode(np.array([6.0])) == 5


HALVES = sr.Semiring("halves", add=np.add, mul=lambda a, b: a * b / 2, zero=0.0, product_only=True)


def test_a_test_for_zero_and_the_form_without() -> None:
    low = general(HALVES, F8)
    test, plain = low.test_for_zero, low.without_test
    assert test and str(test.absorbed) == "(a = 0) or (b = 0)" and str(test.mul) == "(a · b) · 0.5"
    assert plain.mul == test.mul and plain.scale is low.scale and plain.key != low.key
    assert low.without_test is plain and plain.without_test is plain


@pytest.mark.parametrize("low", [PLAIN, RECORDS], ids=["proven", "records"])
def test_where_no_test_is_there_none_is_left_out(low: Lowering) -> None:
    assert (low.test_for_zero is None) == (low.without_test is low)


def test_sizes() -> None:
    assert (PLAIN.components, RECORDS.components) == ((F8,), (F8, F8))
    assert (PLAIN.matrix_bytes(7), RECORDS.matrix_bytes(7), OBJECTS.matrix_bytes(0)) == (392, 784, 0)
    for low in (PLAIN, RECORDS, OBJECTS):
        made = low.empty((2, 3))
        assert (made.shape, made.dtype) == ((2, 3), low.storage)


def test_one() -> None:
    assert PLAIN.unit == 0 and isinstance(PLAIN.unit, np.float64)
    assert RECORDS.unit.tolist() == (0, 0) and RECORDS.unit.dtype == RECORDS.storage
    assert PLAIN.add_one(np.array([3.0, -2, np.inf])).tolist() == [0, -2, 0]
    found = RECORDS.add_one(np.array([(3, 1), (0, 2), (np.inf, np.inf)], RECORDS.storage))
    assert found.tolist() == [(0, 0)] * 3 and found.dtype == RECORDS.storage
    assert OBJECTS.add_one(np.array([3, -2, 10**30], object)).tolist() == [0, -2, 0]
    for low in (PLAIN, RECORDS, OBJECTS):
        assert low.add_one(np.empty(0, low.storage)).shape == (0,)


def test_one_of_a_form_is_one_in_storage() -> None:
    whole = general(sr.plus_times, F8)
    assert whole.add_one(np.array([3.0, -1])).tolist() == [4, 0]
    twice = replace(whole, one=(np.float64(2),))
    assert twice.unit == 2 and twice.add_one(np.array([3.0])).tolist() == [5]


def test_nan_stays_out_where_sums_are_least_or_greatest() -> None:
    dropping = {name for name in ("min_plus", "max_plus", "max_min", "viterbi", "plus_times", "counting", "log")
                if general(sr.catalogue[name], F8).drops_nan}
    assert dropping == {"min_plus", "max_plus", "max_min", "viterbi"}
    assert not RECORDS.drops_nan


class TestKeys:
    def test_what_reads_alike_is_one_program(self) -> None:
        twin = sr.Semiring("twin", add=np.minimum, mul=np.add, zero=np.inf, one=0,
                           star=lambda a: np.where(a < 0, -np.inf, 0), description="another")
        assert general(twin, F8) is not PLAIN
        assert general(twin, F8).key == PLAIN.key and hash(general(twin, F8).key) == hash(PLAIN.key)

    @pytest.mark.parametrize("other", [
        general(sr.max_plus, F8), general(sr.min_plus, np.dtype("f4")), replace(PLAIN, kind="cuda"),
        replace(PLAIN, zero=(np.float64(7),)), replace(PLAIN, one=(np.float64(7),)), replace(PLAIN, fused_sum=False),
        replace(PLAIN, blas=True), replace(PLAIN, star=general(sr.log, F8).star), OBJECTS,
    ])
    def test_whatever_the_code_depends_on_is_in_the_key(self, other: Lowering) -> None:
        assert other.key != PLAIN.key

    def test_what_the_code_does_not_depend_on_is_not(self) -> None:
        renamed = replace(PLAIN, name="other", reason="other", recode=(lambda a, copy: a, lambda b: b))
        assert renamed.key == PLAIN.key

    def test_objects_belong_to_their_algebra(self) -> None:
        """Functions that Python calls cannot be compared."""
        assert OBJECTS.key == python_objects(sr.min_plus, OBJECT, "for another reason").key
        assert OBJECTS.key != python_objects(sr.max_plus, OBJECT, "as a test").key

    def test_a_lowering_equals_itself_alone(self) -> None:
        assert replace(PLAIN) != PLAIN and len({PLAIN, replace(PLAIN), PLAIN}) == 2
