"""Sums and products along axes, and their prefixes, as folds of single elements in every algebra and layout."""

from __future__ import annotations

from functools import reduce
from itertools import accumulate, product
from typing import Any

import numpy as np
import oracle
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours, to_library
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.compile.price import always
from semiring.shapes.sums.sums import axes_of

inf = np.inf
quick = settings(max_examples=300, suppress_health_check=list(HealthCheck))


@st.composite
def stacks(draw: st.DrawFn) -> tuple[oracle.Algebra, np.ndarray]:
    """An algebra, and elements with one to three axes, of which some may be empty."""
    name, dtype = draw(st.sampled_from(CASES))
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    a, b, c = (draw(st.integers(0, 2 if S.objects else 4)) for _ in range(3))
    flat = draw(strategies.rows(S, dtype, a, b * c, safe=draw(st.booleans())))
    array = draw(strategies.views(oracle.to_numpy(S, flat, dtype, (a, b * c))))
    return S, draw(st.sampled_from([array, array.reshape(a, b, c), array.reshape(-1)]))


def folded(S: oracle.Algebra, op: str, array: np.ndarray, axes: tuple[int, ...]) -> Any:
    """Element by element, as nested lists with length 1 along the axes."""
    operate, first = (S.plus, S.zero) if op == "sum" else (S.times, S.one)
    kept = [range(1 if a in axes else n) for a, n in enumerate(array.shape)]
    elements = oracle.from_numpy(S, array)

    def at(place: tuple[int, ...]) -> Any:
        return reduce(lambda found, i: found[i], place, elements)

    found = []
    for place in product(*kept):
        along = [range(n) if a in axes else (place[a],) for a, n in enumerate(array.shape)]
        found.append(reduce(operate, map(at, product(*along)), first))
    return found


def check(S: oracle.Algebra, expected: list[Any], compute: Any, dtype: np.dtype, shape: tuple[int, ...]) -> None:
    """The answer is the expected one, or is refused if the dtype cannot hold it."""
    try:
        got = compute()
    except sr.SemiringError as e:
        assert not oracle.fits(S, [expected], dtype), e
        return
    got = np.asarray(got) if not S.objects or isinstance(got, np.ndarray) else sequence(got)
    assert got.shape == shape and got.dtype == dtype
    fault = oracle.difference(S, [expected], got.reshape(1, -1), dtype) if got.size else None
    assert fault is None, f"{S}: {fault}"


def sequence(element: Any) -> np.ndarray:
    made = np.empty((), object)
    made[()] = element
    return made


@quick
@given(stacks(), st.sampled_from(["sum", "prod"]), st.booleans(), st.data())
def test_folds_along_axes(
    given: tuple[oracle.Algebra, np.ndarray], op: str, keepdims: bool, data: st.DataObject
) -> None:
    S, array = given
    n = array.ndim
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, n - 1)), "axes")))
    asked = [tuple(a - n if data.draw(st.booleans()) else a for a in axes)]
    asked += [asked[0][0]] if len(axes) == 1 else [None] if len(axes) == n else []
    axis = data.draw(st.sampled_from(asked), "axis")
    expected = folded(S, op, array, axes)
    wide = tuple(1 if a in axes else k for a, k in enumerate(array.shape))
    shape = wide if keepdims else tuple(k for a, k in enumerate(array.shape) if a not in axes)
    before = array.copy()
    check(S, expected, lambda: getattr(ours(S), op)(to_library(S, array), axis, keepdims=keepdims), array.dtype, shape)
    assert array.tolist() == before.tolist()


@quick
@given(stacks(), st.sampled_from(["cumsum", "cumprod"]), st.data())
def test_prefixes(given: tuple[oracle.Algebra, np.ndarray], op: str, data: st.DataObject) -> None:
    S, array = given
    operate = S.plus if op == "cumsum" else S.times
    axis = data.draw(st.sampled_from([None, *range(-array.ndim, array.ndim)]), "axis")
    flat = array.reshape(-1) if axis is None else array
    along = np.moveaxis(np.arange(flat.size).reshape(flat.shape), 0 if axis is None else axis, -1)
    elements = oracle.from_numpy(S, flat.reshape(-1)) if flat.size else []
    expected: list[Any] = [None] * flat.size
    for line in along.reshape(-1, along.shape[-1] if along.ndim else 1) if flat.size else []:
        for place, element in zip(line, accumulate((elements[i] for i in line), operate), strict=True):
            expected[place] = element
    check(S, expected, lambda: getattr(ours(S), op)(to_library(S, array), axis), array.dtype, flat.shape)


