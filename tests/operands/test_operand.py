"""What all operands share: orders of square matrices, the dtype of answers, and names of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.operands.convert import as_dense
from semiring.operands.operand import Operand, order_of, order_of_one
from semiring.operands.read import read


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


GIVEN = np.array([[np.inf, 2.0, 5.0], [1.0, np.inf, np.inf], [0.0, 3.0, np.inf]])
NAMED = ["x", "y", "z"]
MADE: dict[str, Any] = {
    "array": lambda: GIVEN.copy(),
    "Matrix": lambda: sr.Matrix(GIVEN.copy(), sr.min_plus, NAMED),
    "sparse": lambda: sp.csr_array((GIVEN[np.inf > GIVEN], np.nonzero(np.inf > GIVEN)), (3, 3)),
    "Graph": lambda: sr.as_graph([(NAMED[i], NAMED[j], GIVEN[i, j]) for i, j in zip(*np.nonzero(np.inf > GIVEN),
                                                                                  strict=True)], names=NAMED),
}


@pytest.mark.parametrize("make", MADE)
def test_the_algebra_of_operands(make: str) -> None:
    """Transposed, plain, identity, part, other elements and graph: as NumPy has them, and the operand stays."""
    A: Any = read(MADE[make](), sr.min_plus)
    before, kind = as_dense(A).array.copy(), type(A.wrap(GIVEN))
    assert (as_dense(A.T).array == GIVEN.T).all() and type(A.T.wrap(GIVEN)) is np.ndarray
    assert (as_dense(A.plain).array == GIVEN).all() and type(A.plain.wrap(GIVEN)) is np.ndarray
    assert A.plain.names == A.names and not A.plain.of_graph
    assert (as_dense(A.eye()).array == sr.min_plus.eye(3)).all() and type(A.eye().wrap(GIVEN)) is kind
    other = A.with_elements(A.elements + 1)
    assert (as_dense(other).array == GIVEN + 1).all() and type(other.wrap(GIVEN)) is kind
    assert A.graph().n == 3 and A.graph().along([0, 2], [1, 0]).tolist() == [2.0, 0.0]
    for vertices in ([0, 2], [2, 0, 1], []):
        found = A.part(np.array(vertices, np.int64))
        assert (as_dense(found).array == GIVEN[np.ix_(vertices, vertices)]).all()
        assert found.names == [v if A.names is None else NAMED[v] for v in vertices]
    assert not A.with_elements(A.elements - 9).bounded and A.bounded
    assert (as_dense(A).array == before).all()


def test_elements_of_a_narrower_dtype_are_the_answer() -> None:
    A = read(np.array([[3, 4], [5, 6]], ">i4"), sr.min_plus)
    floats = A.with_elements(A.elements.astype("f8"))
    assert A.callers_dtype == ">i4" and A.with_elements(A.elements + 1).callers_dtype == ">i4"
    assert floats.wrap(np.zeros((2, 2))).dtype == "f8"


def test_the_algebra_of_packed_bits_and_of_a_stack() -> None:
    bits: Any = read(sr.pack([(0, 1), (1, 2)]), sr.boolean)
    assert (bits.T.matrix.to_dense() == bits.matrix.to_dense().T).all() and bits.eye().matrix[2, 2]
    assert bits.graph().along([0, 1], [1, 2]).all() and bits.bounded
    stack: Any = read(np.stack([GIVEN, GIVEN + 1]), sr.min_plus)
    assert (stack.T.array == stack.array.swapaxes(1, 2)).all() and (stack.eye().array == sr.min_plus.eye(3)).all()
    assert stack.graph((1,)).along([0], [1]).tolist() == [3.0]
