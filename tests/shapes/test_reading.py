"""The operands of an einsum: arrays, numbers, matrices with names, and what is refused of them."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr


def test_numbers_and_vectors_are_operands_too() -> None:
    v = np.array([1.0, 5.0], np.float32)
    assert sr.einsum(",i->i", 2, v, S=sr.min_plus).tolist() == [3, 7]
    assert sr.einsum("i,i", v, v, S=sr.min_plus) == 2
    assert sr.einsum(",", 3.0, 4.0, S=sr.min_plus) == 7
    assert sr.einsum("i,j->ij", v, v, S=sr.max_min).tolist() == [[1, 1], [1, 5]]
    assert sr.einsum(",i->i", np.inf, np.array([1, 2], np.int8), S=sr.min_plus).tolist() == [127, 127]
    assert type(sr.einsum("i->", v, S=sr.min_plus)) is np.float32


@pytest.mark.parametrize("dtype", [">f4", "<f8", ">i2"])
def test_the_byte_order_of_the_first_operand_stays(dtype: str) -> None:
    A = np.array([[1, 2], [3, 4]], dtype)
    got = sr.einsum("ij,jk,kl->il", A, A, A, S=sr.max_plus)
    assert got.dtype == np.dtype(dtype)
    assert got.tolist() == [[9, 10], [11, 12]]
    A.flags.writeable = False
    assert sr.einsum("ii->i", A, S=sr.max_plus).tolist() == [1, 4]


def test_vertices_are_put_into_one_order_along_each_axis() -> None:
    M = sr.Matrix(np.array([[0.0, 1.0], [2.0, 0.0]]), sr.min_plus, ["a", "b"])
    N = sr.Matrix(M.array[::-1, ::-1].copy(), sr.min_plus, ["b", "a"])
    got = sr.einsum("ij,jk,kl->il", M, N, M)
    assert isinstance(got, sr.Matrix)
    assert got.names == ["a", "b"]
    assert np.array_equal(got.array, sr.chain([M.array] * 3, sr.min_plus))
    assert isinstance(sr.einsum("ij->i", M), np.ndarray)
    other = sr.Matrix(M.array, sr.min_plus, ["a", "c"])
    assert sr.einsum("ij,kl->ijkl", M, other).shape == (2, 2, 2, 2)
    with pytest.raises(sr.GraphError, match="operand 0 and operand 1 have different vertices"):
        sr.einsum("ij,jk", M, other)
    graph = sr.as_graph([("a", "b", 1.0), ("b", "a", 2.0)])
    assert sr.einsum("ij,jk,kl->il", graph, graph, graph, S=sr.min_plus)["a", "b"] == 4


def test_what_is_no_element_is_refused_with_its_place() -> None:
    A, B = np.ones((2, 3)), np.ones((3, 2))
    B[2, 1] = np.nan
    for text, *arrays in (("ij,jk->ik", A, B), ("kj,ji->ki", A, B), ("ij,jk,ki->", A, B, np.ones((2, 2)))):
        with pytest.raises(sr.SemiringError, match=r"operand 1\[2, 1\] is NaN"):
            sr.einsum(text, *arrays, S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"operand 0\[0, 0\] is 2.* carrier"):
        sr.einsum("ij->j", A * 2, S=sr.viterbi)
    with pytest.raises(sr.SemiringError, match="operand 0 is float64 and operand 1 is float32"):
        sr.einsum("ij,jk,kl", A, A.T.astype("f4"), A, S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match="leaves int8"):
        sr.einsum("i,j->ij", np.array([100], "i1"), np.array([100], "i1"), S=sr.min_plus)
    with pytest.raises(sr.LawError, match="argmax needs a selective ⊕"):
        sr.einsum("ij->", A, S=sr.plus_times, argmax=True)
    with pytest.raises(sr.SemiringError, match="the algebra by name"):
        sr.einsum("ij", A, sr.min_plus, S=sr.min_plus)
    with pytest.raises(sr.SemiringError, match="needs an algebra"):
        sr.einsum("ij->j", A)
    with pytest.raises(sr.SemiringError, match="optimize must be True, False, or a path"):
        sr.einsum("ij->j", A, S=sr.min_plus, optimize="best")
    with pytest.raises(sr.SemiringError, match="list of axes after operand 0"):
        sr.einsum(A, B, S=sr.min_plus)