@pytest.mark.parametrize("op", ["sum", "prod"])
def test_large_arrays_are_cut_into_pieces(op: str) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(0, 7, (3, 700, 500)).astype("f8")
    sums = [(sr.min_plus, np.minimum), (sr.counting, np.add), (sr.max_min, np.maximum)]
    for S, ufunc in sums if op == "sum" else [(sr.min_plus, np.add), (sr.max_min, np.minimum)]:
        for axes in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]:
            assert np.array_equal(getattr(S, op)(x, axes), ufunc.reduce(x, axis=axes)), (S, axes)
            turned = x.transpose(2, 0, 1)
            moved = tuple(sorted((1, 2, 0)[a] for a in axes))
            assert np.array_equal(getattr(S, op)(turned, moved), ufunc.reduce(turned, axis=moved)), (S, axes)


def test_a_product_that_does_not_commute_keeps_its_order() -> None:
    first = sr.Semiring("first", add=np.maximum, mul=lambda a, b: np.where(a == 0, a, b), zero=0.0, product_only=True,
                        carrier=lambda a: a >= 0, dtypes="f")
    x = np.arange(1.0, 1 + 800_000).reshape(2, 400, 1000)
    for axes in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]:
        last = tuple(slice(-1, None) if a in axes else slice(None) for a in range(3))
        for layout in (x, np.asfortranarray(x), x[:, ::2]):
            assert np.array_equal(first.prod(layout, axes, keepdims=True), layout[last])
    words = np.array([sr.letter(c) for c in "abcdefgh"], object).reshape(2, 2, 2)
    assert str(sr.regex.prod(words)) == "abcdefgh"
    assert [[str(w) for w in row] for row in sr.regex.prod(words, 1)] == [["ac", "bd"], ["eg", "fh"]]
    assert [str(w) for w in sr.regex.cumprod(words[0, 0])] == ["a", "ab"]
    assert str(sr.regex.prod(words[0, 0], initial=sr.letter("z"))) == "zab"


def test_products_of_affine_maps_keep_their_order() -> None:
    """x → a x + b do not commute, and have a one, with which compiled folds could begin."""
    maps = sr.Semiring("affine", fields={"a": "f8", "b": "f8"}, add=lambda x, y: (x.a + y.a, x.b + y.b), one=(1, 0),
                       mul=lambda x, y: (x.a * y.a, x.a * y.b + x.b), zero=(0, 0), product_only=True)
    rng = np.random.default_rng(6)
    x = np.empty((2, 90, 200), maps.element_dtype)
    x["a"], x["b"] = rng.choice([-1.0, 1.0], x.shape), rng.integers(-4, 5, x.shape)
    for axes in [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)]:
        kept = [a for a in range(3) if a not in axes]
        factors = x.transpose(*axes, *kept).reshape(-1, *(x.shape[a] for a in kept))
        a, b = np.ones(factors.shape[1:]), np.zeros(factors.shape[1:])
        for factor in factors:
            a, b = a * factor["a"], a * factor["b"] + b
        for layout in (x, x.transpose(2, 1, 0).copy().transpose(2, 1, 0), x[:, ::-1][:, ::-1]):
            with always():
                found = maps.prod(layout, axes)
            assert np.array_equal(found["a"], a) and np.array_equal(found["b"], b)


