"""The rungs of the ladder on a GPU: each against elimination by NumPy, on any order, and what they refuse."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from gpu.device import on_device
from gpu.elements import assert_equal, closable, closure_reference, dtype_of
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.blocks import UndefinedStar
from semiring.kernels.cuda.history.blocks import KATZ_KIDER, Variant
from semiring.teach.ladder_gpu import GPU_RUNGS, _closing, _phases, diameter, with_next_hops
from semiring.teach.rung import Rung

KINDS = [("min_plus", "f4"), ("min_plus", "i4"), ("max_min", "f4"), ("boolean", None), ("plus_times", "f8"),
         ("shortest_hops", None), ("gf2", "u1"), ("max_min", "f8")]


def closed(rung: Rung, S: sr.Semiring, A: np.ndarray) -> np.ndarray:
    return np.asarray(rung.close(on_device(A), S).get()).astype(A.dtype, copy=False)


def takes(rung: Rung, S: sr.Semiring, A: np.ndarray) -> bool:
    """Whether the rung closes it, by what it says of the algebra and of data: bits are of truth values here."""
    if rung.name == "three-operands" and A.dtype.kind == "f" and bool((A < 0).any()):
        return False
    return rung.refuses(S, A.dtype, len(A)) is None and (rung.name != "tensor-cores" or A.dtype.kind == "b")


@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
@pytest.mark.parametrize("name, dtype", KINDS)
def test_closures(rung: Rung, name: str, dtype: str | None) -> None:
    S = sr.catalogue[name]
    for n in (0, 1, 45, 130):
        A = closable(S, dtype_of(S, dtype), n, np.random.default_rng(n))
        if takes(rung, S, A):
            before = A.copy()
            assert_equal(S, closed(rung, S, A), closure_reference(S, A))
            assert_equal(S, A, before)


@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
@pytest.mark.parametrize("name, dtype", [("min_plus", "f4"), ("plus_times", "f8")])
def test_larger_ones(rung: Rung, name: str, dtype: str) -> None:
    """Of more blocks than streams, and than a block of the recursion has rows."""
    S = sr.catalogue[name]
    A = closable(S, np.dtype(dtype), 1100, np.random.default_rng(0))
    if takes(rung, S, A):
        assert_equal(S, closed(rung, S, A), sr.closure(A, S, device="cpu"))


@settings(max_examples=40)
@given(rung=st.sampled_from(GPU_RUNGS), kind=st.sampled_from(KINDS), n=st.integers(0, 200), seed=st.integers(0, 999))
def test_any_order(rung: Rung, kind: tuple[str, str | None], n: int, seed: int) -> None:
    S = sr.catalogue[kind[0]]
    A = closable(S, dtype_of(S, kind[1]), n, np.random.default_rng(seed))
    if takes(rung, S, A):
        assert_equal(S, closed(rung, S, A), closure_reference(S, A))


@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
def test_a_cycle_that_improves_is_refused(rung: Rung) -> None:
    A = np.full((70, 70), np.inf, "f4")
    A[np.arange(69), np.arange(1, 70)] = 1
    A[60, 50] = -11
    if takes(rung, sr.min_plus, A):
        with pytest.raises(sr.SemiringError) as raised:
            rung.close(on_device(A), sr.min_plus)
        if rung.name != "three-operands":  # which is not for data below zero
            assert isinstance(raised.value, sr.NoClosureError) and raised.value.cycle


@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
def test_a_pivot_without_a_star_is_named(rung: Rung) -> None:
    A = np.eye(70) / 2
    A[65, 65] = 1
    if takes(rung, sr.plus_times, A):
        with pytest.raises((UndefinedStar, sr.NoClosureError)) as raised:
            rung.close(on_device(A), sr.plus_times)
        assert "65" in str(raised.value)


def test_next_hops_lead_to_the_target() -> None:
    n, rng = 300, np.random.default_rng(0)
    A = rng.integers(1, 4, (n, n)).astype("f4")
    A[rng.random((n, n)) < 0.985] = np.inf
    values, hops = with_next_hops(on_device(A), sr.min_plus)
    D, H = values.get(), hops.get()
    np.testing.assert_array_equal(D, closure_reference(sr.min_plus, A))
    np.testing.assert_array_equal(H == -1, np.isinf(D))
    for i, j in np.argwhere(np.isfinite(D))[::97].tolist():
        at, total, edges = i, 0.0, 0
        while at != j:
            total, at, edges = total + A[at, H[at, j]], int(H[at, j]), edges + 1
            assert edges < n
        assert total == D[i, j]
    A[3, 4] = A[4, 3] = 0
    with pytest.raises(sr.SemiringError, match="lead back"):
        with_next_hops(on_device(A), sr.min_plus)
    with pytest.raises(sr.LawError, match="one walk"):
        with_next_hops(on_device(np.eye(3)), sr.plus_times)


def test_diameter() -> None:
    A = closable(sr.min_plus, np.dtype("f4"), 200, np.random.default_rng(1))
    D = closure_reference(sr.min_plus, A)
    longest = D[np.isfinite(D)].max()
    assert float(diameter(on_device(A), sr.min_plus)) == longest
    with pytest.raises(sr.LawError):
        diameter(on_device(np.eye(3)), sr.plus_times)


@pytest.mark.parametrize("variant", [KATZ_KIDER, Variant(down=True, padded=True, hops=True)], ids=str)
def test_the_input_is_not_changed(variant: Variant) -> None:
    A = on_device(closable(sr.min_plus, np.dtype("f4"), 90, np.random.default_rng(2)))
    before = A.copy()
    _closing(partial(_phases, variant=variant))(A, sr.min_plus)
    np.testing.assert_array_equal(A.get(), before.get())
