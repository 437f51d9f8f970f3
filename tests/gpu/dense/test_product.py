"""Products of shapes that fill tiles, and of shapes that are a multiple of nothing, against NumPy; by words, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gpu import device
from gpu.elements import algebra, assert_equal, draw, dtype_of, reference

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import program
from semiring.kernels.cuda.dense.engine import view_of
from semiring.kernels.cuda.dense.product import FEW, Product

CASES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u2"), ("min_plus", "i2"),
    ("min_plus", "f2"), ("min_plus", "i1"), ("max_plus", "f4"), ("max_min", "f4"), ("min_max", "f8"), ("max_min", "u2"),
    ("boolean", "?"), ("viterbi", "f4"), ("max_times", "f4"), ("plus_times", "f4"), ("plus_times", "f8"), ("log", "f4"),
    ("counting", "i8"), ("gf2", "u1"), ("mod_p", "i4"), ("bitset_may", "u8"), ("gcd_lcm", "u4"),
    ("shortest_hops", None), ("shortest_count", None), ("k_best", None), ("expectation", None), ("users", "f4"),
]
SHAPES = [
    (1, 1, 1), (64, 64, 32), (128, 128, 64), (129, 66, 33), (100, 300, 101), (257, 255, 129), (128, 256, 40),
    (5, 1, 300),
]


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_product_of_any_shape(name: str, dtype: str | None, fast: bool) -> None:
    S, rng = algebra(name), np.random.default_rng(1)
    d = dtype_of(S, dtype)
    for m, n, k in SHAPES:
        A, B, C = (draw(S, d, shape, rng) for shape in ((m, k), (k, n), (m, n)))
        assert_equal(S, device.product(S, A, B, fast=fast), reference(S, A, B))
        assert_equal(S, device.product(S, A, B, C, fast=fast), reference(S, A, B, C))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i2"])
def test_signed_data_take_the_general_way(dtype: str) -> None:
    S, rng = sr.min_plus, np.random.default_rng(2)
    A, B = (draw(S, np.dtype(dtype), shape, rng, signed=True) for shape in ((130, 70), (70, 140)))
    assert_equal(S, device.product(S, A, B), reference(S, A, B))


def test_edges_of_the_floats() -> None:
    """−0, denormals, the largest numbers and infinities, in the form for non-negative floats and in the general one."""
    tiny = np.float32(1e-45)
    values = np.array([0.0, -0.0, tiny, 3 * tiny, 1.5, 3e38, np.inf], "f4")
    rng = np.random.default_rng(3)
    A, B = rng.choice(values, (70, 40)), rng.choice(values, (40, 90))
    for S in (sr.min_plus, sr.max_min, sr.min_max):
        for fast in (True, False):
            np.testing.assert_array_equal(device.product(S, A, B, fast=fast), reference(S, A, B))
    with_minus = np.append(values, np.float32(-np.inf))
    A, B = rng.choice(with_minus, (70, 40)), rng.choice(with_minus, (40, 90))
    for S in (sr.min_plus, sr.max_plus, sr.max_min):
        np.testing.assert_array_equal(device.product(S, A, B), reference(S, A, B))


@pytest.mark.parametrize("shape", [(3, 4, 5), (64, 64, 64), (200, 130, 300), (256, 256, 256)])
@pytest.mark.parametrize("name", ["min_plus", "max_plus", "max_min"])
def test_pairs_of_halves(name: str, shape: tuple[int, int, int]) -> None:
    """Bit for bit what single precision gives, on infinities, −0 and subnormal numbers."""
    import cupy

    S = sr.catalogue[name]
    m, k, n = shape
    rng = np.random.default_rng(4)
    special = np.array([np.inf if name != "max_plus" else -np.inf, -0.0, 0.0, 6e-8, -6e-8, 6e-5, 65504 / 2], "f2")
    A, B = ((rng.standard_normal(s) * 100).astype("f2") for s in ((m, k), (k, n)))
    for X in (A, B):
        some = rng.random(X.shape) < 0.3
        X[some] = rng.choice(special, int(some.sum()))
    got = sr.matmul(cupy.asarray(A), cupy.asarray(B), S)
    np.testing.assert_array_equal(got.get(), sr.matmul(A, B, S, device="cpu"))


SUMS = {
    "distances": (lambda a, b: np.abs(a - b), None), "squares": (lambda a, b: (a - b) ** 2, None),
    "roots": (lambda a, b: np.abs(a - b) ** 1.5, None), "powers": (lambda a, b: np.abs(a - b) ** 0.7, None),
    "common": (np.minimum, lambda a: a >= 0), "halves": (lambda a, b: a * b / 2, None),
}


@pytest.mark.parametrize("zeros", [True, False])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_users(name: str, dtype: str, zeros: bool) -> None:
    """With and without a zero in the data, so with and without a test for it; whole tiles, and what is left of k."""
    import cupy

    mul, carrier = SUMS[name]
    S = sr.Semiring(name, add=np.add, mul=mul, zero=0, product_only=True, carrier=carrier)
    rng = np.random.default_rng(5)
    for m, n, k in (*SHAPES, (256, 256, 256), (1030, 515, 77)):
        A, B, C = (rng.random(shape).astype(dtype) + np.dtype(dtype).type(0.1) for shape in ((m, k), (k, n), (m, n)))
        if zeros:
            A[rng.random(A.shape) < 0.1] = 0
        for given in ((A, B), (A, B, C)):
            a, b, c = (*map(cupy.asarray, given), None)[:3]
            wanted = sr.matmul(A, B, S, accumulate=None if c is None else C, device="cpu")
            got = sr.matmul(a, b, S, accumulate=c)
            np.testing.assert_allclose(got.get(), wanted, rtol=3e-5 if dtype == "f4" else 1e-11)


@pytest.mark.parametrize("infinite", [True, False])
def test_a_product_within_a_sum_is_rounded_once(infinite: bool) -> None:
    """min of a + b + ab/8, within two units in the last place of NumPy's; repeated calls too, which are guessed."""
    import cupy

    S = sr.Semiring("eighths", add=np.minimum, mul=lambda a, b: a + b + a * b / 8, zero=np.inf, one=0.0,
                    carrier=lambda a: a >= 0)
    rng = np.random.default_rng(6)
    A, B = (rng.random((130, 130)).astype("f4") for _ in range(2))
    if infinite:
        A[rng.random(A.shape) < 0.2] = np.inf
    for _ in range(3):
        got = sr.matmul(cupy.asarray(A), cupy.asarray(B), S)
        np.testing.assert_array_max_ulp(got.get(), sr.matmul(A, B, S, device="cpu"), 2)


@pytest.mark.parametrize(("name", "dtype"), [
    ("min_plus", "f4"), ("min_plus", "f8"), ("max_min", "f4"), ("max_times", "f4"), ("plus_times", "f4"),
    ("plus_times", "f8"),
])
def test_bits_do_not_depend_on_the_steps_that_are_written_out(name: str, dtype: str) -> None:
    """A first call, which does not wait for the compiler, has the bits of any later one."""
    import cupy

    S, rng = algebra(name), np.random.default_rng(4)
    P = Product(program(general_on_device(S, np.dtype(dtype))))
    A, B = (cupy.asarray(draw(S, np.dtype(dtype), (256, 256), rng)) for _ in range(2))
    for g in (P.large, P.small, P.least):
        found = []
        for steps in {FEW, g.UNROLL}:
            P.first = lambda g, steps=steps: P.function(replace(g, UNROLL=steps), True)  # type: ignore[method-assign]
            C = cupy.empty_like(A)
            P.whole(g, view_of(C), view_of(A), view_of(B), 1, False)
            P.whole(g, view_of(C), view_of(B), view_of(A), 1, True)
            found.append(C.get().tobytes())
        assert len(found) == 1 + (g.UNROLL != FEW) and len(set(found)) == 1