def test_sums_of_floats_are_near_the_exact_ones() -> None:
    x = np.random.default_rng(2).random((300, 2000), "f4")
    exact = x.astype("f8")
    for axes in [(0,), (1,), (0, 1)]:
        bound = (np.log2(x.size) + 128) * 2.0**-23
        assert np.all(np.abs(sr.plus_times.sum(x, axes) / exact.sum(axes) - 1) <= bound)
        for y in (x, -50 * x, np.where(x < 0.5, -inf, 3e4 * x)):
            found, wanted = sr.log.sum(y, axes), np.logaddexp.reduce(y.astype("f8"), axis=axes)
            assert np.all(np.abs(found - wanted) <= 2.0**-23 * (np.log2(x.size) + 160 + 6 * np.abs(wanted)))


def test_log_sums_have_the_ends_of_the_line() -> None:
    log2 = sr.Semiring("log2", add=np.logaddexp2, mul=np.add, zero=-inf, one=0.0)
    costs = sr.Semiring("costs", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=inf, one=0.0)
    assert sr.log.sum([-inf, -inf]) == -inf and sr.log.sum([inf, 0.0]) == inf and sr.log.sum([inf, -inf]) == inf
    assert sr.log.sum([]) == -inf and log2.sum([3.0, 3.0]) == 4.0 and log2.sum([1e308, 1e308]) == 1e308
    assert costs.sum([inf, inf]) == inf and costs.sum([2.0, 2.0]) == 2.0 - np.log(2) and costs.sum([-inf, 5.0]) == -inf


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.log, sr.viterbi], ids=lambda S: S.name)
def test_what_is_not_an_element_is_refused_with_its_place(S: sr.Semiring, dtype: str) -> None:
    x = np.full((700, 900), 0.5, dtype)
    x[600, 3] = np.nan
    for call in (lambda: S.sum(x), lambda: S.sum(x, 0), lambda: S.prod(x, 1), lambda: S.cumsum(x, 1)):
        with pytest.raises(sr.SemiringError, match=r"x\[600, 3\] is NaN"):
            call()
    if S is sr.viterbi:
        x[600, 3] = 1.5
        with pytest.raises(sr.SemiringError, match=r"x\[600, 3\] is 1\.5: it is outside the carrier of viterbi"):
            S.sum(x, 1)


def test_integers_that_leave_their_dtype_are_refused() -> None:
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.counting.sum(np.full(100, 2, "i1"))
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.min_plus.prod(np.full(100, 2, "i1"))
    with pytest.raises(sr.SemiringError, match="a result is outside int64; convert the data first"):
        sr.counting.prod(np.full(20_000, 9))
    assert sr.counting.prod(np.array([100, 100, 0], "i1")) == 0  # the result alone has to fit
    assert sr.max_plus.prod(np.array([100, 100, -100], "i1")) == 100
    assert sr.min_plus.prod(np.array([3, 127], "i1")) == 127  # ∞


def test_sparse_matrices() -> None:
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((40, 30)) < 0.3, rng.integers(1, 9, (40, 30)), inf)
    dense[7], dense[:, 5] = inf, 2.0
    dense[9] = 1.0
    rows, columns = np.nonzero(dense < inf)
    A = sp.coo_array((dense[rows, columns], (rows, columns)), dense.shape).tocsr()
    for S in (sr.min_plus, sr.min_times):
        for axis, op in product([None, 0, 1, (0, 1), -1, ()], ["sum", "prod"]):
            for keepdims in (False, True):
                wanted = getattr(S, op)(dense, axis, keepdims=keepdims)
                assert np.array_equal(getattr(S, op)(A, axis, keepdims=keepdims), wanted)
    assert sr.min_plus.sum(sp.csr_array((3, 0)), 1).tolist() == [inf] * 3
    with pytest.raises(sr.SemiringError, match="prefixes of a sparse matrix"):
        sr.min_plus.cumsum(A)


def test_matrices_and_graphs() -> None:
    M = sr.adjacency([("a", "b", 3), ("b", "c", 4), ("c", "a", 1)], sr.min_plus)
    assert sr.min_plus.sum(M) == 1 and sr.min_plus.sum(M, 1).tolist() == [3, 4, 1]
    assert isinstance(sr.min_plus.cumsum(M, 0), sr.Matrix)
    G = sr.as_graph([("a", "b", 3), ("b", "c", 4), ("a", "c", 1)])
    assert sr.min_plus.sum(G, 1).tolist() == [1.0, 4.0, inf]
    assert sr.boolean.sum(sr.pack(np.eye(3, dtype=bool)), 0).tolist() == [True] * 3


