"""Folds on the device: their kernels run on the host, and are compared with those of the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Compiled, is_available
from gpu.host import Host
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.dense import folds as module
from semiring.kernels.cuda.dense.exchange import LEAVES, NOT_A_NUMBER, OUTSIDE
from semiring.kernels.cuda.dense.folds import Folds
from semiring.kernels.numpy.folds import folded

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

TRIANGULAR = sr.Semiring(  # matrices [[p, q], [∞, r]] over min-plus, which do not commute
    "triangular", zero=(np.inf, np.inf, np.inf), one=(0, np.inf, 0), fields={"p": "f8", "q": "f8", "r": "f8"},
    add=lambda x, y: tuple(np.minimum(a, b) for a, b in zip(x, y, strict=True)),
    mul=lambda x, y: (x[0] + y[0], np.minimum(x[0] + y[1], x[1] + y[2]), x[2] + y[2]),
)
SOFT_MIN = sr.Semiring(
    "soft minimum", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, product_only=True
)
CASES = {
    "min-plus f4": (sr.min_plus, "f4", "add"), "plus-times f8": (sr.plus_times, "f8", "add"),
    "log f4": (sr.log, "f4", "add"), "soft minimum f8": (SOFT_MIN, "f8", "add"), "boolean": (sr.boolean, "?", "add"),
    "counting i4": (sr.counting, "i4", "add"), "counting u1": (sr.counting, "u1", "add"),
    "product i8": (sr.min_plus, "i8", "mul"), "viterbi f4": (sr.viterbi, "f4", "mul"),
    "triangular": (TRIANGULAR, [(c, "f8") for c in "pqr"], "mul"),
    "triangular sums": (TRIANGULAR, [(c, "f8") for c in "pqr"], "add"),
}


class Report:
    """What launches write about the data."""

    def __init__(self, host: Host):
        self.lines = host.array(np.zeros(4, "i8"))
        self.host = self.lines.data.ptr

    def clear(self) -> None:
        self.lines[...] = 0

    @property
    def flags(self) -> int:
        return int(self.lines.tolist()[2])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compiled")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Iterator[Host]:
    yield stand_in(monkeypatch, folder)


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    host = Host(None)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(module, "Module", Compiled(host, folder).module)
    monkeypatch.setattr(module, "multiprocessors", lambda: 2)
    monkeypatch.setattr(module, "memory", host.memory)
    return host


def kernels(name: str, looks: bool = True) -> tuple[sr.Semiring, Folds]:
    S, dtype, op = CASES[name]
    return S, Folds(without_facts(S, np.dtype(dtype)), op, looks)


def numbers(S: sr.Semiring, dtype: Any, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Elements whose sums and products are exact, but for logarithms; products of them do not vanish."""
    rng, kind = np.random.default_rng(seed), np.dtype(dtype)
    found = np.empty(shape, kind)
    if kind.names:
        for field in kind.names:
            found[field] = rng.integers(0, 9, shape)
    elif S in (sr.log, SOFT_MIN):
        found[...] = rng.normal(size=shape, scale=9)
    elif S is sr.viterbi:
        found[...] = np.where(rng.random(shape) < 0.001, 0.5, 1)
    elif kind.kind == "u":
        found[...] = rng.random(shape) < 0.001
    else:
        found[...] = rng.integers(0, 9, shape)
    return found


def wanted(S: sr.Semiring, op: str, x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    """The fold of neighbours in pairs."""
    A, found = S.over(x.dtype), x
    for axis in sorted(axes, reverse=True):
        found = folded(getattr(A, op), found, axis)
    return found.reshape([n for a, n in enumerate(x.shape) if a not in axes])


def on_host(host: Host, x: np.ndarray, layout: str) -> Any:
    """The array in memory in C order, with its axes the other way round, with gaps, or backwards."""
    if layout == "reversed axes":
        return host.array(np.array(x.transpose(), order="C")).transpose()
    if layout == "gaps" and x.ndim:
        wide = host.array(np.zeros([2 * n + 1 for n in x.shape], x.dtype))
        part = wide[tuple(slice(1, None, 2) for _ in x.shape)]
        part[...] = x
        return part
    if layout == "backwards" and x.ndim:
        return host.array(np.ascontiguousarray(x[..., ::-1]))[..., ::-1]
    if layout == "shifted" and x.ndim:
        wide = host.array(np.zeros((*x.shape[:-1], x.shape[-1] + 1), x.dtype))
        wide[..., 1:] = x
        return wide[..., 1:]
    return host.array(x)


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


LAYOUTS = ("C", "reversed axes", "gaps", "backwards", "shifted")


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


def test_arrays_in_storage(host: Host) -> None:
    S, kernel = kernels("min-plus f4", looks=False)
    x = numbers(S, "f4", (40, 30), 0)
    np.testing.assert_array_equal(np.array(kernel.along(host.array(x), (1,))), x.min(1))


def test_elements_that_fit() -> None:
    low = without_facts(sr.log, np.dtype("f8"))
    assert module.fits(low, "add") and module.fits(low, "mul", looks=False)
