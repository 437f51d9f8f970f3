"""Compiled folds along lines and down rows, for axes in any order and of any strides."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.compile.program import host_features
from semiring.kernels.cpu.dense import folds
from semiring.kernels.lowering.general import general
from semiring.shapes.sums.folding import Fold

ALGEBRAS = [
    pytest.param(sr.viterbi, "add", np.maximum, id="viterbi"),
    pytest.param(sr.min_plus, "add", np.minimum, id="min-plus", marks=pytest.mark.slow),
    pytest.param(sr.min_plus, "mul", np.add, id="min-plus, ⊗", marks=pytest.mark.slow),
    pytest.param(sr.log, "add", np.logaddexp, id="log"),
]


def layouts(x: np.ndarray) -> dict[str, np.ndarray]:
    """Arrays of the same shape and values."""
    wide = np.full((*x.shape[:-1], x.shape[-1] + 5), np.nan, x.dtype)[..., 2:-3]
    wide[...] = x
    thrice = np.repeat(x, 3, 0)[::3]
    return {"C": x, "F": np.asfortranarray(x), "turned": x[::-1, :, ::-1].copy()[::-1, :, ::-1], "wide": wide,
            "middle": np.moveaxis(np.moveaxis(x, 1, 2).copy(), 2, 1), "thrice": thrice}


@pytest.mark.parametrize(("S", "op", "ufunc"), ALGEBRAS)
def test_any_axes_of_any_layout(S: sr.Semiring, op: str, ufunc: Any) -> None:
    rng, kernel = np.random.default_rng(1), folds.kernel(general(S, np.dtype("f4")), op)
    taken = 0
    for shape in [(5, 7, 1100), (300, 3, 70), (2, 290, 37), (40, 1, 64)]:
        x = rng.random(shape, "f4")
        for axes in [axes for k in (1, 2, 3) for axes in combinations(range(3), k)]:
            wanted = ufunc.reduce(x.astype("f8"), axis=axes, keepdims=True)
            for name, given in layouts(x).items():
                steps = [-1 if a in axes and given.strides[a] < 0 else 1 for a in range(3)]
                turned = given[tuple(slice(None, None, step) for step in steps)]
                if not kernel.takes(folds.grouped(turned, axes), turned):
                    continue
                taken += 1
                found = folds.along(kernel, given, axes, Fold(S, op, np.dtype("f4"))._by_numpy)
                assert found is not None and found.shape == wanted.shape and found.dtype == x.dtype
                assert np.allclose(found, wanted, rtol=1e-5, atol=1e-5), (name, shape, axes)
    assert taken > 60 or not host_features().get("avx512f")


@pytest.mark.parametrize(("S", "op"), [(sr.viterbi, "add"), (sr.log, "add")])
def test_what_is_not_an_element_is_seen_everywhere(S: sr.Semiring, op: str) -> None:
    kernel, fold = folds.kernel(general(S, np.dtype("f4")), op), Fold(S, op, np.dtype("f4"))
    count = kernel.count
    for axis, shape in [(1, (3, 5 * count)), (0, (150, 6 * count)), (1, (2, 3 * count + kernel.masked * 5))]:
        for place in np.random.default_rng(2).permutation(np.prod(shape))[:40]:
            x = np.full(shape, 0.5, "f4")
            assert folds.along(kernel, x, [axis], fold._by_numpy) is not None
            x.flat[place] = np.nan
            assert folds.along(kernel, x, [axis], fold._by_numpy) is None


def test_large_arrays_by_compiled_code(machine_code: None) -> None:
    rng = np.random.default_rng(3)
    for shape, axes in [((900_000,), (0,)), ((2000, 400), (0,)), ((400, 2000), (1,)), ((30, 300, 90), (1,)),
                        ((300, 3000), (0, 1))]:
        x = rng.random(shape, "f4")
        assert np.array_equal(sr.viterbi.sum(x, axes), x.max(axes))
        exact = np.log(np.exp(x.astype("f8")).sum(axes))
        found = sr.log.sum(x, axes)
        assert np.all(np.abs(found - exact) <= 2.0**-23 * (np.log2(x.size) + 160 + 6 * np.abs(exact)))
        x.flat[x.size // 2] = 2
        with pytest.raises(sr.SemiringError, match="outside the carrier"):
            sr.viterbi.sum(x, axes)


@pytest.mark.slow
def test_records_by_compiled_code(machine_code: None) -> None:
    rng = np.random.default_rng(4)
    x = np.empty((300, 500), np.dtype([("cost", "f8"), ("hops", "f8")], align=True))
    x["cost"], x["hops"] = rng.integers(0, 50, x.shape), rng.integers(0, 9, x.shape)
    order = np.lexsort((x["hops"].ravel(), x["cost"].ravel()))
    assert sr.shortest_hops.sum(x) == x.ravel()[order[0]]
    for axis in (0, 1):
        by_numpy = Fold(sr.shortest_hops, "add", x.dtype)._by_numpy(x, (axis,))
        assert np.array_equal(sr.shortest_hops.sum(x, axis, keepdims=True), by_numpy)


def test_sums_of_parts_that_overflow(machine_code: None) -> None:
    for shape in [(200, 2000), (3000, 100), (1 << 16,)]:
        x = np.full(shape, 1e38, "f4")
        for axis in (0, None):
            assert np.all(sr.plus_times.sum(x, axis) == np.inf) and np.all(sr.plus_times.prod(x, axis) == np.inf)


def test_ends_of_the_line(machine_code: None) -> None:
    x = np.full(1 << 15, -np.inf, "f4")
    assert sr.log.sum(x) == -np.inf
    x[77] = 3.0
    assert sr.log.sum(x) == 3.0
    x[5] = np.inf
    assert sr.log.sum(x) == np.inf and sr.log.sum(x.reshape(256, 128), 0)[5] == np.inf


def test_neighbours_in_memory_are_one_axis() -> None:
    x = np.zeros((2, 3, 4, 5))
    assert [g.length for g in folds.grouped(x, (1, 2))] == [2, 12, 5]
    assert [g.axes for g in folds.grouped(x.transpose(3, 1, 0, 2), (0,))] == [(2, 1, 3), (0,)]
    assert [g.length for g in folds.grouped(x[:, :2], (0, 1, 2, 3))] == [2, 40]


def test_scalar_functions_are_left_to_numpy() -> None:
    assert not folds.fits(general(sr.gcd_lcm, np.dtype("i8")), "add")


@pytest.mark.parametrize(("S", "op", "dtype", "ufunc"), [
    (sr.counting, "add", "i8", np.add), pytest.param(sr.counting, "add", "u1", np.add, marks=pytest.mark.slow),
    pytest.param(sr.counting, "add", "u4", np.add, marks=pytest.mark.slow), (sr.min_plus, "mul", "i2", np.add),
    (sr.min_plus, "add", "f2", np.minimum), pytest.param(sr.log, "add", "f2", np.logaddexp, marks=pytest.mark.slow),
    pytest.param(sr.max_plus, "mul", "f2", np.add, marks=pytest.mark.slow),
], ids=lambda x: getattr(x, "name", None) or getattr(x, "__name__", x))
def test_results_wider_than_the_elements(S: sr.Semiring, op: str, dtype: str, ufunc: Any, machine_code: None) -> None:
    rng, fold = np.random.default_rng(5), Fold(S, op, np.dtype(dtype))
    if fold.compiled is None:
        pytest.skip("this processor converts no halves")
    for shape in [(70_001,), (300, 111), (130, 400), (3, 90, 133), (17, 3000)]:
        x = rng.random(shape)
        x = (x if dtype == "f2" else x < 40 / np.prod(shape)).astype(dtype)
        x = x - np.roll(x, 3) if dtype == "i2" else x
        for axes in [axes for k in (1, 2, 3) for axes in combinations(range(len(shape)), k)]:
            wanted = ufunc.reduce(x.astype("f8" if dtype == "f2" else "i8"), axis=axes, keepdims=True) \
                if ufunc is not np.logaddexp else np.log(np.exp(x.astype("f8")).sum(axes, keepdims=True))
            found = fold.along(x, axes)
            assert found.dtype == x.dtype and found.shape == wanted.shape
            if dtype != "f2":
                assert np.array_equal(found, wanted)
            else:
                with np.errstate(over="ignore"):
                    assert np.allclose(found, wanted.astype("f2"), rtol=2.0**-10)


def test_integers_that_64_bits_do_not_hold_are_refused_or_summed_exactly(machine_code: None) -> None:
    for dtype in ("i8", "u8"):
        x = np.full(40_000, 2**52, dtype)
        assert sr.counting.sum(x[:2000]) == 2000 * 2**52
        with pytest.raises(sr.SemiringError, match="cannot hold"):
            sr.counting.sum(x)
    x = np.tile(np.array([2**60, -(2**60)]), 20_000)
    assert sr.min_plus.prod(x) == 0 and sr.min_plus.prod(x.reshape(-1, 2), 1).tolist() == [0] * 20_000
    x[5] = np.iinfo("i8").max
    assert sr.min_plus.prod(x) == x[5]
    y = np.ones((300, 200), "i4")
    y[150, 150] = -1
    with pytest.raises(sr.SemiringError, match=r"x\[150, 150\] is -1"):
        sr.counting.sum(y, 0)


@pytest.mark.parametrize(("S", "op", "dtype"), [
    (sr.counting, "sum", "i8"), (sr.counting, "sum", "u8"), (sr.min_plus, "prod", "i8"), (sr.min_plus, "prod", "u8"),
    (sr.max_plus, "prod", "i8"),
])
def test_integers_about_the_bounds_of_a_piece(S: sr.Semiring, op: str, dtype: str, machine_code: None) -> None:
    for number in (n + d for n in (0, 2**45, -(2**45), 2**62, -(2**62)) for d in (-1, 0, 1)):
        if number < 0 and dtype == "u8":
            continue
        for size in (700, 1 << 15):
            x = np.ones(size, dtype)
            x[size - 3] = number
            if S is sr.counting and number < 0:
                with pytest.raises(sr.SemiringError, match=f"{size - 3}"):
                    S.sum(x)
            else:
                assert getattr(S, op)(x) == size - 1 + number


def test_complex_sums_are_those_of_the_parts(machine_code: None) -> None:
    rng = np.random.default_rng(6)
    x = (rng.standard_normal((300, 7, 40)) + 1j * rng.standard_normal((300, 7, 40)))
    for given in (x, x[::-1], np.asfortranarray(x), x[:, ::2]):
        for axes in [(0,), (1,), (0, 1), (2,), (0, 1, 2)]:
            assert np.allclose(sr.plus_times.sum(given, axes), given.sum(axes), rtol=1e-12)
            turned = given / abs(given)
            assert np.allclose(sr.plus_times.prod(turned, axes), turned.prod(axes), rtol=1e-10)
    x[200, 3, 7] = np.inf
    with pytest.raises(sr.SemiringError, match=r"x\[200, 3, 7\] is inf"):
        sr.plus_times.sum(x, 0)
