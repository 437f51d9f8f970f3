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


def test_graphs_are_read_by_their_names() -> None:
    edges = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 5.0), ("a", "c", 4.0)]
    graph, turned = sr.as_graph(edges), sr.as_graph(edges[::-1])
    assert graph.names != turned.names
    A = sr.adjacency(graph, sr.min_plus)
    three = sr.einsum("ij,jk,kl->il", graph, turned, graph, S=sr.min_plus)
    assert three.names == graph.names
    assert np.array_equal(three.array, sr.chain([A.array] * 3, sr.min_plus))
    for text, right in (("ij,jk->ik", A.array), ("ij,kj->ik", A.array.T)):
        two = sr.einsum(text, graph, turned, S=sr.min_plus)
        assert isinstance(two, sr.Graph)
        wanted = sr.Matrix(sr.matmul(A.array, right, sr.min_plus), sr.min_plus, A.names)
        assert (sr.adjacency(two, sr.min_plus) == wanted).all()
    assert np.array_equal(sr.einsum("ij->i", turned, S=sr.min_plus), sr.adjacency(turned, sr.min_plus).array.min(1))
    whole = sr.as_graph([("a", "b", 1)])
    assert sr.einsum("ij,j,i->i", whole, np.zeros(2), np.zeros(2), S=sr.min_plus).tolist() == [1, np.inf]


def test_rows_and_columns_with_names_of_their_own() -> None:
    M = sr.Matrix(np.arange(6.0).reshape(2, 3), sr.min_plus, ["a", "b"], columns=["x", "y", "z"])
    N = sr.Matrix(np.arange(12.0).reshape(3, 4), sr.min_plus, ["z", "x", "y"], columns=list("pqrs"))
    straight = N.array[[1, 2, 0]]
    two = sr.einsum("ij,jk->ik", M, N)
    assert (two.row_names, two.column_names) == (["a", "b"], list("pqrs"))
    assert np.array_equal(two.array, sr.matmul(M.array, straight, sr.min_plus))
    three = sr.einsum("ij,jk,lk->il", M, N, N)
    assert (three.row_names, three.column_names) == (["a", "b"], ["z", "x", "y"])
    assert np.array_equal(three.array, sr.chain([M.array, straight, N.array.T], sr.min_plus))
    assert sr.einsum("ij->ji", M).row_names == ["x", "y", "z"]
    assert isinstance(sr.einsum("ij,jk->ik", M, straight), np.ndarray)
    around = sr.Matrix(np.array([[1.0, 2.0], [3.0, 4.0]]), sr.min_plus, ["a", "b"], columns=["b", "a"])
    assert sr.einsum("ii->i", around).tolist() == [2, 3]
    with pytest.raises(sr.GraphError, match="the columns of operand 0 and the rows of operand 1 have different"):
        sr.einsum("ij,jk", M, sr.Matrix(straight, sr.min_plus, ["w", "x", "y"], columns=list("pqrs")))


def test_labels_of_a_vector_meet_the_names_of_its_axis() -> None:
    pandas = pytest.importorskip("pandas")
    M = sr.Matrix(np.array([[0.0, 1.0], [1.0, 0.0]]), sr.min_plus, ["a", "b"])
    v = pandas.Series([1.0, 9.0], ["b", "a"])
    assert sr.einsum("ij,j->i", M, v).tolist() == sr.matmul(M, v).tolist() == [2, 1]
    bare = sr.Matrix(M.array, sr.min_plus)
    assert sr.einsum("j,ij->i", pandas.Series([1.0, 9.0], [1, 0]), bare).tolist() == [2, 1]
    with pytest.raises(sr.GraphError, match="'a' is in operand 0 and not in operand 1"):
        sr.einsum("ij,j->i", M, pandas.Series([1.0, 9.0]))


def test_vectors_with_labels_meet_by_these() -> None:
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    v = pandas.Series([0.0, 1.0, 2.0], list("zyx"))
    across = xarray.DataArray([0.0, 10.0, 20.0], dims="c", coords={"c": list("xyz")})
    for w in (across.to_series(), across):
        assert np.array_equal(sr.einsum("i,i->i", v, w, S=sr.min_plus), [20, 11, 2])
        assert sr.einsum("i,i", v, w, S=sr.min_plus) == sr.matmul(v, w, sr.min_plus) == 2
        assert np.array_equal(sr.einsum("i,j->ij", v, w, S=sr.min_plus), [[0, 10, 20], [1, 11, 21], [2, 12, 22]])
    assert sr.einsum("i,i->i", v, across.to_numpy(), S=sr.min_plus).tolist() == [0, 11, 22]
    for labels, says in ((list("xyw"), "'z' is in operand 0 and not in operand 1"), (list("xxy"), "one comes twice")):
        with pytest.raises(sr.GraphError, match=says):
            sr.einsum("i,i", v, pandas.Series([0.0, 10.0, 20.0], labels), S=sr.min_plus)


def test_a_dtype_without_the_algebra_is_refused_with_its_operand() -> None:
    A = np.ones((2, 2))
    for given in (A + 1j, (A + 1j).tolist(), sr.Matrix(A + 1j, sr.plus_times).array, np.full((2, 2), "2020", "M8[D]")):
        with pytest.raises(sr.SemiringError, match=r"^operand 1: min-plus cannot live in"):
            sr.einsum("ij,jk,kl", A, given, A, S=sr.min_plus)


