"""Answers to arrays of xarray have the names of their axes: against answers to plain arrays, and xarray's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from graphs.listing import refused
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.graphs.dims import Axis, broadcast, product, with_axes

xr = pytest.importorskip("xarray")
S = sr.min_plus
DAYS, TOWNS, GOODS, TIMES = ["mo", "tu", "we"], list("abcd"), [7, 5], [10.5, 11.5, 12.5, 13.5]
LABELS = {"day": DAYS, "from": TOWNS, "to": TOWNS, "good": GOODS, "time": TIMES}


def made(*dims: str, seed: int = 0, **labels: Any) -> Any:
    """An array with the labels of each dimension, or with others in some."""
    found = {dim: labels.get(dim, LABELS[dim]) for dim in dims}
    elements = np.random.default_rng(seed).uniform(1, 9, [len(x) for x in found.values()])
    return xr.DataArray(elements, dims=dims, coords=found)


A, B, X = made("day", "from", "to"), made("day", "from", "to", seed=1), made("from", "good", seed=2)
X3, V, E = made("day", "from", "good", seed=3), made("from", seed=4), made("time", "from", seed=5)
ONE, ROUTES = A[0], made("good", "to", seed=6)
PLAIN = A.to_numpy()


@pytest.mark.parametrize(("call", "dims"), [
    (lambda A: sr.closure(A, S), "day from to"),
    (lambda A: sr.closure(A=A, S=S, reflexive=False), "day from to"),
    (lambda A: sr.power(A, S, 3), "day from to"),
    (lambda A: sr.matmul(A, B, S), "day from to"),
    (lambda A: sr.matmul(A, X, S), "day from good"),
    (lambda A: sr.matmul(A, X3, S), "day from good"),
    (lambda A: sr.matmul(ROUTES, A.transpose("day", "to", "from"), S), "day good from"),
    (lambda A: sr.matmul(A, V, S), "day from"),
    (lambda A: sr.matmul(V, A, S), "day to"),
    (lambda A: sr.matmul(A, sr.Matrix(ONE, S), S), "day from to"),
    (lambda A: sr.matmul(A, B.to_numpy(), S), "day from dim_2"),
    (lambda A: sr.matmul(B.to_numpy(), A, S), "day dim_1 to"),
    (lambda A: sr.matmul(A, A.transpose("day", "to", "from"), S), "day from from_2"),
    (lambda A: sr.matmul(A, B, S, argmax=True)[0], "day from to"),
    (lambda A: sr.matmul(A, B, S, argmax=True)[1], "day from to"),
    (lambda A: sr.matmul(A, B, S, accumulate=A, mask=A > 4), "day from to"),
    (lambda A: sr.solve(A, X3, S), "day from good"),
    (lambda A: sr.solve(A, V, S), "day from"),
    (lambda A: sr.solve(A, made("day", "good", "to"), S, left=True), "day good to"),
    (lambda A: sr.closure(A, S, on_divergence="mask").values, "day from to"),
    (lambda A: sr.closure(A - 5, S, on_divergence="mask").exists, "day"),
    (lambda A: sr.scan(A, S), "day from to"),
    (lambda A: sr.scan(A, S, initial=ROUTES), "day good to"),
    (lambda A: sr.scan(A, S, initial=X, reverse=True), "day from good"),
    (lambda A: sr.chain([A, B, X3], S), "day from good"),
    (lambda A: sr.chain([A], S), "day from to"),
    (lambda A: sr.forward(V, A, S), "day from"),
    (lambda A: sr.forward(V, A, S, emissions=E), "time from"),
    (lambda A: sr.forward(V, ONE, S, emissions=E, lengths=[1, 3]), "time from"),
    (lambda A: sr.forward(made("day", "from"), ONE, S, steps=2), "day dim_1 from"),
    (lambda A: sr.einsum("dij,djk->dik", A, B, S=S), "day from to"),
    (lambda A: sr.einsum("dij->jd", A, S=S), "to day"),
    (lambda A: sr.einsum("...ij,jg->...ig", A, X.transpose("from", "good"), S=S), "day from good"),
    (lambda A: sr.einsum("dij->di", A, S=S, argmax=True)[0], "day from"),
    (lambda A: sr.einsum("ij,dij->d", ONE, A, S=S), "day"),
    (lambda A: S.sum(A, axis=0), "from to"),
    (lambda A: S.sum(A, axis=("day", -1)), "from"),
    (lambda A: S.sum(A, axis="to", keepdims=True), "day from to"),
    (lambda A: S.prod(A, axis="from"), "day to"),
    (lambda A: S.cumsum(A, axis="day"), "day from to"),
    (lambda A: S.add(A, B), "day from to"),
    (lambda A: S.mul(1.0, A), "day from to"),
    (lambda A: S.mul(PLAIN, A), "day from to"),
    (lambda A: S.star(A), "day from to"),
    (lambda A: sr.plan("closure", A, S).run(), "day from to"),
    (lambda A: sr.plan("matmul", A, B, S=S).run(), "day from to"),
    (lambda A: sr.plan("sum", A, S, axis="to").run(), "day from"),
])
def test_every_verb_names_the_axes_of_its_answer(call: Any, dims: str) -> None:
    """The elements are those of the same call without names; labels are those of their dimension, where all agree."""
    found = call(A)
    assert isinstance(found, xr.DataArray) and found.dims == tuple(dims.split())
    for dim, labels in found.coords.items():
        expected = LABELS.get(str(dim).removesuffix("_2"))
        assert dim in found.dims and labels.values.tolist() == expected
    assert {dim for dim in found.dims if dim in LABELS and found.sizes[dim] == len(LABELS[dim])} <= set(found.coords)
    again = call(A.drop_vars(A.coords) if "day" in A.coords else A)
    assert np.array_equal(np.asarray(again), found.to_numpy(), equal_nan=True)


@settings(max_examples=40)
@given(st.permutations(TOWNS), st.permutations(TOWNS), st.permutations(TOWNS), st.booleans())
def test_labels_are_those_of_the_elements(columns: Any, rows: Any, last: Any, left: bool) -> None:
    """However the labels of operands are ordered, an element has the labels that it has in one order."""
    C, D = made("day", "from", "to", to=columns), made("day", "from", "to", **{"from": rows, "to": last})
    sorted_C, sorted_D = (X.sortby(["from", "to"]) for X in (C, D))
    for call in (
        lambda C, D: sr.closure(C, S), lambda C, D: sr.matmul(C, D, S), lambda C, D: sr.scan(C, S),
        lambda C, D: sr.solve(C, D, S, left=left), lambda C, D: sr.chain([C, D, C], S),
        lambda C, D: sr.forward(D[0].sel({"from": "a"}), C, S), lambda C, D: sr.power(C, S, 2),
        lambda C, D: sr.einsum("dij,djk->ikd", C, D, S=S), lambda C, D: S.sum(C, axis="day"),
        lambda C, D: S.mul(C, D), lambda C, D: S.cumprod(C, axis="to") if columns == TOWNS else S.star(C),
    ):
        found, wanted = call(C, D), call(sorted_C, sorted_D)
        axes = [dim for dim in ("from", "to") if dim in found.dims]
        assert found.dims == wanted.dims
        xr.testing.assert_allclose(found.sortby(axes), wanted, rtol=1e-12)


@settings(max_examples=30)
@given(st.permutations(TOWNS), st.permutations(TOWNS), st.sampled_from(["min", "prod", "cumsum"]))
def test_columns_in_another_order_than_rows(columns: Any, order: Any, op: str) -> None:
    """In products they are put into the order of the rows, as in a `Matrix`; sums keep their own order."""
    C = made("from", "to", to=columns)
    v = made("from", **{"from": order}).rename({"from": "k"})
    for first in (v, v.to_numpy(), A, np.ones((3, 1, 4))):
        plain = first.sel(k=TOWNS).to_numpy() if first is v else np.asarray(first)
        wanted = sr.matmul(plain, C.sel(to=TOWNS).to_numpy(), S)
        for found in (sr.matmul(first, C, S), sr.chain([first, C], S)):
            assert found.indexes["to"].tolist() == TOWNS and np.array_equal(found, wanted)
    found = sr.solve(A, C.rename({"to": "good"}), S)
    assert np.array_equal(found, sr.solve(A.to_numpy(), C.sel(to=TOWNS).to_numpy(), S))
    assert found.indexes["good"].tolist() == TOWNS
    if op == "cumsum":
        xr.testing.assert_equal(sr.plus_times.cumsum(C, axis="to"), C.cumsum("to").assign_coords(C.coords))
    elif op == "prod":
        xr.testing.assert_allclose(sr.plus_times.prod(C, axis="from"), C.prod("from"))
    else:
        xr.testing.assert_equal(S.sum(C, axis="from"), C.min("from"))
        xr.testing.assert_equal(sr.plan("sum", C, S, axis="to").run(), C.min("to"))


def test_answers_beside_operands_with_names_elsewhere_are_arrays() -> None:
    """Their order is that of a table, of a graph, or of what was prepared, which an answer without names has."""
    pd = pytest.importorskip("pandas")
    names = ["c", "d", "a", "b"]
    frame = pd.DataFrame(ONE.sel({"from": names, "to": names}).to_numpy(), names, names)
    graph = sr.as_graph([(u, v, float(frame.loc[u, v])) for u in names for v in names])
    order = [TOWNS.index(x) for x in graph.names]
    wanted = sr.solve(ONE.to_numpy(), V.to_numpy(), S)
    for given_, places in ((frame, [2, 3, 0, 1]), (graph, order), (sr.prepare(frame, S), [2, 3, 0, 1])):
        found = sr.solve(given_, V, S)
        assert type(found) is np.ndarray and np.array_equal(found, wanted[places])
        assert type(sr.matmul(given_, V, S)) is np.ndarray
    stack = sr.prepare(A.sel(to=names), S)
    for found in (sr.solve(stack, V, S), sr.factor(stack, S).solve(V), sr.forward(V, stack, S),
                  sr.einsum("dij,j->dj", stack, V, S=S)):
        assert type(found) is np.ndarray
    turned = frame.loc[["b", "a"], ["d", "c"]]
    found = S.mul(turned, made("from", "to").sel({"from": ["a", "b"], "to": ["c", "d"]}))
    assert found.indexes["from"].tolist() == ["b", "a"] and found.indexes["to"].tolist() == ["d", "c"]
    wide = S.mul(made("from"), pd.Series([1.0, 2.0, 3.0, 4.0]))
    assert wide.dims == ("from",) and wide.indexes["from"].tolist() == TOWNS


def test_labels_of_vertices_that_an_operand_lacks() -> None:
    """Columns alone may have labels; integers meet vertices without names as numbers; positions have no labels."""
    pd = pytest.importorskip("pandas")
    half, turned = A.drop_vars("from"), made("to", to=TOWNS[::-1])
    wanted = sr.solve(PLAIN, turned.sel(to=TOWNS).to_numpy(), S)
    for found in (sr.solve(half, turned, S), sr.factor(half, S).solve(turned)):
        assert found.indexes["to"].tolist() == TOWNS and np.array_equal(found, wanted)
    assert sr.forward(turned, half, S).indexes["to"].tolist() == TOWNS
    assert sr.scan(half, S, reverse=True).indexes["from"].tolist() == TOWNS
    bare, numbers = ONE.drop_vars(ONE.coords), [2, 0, 3, 1]
    v, e = V.assign_coords({"from": numbers}), E.assign_coords({"from": numbers})
    x, seen = v.sel({"from": range(4)}).to_numpy(), e.sel({"from": range(4)}).to_numpy()
    for matrix in (bare, sr.Matrix(bare.to_numpy(), S), bare.assign_coords({"from": range(4), "to": range(4)})):
        found = sr.solve(matrix, v, S)
        assert np.array_equal(found, sr.solve(bare.to_numpy(), x, S))
        assert found.indexes["from"].tolist() == [*range(4)] if "from" in found.indexes else found.dims == ("from",)
        frame = pd.DataFrame(e.to_numpy(), columns=numbers)
        for start, rows in ((v, e), (v.to_series(), frame), (v.expand_dims("batch"), e)):
            found = sr.forward(start, matrix, S, emissions=rows)
            assert np.array_equal(np.asarray(found)[..., :, :].reshape(4, 4), sr.forward(
                x, bare.to_numpy(), S, emissions=seen))
    counted = S.mul(pd.Series([1.0, 2, 3, 4]), v), sr.einsum("i,i->i", pd.Series([1.0, 2, 3, 4]), v, S=S)
    for found in counted:
        assert np.array_equal(found, np.arange(1.0, 5) + x) and "from" not in found.indexes


def test_other_orders_on_the_way() -> None:
    """Of matrices in a chain, of a first matrix, of what is added to a product, and of an einsum's third operand."""
    turned = ONE.sel({"from": TOWNS[::-1], "to": TOWNS[::-1]})
    v, plain = np.arange(4.0), ONE.to_numpy()
    assert np.array_equal(sr.chain([v, ONE, turned], S), sr.chain([v, plain, plain], S))
    first = made("from", "to", to=TOWNS[::-1])
    found = sr.scan(A, S, initial=first, reverse=True)
    assert found.indexes["to"].tolist() == TOWNS[::-1]
    assert np.array_equal(found, sr.scan(PLAIN, S, initial=first.to_numpy(), reverse=True))
    added = made("day", "from", **{"from": TOWNS[::-1]}) - 9
    found = sr.matmul(A, v, S, accumulate=added)
    assert found.indexes["from"].tolist() == TOWNS
    assert np.array_equal(found, np.minimum((PLAIN + v).min(-1), added.sel({"from": TOWNS})))
    rows = sr.matmul(plain, plain, S, accumulate=made("time", "good")[:, [0, 1, 0, 1]].to_numpy())
    assert np.array_equal(rows, sr.matmul(plain, plain, S, accumulate=sr.Matrix(
        made("time", "good")[:, [0, 1, 0, 1]].to_numpy(), S, list("wxyz"), columns=list("pqrs"))))
    with refused("labels, or the same ones in another order, along the axis 'from' of a stack"):
        sr.matmul(A, v, S, mask=added < -4)
    y, z = made("day"), made("day", seed=1).sel(day=DAYS[::-1])
    for none in (np.zeros(3), xr.DataArray(np.zeros(3), dims="day", coords={"day": range(3)}), np.zeros((3, 3))):
        letters = "ds"[: none.ndim]
        found = sr.einsum(f"{letters},d,d->d", none, y, z, S=S)
        assert np.array_equal(found, y.to_numpy() + z.sel(day=DAYS).to_numpy())
    deep = xr.DataArray(np.zeros((2, 3, 4, 4)), dims=("p", "q", "i", "j"))
    assert sr.chain([v, deep, deep], S).dims == ("p", "q", "j") and sr.chain([deep, deep, v], S).dims == ("p", "q", "i")
    assert sr.matmul(deep, v, S, accumulate=deep[..., 0]).dims == ("p", "q", "i")


