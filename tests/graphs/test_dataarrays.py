"""Arrays of xarray with names, in and out."""

from __future__ import annotations

import numpy as np
import pytest
from graphs.listing import refused

import semiring as sr

xr = pytest.importorskip("xarray")
INF = np.inf
ELEMENTS = np.array([[0.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize("S", [sr.min_plus, sr.boolean, sr.shortest_count, sr.pareto], ids=lambda S: S.name)
@pytest.mark.parametrize("names", [None, ["a", "b"], [3, 1], [("a", 1), ("b", 2)], ["a", 7]])
def test_what_goes_out_comes_back(S: sr.Semiring, names: list | None) -> None:
    M = sr.Matrix(S.samples()[[1, 0, 1, 1]].reshape(2, 2), S, names)
    out = M.to_xarray(dims=("rows", "columns"))
    again = sr.Matrix(out, S)
    assert out.dims == ("rows", "columns") and again.names == names and (again == M).all()


def test_coordinates_are_names() -> None:
    square = xr.DataArray(ELEMENTS, dims=("x", "y"), coords={"x": ["a", "b"], "y": ["b", "a"]})
    M = sr.Matrix(square, sr.min_plus)
    assert M.names == ["a", "b"] and M["a", "b"] == 0.0 and M["a", "a"] == 1.0
    assert sr.closure(square, sr.min_plus)["b", "a"] == M.closure()["b", "a"]
    assert sr.from_dense(square, sr.min_plus, absent=0.0)["b", "b"] == 2.0
    assert M.__eq__(square).all() and ((M | square) == M).all() and (M @ square).names == ["a", "b"]
    costs = xr.DataArray([[1.0, 5.0], [2.0, 0.0]], dims=("y", "z"), coords={"y": ["b", "a"], "z": ["p", "q"]})
    for product in (M @ costs, sr.matmul(square, costs, sr.min_plus), sr.matmul(M, costs)):
        assert product.row_names == ["a", "b"] and product.column_names == ["p", "q"]
        assert product["a", "q"] == min(M["a", "a"] + 0.0, M["a", "b"] + 5.0)
    half = xr.DataArray(ELEMENTS, dims=("x", "y"), coords={"x": ["a", "b"]})
    assert sr.Matrix(half, sr.min_plus).row_names == ["a", "b"] and sr.Matrix(half, sr.min_plus).column_names is None
    vector = xr.DataArray([1.0, 0.0], dims="x", coords={"x": ["b", "a"]})
    assert np.array_equal(sr.matmul(M, vector), [1.0, 0.0])


def test_rows_and_columns_of_a_rectangle_have_names_of_their_own() -> None:
    """Its rows and columns are not the same vertices, whatever names they share."""
    wide = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 6.0]])
    for rows, columns in ((["a", "b"], ["b", "a", "c"]), (["a", "b"], ["a", "b", "c"]), ([7, 1], [1, 2, 3]),
                          (["a", "b"], None), (None, ["b", "a", "c"]), (None, None), (["x\0", "x"], ["x", "y", "z"])):
        coords = {dim: labels for dim, labels in (("x", rows), ("y", columns)) if labels}
        M = sr.Matrix(wide, sr.min_plus, rows, columns=columns)
        for array in (xr.DataArray(wide, dims=("x", "y"), coords={k: np.array(v, object) for k, v in coords.items()}),
                      M.to_xarray(("x", "y")), M.hold("sparse").to_xarray(("x", "y"))):
            again = sr.Matrix(array, sr.min_plus)
            assert (again.row_names, again.column_names) == (rows, columns) and again.equals(M)
            assert array.dims == ("x", "y") and {k: v.values.tolist() for k, v in array.coords.items()} == coords
            with refused("A must be a square matrix", sr.SemiringError):
                sr.closure(array, sr.min_plus)
    costs = xr.DataArray(wide.T, dims=("y", "z"), coords={"y": ["c", "a", "b"], "z": ["a", "c"]})
    left = xr.DataArray(wide, dims=("x", "y"), coords={"x": ["a", "b"], "y": ["b", "a", "c"]})
    product = sr.matmul(left, costs, sr.min_plus)
    assert product.row_names == ["a", "b"] and product.column_names == ["a", "c"]
    assert product["a", "c"] == min(0.0 + 6.0, 1.0 + 0.0, 5.0 + 2.0)


def test_a_square_needs_no_coordinates_and_may_have_one_dimension_twice() -> None:
    for array in (xr.DataArray(ELEMENTS), xr.DataArray(ELEMENTS, dims=("x", "y"), coords={"t": 3})):
        M = sr.Matrix(array, sr.min_plus)
        assert M.names is None and not M.to_xarray().coords and sr.Matrix(M.to_xarray(), sr.min_plus).equals(M)
    with pytest.warns(UserWarning, match="Duplicate dimension names"):
        twice = xr.DataArray(ELEMENTS, dims=("x", "x"), coords={"x": ["a", "b"]})
    assert sr.Matrix(twice, sr.min_plus).equals(sr.Matrix(ELEMENTS, sr.min_plus, ["a", "b"]))


@pytest.mark.parametrize(("coords", "message"), [
    ({"x": ["a", "a"]}, "two of the coordinates 'x' are called 'a', numbers 0 and 1"),
    ({"y": [3, 1, 3]}, "two of the coordinates 'y' are called 3, numbers 0 and 2"),
    ({"x": ["a", "b"], "y": ["a", "b", "b"]}, "two of the coordinates 'y' are called 'b', numbers 1 and 2"),
])
def test_names_that_come_twice_are_refused(coords: dict, message: str) -> None:
    with refused(message):
        sr.Matrix(xr.DataArray(np.ones((2, 3)), dims=("x", "y"), coords=coords), sr.min_plus)


def test_what_has_no_place_is_refused() -> None:
    shared = xr.DataArray(ELEMENTS, dims=("x", "y"), coords={"x": ["a", "b"], "y": ["b", "c"]})
    differ = "'a' is in the coordinates 'x' and not in the coordinates 'y'"
    for message in (differ, "or pass columns=, the names of the columns"):
        with refused(message):
            sr.Matrix(shared, sr.min_plus)
    assert sr.Matrix(shared, sr.min_plus, columns=["c", "b"])["a", "c"] == 1.0
    levels = xr.DataArray(ELEMENTS, dims=("x", "y")).assign_coords(z=("x", ["p", "q"]), w=("x", [1, 2]))
    with refused("the coordinates 'x' have 2 levels"):
        sr.Matrix(levels.set_index(x=["w", "z"]), sr.min_plus)
    for dims in ("xy", ["x"], ["x", "x"], ["x", "y", "z"]):
        with refused("dims must be two different names"):
            sr.Matrix(ELEMENTS, sr.min_plus).to_xarray(dims)


def test_a_dataarray_on_the_left_is_not_matched_by_position() -> None:
    M = sr.Matrix(ELEMENTS, sr.min_plus, ["a", "b"])
    turned = M[["b", "a"]].to_xarray()
    for operator in (lambda A, B: A == B, lambda A, B: A != B, lambda A, B: A * B, lambda A, B: A | B,
                     lambda A, B: A < B):
        with refused("a DataArray on the left of a Matrix", sr.SemiringError):
            operator(turned, M)
    assert M.__eq__(turned).all() and (sr.Matrix(turned, sr.min_plus) == M).all() and np.equal(turned, M).all()
    sparse = M.hold("sparse").to_xarray()
    assert sr.Matrix(sparse, sr.min_plus).equals(M)
