"""Algebras and data that only users bring: bare products, overflow, dtypes that are too narrow, halves."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr


def on_both(function: object, *arrays: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The answer of the GPU and that of the CPU."""
    import cupy

    assert callable(function)
    return cupy.asnumpy(function(*map(cupy.asarray, arrays))), function(*arrays)


@pytest.mark.parametrize("shape", [(7, 33, 70), (300, 301, 257), (256, 256, 256), (1, 1, 1), (5, 0, 3)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i2", "f2"])
def test_a_product_whose_zero_does_not_absorb(shape: tuple[int, int, int], dtype: str) -> None:
    """Padding with zeros would count: (0 − 0)² + 1 = 1."""
    S = sr.Semiring("distances", add=np.add, mul=lambda a, b: (a - b) * (a - b) + 1, zero=0, product_only=True,
                    dtypes="fi")
    m, k, n = shape
    rng = np.random.default_rng(0)
    A, B = rng.integers(0, 3, (m, k)).astype(dtype), rng.integers(0, 3, (k, n)).astype(dtype)
    gpu, cpu = on_both(lambda a, b: sr.matmul(a, b, S), A, B)
    np.testing.assert_array_equal(gpu, cpu)
    np.testing.assert_array_equal(gpu[:4, :4], ((A[:4, :, None] - B[None, :, :4]) ** 2 + 1).sum(1))


@pytest.mark.parametrize("shape", [(7, 33, 70), (300, 301, 257), (256, 256, 256), (1, 1, 1), (5, 0, 3)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("declared", [True, False])
def test_products_of_complements(shape: tuple[int, int, int], dtype: str, declared: bool) -> None:
    """1 − Π (1 − a b) in a form for [0, 1], also if only the data tell, and in the general form for other data."""
    inside = (lambda a: (a >= 0) & (a <= 1)) if declared else None
    S = sr.Semiring("noisy or", add=lambda a, b: a + b - a * b, mul=np.multiply, zero=0, product_only=True,
                    carrier=inside)
    m, k, n = shape
    rng, tolerance = np.random.default_rng(0), 4 * np.finfo(dtype).eps * max(k, 1) ** 0.5
    A, B = (rng.random(s).astype(dtype) ** 9 * (rng.random(s) < 0.7).astype(dtype) for s in ((m, k), (k, n)))
    gpu, cpu = on_both(lambda a, b: sr.matmul(a, b, S), A, B)
    wide = -np.expm1(sum(np.log1p(-A[:, [j]].astype(float) * B[[j]].astype(float)) for j in range(k)))
    np.testing.assert_allclose(gpu, np.broadcast_to(wide, gpu.shape), rtol=tolerance, atol=np.finfo(dtype).tiny)
    np.testing.assert_allclose(cpu, gpu, rtol=2 * tolerance, atol=np.finfo(dtype).tiny)
    if not declared and k:
        A[0, 0], B[0, 0] = 1.5, -2
        gpu, cpu = on_both(lambda a, b: sr.matmul(a, b, S), A, B)
        np.testing.assert_allclose(gpu, cpu, rtol=2 * tolerance, atol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(7, 33, 70), (300, 301, 257), (256, 256, 256)])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("kind", ["zeros", "infinite", "signs"])
def test_forms_for_numbers_that_are_not_negative(shape: tuple[int, int, int], dtype: str, kind: str) -> None:
    """What sums take in and what tests they leave out depends on the data, and the answer does not."""
    import cupy

    m, k, n = shape
    rng = np.random.default_rng(0)
    A, B = (rng.random(s).astype(dtype) / k * (rng.random(s) < 0.7).astype(dtype) for s in ((m, k), (k, n)))
    if kind == "infinite":
        A[0, 0], B[:, 0] = np.inf, 0.5
    elif kind == "signs":
        A[0, 0] = -A[0, 1]
    least = -np.inf if kind == "signs" else 0
    for add, mul, zero, carrier in (
        (lambda a, b: a + b + a * b, np.multiply, 0, None), (np.add, lambda a, b: a * b / 2, 0, None),
        (np.maximum, lambda a, b: a * b + a + b, least, lambda a: a >= least),
    ):
        S = sr.Semiring("users", add=add, mul=mul, zero=zero, product_only=True, carrier=carrier)
        if kind == "infinite" and add is not np.add and add is not np.maximum:
            for array in (cupy.asarray, np.asarray):
                with pytest.raises(sr.SemiringError, match="has no value at"):  # ∞ · 0, in a sum
                    sr.matmul(array(A), array(B), S)
            continue
        gpu, cpu = on_both(lambda a, b, S=S: sr.matmul(a, b, S, check=True), A, B)
        np.testing.assert_allclose(gpu, cpu, rtol=4 * k**0.5 * np.finfo(dtype).eps, atol=np.finfo(dtype).eps)


@pytest.mark.parametrize("n", [5, 150, 600])
def test_an_overflow_stays_where_it_leads_to(n: int) -> None:
    A = np.zeros((n, n), "f4")
    A[0, 1] = A[1, 2] = 1e30
    A[3, 4] = 0.5
    with np.errstate(all="ignore"):
        gpu, cpu = on_both(lambda a: sr.closure(a, sr.plus_times), A)
        factored, _ = on_both(lambda a: sr.factor(a, sr.plus_times).closure(), A)
    assert not np.isnan(gpu).any() and gpu[0, 2] == np.inf and gpu[3, 4] == 0.5
    np.testing.assert_array_equal(gpu, cpu)
    np.testing.assert_array_equal(factored, cpu)


def test_opposite_infinities_are_refused() -> None:
    import cupy

    A = np.zeros((200, 200), "f4")
    A[0, 1] = A[1, 2] = A[3, 2] = 1e30
    A[0, 3] = -1e30
    with pytest.raises(sr.SemiringError, match=r"no value at \[0, 2\].*wider dtype"):
        sr.closure(cupy.asarray(A), sr.plus_times)


@pytest.mark.parametrize("n", [5, 90, 300])
def test_wider_dtypes(n: int) -> None:
    tiny = sr.Semiring("tiny", add=np.maximum, mul=lambda a, b: a * b * 1e40, zero=0.0, one=1e-40,
                       carrier=lambda a: (a >= 0) & (a <= 1e-40))
    rng = np.random.default_rng(1)
    A = (rng.random((n, n)) * 1e-40).astype("f4")
    gpu, cpu = on_both(lambda a: sr.closure(a, tiny), A)
    assert gpu.dtype == np.float32
    np.testing.assert_allclose(gpu.astype("f8"), cpu.astype("f8"), rtol=1e-3, atol=0)
    capped = sr.Semiring("capped", add=np.minimum, mul=lambda a, b: np.minimum(a + b - 6, 68), zero=68, one=6,
                         carrier=lambda a: (a >= 6) & (a <= 68), dtypes="iu")
    B = rng.integers(6, 69, (n, n)).astype("i1")
    gpu, cpu = on_both(lambda a: sr.closure(a, capped), B)
    np.testing.assert_array_equal(gpu, cpu)
    np.testing.assert_array_equal(gpu, sr.closure(B.astype("i4"), capped))


@pytest.mark.parametrize("n", [5, 64, 300])
def test_halves_meet_constants_that_are_halves(n: int) -> None:
    S = sr.Semiring("scaled", add=np.maximum, mul=lambda a, b: a * b / np.e, zero=0.0, one=np.e,
                    carrier=lambda a: (a >= 0) & (a <= np.e))
    A = np.full((n, n), S.one_in("f2"))
    A[3, 4] = 1.5
    gpu, cpu = on_both(lambda a: sr.closure(a, S), A)
    assert (gpu == S.one_in("f2")).all() and (cpu == S.one_in("f2")).all()


@pytest.mark.parametrize("n", [3, 100, 200])
def test_a_cycle_that_stops_improving(n: int) -> None:
    S = sr.Semiring("capped", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, 60)),
                    zero=-1, one=0, carrier=lambda a: (a >= -1) & (a <= 60) & (np.floor(a) == a), dtypes="fi")
    rng = np.random.default_rng(2)
    A = np.where(rng.random((n, n)) < 2 / n, rng.integers(0, 5, (n, n)), -1).astype("i4")
    gpu, cpu = on_both(lambda a: sr.closure(a, S), A)
    np.testing.assert_array_equal(gpu, cpu)


def test_complex_numbers_and_wide_records_are_refused_by_name() -> None:
    import cupy

    with pytest.raises(sr.SemiringError, match="complex numbers are computed on the CPU only; use device='cpu'"):
        sr.closure(cupy.zeros((3, 3), "c16"), sr.plus_times)