def test_kinds_of_elements_stay() -> None:
    for dtype in ("u1", "u4", "i2", "f4"):
        x = xr.DataArray(np.array([1, 2, 3], dtype), dims="k")
        assert S.star(x).dtype == dtype and np.array_equal(S.star(x), S.star(x.to_numpy()))
    p, q = sr.letter("p"), sr.letter("q")
    square = np.empty((2, 2), object)
    square[:] = [[p, q], [q, p]]
    given_ = xr.DataArray(square, dims=("i", "j"), coords={"i": ["a", "b"], "j": ["b", "a"]})
    assert sr.regex.prod(given_, axis="j").to_numpy().tolist() == [sr.regex.mul(p, q), sr.regex.mul(q, p)]
    assert sr.regex.star(given_).shape == (2, 2)
    stack = xr.DataArray(square[None], dims=("t", "i", "j"))
    assert sr.matmul(stack, [[p, q], [q, p]], sr.regex).dims == ("t", "i", "dim_2")
    assert np.asarray(sr.matmul(stack, [p, q], sr.regex)).shape == (1, 2)


@settings(max_examples=40)
@given(st.data())
def test_operations_by_element_are_those_of_xarray(data: Any) -> None:
    """Dimensions meet by name, whatever their order, and those of one operand alone are repeated."""
    some = st.lists(st.sampled_from([*LABELS]), unique=True, min_size=1, max_size=4)
    x, y = (made(*data.draw(some), seed=seed) for seed in (1, 2))
    for found, wanted in ((S.mul(x, y), x + y), (sr.plus_times.mul(x, y), x * y), (S.add(x, y), xr.where(x < y, x, y))):
        assert set(found.dims) == set(wanted.dims) and found.dims[: x.ndim] == x.dims
        xr.testing.assert_equal(found, wanted.transpose(*found.dims))
    dims = data.draw(st.lists(st.sampled_from(x.dims), unique=True, min_size=1))
    xr.testing.assert_equal(xr.DataArray(S.sum(x, axis=tuple(dims))), x.min(dims))


