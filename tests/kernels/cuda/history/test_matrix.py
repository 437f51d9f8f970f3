"""A thread for each element: pivots, products and engines of them, run on the host; they compile."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from engines import slow_but
from gpu import nvrtc
from gpu.compiled import Compiled
from gpu.elements import assert_equal, closable, closure_reference, draw, dtype_of, reference
from gpu.nvrtc import needs_compiler
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algorithms.history.katz_kider import katz_kider
from semiring.algorithms.history.tran import floyd_warshall
from semiring.algorithms.r_kleene import r_kleene
from semiring.algorithms.squaring import squaring
from semiring.kernels.cuda.choose import without_facts
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.history.matrix import ElementsKernel, PivotKernel, source

PRODUCTS = ["naive_product", "tiled_product"]
KINDS = [("min_plus", "f4"), ("min_plus", "i4"), ("boolean", None), ("plus_times", "f8"), ("gf2", "u1"),
         ("shortest_hops", None)]


def engine(S: sr.Semiring, dtype: np.dtype, product: str, tile: int = 40) -> ElementsKernel:
    return ElementsKernel(without_facts(S, dtype), product, katz_kider, tile)


@pytest.mark.parametrize("name, dtype", slow_but(KINDS, 0, 2, 5))
@pytest.mark.parametrize("n", slow_but([[1], [33], [70]], 1))
def test_a_launch_for_each_pivot(
    play: Callable[..., Compiled], rng: np.random.Generator, name: str, dtype: str | None, n: int
) -> None:
    S = sr.catalogue[name]
    A = closable(S, dtype_of(S, dtype), n, rng)
    played, low = play(n), without_facts(S, A.dtype)
    work = played.host.array(A)
    if low.unit_pivots:
        engine(S, A.dtype, PRODUCTS[0]).add_one(work)
    kernel = PivotKernel(low, work)
    floyd_warshall(kernel)
    assert kernel.failed() == -1
    assert_equal(S, np.array(kernel.answer), closure_reference(S, A))
    assert played.launched.count("pivot_step") == n


def test_a_pivot_without_a_star_is_named(play: Callable[..., Compiled]) -> None:
    A = np.eye(40) / 2
    A[35, 35] = 1.0
    kernel = PivotKernel(without_facts(sr.plus_times, A.dtype), play().host.array(A))
    floyd_warshall(kernel)
    assert kernel.failed() == 35
    work = play().host.array(A)
    assert engine(sr.plus_times, A.dtype, PRODUCTS[1]).close(work) == 35


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    m=st.sampled_from([0, 1, 31, 32, 50]), k=st.sampled_from([0, 1, 17, 32, 65]), n=st.sampled_from([0, 1, 32, 45]),
    kind=st.sampled_from(KINDS), product=st.sampled_from(PRODUCTS), accumulate=st.booleans(), seed=st.integers(0, 99),
)
def test_products_of_any_shape(
    play: Callable[..., Compiled], m: int, k: int, n: int, kind: tuple[str, str | None], product: str,
    accumulate: bool, seed: int,
) -> None:
    S, rng = sr.catalogue[kind[0]], np.random.default_rng(seed)
    dtype = dtype_of(S, kind[1])
    A, B, C = (draw(S, dtype, shape, rng) for shape in ((m, k), (k, n), (m, n)))
    host = play(seed).host
    out, kernel = host.array(C), engine(S, dtype, product)
    (kernel.multiply_add if accumulate else kernel.multiply)(out, host.array(A), host.array(B))
    assert_equal(S, np.array(out), reference(S, A, B, C if accumulate else None))


@pytest.mark.parametrize("product", PRODUCTS)
def test_parts_of_matrices(play: Callable[..., Compiled], rng: np.random.Generator, product: str) -> None:
    """Rows with gaps between them, as blocks of a larger matrix have."""
    host = play().host
    M = host.array(rng.random((90, 100)))
    kernel = engine(sr.min_plus, M.dtype, product)
    wanted = np.array(M)
    wanted[40:80, 50:90] = reference(sr.min_plus, wanted[40:80, :33], wanted[:33, 50:90], wanted[40:80, 50:90])
    kernel.multiply_add(M[40:80, 50:90], M[40:80, :33], M[:33, 50:90])
    np.testing.assert_array_equal(M, wanted)


def test_shapes_that_do_not_fit_are_refused(play: Callable[..., Compiled]) -> None:
    host = play().host
    A = host.array(np.zeros((3, 4)))
    with pytest.raises(ValueError, match="do not fit"):
        engine(sr.min_plus, A.dtype, PRODUCTS[0]).multiply(A, A, A)


@pytest.mark.parametrize("product", PRODUCTS)
def test_engines_for_schedules(play: Callable[..., Compiled], rng: np.random.Generator, product: str) -> None:
    A = closable(sr.min_plus, np.dtype("f4"), 100, rng)
    for schedule in (squaring, r_kleene):
        work, kernel = play().host.array(A), engine(sr.min_plus, A.dtype, product)
        schedule(work, kernel, kernel.tile)
        np.testing.assert_array_equal(work, closure_reference(sr.min_plus, A))
    P = closable(sr.plus_times, np.dtype("f8"), 100, rng)
    work, kernel = play().host.array(P), engine(sr.plus_times, P.dtype, product)
    r_kleene(work, kernel, kernel.tile)
    np.testing.assert_allclose(work, np.linalg.inv(np.eye(100) - P), rtol=1e-10)


@pytest.mark.parametrize("n", [1, 5, 40])
def test_the_worst_element(play: Callable[..., Compiled], rng: np.random.Generator, n: int) -> None:
    """Zeros, where there is no walk, do not count."""
    A = rng.random((n, n))
    A[0, 0] = 0.5
    A[rng.random((n, n)) < 0.5] = np.inf
    A[0, 0] = 0.5
    host = play().host

    def worst(S: sr.Semiring, values: np.ndarray) -> float:
        return float(engine(S, values.dtype, PRODUCTS[0]).worst(host.array(values))[0])

    assert worst(sr.min_plus, A) == A[np.isfinite(A)].max()
    assert worst(sr.max_min, np.where(np.isinf(A), -np.inf, A)) == A.min()
    assert worst(sr.min_plus, np.full((n, n), np.inf)) == np.inf


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("S", [S for S in sr.catalogue.values() if S.traced], ids=lambda S: S.name)
def test_they_compile(S: sr.Semiring) -> None:
    for i, dtype in enumerate(d for d in S.dtypes if d.kind not in "Oc"):
        target = ("compute_80", "compute_89", "compute_90a")[i % 3]
        text = source(without_facts(S, dtype))
        assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}", "--device-debug")


@pytest.mark.slow
@needs_compiler
def test_they_become_machine_code_and_broken_ones_are_noticed() -> None:
    for S, dtype in ((sr.min_plus, "f4"), (sr.plus_times, "f8")):
        text = source(without_facts(S, np.dtype(dtype)))
        for target in ("sm_80", "sm_89", "sm_90a"):
            assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={target}")
        assert "relax" in nvrtc.complaint(text.replace("DEVICE Value relax(", "DEVICE Value other("), *OPTIONS)