def test_matrices_of_any_shape_in_their_own_order() -> None:
    x = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]])
    M = sr.Matrix(x, sr.min_plus, names=["a", "b"], columns=["u", "v", "w"])
    for axis in (None, 0, 1, -1, (0, 1), (-1,), ()):
        assert np.array_equal(sr.min_plus.sum(M, axis), sr.min_plus.sum(x, axis))
        assert np.array_equal(sr.min_plus.prod(M, axis), sr.min_plus.prod(x, axis))
        assert np.array_equal(M.sum(axis), sr.min_plus.sum(x, axis)) and np.array_equal(np.sum(M, axis), M.sum(axis))
    running = sr.min_plus.cumsum(M, 1)
    assert (running.row_names, running.column_names) == (["a", "b"], ["u", "v", "w"])
    assert running.array.tolist() == [[3, 1, 1], [1, 1, 1]]
    assert sr.min_plus.sum(sr.Matrix(np.empty((0, 2)), sr.min_plus), 0).tolist() == [inf, inf]
    crossed = sr.Matrix(x[:, :2], sr.min_plus, names=["a", "b"], columns=["b", "a"])  # the same names, turned
    assert sr.min_plus.sum(crossed, 0).tolist() == crossed.sum(0).tolist() == [1, 1]
    assert sr.min_plus.prod(crossed, 0).tolist() == [4, 6]
    whole = sr.Matrix(np.array([[3, np.iinfo("i8").max]]), sr.min_plus)
    assert sr.min_plus.sum(whole, 0).tolist() == [3, inf] == whole.sum(0).tolist()
    with pytest.raises(sr.SemiringError, match="max-plus"):
        sr.max_plus.sum(M)
    with pytest.raises(sr.SemiringError, match="axis 2 is out of bounds: x has 2 axes"):
        M.sum(2)


def test_a_dataarray_of_any_shape_keeps_its_names() -> None:
    xarray = pytest.importorskip("xarray")
    x = np.array([[3.0, 1.0, 4.0], [1.0, 5.0, 9.0]])
    whole = xarray.DataArray(x, dims=("r", "c"), coords={"r": ["a", "b"], "c": ["u", "v", "w"]})
    for X in (whole, whole.drop_vars("c"), whole.drop_vars(["r", "c"])):
        assert np.array_equal(sr.min_plus.sum(X, 0), [1, 1, 4]) and np.array_equal(sr.min_plus.prod(X, 1), [8, 15])
        assert sr.min_plus.cumprod(X, None).tolist() == [3, 4, 8, 9, 14, 23]
    running = sr.min_plus.cumsum(whole, 1)
    assert [running.indexes[dim].tolist() for dim in ("r", "c")] == [["a", "b"], ["u", "v", "w"]]
    assert np.array_equal(running, [[3, 1, 1], [1, 1, 1]])


def test_a_dtype_without_the_algebra_is_refused_by_name() -> None:
    x = np.ones((2, 2))
    for op in ("sum", "prod", "cumsum", "cumprod"):
        with pytest.raises(sr.SemiringError, match=r"^x: min-plus cannot live in complex128"):
            getattr(sr.min_plus, op)(x + 1j)
    with pytest.raises(sr.SemiringError, match=r"^initial: min-plus cannot live in str"):
        sr.min_plus.sum(x, initial="one")


def test_single_elements_have_no_axes() -> None:
    for S in (sr.log, sr.min_plus, sr.plus_times, sr.counting):
        for axis in (None, ()):
            x = np.array(2, S.default_dtype)
            assert S.sum(x, axis) == 2 == S.prod(x, axis, keepdims=True)
            assert S.cumsum(x).tolist() == [2]
    with pytest.raises(sr.SemiringError, match="axis 0 is out of bounds: x has no axes: it is one element"):
        sr.log.sum(np.array(2.0), 0)