def test_matrices_and_what_is_no_array_stay() -> None:
    for found in (sr.closure(ONE, S), sr.matmul(ONE, X, S), sr.chain(A, S), sr.einsum("ij,jk->ik", ONE, ONE, S=S),
                  sr.solve(ONE, X, S), sr.power(ONE, S, 2)):
        assert isinstance(found, sr.Matrix)
    out = np.empty_like(PLAIN)
    assert sr.matmul(A, B, S, out=out) is out and S.sum(A, axis="day", out=out[0]) is not None
    assert type(sr.closure(PLAIN, S)) is np.ndarray and type(S.sum(A)) is np.float64
    assert isinstance(sr.forward(V, A, sr.max_plus, argmax=True).values, np.ndarray)
    assert type(sr.matmul(PLAIN, PLAIN, S, mask=A > 4)) is np.ndarray
    assert type(sr.matmul(sr.Matrix(ONE, S), np.zeros(4), mask=made("from") > 4)) is np.ndarray
    assert S.cumsum(A).shape == (A.size,) and sr.matmul(V, V, S) == (V + V).min()


@pytest.mark.parametrize("order", [TOWNS, TOWNS[::-1]])
@pytest.mark.parametrize("size", [4, 40])
def test_right_hand_sides_meet_equations_by_their_labels(order: Any, size: int) -> None:
    """Of one matrix, of a stack, and of its factors, which keep the labels; a large stack is factored one by one."""
    pd = pytest.importorskip("pandas")
    towns, turned = [*TOWNS, *map(str, range(4, size))], [*order, *map(str, range(4, size))]
    stack = made("day", "from", "to", **{"from": towns, "to": turned})
    right = made("from", "good", **{"from": turned})
    for left in (False, True):
        B = right.T if left else right
        names = ("good", "from") if left else ("from", "good")
        found = sr.solve(stack, B, S, left=left)
        again = sr.factor(stack, S).solve(B, left=left)
        assert found.dims == again.dims == ("day", *names) and found.indexes["from"].tolist() == towns
        xr.testing.assert_equal(found, again)
        for day in range(3):
            one, plain = stack[day].sel(to=towns), (B.sel({"from": towns})).to_numpy()
            wanted = sr.solve(one.to_numpy(), plain, S, left=left)
            assert np.array_equal(found[day].to_numpy(), wanted)
            for rhs in (B, sr.Matrix(B, S), B.to_pandas()):
                assert isinstance(X := sr.solve(stack[day], rhs, S, left=left), sr.Matrix)
                assert sr.factor(stack[day], S).solve(rhs, left=left).equals(X) and np.array_equal(X.array, wanted)
                assert (X.row_names, X.column_names) == ((GOODS, towns) if left else (towns, GOODS))
    F = sr.factor(stack, S)
    assert F.closure().dims == ("day", "from", "to") and F.closure().indexes["to"].tolist() == towns
    xr.testing.assert_equal(F.solve(right[:, 0]), sr.solve(stack, right[:, 0], S))
    assert type(F.solve(right.to_numpy()[None] + np.zeros((3, 1, 1)))) is xr.DataArray
    plain = sr.factor(stack.to_numpy(), S)
    assert type(plain.solve(right.to_numpy())) is type(plain.closure()) is np.ndarray
    with refused("is a data frame, whose columns may be right-hand sides", sr.SemiringError):
        sr.solve(stack[0], pd.DataFrame(np.zeros((size, 2)), columns=["x", "y"]), S)
    with refused("different vertices", sr.GraphError):
        F.solve(right.assign_coords({"from": [*turned[1:], "z"]}))


