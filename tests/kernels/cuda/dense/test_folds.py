"""Folds on the device: their kernels run on the host, and are compared with those of the CPU."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Host
from gpu.sums import CASES, LAYOUTS, numbers, on_host
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.dense import folds as module
from semiring.kernels.cuda.dense.exchange import LEAVES, NOT_A_NUMBER, OUTSIDE
from semiring.kernels.cuda.dense.folds import Folds
from semiring.kernels.numpy.folds import folded

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    return host_of(monkeypatch, folder, module)


def kernels(name: str, looks: bool = True) -> tuple[sr.Semiring, Folds]:
    S, dtype, op = CASES[name]
    return S, Folds(without_facts(S, np.dtype(dtype)), op, looks)


def wanted(S: sr.Semiring, op: str, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The fold of neighbours in pairs."""
    A, found = S.over(x.dtype), x
    for axis in sorted(axes, reverse=True):
        found = folded(getattr(A, op), found, axis)
    return found.reshape([n for a, n in enumerate(x.shape) if a not in axes])


def compare(host: Host, name: str, shape: tuple[int, ...], axes: tuple[int, ...], layout: str, seed: int = 0) -> None:
    S, kernel = kernels(name)
    x, found = numbers(S, CASES[name][1], shape, seed), Report(host)
    got = np.array(kernel.along(on_host(host, x, layout), axes, found))  # type: ignore[arg-type]
    want = wanted(S, CASES[name][2], x, axes)
    assert not found.flags and got.shape == want.shape and got.dtype == want.dtype
    if kernel.powers:
        eps = np.finfo(want.dtype).eps
        np.testing.assert_allclose(got, want, rtol=8 * eps, atol=32 * eps)
    else:
        np.testing.assert_array_equal(got, want)




@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    name=st.sampled_from(list(CASES)), layout=st.sampled_from(LAYOUTS), seed=st.integers(0, 99), data=st.data(),
    shape=st.lists(st.sampled_from([1, 2, 3, 5, 16, 33]), max_size=5).filter(lambda s: np.prod(s) < 20_000),
)
def test_any_axes_and_strides(
    folder: Path, name: str, shape: list[int], layout: str, seed: int, data: st.DataObject
) -> None:
    axes = tuple(a for a in range(len(shape)) if data.draw(st.booleans()))
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare(stand_in(monkeypatch, folder), name, tuple(shape), axes, layout, seed)


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize(("shape", "axes"), [
    ((70_001,), (0,)), ((9000, 7), (0,)), ((40, 1000), (0,)), ((40, 1000), (1,)), ((3, 5000, 4), (0, 2)),
    ((64, 1024), (0, 1)), ((3, 2000, 8), (1,)),
])
def test_long_lines_and_columns(host: Host, name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    """Parts are joined in their order."""
    for layout in ("C", "shifted", "reversed axes"):
        compare(host, name, shape, axes, layout)


@pytest.mark.parametrize(("shape", "axes"), [((5000,), (0,)), ((40, 33), (0,)), ((3, 7, 5), (0, 2))])
@pytest.mark.parametrize(("name", "value", "flag"), [
    ("viterbi f4", np.nan, NOT_A_NUMBER), ("viterbi f4", -1, OUTSIDE), ("min-plus f4", np.nan, NOT_A_NUMBER),
    ("log f4", np.nan, NOT_A_NUMBER), ("counting i4", -1, OUTSIDE), ("product i8", np.iinfo("i8").min, LEAVES),
    ("counting i4", 2**31 - 2, LEAVES), ("counting u1", 255, 0), ("product i8", np.iinfo("i8").max, 0),
    ("product i8", np.iinfo("i8").max - 3, LEAVES),
])
def test_what_is_not_an_element_is_seen_wherever_it_is(
    host: Host, shape: tuple[int, ...], axes: tuple[int, ...], name: str, value: Any, flag: int
) -> None:
    """NaN, numbers outside of the carrier, and integers that leave their dtype; ∞ does not."""
    kernel = kernels(name)[1]
    rng, size = np.random.default_rng(0), int(np.prod(shape))
    for at in [0, size - 1, *rng.integers(0, size, 6).tolist()]:
        x, found = np.ones(shape, CASES[name][1]), Report(host)
        x.reshape(-1)[at] = value
        kernel.along(host.array(x), axes, found)  # type: ignore[arg-type]
        assert found.flags & flag or found.flags == flag


def test_results_without_a_value_are_seen(host: Host) -> None:
    kernel, found, large = kernels("plus-times f8")[1], Report(host), 1.7e308
    kernel.along(host.array(np.array([large, large, -large, -large])), (0,), found)  # type: ignore[arg-type]
    assert found.flags == NOT_A_NUMBER


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("lengths", [
    (3,), (0, 0, 0), (1, 0, 2, 1), (40, 0, 500, 33), (0, 7000), tuple(range(300)),
])
def test_runs_of_any_lengths(host: Host, name: str, lengths: tuple[int, ...]) -> None:
    S, kernel = kernels(name)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x, found = numbers(S, CASES[name][1], (int(offsets[-1]),), 0), Report(host)
    got = np.array(kernel.runs(host.array(x), host.array(offsets), found))  # type: ignore[arg-type]
    zero = np.full((), S.zero_in(x.dtype), x.dtype)
    for i, (begin, end) in enumerate(itertools.pairwise(offsets.tolist())):
        want = wanted(S, CASES[name][2], x[begin:end], (0,)) if end > begin else zero
        if kernel.powers and end > begin:
            np.testing.assert_allclose(got[i], want, rtol=1e-5 if x.dtype == "f4" else 1e-13)
        else:
            assert got[i] == want
    assert not found.flags and got.dtype == x.dtype and len(got) == len(lengths)


def test_what_is_not_an_element_is_seen_in_runs(host: Host) -> None:
    kernel, found = kernels("min-plus f4")[1], Report(host)
    x = np.ones(90, "f4")
    x[77] = np.nan
    kernel.runs(host.array(x), host.array(np.array([0, 40, 90])), found)  # type: ignore[arg-type]
    assert found.flags == NOT_A_NUMBER


def test_arrays_in_storage(host: Host) -> None:
    S, kernel = kernels("min-plus f4", looks=False)
    x = numbers(S, "f4", (40, 30), 0)
    np.testing.assert_array_equal(np.array(kernel.along(host.array(x), (1,))), x.min(1))


def test_elements_that_fit() -> None:
    low = without_facts(sr.log, np.dtype("f8"))
    assert module.fits(low, "add") and module.fits(low, "mul", looks=False)
