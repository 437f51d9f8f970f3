"""What all operands share: orders of square matrices, the dtype of answers, and names of vertices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.operands.operand import Operand, order_of, order_of_one


@given(st.lists(st.integers(0, 5), max_size=4))
def test_an_order_is_the_two_last_axes_which_are_equal(shape: list[int]) -> None:
    given_ = tuple(shape)
    if len(given_) >= 2 and given_[-1] == given_[-2]:
        assert order_of(given_) == given_[-1]
        if len(given_) == 2:
            assert order_of_one(given_) == given_[-1]
    else:
        with pytest.raises(sr.SemiringError, match=r"must be a square matrix or a stack of them \(…, n, n\), and is "):
            order_of(given_)
    if len(given_) != 2:
        with pytest.raises(sr.SemiringError, match=r"^A must be one square matrix, and has shape "):
            order_of_one(given_)
    elif given_[0] != given_[1]:
        with pytest.raises(sr.SemiringError, match=f"^A must be a square matrix, and is {given_[0]} × {given_[1]}$"):
            order_of_one(given_)


@pytest.mark.parametrize(("shape", "text"), [
    ((), "^B must be a square .*, and is one number$"), ((3,), "and is 3$"), ((2, 3), "and is 2 × 3$"),
    ((4, 2, 3), "and is 4 × 2 × 3$"),
])
def test_what_is_not_square_is_shown(shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(sr.SemiringError, match=text):
        order_of(shape, "B")


def test_what_a_new_representation_has_to_say() -> None:
    given_ = Operand(sr.min_plus, "A", (3, 3), np.dtype("f8"), ["x", "y", "z"])
    low = given_.lowering(Facts(), 3)
    for ask in (lambda: given_.nbytes, lambda: given_.facts, lambda: given_.form(3), lambda: given_.stored(low, True)):
        with pytest.raises(NotImplementedError):
            ask()
    answer = np.zeros((3, 3))
    assert given_.wrap(answer) is answer and given_.unstored(low, answer) is answer
    assert not given_.on_gpu and not given_.of_graph
    assert [given_.position(v) for v in range(3)] == ["x", "y", "z"]
    given_.names = None
    assert given_.position(2) == 2


def test_the_form_on_the_host_follows_the_facts() -> None:
    given_ = Operand(sr.min_plus, "A", (3, 3), np.dtype("i4"))
    assert given_.lowering(Facts(largest=10), 3).storage == np.dtype("i2")
    assert given_.lowering(Facts(largest=10), 3, in_place=True).storage == np.dtype("i4")
    assert given_.lowering(Facts(largest=10), 10**6).storage == np.dtype("i4")
    assert given_.lowering(Facts(two_valued=True), 3, packed=True).kind == "packed"
    assert given_.lowering(Facts(two_valued=True), 3).kind != "packed"


def test_answers_in_the_dtype_in_which_the_elements_came_in() -> None:
    given_ = Operand(sr.min_plus, "A", (2, 2), np.dtype("f8"))
    answer = np.arange(4.0).reshape(2, 2)
    assert given_.in_callers_dtype(answer) is answer
    given_.callers_dtype = np.dtype(">f8")
    back = given_.in_callers_dtype(answer)
    assert back.dtype == np.dtype(">f8") and back.tolist() == answer.tolist()
    assert given_.in_callers_dtype(back) is back