def test_dimensions_that_an_array_lacks_are_refused() -> None:
    with refused("x has no dimension 'town': its dimensions are 'day', 'from', 'to'", sr.SemiringError):
        S.sum(A, axis="town")
    with refused("x has no dimension 'town'", sr.SemiringError):
        sr.plan("cumsum", A, S, axis="town")
    with refused("axis must be a whole number", sr.SemiringError):
        S.sum(PLAIN, axis="day")
    with pytest.raises(sr.SemiringError, match="axis must be a whole number"):
        S.sum(A, axis=np.array([0, 1]))
    with refused("axis 1 is given twice", sr.SemiringError):
        S.sum(A, axis=("from", 1))


def test_stacks_with_other_labels_are_refused() -> None:
    """They are matched by position; only operations by element and einsums put them into one order."""
    turned, later = B.isel(day=[1, 0, 2]), B.assign_coords(day=["th", "fr", "sa"])
    for other in (turned, later):
        for call in (lambda Y: sr.matmul(A, Y, S), lambda Y: sr.solve(A, Y, S), lambda Y: sr.chain([A, Y, A], S),
                     lambda Y: sr.forward(made("day", "from"), Y.expand_dims("step", 1), S),
                     lambda Y: sr.factor(A, S).solve(Y), lambda Y: sr.matmul(A, B, S, accumulate=Y),
                     lambda Y: sr.matmul(A, B, S, mask=Y > 4), lambda Y: sr.matmul(A, Y, S, out=np.empty((3, 4, 4))),
                     lambda Y: sr.scan(A.expand_dims("step", 1), S, axis=1, initial=Y)):
            with refused("labels, or the same ones in another order, along the axis 'day' of a stack"):
                call(other)
    with refused("labels, or the same ones in another order, along the axis 'to' of a stack"):
        sr.matmul(A, B, S, mask=(A > 4).sel(to=TOWNS[::-1]))
    with refused("labels, or the same ones in another order, along the axis 'from' of a stack"):
        sr.forward(V, np.zeros((4, 4)), S, emissions=E.sel({"from": TOWNS[::-1]}))
    with refused("the axes 'day' and 'year' of two stacks are matched by position"):
        sr.matmul(A, B.rename(day="year"), S)
    nothing = A.assign_coords(day=[np.nan, 1.0, 2.0])
    assert sr.matmul(nothing, nothing.copy(), S).dims == A.dims
    xr.testing.assert_equal(sr.matmul(A, later.drop_vars("day"), S), sr.matmul(A, B, S))
    xr.testing.assert_equal(sr.einsum("dij,djk->dik", A, turned, S=S), sr.einsum("dij,djk->dik", A, B, S=S))
    xr.testing.assert_equal(S.mul(A, turned), S.mul(A, B))


