"""What is not an array of the host's memory is refused by its name."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr


def test_sparse_and_packed_matrices_are_refused_by_name() -> None:
    with pytest.raises(sr.SemiringError, match="forward takes arrays, and stack is a csr_array: pass an array"):
        sr.forward(np.zeros(2), sp.csr_array(np.eye(2)), sr.min_plus, steps=1)
    with pytest.raises(sr.SemiringError, match="scan takes arrays, and stack is a PackedMatrix"):
        sr.scan(sr.pack(np.eye(2, dtype=bool)), sr.boolean)


def test_answers_have_the_callers_byte_order() -> None:
    A = np.ones((3, 2, 2), ">f4")
    assert sr.scan(A, sr.min_plus).dtype == A.dtype
    assert sr.forward(A[0, 0], A, sr.min_plus, argmax=True).values.dtype == A.dtype


def test_rows_meet_the_vertices_of_the_matrix_by_name() -> None:
    """Rows of data frames, series, arrays of xarray and matrices, their columns in any order."""
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    rng, names, turned = np.random.default_rng(0), ["a", "b", "c"], ["c", "a", "b"]
    x, A, e = (rng.integers(0, 9, shape).astype(float) for shape in ((3,), (3, 3), (5, 3)))
    wanted = sr.forward(x, A, sr.min_plus, emissions=e)
    M = sr.Matrix(A, sr.min_plus, names)
    frame = pd.DataFrame(e, columns=names, index=[0, 0, 1, 1, 2])[turned]
    for stack in (M, M[turned], pd.DataFrame(A, names, names)[turned]):
        places = [names.index(name) for name in (turned if stack.__class__ is sr.Matrix and stack.names == turned
                                                 else names)]
        for start in (pd.Series(x, names)[turned], xr.DataArray(x[[2, 0, 1]], dims="s", coords={"s": turned})):
            for seen in (frame, sr.Matrix(e[:, [2, 0, 1]], sr.min_plus, columns=turned),
                         xr.DataArray(e, dims=("t", "s"), coords={"s": names})):
                found = sr.forward(start, stack, sr.min_plus, emissions=seen)
                assert np.array_equal(found, wanted[:, places])
    several = pd.DataFrame(np.stack([x, x + 1]), columns=names)[turned]
    assert np.array_equal(sr.forward(several, M, steps=0)[:, 0], [x, x + 1])
    assert np.array_equal(sr.forward(x, A, sr.min_plus, emissions=frame[names]), wanted)  # without names by position
    for start, seen, message in (
        (pd.Series(x, ["a", "b", "z"]), e, "'c' is in stack and not in x"),
        (x, frame.rename(columns={"c": "z"}), "'c' is in the vertices of stack and not in the columns of emissions"),
    ):
        with pytest.raises(sr.GraphError, match=message):
            sr.forward(start, M, emissions=seen)
    with pytest.raises(sr.SemiringError, match="emissions is a matrix over max-plus"):
        sr.forward(x, M, emissions=sr.Matrix(e, sr.max_plus))


@pytest.mark.parametrize("holder", ["sparse", "packed"])
def test_a_matrix_is_read_whatever_holds_it(holder: str) -> None:
    M = sr.Matrix(np.array([[True, True], [False, True]]), sr.boolean, ["a", "b"])
    x = np.array([True, False])
    assert np.array_equal(sr.forward(x, M.hold(holder), steps=2), sr.forward(x, M, steps=2))


def test_stacks_of_xarray_are_read_by_their_labels() -> None:
    """Columns in another order than rows would be multiplied by other rows; so would emissions and first matrices."""
    xr = pytest.importorskip("xarray")
    rng, names, turned, places = np.random.default_rng(0), ["a", "b", "c"], ["c", "a", "b"], [2, 0, 1]
    A, X, e = (rng.integers(0, 9, shape).astype(float) for shape in ((4, 3, 3), (2, 3), (5, 3)))
    stack = xr.DataArray(A[..., places], dims=("t", "i", "j"), coords={"i": names, "j": turned})
    first = sr.Matrix(X[:, places], sr.min_plus, names=["p", "q"], columns=turned)
    last = xr.DataArray(X.T[places], dims=("i", "z"), coords={"i": turned})
    for given in (stack, stack.drop_vars("i").isel(j=[1, 2, 0]), stack.isel(j=[1, 2, 0]).drop_vars("j")):
        assert np.array_equal(sr.scan(given, sr.min_plus), sr.scan(A, sr.min_plus))
        assert np.array_equal(sr.scan(given, sr.min_plus, initial=first), sr.scan(A, sr.min_plus, initial=X))
        assert np.array_equal(sr.scan(given, sr.min_plus, initial=last, reverse=True),
                              sr.scan(A, sr.min_plus, initial=X.T, reverse=True))
        seen = xr.DataArray(e[:, places], dims=("t", "s"), coords={"s": turned})
        assert np.array_equal(sr.forward(np.zeros(3), given, sr.min_plus, emissions=seen),
                              sr.forward(np.zeros(3), A, sr.min_plus, emissions=e))
    wide = stack.expand_dims(b=2)
    assert np.array_equal(sr.scan(wide, sr.min_plus, axis=1)[1], sr.scan(A, sr.min_plus))
    other = stack.assign_coords(j=["a", "b", "z"])
    for call in (lambda: sr.scan(other, sr.min_plus), lambda: sr.forward(np.zeros(3), other, sr.min_plus)):
        with pytest.raises(sr.GraphError, match="'c' is in the rows of stack and not in the columns of stack"):
            call()