def test_complex_sums() -> None:
    x = np.random.default_rng(4).random((300, 40)) + 1j
    for axis in (None, 0, 1):
        assert np.allclose(sr.plus_times.sum(x, axis), x.sum(axis), rtol=1e-14)
    x[7, 3] = np.nan
    with pytest.raises(sr.SemiringError, match=r"x\[7, 3\] is NaN"):
        sr.plus_times.sum(x, 1)


@pytest.mark.parametrize("shape", [(200, 2000), (3000, 100), (20000,)])
def test_sums_that_overflow_on_the_way(shape: tuple[int, ...]) -> None:
    x = np.full(shape, 1e307)
    for axis in (None, 0, -1):
        assert np.all(sr.plus_times.sum(x, axis) == inf) and np.all(sr.plus_times.sum(-x, axis) == -inf)
        assert np.all(sr.plus_times.prod(x, axis) == inf)
        assert np.ravel(sr.plus_times.cumsum(x, axis))[-1] == inf


def test_initial_out_and_empty_axes() -> None:
    x = np.arange(6.0).reshape(2, 3)
    out = np.empty(3)
    assert sr.min_plus.sum(x, 0, out=out, initial=1.5) is out and out.tolist() == [0.0, 1.0, 1.5]
    swapped = np.empty(3, ">f8")
    assert sr.min_plus.prod(x, 0, out=swapped).tolist() == [3.0, 5.0, 7.0]
    empty = np.empty((0, 2))
    assert sr.min_plus.sum(empty, 0).tolist() == [inf, inf] and sr.min_plus.prod(empty, 0).tolist() == [0.0, 0.0]
    assert sr.min_plus.sum(empty, 1).shape == (0,) and sr.min_plus.prod(empty, 0, initial=3.0).tolist() == [3.0, 3.0]
    bare = sr.Semiring("bare", add=np.minimum, mul=np.add, zero=inf, product_only=True)
    assert bare.prod(empty, 0, initial=3.0).tolist() == [3.0, 3.0]
    with pytest.raises(sr.SemiringError, match="no element along axis 0, and bare has no one"):
        bare.prod(empty, 0)
    with pytest.raises(sr.SemiringError, match="initial is -1"):
        sr.viterbi.sum(x[:, :1] / 9, initial=-1)
    with pytest.raises(sr.SemiringError, match="initial must be one element"):
        sr.min_plus.sum(x, initial=[1.0, 2.0])
    with pytest.raises(sr.SemiringError, match=r"out must be a writable, unmasked float64 array of shape \(3,\)"):
        sr.min_plus.sum(x, 0, out=np.empty(2))


def test_axes() -> None:
    assert axes_of(-1, (2, 3)) == (1,) and axes_of((), (2, 3)) == ()
    for axis, text in [(2, "axis 2 is out of bounds: x has 2 axes, -2 to 1"), ((0, -2), "axis 0 is given twice"),
                       (1.0, "axis must be a whole number"), (True, "axis must be a whole number"),
                       ("a", "axis must be a whole number"), ((0, None), "axis must be a whole number")]:
        with pytest.raises(sr.SemiringError, match=text):
            sr.min_plus.sum(np.ones((2, 3)), axis)
    with pytest.raises(sr.SemiringError, match="axis must be one whole number"):
        sr.min_plus.cumsum(np.ones((2, 3)), (0, 1))


def test_single_elements_and_lists() -> None:
    assert sr.min_plus.sum(3.0) == 3.0 and sr.min_plus.sum([3, 1]) == 1 and sr.min_plus.sum([]) == inf
    assert sr.shortest_hops.sum([(2.0, 1), (1.0, 3)]).item() == (1.0, 3.0)
    assert sr.shortest_hops.sum((2.0, 1)).item() == (2.0, 1.0)
    assert sr.plus_times.sum(np.array([1, 2])).dtype == float
    a = sr.letter("a")
    assert str(sr.regex.sum(a)) == "a" and str(sr.regex.sum([a, sr.letter("b")])) == "a|b"
