"""Sums and products along axes on a GPU: the CPU's answers and messages, for any shape, strides, dtype and algebra."""

from __future__ import annotations

import warnings
from typing import Any

import families
import numpy as np
import pytest
from gpu.sums import TRIANGULAR
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

inf = np.inf
FAMILIES = families.families()
NAMES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "f2"), ("max_plus", "i4"), ("min_plus", "u1"),
    ("max_min", "f8"), ("viterbi", "f4"), ("plus_times", "f4"), ("plus_times", "f8"), ("counting", "i8"),
    ("counting", "u1"), ("log", "f4"), ("log", "f8"), ("log", "f2"), ("boolean", "?"), ("gcd_lcm", "i4"),
    ("bitset_may", "u8"), ("shortest_count", None), ("expectation", None), ("k_best", None),
]
LAYOUTS = ("C", "reversed axes", "gaps", "backwards", "shifted")


def elements(S: sr.Semiring, dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Elements of an algebra, of which products of many do not leave a dtype."""
    rng = np.random.default_rng(seed)
    kind = S.default_dtype if dtype is None else np.dtype(dtype)
    if kind.names:
        some = np.asarray(S.samples()) if S is not TRIANGULAR else np.array(
            [tuple(row) for row in rng.integers(0, 9, (50, 3))], kind)
        return some[rng.integers(0, len(some), shape)].astype(kind)
    if S is sr.log:
        found = rng.normal(size=shape, scale=9)
        found[rng.random(shape) < 0.1] = -inf
        return found.astype(kind)
    found = np.empty(shape, kind)
    found[...] = rng.integers(0, 2, shape) if kind.kind == "u" or S is sr.viterbi else rng.integers(0, 4, shape)
    found[rng.random(shape) < 0.02] = S.zero_in(kind)
    return found


def on_device(x: np.ndarray, layout: str) -> Any:
    """The array in memory in C order, with its axes the other way round, with gaps, or backwards."""
    import cupy

    if not x.ndim or layout == "C":
        return cupy.asarray(x)
    if layout == "reversed axes":
        return cupy.asarray(np.ascontiguousarray(x.transpose())).transpose()
    if layout == "backwards":
        return cupy.asarray(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
    step = 2 if layout == "gaps" else 1
    wide = np.zeros((*x.shape[:-1], step * x.shape[-1] + 1), x.dtype)
    wide[..., 1::step] = x
    return cupy.asarray(wide)[..., 1::step]


def outcome(compute: Any) -> Any:
    """What a call gives, or the message that it refuses with."""
    try:
        found = compute()
    except sr.SemiringError as e:
        return str(e)
    return found.get() if hasattr(found, "get") else np.asarray(found)


def same(got: Any, want: Any, tolerance: float = 0) -> None:
    if isinstance(want, str) or isinstance(got, str):
        assert got == want
        return
    assert got.shape == want.shape
    if want.dtype.names:
        for field in want.dtype.names:
            same(got[field], want[field], tolerance)
        return
    assert got.dtype == want.dtype
    if want.dtype.kind == "f" and tolerance:
        near = 8 + np.sqrt(tolerance)
        eps = float(np.finfo(want.dtype).eps) * near
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=eps, atol=eps)
    else:
        np.testing.assert_array_equal(got, want)


def check(S: sr.Semiring, op: str, x: np.ndarray, layout: str, tolerance: float = 0, **options: Any) -> None:
    import cupy

    d = on_device(x, layout)
    got, want = (outcome(lambda y=y: getattr(S, op)(y, **options)) for y in (d, x))
    same(got, want, tolerance)
    if not isinstance(got, str):
        assert isinstance(getattr(S, op)(d, **options), cupy.ndarray)


def shapes() -> Any:
    return st.lists(st.sampled_from([0, 1, 2, 3, 5, 16, 33, 257]), max_size=5).filter(lambda s: np.prod(s) < 300_000)


@settings(max_examples=250, deadline=None)
@given(
    kind=st.sampled_from(NAMES), op=st.sampled_from(["sum", "prod"]), shape=shapes(), layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 99), keepdims=st.booleans(), first=st.booleans(), data=st.data(),
)
def test_any_axes_and_strides(
    kind: Any, op: str, shape: list[int], layout: str, seed: int, keepdims: bool, first: bool, data: st.DataObject
) -> None:
    S = sr.catalogue[kind[0]]
    axes = data.draw(st.sampled_from([None, *range(len(shape)), tuple(a for a in range(len(shape)) if a % 2 == 0)]))
    x = elements(S, kind[1], tuple(shape), seed)
    initial = x.reshape(-1)[0] if first and x.size else None
    check(S, op, x, layout, x.size + 1, axis=axes, keepdims=keepdims, initial=initial)


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("shape", "axis"), [
    ((1_000_003,), 0), ((400_000, 3), 0), ((3, 300_000), 1), ((1000, 1000), 0), ((1000, 1000), 1),
    ((100, 100, 100), (0, 2)), ((100, 100, 100), 1), ((300_000, 4), 1),
])
def test_large_arrays(kind: Any, shape: tuple[int, ...], axis: Any) -> None:
    S = sr.catalogue[kind[0]]
    x = elements(S, kind[1], shape, 0)
    for layout in ("C", "shifted"):
        check(S, "sum", x, layout, x.size, axis=axis)


@pytest.mark.parametrize(("shape", "axis"), [
    ((500_001,), 0), ((50_000, 3), 0), ((3, 50_000), 1), ((400, 400), 0), ((400, 400), 1), ((50, 40, 50), (0, 2)),
])
def test_operands_keep_their_order(shape: tuple[int, ...], axis: Any) -> None:
    x = elements(TRIANGULAR, TRIANGULAR.default_dtype, shape, 0)
    for layout in LAYOUTS:
        check(TRIANGULAR, "prod", x, layout, axis=axis)
        check(TRIANGULAR, "sum", x, layout, axis=axis)


@pytest.mark.parametrize("name", list(FAMILIES)[::5])
def test_generated_algebras(name: str) -> None:
    known = FAMILIES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        S = known.declare(sr)
    if S.traced is None:
        return
    rng = np.random.default_rng(0)
    some = np.asarray(S.samples())
    x = some[rng.integers(0, len(some), (7, 90))]
    if x.dtype.kind in "cO":
        return
    for op in ("sum", "prod", "cumsum"):
        check(S, op, x, "C", 1e6 if known.tolerance else 0, axis=0)


@pytest.mark.parametrize(("name", "dtype", "value"), [
    ("viterbi", "f4", np.nan), ("viterbi", "f8", -1), ("min_plus", "f4", np.nan), ("log", "f4", np.nan),
    ("counting", "i4", -1), ("counting", "i4", 2**31 - 2), ("counting", "i4", 2**31 - 1), ("counting", "i8", 2**63 - 2),
    ("min_plus", "i4", -(2**31)), ("min_plus", "i8", 2**63 - 3), ("max_plus", "i4", 2**31 - 1), ("log", "f2", np.nan),
    ("plus_times", "f8", 1.7e308), ("gcd_lcm", "i4", 2**31 - 1), ("min_plus", "u1", 254),
])
@pytest.mark.parametrize(("shape", "axis"), [
    ((5000,), 0), ((40, 33), 0), ((40, 33), 1), ((3, 7, 5), (0, 2)), ((), None),
])
def test_messages_are_those_of_the_cpu(shape: Any, axis: Any, name: str, dtype: str, value: Any) -> None:
    S, rng = sr.catalogue[name], np.random.default_rng(0)
    for op in ("sum", "prod"):
        for sign in (1, -1):
            x = np.ones(shape, dtype)
            x.reshape(-1)[int(rng.integers(0, x.size))] = value
            if value == 1.7e308:
                x.reshape(-1)[: x.size // 2] = value
                x.reshape(-1)[x.size // 2 :] = sign * value
            check(S, op, x, "C", 1e6, axis=axis)
            check(S, "cum" + op, x, "C", 1e6, axis=axis if isinstance(axis, int) else None)


@settings(max_examples=120, deadline=None)
@given(
    kind=st.sampled_from(NAMES), op=st.sampled_from(["cumsum", "cumprod"]), shape=shapes(),
    layout=st.sampled_from(LAYOUTS), seed=st.integers(0, 99), data=st.data(),
)
def test_prefixes_along_any_axis(
    kind: Any, op: str, shape: list[int], layout: str, seed: int, data: st.DataObject
) -> None:
    x = elements(sr.catalogue[kind[0]], kind[1], tuple(shape), seed)
    check(sr.catalogue[kind[0]], op, x, layout, x.size + 1, axis=data.draw(st.sampled_from([None, *range(len(shape))])))


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize(("shape", "axis"), [
    ((1_000_003,), 0), ((400_000, 3), 0), ((3, 300_000), 1), ((1000, 1000), 0), ((1000, 1000), 1), ((100, 100, 100), 1),
])
def test_prefixes_of_large_arrays(kind: Any, shape: tuple[int, ...], axis: Any) -> None:
    S = sr.catalogue[kind[0]]
    x = elements(S, kind[1], shape, 0)
    for layout in ("C", "shifted"):
        check(S, "cumsum", x, layout, x.size, axis=axis)
    check(TRIANGULAR, "cumprod", elements(TRIANGULAR, TRIANGULAR.default_dtype, shape, 0), "C", axis=axis)


def test_each_call_has_the_same_bits() -> None:
    import cupy

    x = cupy.asarray(np.random.default_rng(0).normal(size=3_000_001).astype("f4"))
    for op in ("sum", "cumsum"):
        first = getattr(sr.plus_times, op)(x)
        assert all((getattr(sr.plus_times, op)(x) == first).all() for _ in range(5))


def test_packed_bits() -> None:
    import cupy

    M = np.random.default_rng(0).random((300, 300)) < 0.97
    for verb in ("sum", "prod", "cumsum", "cumprod"):
        for axis in (0, 1, None):
            wanted = getattr(sr.boolean, verb)(M, axis=axis)
            found = getattr(sr.boolean, verb)(sr.pack(cupy.asarray(M)), axis=axis)
            np.testing.assert_array_equal(found.get(), wanted)


def test_out_is_on_the_device() -> None:
    import cupy

    x = np.arange(12.0).reshape(3, 4)
    d, out = cupy.asarray(x), cupy.empty((4, 2))[:, 0]
    assert sr.min_plus.sum(d, 0, out=out) is out
    np.testing.assert_array_equal(out.get(), x.min(0))
    for wrong in (np.empty(4), cupy.empty(3), cupy.empty(4, "f4")):
        with pytest.raises(sr.SemiringError, match="out must be"):
            sr.min_plus.sum(d, 0, out=wrong)
    with pytest.raises(sr.SemiringError, match="out must be"):
        sr.min_plus.sum(x, 0, out=cupy.empty(4))


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    x = torch.arange(12.0, device="cuda").reshape(3, 4)
    found = sr.min_plus.sum(x, 0)
    assert isinstance(found, torch.Tensor) and found.is_cuda and found.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", [
    ("min_plus", "f4"), ("min_plus", "f8"), ("max_min", "f8"), ("plus_times", "f4"), ("plus_times", "f8"),
    ("log", "f8"), ("viterbi", "f4"), ("boolean", "?"),
])
@pytest.mark.parametrize("shape", [(1, 1), (40, 30), (0, 5), (5, 0), (3000, 20), (20, 3000), (500, 500)])
@pytest.mark.parametrize("density", [0, 0.01, 0.4, 1])
def test_of_sparse_matrices_stored_entries_count(kind: Any, shape: tuple[int, int], density: float) -> None:
    import cupy
    from cupyx.scipy import sparse as there
    from scipy.sparse import csr_array

    S, rng = sr.catalogue[kind[0]], np.random.default_rng(0)
    rows, columns = np.nonzero(rng.random(shape) < density)
    A = csr_array((elements(S, kind[1], (len(rows),), 1), (rows, columns)), shape=shape)
    d = there.csr_matrix((cupy.asarray(A.data), cupy.asarray(A.indices), cupy.asarray(A.indptr)), shape=shape)
    for verb in ("sum", "prod"):
        for axis in (None, 0, 1):
            for initial in (None, S.one_in(A.dtype)):
                got, want = (outcome(lambda x=x, v=verb, a=axis, i=initial: getattr(S, v)(x, a, initial=i))
                             for x in (d, A))
                same(got, want, A.nnz + 1 if A.dtype.kind == "f" and not S.selective else 0)
    if min(shape):
        assert isinstance(S.sum(d, 1), cupy.ndarray)


def test_entries_of_sparse_matrices_that_are_no_elements() -> None:
    import cupy
    from cupyx.scipy import sparse as there
    from scipy.sparse import csr_array

    A = csr_array(np.array([[0.5, 0], [0.25, 1]]))
    for value in (np.nan, -1.0):
        A.data[1] = value
        d = there.csr_matrix((cupy.asarray(A.data), cupy.asarray(A.indices), cupy.asarray(A.indptr)), shape=(2, 2))
        for axis in (None, 0, 1):
            got, want = (outcome(lambda x=x, a=axis: sr.viterbi.sum(x, a)) for x in (d, A))
            assert got == want and "x[1, 0]" in want


@pytest.mark.parametrize("dtype", ["c8", "c16"])
@pytest.mark.parametrize("shape", [(5, 7), (3,), (), (0, 4), (4, 0), (2000, 3), (3, 4000), (100, 30, 50), (1_000_003,)])
def test_sums_of_complex_numbers(dtype: str, shape: tuple[int, ...]) -> None:
    S = sr.plus_times
    x = np.asarray(elements(S, "f4", shape, 0) - 1j * elements(S, "f4", shape, 1), dtype)
    for layout in LAYOUTS:
        for axis in [None, *range(x.ndim)]:
            for options in ({}, {"keepdims": True}, {"initial": 2 - 3j}):
                check(S, "sum", x, layout, axis=axis, **options)
            check(S, "cumsum", x, layout, axis=axis)
    if x.size:
        for value in (np.nan, complex(1, np.inf)):
            x.reshape(-1)[x.size // 2] = value
            for verb in ("sum", "cumsum"):
                check(S, verb, x, "C")
