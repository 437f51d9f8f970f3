"""Prefixes on the device: their kernels run on the host, and are compared with those of the CPU."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import Report, host_of, is_available
from gpu.host import Host
from gpu.sums import CASES, LAYOUTS, numbers, on_host
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.dense import folds, prefixes
from semiring.kernels.cuda.dense.exchange import LEAVES, NOT_A_NUMBER, OUTSIDE
from semiring.kernels.cuda.dense.prefixes import Prefixes
from semiring.kernels.numpy.folds import scanned

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    for each in (folds, prefixes):
        monkeypatch.setattr(each, "_made", {})
    return host_of(monkeypatch, folder, folds, prefixes)


def compare(host: Host, name: str, shape: tuple[int, ...], axis: int, layout: str, seed: int = 0) -> None:
    S, dtype, op = CASES[name]
    kernel = Prefixes(without_facts(S, np.dtype(dtype)), op, True)
    x, found = numbers(S, dtype, shape, seed), Report(host)
    got = np.array(kernel.along(on_host(host, x, layout), axis, found))  # type: ignore[arg-type]
    want = np.moveaxis(scanned(getattr(S.over(x.dtype), op), np.moveaxis(x, axis, 0)), 0, axis)
    assert not found.flags and got.shape == want.shape and got.dtype == want.dtype
    if kernel.folds.powers:
        eps = np.finfo(want.dtype).eps
        np.testing.assert_allclose(got, want, rtol=8 * eps, atol=32 * eps)
    else:
        np.testing.assert_array_equal(got, want)


@settings(max_examples=60, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    name=st.sampled_from(list(CASES)), layout=st.sampled_from(LAYOUTS), seed=st.integers(0, 99), data=st.data(),
    shape=st.lists(st.sampled_from([1, 2, 3, 5, 16, 33]), min_size=1, max_size=4).filter(lambda s: np.prod(s) < 9000),
)
def test_any_axis_and_strides(
    folder: Path, name: str, shape: list[int], layout: str, seed: int, data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare(stand_in(monkeypatch, folder), name, tuple(shape), axis, layout, seed)


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize(("shape", "axis"), [
    ((70_001,), 0), ((9000, 7), 0), ((40, 1000), 0), ((40, 1000), 1), ((3, 5000, 4), 1), ((65_536,), 0),
])
def test_long_lines_and_columns(host: Host, name: str, shape: tuple[int, ...], axis: int) -> None:
    """Chunks have what stands before them."""
    for layout in ("C", "shifted", "reversed axes"):
        compare(host, name, shape, axis, layout)


@pytest.mark.parametrize(("shape", "axis"), [((50_000,), 0), ((40, 33), 0), ((40, 33), 1)])
@pytest.mark.parametrize(("name", "value", "flag"), [
    ("viterbi f4", np.nan, NOT_A_NUMBER), ("viterbi f4", -1, OUTSIDE), ("log f4", np.nan, NOT_A_NUMBER),
    ("counting i4", -1, OUTSIDE), ("counting i4", 2**31 - 2, LEAVES), ("product i8", np.iinfo("i8").min, LEAVES),
])
def test_what_is_not_an_element_is_seen_wherever_it_is(
    host: Host, shape: tuple[int, ...], axis: int, name: str, value: Any, flag: int
) -> None:
    S, dtype, op = CASES[name]
    kernel = Prefixes(without_facts(S, np.dtype(dtype)), op, True)
    rng, size = np.random.default_rng(0), int(np.prod(shape))
    for at in [0, *rng.integers(0, size * 3 // 4, 5).tolist()]:
        x, found = np.ones(shape, dtype), Report(host)
        x.reshape(-1)[at] = value
        kernel.along(host.array(x), axis, found)  # type: ignore[arg-type]
        if not (flag == LEAVES and at // shape[-1] == shape[0] - 1):
            assert found.flags & flag


@pytest.mark.parametrize(("shape", "axis"), [((3000,), 0), ((40, 90), 1), ((40, 90), 0)])
def test_blocks_of_few_threads(
    monkeypatch: pytest.MonkeyPatch, host: Host, shape: tuple[int, ...], axis: int
) -> None:
    """As large elements have them."""
    usual = prefixes.prefix_geometry
    monkeypatch.setattr(prefixes, "prefix_geometry", lambda *sizes: replace(usual(*sizes), THREADS=16))
    compare(host, "triangular", shape, axis, "C")