def test_a_dataarray_is_read_by_its_coordinates() -> None:
    xarray = pytest.importorskip("xarray")
    A, B = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    X = xarray.DataArray(A, dims=("r", "c"), coords={"r": ["a", "b"], "c": list("xyz")})
    Y = xarray.DataArray(B, dims=("c", "k"), coords={"c": list("zyx")})
    got = sr.einsum("ij,jk->ik", X, Y, S=sr.min_plus)
    assert got.row_names == ["a", "b"]
    assert np.array_equal(got.array, sr.matmul(A, B[::-1], sr.min_plus))
    assert np.array_equal(sr.einsum("bij->j", xarray.DataArray(A[None]), S=sr.min_plus), A.min(0))


def test_a_sparse_product_stays_sparse() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.array([[np.inf, 1.0, np.inf], [2.0, np.inf, np.inf], [np.inf, 4.0, 3.0]])
    A = sr.Matrix(dense, sr.min_plus).to_sparse()
    huge = sparse.eye_array(10**6, format="csr")
    assert sr.einsum("ij,kj->ik", huge, huge, S=sr.min_plus).nnz == 10**6
    for text, turn in (("ij,jk->ik", dense), ("ij,kj->ik", dense.T)):
        got = sr.einsum(text, A, A, S=sr.min_plus)
        assert isinstance(got, sparse.csr_array)
        assert np.array_equal(sr.adjacency(got, sr.min_plus).array, sr.matmul(dense, turn, sr.min_plus))
    assert sr.plan("einsum", "ij,jk->ik", A, A, S=sr.min_plus).method == "sparse × sparse"
    out = np.empty(3)
    assert sr.einsum("ij,i->j", A, np.zeros(3), S=sr.min_plus, out=out) is out
    assert out.tolist() == dense.min(0).tolist()
    value, places = sr.einsum("ij,j->i", A, np.zeros(3), S=sr.min_plus, argmax=True)
    assert (value.tolist(), places["j"].tolist()) == ([1, 2, 3], [1, 0, 2])
    assert sr.einsum("ij->j", A, S=sr.min_plus).tolist() == dense.min(0).tolist()
    assert np.array_equal(sr.einsum("bij,jk->bik", dense[None], A, S=sr.min_plus)[0],
                          sr.matmul(dense, dense, sr.min_plus))
    with pytest.raises(sr.SemiringError, match="operand 0 is sparse, and only a product of two matrices leaves it so"):
        sr.einsum("ij->j", huge, S=sr.min_plus)
    A.data[0] = np.nan
    with pytest.raises(sr.SemiringError, match=r"operand 1\[0, 1\] is NaN"):
        sr.einsum("ij,jk->ik", sr.Matrix(dense, sr.min_plus).to_sparse(), A, S=sr.min_plus)


def test_a_packed_product_stays_packed() -> None:
    truth = np.array([[True, False], [True, True]])
    packed = sr.pack(truth)
    got = sr.einsum("ji,jk->ik", packed, packed, S=sr.boolean)
    assert np.array_equal(got.to_dense(), truth.T @ truth)
    value, places = sr.einsum("ij,jk->ik", packed, packed, S=sr.boolean, argmax=True)
    assert np.array_equal(value, truth @ truth)
    assert places["j"][1, 1] == 1


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
    for algebra in (sr.min_plus, "min-plus"):
        with pytest.raises(sr.SemiringError, match="the algebra by name"):
            sr.einsum("ij", A, algebra)
    with pytest.raises(sr.SemiringError, match="needs an algebra"):
        sr.einsum("ij->j", A)
    with pytest.raises(sr.SemiringError, match="optimize must be True, False, or a path"):
        sr.einsum("ij->j", A, S=sr.min_plus, optimize="best")
    with pytest.raises(sr.SemiringError, match="list of axes after operand 0"):
        sr.einsum(A, B, S=sr.min_plus)


def test_stacks_of_xarray_meet_by_their_labels() -> None:
    """Along every axis that two of them have, and a diagonal."""
    xarray = pytest.importorskip("xarray")
    S, names, order, rng = sr.min_plus, ["a", "b", "c"], [2, 0, 1], np.random.default_rng(0)
    A, B = (xarray.DataArray(rng.random((2, 3, 3)), dims=("t", "u", "v"), coords={"u": names, "v": names, "t": [5, 9]})
            for _ in range(2))
    x, M = A[0, :, 0], sr.Matrix(rng.random((3, 3)), S, names)
    for expression, given, shuffled in (
        ("tij,tjk->tik", (A, B), (A, B[:, order])),
        ("tij,tjk->tik", (A, B), (A, B[::-1, order])),
        ("tij,tjk->ik", (A, B), (A, B[::-1])),
        ("tii->ti", (A,), (A[:, :, order],)),
        ("tij,j->ti", (A, x), (A, x[order])),
        ("tij,jk->tik", (A, M), (A[:, :, order], M)),
        ("ij,tjk->tik", (M, A), (M, A[:, order])),
    ):
        expected, found = (sr.einsum(expression, *some, S=S) for some in (given, shuffled))
        assert np.array_equal(found, expected), expression
    assert np.array_equal(sr.einsum("tij,jk->tik", A, sr.Matrix(M.array, S), S=S), sr.einsum("tij,jk->tik", A, M, S=S))
    with pytest.raises(sr.GraphError, match="'c' is in"):
        sr.einsum("tij,tjk->tik", A, B.assign_coords(u=["a", "b", "d"]), S=S)
