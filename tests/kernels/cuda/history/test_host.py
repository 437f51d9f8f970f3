"""Blocks of a matrix on the host go to the GPU and back; no copy reaches outside of memory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from gpu.compiled import Compiled
from gpu.elements import assert_equal, closable, closure_reference

import semiring as sr
from semiring.algorithms.history.katz_kider import katz_kider
from semiring.algorithms.history.out_of_core import out_of_core
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.history.host import HostMatrix
from semiring.kernels.cuda.history.matrix import ElementsKernel


@pytest.mark.parametrize("n, side", [(1, 1), (10, 3), (10, 10), (7, 20)])
def test_there_and_back(
    play: Callable[..., Compiled], rng: np.random.Generator, n: int, side: int
) -> None:
    host = play().host
    values = rng.random((n, n))
    matrix = HostMatrix(n, values.dtype, side)
    matrix.take(host.array(values))
    last = matrix.blocks - 1
    np.testing.assert_array_equal(matrix.fetch(last, 0), values[last * side :, :side])
    back = host.empty((n, n))
    matrix.give(back)
    np.testing.assert_array_equal(back, values)


@pytest.mark.parametrize("name, dtype", [("min_plus", "f4"), ("plus_times", "f8")])
@pytest.mark.parametrize("n, side", [(40, 40), (75, 30)])
def test_closures(
    play: Callable[..., Compiled], rng: np.random.Generator, name: str, dtype: str, n: int, side: int
) -> None:
    S = sr.catalogue[name]
    A = closable(S, np.dtype(dtype), n, rng)
    host = play().host
    work, matrix = host.array(A), HostMatrix(n, A.dtype, side)
    matrix.take(work)
    out_of_core(matrix, ElementsKernel(without_facts(S, A.dtype), "tiled_product", katz_kider, side))
    matrix.give(work)
    assert_equal(S, np.array(work), closure_reference(S, A))
