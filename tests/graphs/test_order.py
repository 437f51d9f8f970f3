"""Rows and columns of two matrices in one order."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.order import both, orders, reordered

KINDS = ("matrix", "sparse", "pandas", "xarray")


@settings(max_examples=20)
@given(st.permutations("abc"), st.permutations("abc"), st.permutations("xyz"), st.permutations("xyz"))
def test_elements_stay_with_their_names(rows, others, columns, across):
    A = sr.Matrix(np.zeros((3, 3)), sr.min_plus, rows, columns=columns)
    B = sr.Matrix(np.arange(9.0).reshape(3, 3), sr.min_plus, others, columns=across)
    found = reordered(B.array, *orders(A, B))
    assert [[B[a, b] for b in columns] for a in rows] == found.tolist() and both(A, B) == (rows, columns)


def test_names_of_one_axis_are_taken_from_the_other_matrix():
    A = sr.Matrix(np.zeros((2, 3)), sr.min_plus, ["a", "b"])
    B = sr.Matrix(np.ones((2, 3)), sr.min_plus, columns=["x", "y", "z"])
    assert both(A, B) == (["a", "b"], ["x", "y", "z"]) == both(B, A) and orders(A, B) == (None, None)
    assert (A | B).column_names == ["x", "y", "z"] and (B | A).row_names == ["a", "b"]
    with refused("'z' is in the columns of A and not in the columns of B"):
        orders(B, sr.Matrix(np.ones((2, 3)), sr.min_plus, columns=["x", "y", "w"]))


@settings(max_examples=30)
@given(st.permutations("abc"), st.permutations("xy"), st.sampled_from([*KINDS, "array"]), st.sampled_from(KINDS),
       st.booleans())
def test_elements_are_combined_by_labels(rows, columns, first, second, several):
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    A, B = np.arange(6.0).reshape(3, 2), np.arange(6.0)[::-1].reshape(3, 2) * 7

    def labelled(kind, array, rows, columns):
        if kind == "array":
            return array
        if kind == "pandas":
            return pd.DataFrame(array, rows, columns)
        if kind == "xarray":
            return xr.DataArray(array, dims=("r", "c"), coords={"r": rows, "c": columns})
        M = sr.Matrix(array, sr.min_plus, rows, columns=columns)
        return M.hold("sparse") if kind == "sparse" else M

    at = np.ix_(["abc".index(name) for name in rows], ["xy".index(name) for name in columns])
    one, other = labelled(first, A, list("abc"), list("xy")), labelled(second, B[at], rows, columns)
    assert np.array_equal(sr.min_plus.mul(one, other), A + (B[at] if first == "array" else B))
    if several and first != "array":
        row = pd.Series(B[0, at[1][0]], columns)
        assert np.array_equal(sr.min_plus.mul(one, row), A + B[0])


def test_labels_that_do_not_meet_are_refused():
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    x = pd.Series([1.0, 2.0], ["a", "b"])
    with refused("x and y have different vertices: 'b' is in x and not in y"):
        sr.min_plus.add(x, pd.Series([1.0, 2.0], ["a", "c"]))
    with refused("have labels in different orders, and one comes twice"):
        sr.min_plus.add(x, pd.Series([1.0, 2.0], ["a", "a"]))
    with refused("y is a matrix over max-plus, and not over min-plus", sr.SemiringError):
        sr.min_plus.add(np.eye(2), sr.Matrix(np.eye(2), sr.max_plus))
    assert sr.min_plus.mul(x, pd.Series([5.0, 0.0])).tolist() == [6.0, 2.0]
    assert sr.min_plus.mul(x, pd.Series([5.0], ["z"])).tolist() == [6.0, 7.0]
    assert sr.min_plus.mul(pd.Series([5.0, 0.0]), pd.Series([1.0, 2.0], [1, 0])).tolist() == [7.0, 1.0]
    turned = xr.DataArray(np.arange(4.0).reshape(2, 2), dims=("p", "q"))
    assert np.array_equal(sr.min_plus.mul(turned, turned.transpose()), 2 * turned.to_numpy())
