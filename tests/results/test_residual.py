"""Residuals: nothing greater fits, for every vector, in all forms of input."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
LOW, HIGH = np.iinfo(np.int8).min, np.iinfo(np.int8).max
ELEMENTS = {"f8": [-inf, inf, 0.0, 1.0, -2.0, 3.0], "i1": [LOW, HIGH, 0, 1, -2, 3]}


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus], ids=lambda S: S.name)
def test_a_vector_fits_just_if_it_is_no_greater(S: sr.Semiring, dtype: str, left: bool) -> None:
    elements = st.sampled_from(ELEMENTS[dtype])
    T = S.over(dtype)

    def at_most(x: np.ndarray, y: np.ndarray) -> bool:
        return bool((T.add(x, y) == y).all())

    @settings(max_examples=150)
    @given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2))
    def check(data: st.DataObject, m: int, k: int, n: int) -> None:
        def matrix(*shape: int) -> np.ndarray:
            size = shape[0] * shape[1]
            drawn = data.draw(st.lists(elements, min_size=size, max_size=size))
            return np.array(drawn, dtype).reshape(shape)

        A, B, Y = matrix(m, k), matrix(m, n), matrix(k, n)
        X = sr.residual(A.T, B.T, S, left=True).T if left else sr.residual(A, B, S)
        assert X.shape == (k, n) and X.dtype == np.dtype(dtype)
        assert at_most(sr.matmul(A, X, S), B)
        assert at_most(sr.matmul(A, Y, S), B) is at_most(Y, X)

    check()


def test_names_stacks_vectors_and_sparse_matrices() -> None:
    M = sr.adjacency([("a", "b", 2.0), ("b", "a", 5.0)], sr.max_plus)
    X = sr.residual(M, M)
    assert isinstance(X, sr.Matrix) and X.semiring is sr.max_plus and X["a", "a"] == 0.0
    A = np.array([[1.0, -inf], [2.0, 3.0]])
    b = np.array([4.0, 9.0])
    assert sr.residual(A, b, "max-plus").tolist() == [3.0, 6.0]
    assert sr.residual(np.stack([A, A + 1]), np.stack([A, A]), sr.max_plus).shape == (2, 2, 2)
    csr = sp.csr_array(np.array([[1.0, 0], [2.0, 3.0]]))  # what is not stored is −∞: no edge
    assert sr.residual(csr, b, sr.max_plus).tolist() == [3.0, 6.0]


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_plus], ids=lambda S: S.name)
def test_the_labels_of_a_vector_are_vertices(S: sr.Semiring, left: bool) -> None:
    pandas = pytest.importorskip("pandas")
    A = np.array([[S.zero, 1.0, 5.0], [S.zero, S.zero, 2.0], [3.0, S.zero, S.zero]])
    b = pandas.Series([0.0, 10.0, 100.0], index=["c", "a", "b"])
    found = sr.residual(sr.Matrix(A, S, ["a", "b", "c"]), b, left=left)
    assert np.array_equal(found, sr.residual(A, b[["a", "b", "c"]].to_numpy(), S, left=left))


def test_what_is_refused() -> None:
    with pytest.raises(sr.LawError, match="tropical"):
        sr.residual(np.eye(2), np.eye(2), sr.plus_times)
    with pytest.raises(sr.SemiringError, match="signed"):
        sr.residual(np.eye(2, dtype="u1"), np.eye(2, dtype="u1"), sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"A\[0, 1\] is -127"):
        sr.residual(np.array([[0, -127]], np.int8), np.array([0], np.int8), sr.max_plus)
    with pytest.raises(sr.SemiringError, match="do not fit"):
        sr.residual(np.eye(2), np.ones(3), sr.max_plus)
    with pytest.raises(sr.SemiringError, match="must be a matrix"):
        sr.residual(np.ones(2), np.ones(2), sr.max_plus)
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.residual(np.eye(2), np.array([1.0, np.nan]), sr.max_plus)
    with pytest.raises(sr.SemiringError, match="needs an algebra"):
        sr.residual(np.eye(2), np.eye(2))


def test_the_greatest_solution_is_one_of_elements() -> None:
    S = sr.Semiring("lengths", add=np.minimum, mul=np.add, zero=np.inf, one=0.0, carrier=lambda a: a >= 0)
    A = np.array([[3.0, 5.0]])
    assert sr.residual(A, np.array([7.0]), S).tolist() == [4.0, 2.0]
    for matrix, b in ((A, np.ones(1)), (sr.as_graph([("a", "b", 3.0), ("b", "a", 3.0)]), np.ones(2))):
        with pytest.raises(sr.SemiringError, match=r"outside the carrier of lengths, .*: use min_plus, over all"):
            sr.residual(matrix, b, S)


def test_graphs_keep_their_vertices_beside_vectors_and_matrices() -> None:
    roads = sr.as_graph([("b", "a", 3.0), ("a", "b", 4.0), ("b", "b", 1.0)])
    A = sr.adjacency(roads, sr.min_plus)
    b = np.array([5.0, 2.0])
    assert np.array_equal(sr.residual(roads, b, sr.min_plus), sr.residual(A.array, b, sr.min_plus))
    assert sr.residual(roads, np.ones((2, 3)), sr.min_plus).shape == (2, 3)
    other = sr.Matrix(np.array([[0.0, 7.0], [2.0, 1.0]]), sr.min_plus, ["a", "b"])
    for left in (False, True):
        expected = sr.residual(A, other, left=left)
        assert isinstance(expected, sr.Matrix)
        found = sr.residual(roads, other, sr.min_plus, left=left)
        assert found.names == expected.names and np.array_equal(found.array, expected.array)


@pytest.mark.parametrize(("left", "shape", "text"), [
    (False, (2, 4), r"A has 3 rows, B has 2 rows"), (False, (2,), r"A has 3 rows, B has 2 entries"),
    (False, (4, 3), r"A has 3 rows, B has 4 rows"), (True, (4, 3), r"A has 4 columns, B has 3 columns"),
    (True, (3,), r"A has 4 columns, B has 3 entries"), (True, (2, 3, 5), r"A has 4 columns, B has 5 columns"),
])
def test_what_does_not_fit_is_said_of_what_was_given(left: bool, shape: tuple[int, ...], text: str) -> None:
    given = r"^A of shape \(3, 4\) and B of shape " + re.escape(str(shape)) + " do not fit: "
    with pytest.raises(sr.SemiringError, match=given + text + "$"):
        sr.residual(np.zeros((3, 4)), np.zeros(shape), sr.max_plus, left=left)
    with pytest.raises(sr.SemiringError, match=r"^B must be a vector or a matrix with as many (rows|columns) as A"):
        sr.residual(np.zeros((3, 4)), np.zeros(()), sr.max_plus, left=left)
