"""Sums and products of small arrays: the same answers as the general way, or none."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from math import prod
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.shapes.sums import short as module
from semiring.shapes.sums.folding import fold_of
from semiring.shapes.sums.short import Compiled, Integers, Ordinary, Selected, short, short_prefixes, way_of

inf = np.inf
MACHINE = [(name, dtype) for name, dtype in CASES if np.dtype(dtype).kind in "biuf"]


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier tests of this process have counted calls till code is compiled."""
    for ways in ("_WAYS", "_RUNNING"):
        monkeypatch.setattr(module, ways, {})


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(MACHINE), st.sampled_from(["add", "mul"]), st.data())
def test_the_same_as_by_the_general_way(case: tuple[str, Any], op: str, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    a, b, c = (data.draw(st.integers(1, 4)) for _ in range(3))
    rows = data.draw(strategies.rows(S, dtype, a, b * c, safe=data.draw(st.booleans())))
    x = data.draw(strategies.views(oracle.to_numpy(S, rows, dtype, (a, b * c))))
    x = data.draw(st.sampled_from([x, x.reshape(a, b, c), x.reshape(-1)]))
    axis = data.draw(st.sampled_from([None, *range(-x.ndim, x.ndim), *permutations(range(-1, x.ndim - 1), 2)]))
    keepdims = data.draw(st.booleans())
    if x.dtype != dtype:
        return
    found = short(ours(S), op, x, axis, keepdims)
    if found is None:
        return
    axes = tuple(sorted(a % x.ndim for a in (range(x.ndim) if axis is None else np.atleast_1d(axis).tolist())))
    wanted = fold_of(ours(S), op, x.dtype).along(x, axes)
    wanted = wanted if keepdims else wanted.reshape([n for i, n in enumerate(x.shape) if i not in axes])[()]
    assert type(found) is type(wanted) and found.dtype == wanted.dtype and found.shape == wanted.shape
    if x.dtype.kind == "f":
        eps = np.finfo(x.dtype).eps
        size = float(min(np.abs(x[np.isfinite(x)].astype("f8") / 64).sum(), np.finfo("f8").max / 64)) * 64
        assert np.allclose(found, wanted, rtol=32 * eps, atol=32 * eps * size)
    else:
        assert np.array_equal(found, wanted)


@settings(max_examples=150, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(MACHINE), st.sampled_from(["add", "mul"]), st.data())
def test_prefixes_are_those_of_the_general_way(case: tuple[str, Any], op: str, data: st.DataObject) -> None:
    name, dtype = case
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    a, b, c = (data.draw(st.integers(1, 4)) for _ in range(3))
    rows = data.draw(strategies.rows(S, dtype, a, b * c, safe=data.draw(st.booleans())))
    x = data.draw(strategies.views(oracle.to_numpy(S, rows, dtype, (a, b * c))))
    x = data.draw(st.sampled_from([x, x.reshape(a, b, c), x.reshape(-1)]))
    axis = data.draw(st.sampled_from([None, *range(-x.ndim, x.ndim)]))
    found = short_prefixes(ours(S), op, x, axis) if x.dtype == dtype else None
    if found is None:
        return
    y = x if axis is not None else x.reshape(-1)
    wanted = fold_of(ours(S), op, x.dtype).prefixes(y, (axis or 0) % y.ndim)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and found.flags.c_contiguous
    if x.dtype.kind == "f":
        assert np.allclose(found, wanted, rtol=32 * np.finfo(x.dtype).eps, atol=0)
    else:
        assert np.array_equal(found, wanted)


def test_which_way_is_taken() -> None:
    f8, i8 = np.dtype("f8"), np.dtype("i8")
    kinds = [(sr.min_plus, "add", f8, Selected), (sr.max_min, "mul", f8, Selected),
             (sr.plus_times, "add", f8, Ordinary), (sr.plus_times, "mul", f8, Ordinary),
             (sr.counting, "add", i8, Integers), (sr.counting, "mul", i8, Integers), (sr.min_plus, "mul", i8, Integers),
             (sr.log, "add", f8, Compiled), (sr.viterbi, "add", f8, Compiled), (sr.min_plus, "mul", f8, Ordinary),
             (sr.plus_times, "add", np.dtype("c16"), Ordinary), (sr.viterbi, "mul", f8, Compiled)]
    for S, op, dtype, kind in kinds:
        assert isinstance(way_of(S, op, dtype), kind), (S.name, op)
    for S, dtype in [(sr.regex, np.dtype(object)), (sr.min_plus, np.dtype(">f8")), (sr.plus_times, i8),
                     (sr.shortest_hops, f8)]:
        assert short(S, "add", np.ones(3, dtype), None, False) is None


def test_what_is_not_usual_goes_the_general_way() -> None:
    x = np.ones((4, 5))
    assert short(sr.min_plus, "add", x, (0, -2), False) is None and short(sr.min_plus, "add", x, True, False) is None
    assert short(sr.min_plus, "add", x, (0, True), False) is None and short(sr.min_plus, "add", x, (), False) is None
    assert short(sr.min_plus, "add", x, 2, False) is None and short(sr.min_plus, "add", x, -3, False) is None
    x[2, 3] = np.nan
    for S in (sr.min_plus, sr.plus_times):
        assert short(S, "add", x, 0, False) is None
    with pytest.raises(sr.SemiringError, match=r"x\[2, 3\] is NaN"):
        sr.min_plus.sum(x, 0)
    assert sr.min_plus.sum([inf, inf]) == inf and sr.min_plus.sum(np.array([inf, -inf])) == -inf
    by_numpy = Ordinary(np.add, False, None)
    assert by_numpy(np.array([1e308, 1e308]), None, False) is None
    assert sr.plus_times.sum(np.array([1e308, 1e308])) == inf
    rows, ten = np.full((10_000, 2), 0.1, "f4"), 10_000 * float(np.float32(0.1))
    assert np.allclose(by_numpy(rows, 0, False), ten, rtol=1e-6)
    assert not np.allclose(np.add.reduce(rows, 0), ten, rtol=1e-6)  # NumPy adds rows one by one


def test_integers_near_the_limits_go_the_general_way() -> None:
    def of(S: sr.Semiring, op: str, numbers: list[int], dtype: str) -> Any:
        return short(S, op, np.array(numbers, dtype), None, False)

    assert of(sr.counting, "add", [100, 27], "i1") is None and of(sr.counting, "add", [100, 26], "i1") == 126
    assert of(sr.min_plus, "mul", [3, 127], "i1") is None and of(sr.min_plus, "mul", [-100, -27], "i1") == -127
    assert of(sr.min_plus, "mul", [-100, -28], "i1") is None and of(sr.min_plus, "mul", [100, 100, -100], "i1") == 100
    assert of(sr.counting, "add", [2**62, 2**62], "i8") is None
    assert of(sr.counting, "add", [2**62, 2**62], "u8") == 2**63
    assert of(sr.counting, "add", [2**63, 2**63], "u8") is None
    assert of(sr.counting, "mul", [2**31, 2**31], "i8") is None
    assert of(sr.counting, "mul", [2**31, 2**30], "i8") == 2**61
    assert of(sr.counting, "mul", [2**40, 2**40, 0], "i8") == 0
    assert of(sr.counting, "add", [-1, 5], "i8") is None
    with pytest.raises(sr.SemiringError, match=r"x\[0\] is -1"):
        sr.counting.sum(np.array([-1, 5]))


@pytest.mark.parametrize("S", [sr.viterbi, sr.log], ids=lambda S: S.name)
def test_compiled(S: sr.Semiring, machine_code: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for ways in ("_WAYS", "_RUNNING"):  # those of other tests may ask only after some calls whether code is there
        monkeypatch.setattr(module, ways, {})
    rng, ufunc = np.random.default_rng(1), np.maximum if S is sr.viterbi else np.logaddexp
    for shape in [(1,), (7,), (300,), (9000,), (3, 40), (100, 100), (2, 3, 50), (130, 4), (5, 900)]:
        x = rng.random(shape, "f4")
        for axis in (None, 0, -1):
            wanted = ufunc.accumulate(x.astype("f8") if axis is not None else x.ravel().astype("f8"), axis=axis or 0)
            assert short_prefixes(S, "add", x, axis) is not None
            assert np.allclose(S.cumsum(x, axis), wanted, rtol=2e-6, atol=2e-6), (shape, axis)
        for axis in (None, *range(-x.ndim, x.ndim), *permutations(range(x.ndim), 2)):
            for keepdims in (False, True):
                wanted = ufunc.reduce(x.astype("f8"), axis=axis, keepdims=keepdims)
                found = S.sum(x, axis, keepdims=keepdims)
                assert found.shape == wanted.shape and found.dtype == x.dtype
                assert np.allclose(found, wanted, rtol=2e-6, atol=2e-6), (shape, axis)
        x.flat[x.size // 2] = np.nan
        with pytest.raises(sr.SemiringError, match="NaN"):
            S.sum(x, 0)


@pytest.mark.parametrize(("S", "op", "ufunc"), [(sr.min_plus, "sum", np.minimum), (sr.max_plus, "prod", np.add)],
                         ids=lambda x: getattr(x, "name", None))
def test_halves_stay_halves(S: sr.Semiring, op: str, ufunc: Any, machine_code: None) -> None:
    for shape in [(1,), (300,), (5, 40), (40, 5), (9000,)]:
        x = np.random.default_rng(2).random(shape).astype("f2")
        for axis in (None, 0, -1):
            found, wanted = getattr(S, op)(x, axis), ufunc.reduce(x.astype("f8"), axis=axis).astype("f2")
            assert found.dtype == x.dtype and np.allclose(found, wanted, rtol=2.0**-10), (shape, axis)


LAYOUTS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "rows": lambda x: x,
    "columns": np.asfortranarray,
    "every second": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "backwards": lambda x: x[::-1, ::-1],
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": lambda x: np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape),
    "one row": lambda x: x.reshape(1, -1),
    "one sequence": lambda x: x.reshape(-1),
    "no element": lambda x: x[:0],
}
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
FOLDS = [
    *[(S, op, d) for S in (sr.counting, sr.min_plus) for op in ("add", "mul") for d in INTEGERS],
    *[(sr.max_plus, op, d) for op in ("add", "mul") for d in INTEGERS[:4]],
    *[(S, op, d) for S in (sr.plus_times, sr.min_plus) for op in ("add", "mul") for d in ("f2", "f4", "f8")],
    *[(sr.plus_times, op, d) for op in ("add", "mul") for d in ("c8", "c16")],
    *[(sr.boolean, op, "?") for op in ("add", "mul")],
]


def numbers_for(S: sr.Semiring, op: str, dtype: np.dtype, size: int, special: bool) -> np.ndarray:
    """Numbers whose folds stay in range, with the algebra's zero among them if `special`."""
    rng = np.random.default_rng(size)
    if dtype.kind == "b":
        found = rng.random(size) < (0.999 if op == "mul" else 0.001)
    elif dtype.kind in "iu":
        found = rng.random(size) < 0.01 if op == "add" or S is not sr.counting else np.ones(size)
    elif S is sr.plus_times and op == "mul":
        found = rng.choice([-1.0, 1.0, 0.5, 2.0], size, p=[0.3, 0.68, 0.01, 0.01])
    else:
        found = rng.integers(-4, 5, size) / 4
    found = np.asarray(found).astype(dtype)
    if special and size:
        found[size // 3] = S.over(dtype).zero
    return found


@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize(("S", "op", "name"), FOLDS, ids=lambda x: getattr(x, "name", x))
def test_every_layout_and_axis(S: sr.Semiring, op: str, name: str, special: bool) -> None:
    check_layouts(S, op, name, special)


@pytest.mark.slow
@pytest.mark.parametrize("special", [False, True])
@pytest.mark.parametrize(("S", "op", "name"), FOLDS, ids=lambda x: getattr(x, "name", x))
def test_every_layout_and_axis_compiled(
    S: sr.Semiring, op: str, name: str, special: bool, machine_code: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for ways in ("_WAYS", "_RUNNING"):
        monkeypatch.setattr(module, ways, {})
    check_layouts(S, op, name, special)


def check_layouts(S: sr.Semiring, op: str, name: str, special: bool) -> None:
    """Folds and prefixes are those of the operation, element by element; all these numbers are exact in any order."""
    dtype = np.dtype(name)
    A, verb = S.over(dtype), {"add": ("sum", "cumsum"), "mul": ("prod", "cumprod")}[op]
    operate = getattr(A, op)
    for shape in ((3, 40), (200, 9)):
        plain = numbers_for(S, op, dtype, shape[0] * shape[1], special).reshape(shape)
        for layout, changed in LAYOUTS.items():
            x = changed(plain)
            for axis in (None, *range(-1, x.ndim)):
                lines = x.reshape(-1, 1) if axis is None else np.moveaxis(x, axis, 0)
                if len(lines) > 300:  # which takes Python long, and finds no more
                    continue
                lines = lines.astype(dtype)
                wanted = [lines[0]] if len(lines) else []
                for line in lines[1:]:
                    wanted.append(np.asarray(operate(wanted[-1], line)))
                last = wanted[-1] if wanted else np.full(lines.shape[1:], A.zero if op == "add" else A.one, dtype)
                for keepdims in (False, True):
                    found = getattr(S, verb[0])(x, axis, keepdims=keepdims)
                    assert np.array_equal(np.ravel(found), np.ravel(last)), (layout, axis, shape)
                    assert found.dtype.newbyteorder("=") == dtype
                    assert np.shape(found) == np.add.reduce(x, axis, keepdims=keepdims).shape
                found = np.moveaxis(getattr(S, verb[1])(x, axis), 0 if axis is None else axis, 0).reshape(lines.shape)
                assert np.array_equal(found, np.array(wanted, dtype).reshape(lines.shape)), (layout, axis, shape)
                assert found.dtype.newbyteorder("=") == dtype
    one = numbers_for(S, op, dtype, 1, special).reshape(())
    assert getattr(S, verb[0])(one) == one and getattr(S, verb[1])(one).tolist() == [one]


@pytest.mark.parametrize("name", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize(("S", "op"), [(sr.plus_times, "sum"), (sr.plus_times, "cumsum"), (sr.plus_times, "prod"),
                                       (sr.plus_times, "cumprod"), (sr.min_plus, "prod"), (sr.min_plus, "cumprod")],
                         ids=lambda x: getattr(x, "name", x))
def test_what_is_not_an_element_is_found_wherever_it_is(S: sr.Semiring, op: str, name: str) -> None:
    if np.dtype(name) not in S.dtypes:
        return
    bad = [np.nan] if S is sr.min_plus else [np.nan, inf, -inf]
    for shape in ((100,), (5000,), (200, 40), (40, 200), (2, 3000)):
        for place in (0, 17, -1):
            for value in bad:
                x = np.ones(shape, name)
                x.flat[place] = value
                if op in ("prod", "cumprod"):
                    x.flat[place + 1 if place >= 0 else 0] = S.over(x.dtype).zero  # which absorbs what it meets
                for axis in (None, *range(x.ndim)):
                    at = ", ".join(map(str, np.unravel_index(place % x.size, shape)))
                    with pytest.raises(sr.SemiringError, match=rf"x\[{at}\] is"):
                        getattr(S, op)(x, axis)


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_near_the_limits_are_exact_or_refused(name: str) -> None:
    dtype = np.dtype(name)
    most = int(np.iinfo(dtype).max)
    for S, op in ((sr.counting, "sum"), (sr.counting, "prod"), (sr.min_plus, "prod")):
        for terms in (2, 3, 200, 5000):
            adds = op == "sum" or S is sr.min_plus
            share = most // terms if adds else int(most ** (1 / terms))
            for first in {0, 1, share, most // 2, most - 1}:
                x = np.full((terms, 2), share if adds or terms <= 3 else 1, dtype)
                x[0] = first
                numbers = [int(v) for v in x[:, 0]]
                exact = sum(numbers) if adds else prod(numbers)
                for verb in (op, f"cum{op}"):
                    if exact >= most:
                        with pytest.raises(sr.SemiringError, match="cannot hold"):
                            getattr(S, verb)(x, 0)
                    else:
                        found = getattr(S, verb)(x, 0)
                        assert (found if verb == op else found[-1]).tolist() == [exact, exact]


@pytest.mark.usefixtures("machine_code")
@pytest.mark.parametrize("S", [sr.plus_times, sr.min_plus, sr.viterbi, sr.max_times], ids=lambda S: S.name)
@pytest.mark.parametrize("op", ["add", "mul"])
def test_halves_are_computed_in_single_precision(S: sr.Semiring, op: str) -> None:
    for size in (3, 100, 300, 3000, 1 << 15):
        x = (1 - np.random.default_rng(size).random((size, 2)) / size).astype("f2")
        for axis in (None, 0, 1):
            found = short(S, op, x, axis, False)
            if found is None:  # by the general way, or until code is compiled
                assert size > 100
                continue
            wanted = fold_of(S, op, x.dtype).along(x, (0, 1) if axis is None else (axis,)).reshape(np.shape(found))
            assert found.dtype == np.float16 and np.allclose(found, wanted, rtol=2.0**-10)
    for strange in (np.nan, -np.inf if S is not sr.min_plus else np.nan):
        assert short(S, op, np.array([1, strange, 0.5], "f2"), None, False) is None
    with np.errstate(all="raise"):
        large = short(sr.plus_times, "mul", np.full(3, 6e4, "f2"), None, False)
        assert large is None or np.isinf(large)
