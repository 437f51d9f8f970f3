"""Convolutions against the double loop of the oracle, NumPy's own, and each other: modes, axes, stacks, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pandas as pd
import pytest
import scipy.sparse as sp
import strategies
from bridge import CASES, ours, read_only, same_bits, to_library
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.shapes.convolve import part

inf = np.inf
quick = settings(max_examples=12, suppress_health_check=list(HealthCheck))
MODES = ("full", "same", "valid")
ENGINES = ["by_numpy", "machine_code"]


def double_loop(S: oracle.Algebra, a: list, b: list) -> list:
    c = [S.zero] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            c[i + j] = S.plus(c[i + j], S.times(x, y))
    return c


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_convolutions_are_the_double_loop(name: str, dtype: np.dtype) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, n, safe = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 5)), data.draw(st.booleans())
        A, B = (data.draw(strategies.matrices(S, dtype, (1, k), safe)) for k in (m, n))
        a, b = (data.draw(strategies.views(to_library(S, x)))[0] for x in (A, B))
        expected = double_loop(S, oracle.from_numpy(S, A)[0], oracle.from_numpy(S, B)[0])
        assume(oracle.fits(S, [expected], dtype))
        mode = data.draw(st.sampled_from(MODES))
        first, count = part(m, n, mode)
        found = sr.convolve(a, b, T, mode=mode)
        assert found.shape == (count,)
        oracle.assert_same(S, [expected[first : first + count]], found[None], f"{a!r}, {b!r}, {mode}")

    check()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("m", "n"), [(1, 1), (1, 4), (4, 1), (3, 5), (5, 3), (4, 4), (6, 2), (2, 7)])
def test_modes_are_numpys(m: int, n: int, mode: Any) -> None:
    a, b = np.arange(1.0, m + 1), np.arange(2.0, n + 2)
    expected = np.convolve(a, b, mode)
    assert same_bits(sr.convolve(a, b, sr.plus_times, mode=mode), expected)
    assert same_bits(sr.convolve(a, b, sr.counting, mode=mode), expected)


def by_numpy(a: np.ndarray, b: np.ndarray, zero: float, add: Callable, mul: Callable) -> np.ndarray:
    """The full convolution along all axes, by a loop over the elements of b."""
    c = np.full([m + n - 1 for m, n in zip(a.shape, b.shape, strict=True)], zero, a.dtype)
    for j in np.ndindex(*b.shape):
        target = c[tuple(slice(s, s + m) for s, m in zip(j, a.shape, strict=True))]
        target[...] = add(target, mul(a, b[j]))
    return c


def windowed(c: np.ndarray, a: np.ndarray, b: np.ndarray, mode: str) -> np.ndarray:
    parts = [part(m, n, mode) for m, n in zip(a.shape, b.shape, strict=True)]
    return c[tuple(slice(f, f + n) for f, n in parts)]


SHAPES = [((300,), (40,)), ((40,), (300,)), ((257,), (256,)), ((1000,), (3,)), ((2,), (999,)), ((30, 41), (5, 7)),
          ((5, 7), (30, 41)), ((9, 4, 33), (3, 5, 20)), ((3, 50), (40, 6)), ((1, 70), (20, 1))]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "f4"), ("min_plus", "i2"), ("max_min", "f8")])
def test_every_shape_and_mode(name: str, dtype: str, engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    S, random = sr.catalogue[name], np.random.default_rng(3)
    operations = (np.minimum, np.add) if name == "min_plus" else (np.maximum, np.minimum)
    for left, right in SHAPES:
        a, b = (random.integers(0, 999, shape).astype(dtype) for shape in (left, right))
        zero = S.zero_in(np.dtype(dtype))
        whole = by_numpy(a, b, zero, *operations)
        for mode in MODES:
            p = sr.plan("convolve", a, b, S, mode=mode)
            by_vectors = engine == "machine_code" and p.method != "merged slopes"
            assert (p.method == "Toeplitz rows as vectors") == by_vectors
            assert same_bits(p.run(), windowed(whole, a, b, mode)), (left, right, mode)


def test_long_sequences_are_cut(machine_code: None) -> None:
    """Several groups of rows, runs of terms, and pieces for threads."""
    random = np.random.default_rng(5)
    for m, n in ((9000, 5000), (40000, 70), (70, 40000)):
        a, b = (random.integers(0, 1 << 20, k).astype("f4") for k in (m, n))
        short, long = (a, b) if m < n else (b, a)
        expected = by_numpy(long, short, inf, np.minimum, np.add)
        for mode in MODES:
            assert same_bits(sr.convolve(a, b, sr.min_plus, mode=mode), windowed(expected, a, b, mode))


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_operands_is_kept(engine: str, request: pytest.FixtureRequest) -> None:
    """⊗ weighs its operands differently, so that it does not commute."""
    request.getfixturevalue(engine)
    S = sr.Semiring("weighed", add=np.minimum, mul=lambda a, b: a + 2 * b, zero=inf, one=0.0, product_only=True,
                    carrier=lambda a: a >= 0, dtypes="f")
    assert S.absorbs
    assert not S.commutative
    random = np.random.default_rng(7)

    def mul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return a + 2 * b

    for left, right in [((60,), (9,)), ((9,), (60,)), ((3, 40), (2, 5)), ((2, 5), (3, 40))]:
        a, b = (random.integers(0, 50, shape).astype("f8") for shape in (left, right))
        a[a == 7] = b[b == 7] = inf
        expected = by_numpy(a, b, inf, np.minimum, mul)
        assert same_bits(sr.convolve(a, b, S), expected), (left, right)


@pytest.mark.parametrize("engine", ENGINES)
def test_stacks_are_convolved_one_by_one(engine: str, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue(engine)
    random = np.random.default_rng(9)
    for left, right, axes in [((3, 40), (3, 7), -1), ((3, 40), (7,), 1), ((5,), (2, 3, 9), (-1,)), ((40, 3), (9, 3), 0),
                              ((2, 1, 8, 9), (3, 4, 5), (2, 3)), ((8, 2, 9), (4, 1, 5), (0, 2)), ((0, 5), (3,), -1)]:
        a, b = (random.integers(0, 99, shape).astype("f4") for shape in (left, right))
        found = sr.convolve(a, b, sr.min_plus, mode="same", axes=axes)
        ndim = max(a.ndim, b.ndim)
        where = [i % ndim for i in ([axes] if isinstance(axes, int) else axes)]
        A, B = (np.moveaxis(x.reshape((1,) * (ndim - x.ndim) + x.shape), where, range(-len(where), 0)) for x in (a, b))
        stack = np.broadcast_shapes(A.shape[: -len(where)], B.shape[: -len(where)])
        answer = np.moveaxis(found, where, range(-len(where), 0))
        assert answer.shape[: len(stack)] == stack
        A, B = (np.broadcast_to(x, (*stack, *x.shape[-len(where) :])) for x in (A, B))
        for place in np.ndindex(*stack):
            expected = by_numpy(A[place], B[place], inf, np.minimum, np.add)
            assert same_bits(answer[place], windowed(expected, A[place], B[place], "same")), (left, right, place)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_real_and_log_convolutions_are_within_their_bounds(dtype: str) -> None:
    random = np.random.default_rng(11)
    eps = np.finfo(dtype).eps
    for m, n in ((700, 500), (1500, 3), (50, 6000)):
        a, b = (random.normal(size=k).astype(dtype) for k in (m, n))
        exact, sizes = (np.convolve(f(a).astype("g"), f(b).astype("g")) for f in (np.asarray, np.abs))
        terms = min(m, n)
        assert (np.abs(sr.convolve(a, b, sr.plus_times) - exact) <= terms * eps * sizes).all()
        x, y = (np.log(np.abs(z)).astype(dtype) for z in (a, b))
        true = np.log(np.convolve(np.exp(x.astype("g")), np.exp(y.astype("g"))))
        found = sr.convolve(x, y, sr.log)
        assert (np.abs(found - true) <= eps * (terms + 80 + 4 * np.abs(true))).all()


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("offset", [0, 400, -20_000])
def test_log_convolutions_of_few_terms_do_not_round_at_each_of_them(dtype: str, offset: float) -> None:
    """Terms that are nearly equal, far from 0: sums that are rounded one after the other would stand still."""
    random = np.random.default_rng(11)
    eps = np.finfo(dtype).eps
    for left, right, axes in (
        ((80,), (80,), None), ((5,), (900,), None), ((8, 8, 8), (8, 8, 8), None), ((30, 7), (20, 7), None),
        ((3, 90), (3, 80), -1),
    ):
        a, b = ((offset + 0.01 * random.random(shape)).astype(dtype) for shape in (left, right))
        found = sr.convolve(a, b, sr.log, axes=axes)
        x, y = (np.exp(z.astype("g") - offset) for z in (a, b))
        whole = by_numpy(x, y, 0, np.add, np.multiply) if axes is None else np.stack(
            [np.convolve(p, q) for p, q in zip(x, y, strict=True)])
        above, terms = np.log(whole), min(a.size, b.size) if axes is None else 80
        true = above + 2 * offset
        assert (np.abs(found - true) <= eps * (terms + 16 + 4 * np.abs(above) + np.abs(true))).all()


@pytest.mark.parametrize("S", [
    sr.log, sr.Semiring("soft-min", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, one=0),
    sr.Semiring("binary", add=np.logaddexp2, mul=np.add, zero=-np.inf, one=0),
], ids=lambda S: S.name)
def test_zero_absorbs_what_is_infinite_in_log_convolutions(S: sr.Semiring) -> None:
    random = np.random.default_rng(12)
    for shape in ((9,), (4, 3), (7000,)):
        a, b = (random.integers(-9, 9, each).astype("f8") for each in (shape, (*shape[:-1], 6)))
        for x in (a, b):
            x[random.random(x.shape) < 0.4] = S.zero
        if S.zero == -np.inf:
            a.flat[3] = np.inf
        sums, times = S.add, S.mul
        assert np.allclose(sr.convolve(a, b, S), by_numpy(a, b, S.zero, sums, times), rtol=1e-13)


def test_log_convolutions_in_two_dimensions() -> None:
    random = np.random.default_rng(13)
    a, b = random.normal(size=(4, 300)), random.normal(size=(3, 200))
    expected = np.log(by_numpy(np.exp(a), np.exp(b), 0.0, np.add, np.multiply))
    assert np.allclose(sr.convolve(a, b, sr.log), expected, rtol=1e-12, atol=1e-12)


def test_products_only_are_convolved_as_declared() -> None:
    """Zero does not absorb, so that none may be added at the ends."""
    S = sr.Semiring("plus-max", add=np.add, mul=np.maximum, zero=0.0, product_only=True)
    assert not S.absorbs
    a, b = np.array([-1.0, 2.0, 0.0] * 20), np.array([3.0, -4.0])
    assert same_bits(sr.convolve(a, b, S), by_numpy(a, b, 0.0, np.add, np.maximum))


def test_records_keep_their_fields(machine_code: None) -> None:
    S, random = sr.shortest_count, np.random.default_rng(15)
    dtype = np.dtype([("dist", "f8"), ("count", "f8")])
    a, b = (np.empty(n, dtype) for n in (90, 40))
    for x in (a, b):
        x["dist"], x["count"] = random.integers(0, 9, len(x)), random.integers(1, 4, len(x))
    found = sr.convolve(a, b, S)
    sums = a["dist"][:, None] + b["dist"]
    counts = a["count"][:, None] * b["count"]
    places = np.add.outer(np.arange(90), np.arange(40))
    for i in range(129):
        here = places == i
        least = sums[here].min()
        assert found[i].tolist() == (least, counts[here & (sums == least)].sum())


def test_an_integer_that_leaves_its_dtype_is_refused() -> None:
    a = np.array([100, 100], "i1")
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.convolve(a, a, sr.min_plus)
    with pytest.raises(sr.SemiringError, match="int8"):
        sr.convolve(a, a, sr.counting)
    far = np.array([127, 1], "i1")  # 127 is ∞, and so are sums with it
    assert sr.convolve(far, far, sr.min_plus).tolist() == [127, 127, 2]
    long = np.arange(400, dtype="i2") * 50  # convex, and its sums do not fit
    with pytest.raises(sr.SemiringError, match="int16"):
        sr.convolve(long, long, sr.min_plus)


@pytest.mark.parametrize("size", [3, 400])
def test_what_is_no_element_is_refused_with_its_place(size: int) -> None:
    a, b = np.arange(size, dtype=float), np.arange(size, dtype=float)
    b[2] = np.nan
    with pytest.raises(sr.SemiringError, match=r"b\[2\] is NaN"):
        sr.convolve(a, b, sr.min_plus)
    with pytest.raises(sr.SemiringError, match=r"a\[1\] is 1.5: it is outside the carrier"):
        sr.convolve([0.0, 1.5], [0.5], sr.viterbi)


@pytest.mark.parametrize(("a", "b", "options", "says"), [
    ([], [1.0], {}, r"a of shape \(0,\) is empty along axis 0"),
    (np.ones((2, 3)), np.ones((2, 0)), {"axes": 1}, r"b of shape \(2, 0\) is empty along axis 1"),
    (np.ones(3), np.ones((2, 3)), {}, "a has 1 axes and b has 2: .* axes="),
    (1.0, np.ones(3), {}, "not single numbers"),
    (np.ones((2, 3)), np.ones((3, 3)), {"axes": -1}, "do not broadcast"),
    (np.ones(3), np.ones(3), {"axes": 1}, "axes must be the numbers of axes"),
    (np.ones(3), np.ones(3), {"axes": 10**30}, "axes must be the numbers of axes"),
    (np.ones(3), np.ones(3), {"axes": False}, "axes must be the numbers of axes"),
    (np.ones(3), np.ones(3), {"axes": {0: 0}}, "axes must be the numbers of axes"),
    (np.ones(3), np.ones(3), {"axes": (0, 0)}, "axes must be the numbers of axes"),
    (np.ones(3), np.ones(3), {"axes": ()}, "at least one axis"),
    (np.ones(3), np.ones(3), {"axes": "x"}, "axes must be the numbers of axes"),
    (np.ones(3), np.ones(3), {"mode": "whole"}, "mode must be 'full', 'same' or 'valid', and is 'whole'"),
    (np.ones(3), np.ones(3), {"mode": 1}, "mode must be"),
    (np.ones(3, "f4"), np.ones(3), {}, "a is float32 and b is float64"),
    (sp.eye_array(3), np.ones((3, 3)), {}, "convolve takes arrays"),
    (np.ones((3, 3)), sr.Matrix(np.ones((3, 3)), sr.min_plus), {}, "b is of type Matrix, and convolve takes arrays"),
    (np.ones(3), pd.Series([1.0, 2.0]), {}, "b is of type Series"),
])
def test_bad_input_says_what_and_where(a: Any, b: Any, options: dict[str, Any], says: str) -> None:
    with pytest.raises(sr.SemiringError, match=says):
        sr.convolve(a, b, sr.min_plus, **options)


def test_an_algebra_must_be_given() -> None:
    with pytest.raises(sr.SemiringError, match="convolve of ndarray and ndarray needs an algebra"):
        sr.convolve(np.ones(3), np.ones(3))
    prepared = sr.prepare(np.ones(3), sr.min_plus)
    assert sr.convolve(prepared, [1.0]).tolist() == [2, 2, 2]


def test_answers_are_of_the_callers_kind_and_the_operands_stay() -> None:
    a, b = np.array([1.0, 2.0], ">f4"), np.array([0.0, 5.0], "<f4")
    found = sr.convolve(a, b, sr.min_plus)
    assert found.dtype == np.dtype(">f4")
    assert found.tolist() == [1, 2, 7]
    x = read_only(np.arange(6.0).reshape(2, 3))
    assert sr.convolve(x, x, sr.max_plus).shape == (3, 5)
    assert sr.convolve([1, 2], [3], sr.counting).tolist() == [3, 6]
    assert sr.convolve([True, False], [True, True], sr.boolean).tolist() == [True, True, False]
    assert sr.convolve(np.ma.masked_array([1.0, 2.0], [True, False]), np.zeros(1), sr.min_plus).tolist() == [inf, 2]


def test_a_plan_says_what_will_be_done() -> None:
    a = np.cumsum(np.arange(400.0))
    p = sr.plan("convolve", a, a, sr.min_plus)
    rows = p.rows()
    assert rows["operation"] == "convolve over min-plus, 799, float64"
    assert p.method == "merged slopes"
    assert p.work == 799
    assert p.memory >= 799 * 8
    q = sr.plan("convolve", np.ones((5, 4)), np.ones((2, 3)), "max-min", mode="valid")
    assert q.shape == (4, 2)
    assert q.work == 4 * 2 * 2 * 3
    assert q.run().shape == (4, 2)
    with pytest.raises(sr.SemiringError, match="convolve has no option 'modes'; it has mode, axes"):
        sr.plan("convolve", a, a, sr.min_plus, modes="full")


@given(st.integers(1, 30), st.integers(1, 30), st.sampled_from(MODES))
def test_the_work_is_counted(m: int, n: int, mode: str) -> None:
    first, count = part(m, n, mode)
    pairs = sum(first <= i + j < first + count for i in range(m) for j in range(n))
    assert sr.plan("convolve", np.ones(m), np.ones(n), sr.max_min, mode=mode).work == pairs
