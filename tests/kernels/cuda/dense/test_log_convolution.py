"""Convolutions over log-sum-exp by powers, on a GPU that the host plays: those of the CPU, and of all terms."""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gpu.compiled import host_of, is_available
from gpu.host import Host
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.dense import convolution, log_convolution
from semiring.kernels.cuda.dense.log_convolution import LogConvolution, repays
from semiring.shapes.convolutions import reals
from semiring.shapes.convolve import order

pytestmark = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")

SOFT_MIN = sr.Semiring("soft-min", add=lambda a, b: -np.logaddexp(-a, -b), mul=np.add, zero=np.inf, one=0)
BINARY = sr.Semiring("binary", add=np.logaddexp2, mul=np.add, zero=-np.inf, one=0)
FORMS = [sr.log, SOFT_MIN, BINARY]


def stand_in(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Host:
    host = host_of(monkeypatch, folder, convolution, multiprocessors=2)
    monkeypatch.setattr(convolution, "current_device", lambda: 0)
    monkeypatch.setattr(log_convolution, "LEAST_PIECE", 8)
    convolution._kept_tables.cache_clear()
    convolution.convolution.cache_clear()
    return host


def compare(host: Host, S: sr.Semiring, a: np.ndarray, b: np.ndarray, mode: str, axes: Any = None) -> None:
    how, low = order(a.shape, b.shape, mode, axes), general_on_device(S, a.dtype)
    kernels = LogConvolution(low, reals())
    found = how.restored(np.array(kernels(how.windows, *(host.array(how.moved(x)) for x in (a, b)))))
    with np.errstate(all="ignore"):
        wanted = sr.convolve(a.astype("f8"), b.astype("f8"), S, mode=mode, axes=axes)
    assert found.dtype == a.dtype and kernels.memory(how.windows) > found.nbytes
    finite = np.isfinite(wanted)
    assert np.array_equal(found[~finite], wanted[~finite].astype(a.dtype))
    eps, terms = np.finfo(a.dtype).eps, min(prod(a.shape), prod(b.shape))
    # Powers in double precision, whose logarithm is at most 700, and terms in that of the data.
    bound = eps * (terms + 40 + 2 * np.abs(wanted[finite])) + np.finfo("f8").eps * 4 * 700
    assert (np.abs(found[finite] - wanted[finite]) <= bound).all()


def numbers(shape: tuple[int, ...], scale: float, zeros: float, S: sr.Semiring, dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    found = np.asarray(rng.normal(size=shape) * scale, dtype)
    found[rng.random(shape) < zeros] = S.zero
    return found


@pytest.mark.slow
@settings(max_examples=40, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(
    S=st.sampled_from(FORMS), dtype=st.sampled_from(["f4", "f8"]), left=st.lists(st.integers(1, 30), max_size=3,
    min_size=1), data=st.data(), mode=st.sampled_from(["full", "same", "valid"]),
    scale=st.sampled_from([1, 30, 3000.0]), zeros=st.sampled_from([0, 0.3, 0.95, 1]),
)
def test_any_range_of_values(
    tmp_path_factory: pytest.TempPathFactory, S: sr.Semiring, dtype: str, left: list[int], data: st.DataObject,
    mode: str, scale: float, zeros: float,
) -> None:
    right = data.draw(st.lists(st.integers(1, 30), min_size=len(left), max_size=len(left)))
    axes = data.draw(st.sampled_from([None, -1] if left[:-1] == right[:-1] else [None]))
    a, b = (numbers(tuple(x), scale, zeros, S, dtype, k) for k, x in enumerate((left, right)))
    with pytest.MonkeyPatch.context() as monkeypatch:
        compare(stand_in(monkeypatch, tmp_path_factory.getbasetemp()), S, a, b, mode, axes)


def test_only_pieces_that_underflow_are_computed_by_their_terms(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    host, asked = stand_in(monkeypatch, tmp_path), []
    a = -np.linspace(0, 3000, 100)
    low = general_on_device(sr.log, a.dtype)
    kernels = LogConvolution(low, reals())
    terms = kernels.terms
    monkeypatch.setattr(kernels, "terms", lambda windows, *sides: asked.append(windows) or terms(windows, *sides))
    how = order((100,), (100,), "full", None)
    found = kernels(how.windows, host.array(a), host.array(a))
    np.testing.assert_allclose(np.array(found), sr.convolve(a, a, sr.log), rtol=1e-12)
    assert 0 < sum(w.shape[0] for w in asked) < 199 and asked[0].first[0] == 13
    a[3] = np.inf  # all entries that it meets are infinite
    asked.clear()
    np.testing.assert_array_equal(
        np.isinf(np.array(kernels(how.windows, host.array(a), host.array(a)))), np.isinf(sr.convolve(a, a, sr.log)))
    assert sum(w.shape[0] for w in asked) == 199


def test_when_powers_repay() -> None:
    low, small, large = general_on_device(sr.log, np.dtype("f4")), (100,), (20_000,)
    assert repays(low, order(large, large, "full", None).windows)
    assert not repays(low, order(small, large, "full", None).windows)
    assert not repays(general_on_device(sr.min_plus, np.dtype("f4")), order(large, large, "full", None).windows)
    assert reals().within is not None and reals().absorbs and reals().test_for_zero is None