def test_axes_without_names() -> None:
    some = np.zeros((2, 3))
    assert with_axes(some, [Axis(2), Axis(3)]) is some and with_axes(some, [Axis(2, "x")]) is some
    twice = with_axes(np.zeros((2, 2, 2)), [Axis(2, "x", [1, 2]), Axis(2, "x"), Axis(2, "x", [1, 2, 3])])
    assert twice.dims == ("x", "x_2", "x_2_2") and list(twice.coords) == ["x"]
    assert broadcast([Axis(1, "x")], [Axis(4, "y", TOWNS)]) == [Axis(4, "y", TOWNS)]
    assert broadcast([Axis(4, None, TOWNS)], [Axis(4, "y"), Axis(4, "z")]) == [Axis(4, "y"), Axis(4, "z", TOWNS)]
    assert product([Axis(4, "x")], [Axis(4, "y")]) == []
    assert with_axes(np.zeros((2, 2)), [Axis(2), Axis(2, "dim_0")]).dims == ("dim_0_2", "dim_0")
    assert S.star(ONE).indexes["to"].tolist() == TOWNS and S.star(ONE)["to"].dtype == ONE["to"].dtype
    names = [("a", 1), ("b", 2)]
    assert with_axes(np.zeros(2), [Axis(2, "x", names)]).indexes["x"].tolist() == names
