"""Compiled spanning trees, and the closures by them, against those of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.choose import choose
from semiring.kernels.cpu.sparse import spanning
from semiring.kernels.cpu.sparse.spanning import SpanningKernel
from semiring.kernels.facts import Facts
from semiring.kernels.numpy.spanning import ArraySpanning, is_ordered

inf = float("inf")
CASES: list[tuple[sr.Semiring, str, list[Any]]] = [
    (sr.min_max, "f8", [-inf, -1.5, -0.0, 0.0, 2.0, inf]), (sr.max_min, "i2", [-5, 0, 1, 3, 32767, -32768]),
]


@pytest.mark.parametrize(("S", "dtype", "values"), CASES)
@pytest.mark.parametrize("threads", [1, 3])
def test_it_is_numpys(
    S: sr.Semiring, dtype: str, values: list[Any], threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = choose(S, np.dtype(dtype), Facts(), 9, in_place=False, packed=False)
    assert is_ordered(low)
    compiled, by_numpy = SpanningKernel(SpanningKernel.program_of(low), threads), ArraySpanning(low)

    @settings(max_examples=40)
    @given(st.sampled_from([1, 2, 3, 40, 65, 130]), st.integers(0, 2**32 - 1), st.booleans(),
           st.sampled_from([1, 10**9]))
    def check(n: int, seed: int, reflexive: bool, steps: int) -> None:
        monkeypatch.setattr(spanning, "STEPS", steps)
        random = np.random.default_rng(seed)
        A = random.choice(np.array(values, dtype), (n, n)).view(low.storage)
        A = np.triu(A) + np.triu(A, 1).T
        found = []
        for engine in (compiled, by_numpy):
            order, weights = engine.tree(A, low.flipped)
            assert sorted(order.tolist()) == list(range(n))
            D = np.zeros_like(A)
            np.fill_diagonal(D, A.diagonal())
            engine.fill(D, order, weights, reflexive, low.flipped)
            found.append(D)
        assert np.array_equal(*found)

    check()
