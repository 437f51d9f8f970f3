"""Shapes that fill tiles and shapes that are no multiple of anything, against NumPy; both lowerings give one answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gpu import device

import semiring as sr

BOTTLENECK = sr.Semiring(
    "users-max-times", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: (a >= 0) & (a <= 1)
)
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


def algebra(name: str) -> sr.Semiring:
    return BOTTLENECK if name == "users" else sr.catalogue[name]


def draw(
    S: sr.Semiring, dtype: np.dtype, shape: tuple[int, ...], rng: np.random.Generator, signed: bool = False
) -> np.ndarray:
    """Elements with many zeros, small enough that nothing overflows."""
    A = S.over(dtype)
    out = np.empty(shape, dtype)

    def numbers(d: np.dtype) -> np.ndarray:
        if d.kind == "b":
            return rng.random(shape) < 0.5
        values = rng.integers(-5 if signed and d.kind in "fi" else 0, 20, shape)
        return values.astype(d) if d.kind in "iu" else (values / 32).astype(d)

    if dtype.names:
        for f in dtype.names:
            out[f] = np.abs(numbers(dtype[f]))
        if S.name.endswith("-best"):
            parts = np.sort(np.stack([out[f] for f in dtype.names]), axis=0)
            for f, p in zip(dtype.names, parts, strict=True):
                out[f] = p
        if S.name == "shortest-count":
            out["count"] = np.maximum(np.round(out["count"] * 4), 1)
    elif S.name == "gf2":
        out[...] = rng.integers(0, 2, shape)
    elif S.name == "mod-7":
        out[...] = rng.integers(0, 7, shape)
    else:
        out[...] = numbers(dtype)
    out[rng.random(shape) < 0.3] = A.zero
    assert A.contains(out).all()
    return out


def reference(S: sr.Semiring, A: np.ndarray, B: np.ndarray, C: np.ndarray | None = None) -> np.ndarray:
    """C ⊕ A ⊗ B by NumPy, one step of k at a time."""
    ops = S.over(A.dtype)
    out = np.full((A.shape[0], B.shape[1]), ops.zero, A.dtype) if C is None else C.copy()
    for k in range(A.shape[1]):
        out = ops.add(out, ops.mul(*np.broadcast_arrays(A[:, k, None], B[None, k])))
    return out


def closure_reference(S: sr.Semiring, A: np.ndarray) -> np.ndarray:
    """A* by the definition of the pivot step."""
    ops = S.over(A.dtype)
    A = A.copy()
    n = len(A)
    for k in range(n):
        s = ops.star(A[k : k + 1, k : k + 1])
        row = ops.mul(np.broadcast_to(s, (1, n)), A[k : k + 1])
        column = A[:, k : k + 1].copy()
        rest = ops.add(A, ops.mul(np.broadcast_to(column, (n, n)), np.broadcast_to(row, (n, n))))
        scaled = ops.mul(column, np.broadcast_to(s, (n, 1)))
        A = np.array(rest)
        A[k], A[:, k] = row[0], scaled[:, 0]
        A[k, k] = s[0, 0]
    return A


def assert_equal(S: sr.Semiring, got: np.ndarray, wanted: np.ndarray) -> None:
    """The same elements, up to rounding where ⊕ rounds."""
    assert got.shape == wanted.shape and got.dtype == wanted.dtype
    for f in got.dtype.names or [...]:
        x, y = got[f], wanted[f]
        if not S.idempotent and x.dtype.kind == "f":
            np.testing.assert_allclose(x, y, rtol=2e-5 if x.itemsize == 4 else 1e-11, atol=1e-5)
        else:
            np.testing.assert_array_equal(x, y)


def dtype_of(S: sr.Semiring, dtype: str | None) -> np.dtype:
    return S.default_dtype if dtype is None else np.dtype(dtype)


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


@pytest.mark.parametrize("dtype", ["f4", "i2", "u1"])
def test_views_and_stacks(dtype: str) -> None:
    import cupy

    from semiring.kernels.cuda.choose import kernel

    S, rng = sr.min_plus if dtype != "u1" else sr.bitset_may, np.random.default_rng(4)
    d = np.dtype(dtype)
    A, B, C = (draw(S, d, (3, 2 * m + 1, n + 5), rng) for m, n in ((70, 80), (80, 90), (70, 90)))
    low = device.lowering(S, [cupy.asarray(x) for x in (A, B, C)], 3)
    k = kernel(low)
    a, b, c = (low.encode(cupy.asarray(x), True) for x in (A, B, C))
    wanted = [reference(S, x[1::2, 3:83], y[:160:2, 1:91], z[::2][:70, 2:92]) for x, y, z in zip(A, B, C, strict=True)]
    target = c[:, ::2][:, :70, 2:92]
    k.multiply_add_stack(target, a[:, 1::2, 3:83], b[:, :160:2, 1:91])
    assert_equal(S, cupy.asnumpy(low.decode(c))[:, ::2][:, :70, 2:92], np.stack(wanted))
    outside = np.ones(C.shape, bool)
    outside[:, ::2][:, :70, 2:92] = False
    np.testing.assert_array_equal(cupy.asnumpy(low.decode(c))[outside], C[outside])


CLOSURES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "i4"), ("min_plus", "u2"), ("max_min", "f4"), ("boolean", "?"),
    ("viterbi", "f4"), ("plus_times", "f8"), ("log", "f8"), ("shortest_hops", None), ("k_best", None),
    ("expectation", None), ("users", "f4"), ("gf2", "u1"),
]


def closable(S: sr.Semiring, d: np.dtype, n: int, rng: np.random.Generator) -> np.ndarray:
    A = draw(S, d, (n, n), rng)
    if S.name == "plus-times":
        A /= 2 * n
    elif S.name == "log":
        A = np.where(np.isinf(A), A, -A - np.log(4 * n))
    elif S.name == "expectation":
        A["p"] /= 2 * n
    elif S.name == "gf2":
        A[...] = np.triu(A, 1)
    return A


@pytest.mark.parametrize("n", [1, 31, 33, 64, 65, 128, 200, 257])
@pytest.mark.parametrize(("name", "dtype"), CLOSURES)
def test_closure_of_any_order(name: str, dtype: str | None, n: int) -> None:
    S, rng = algebra(name), np.random.default_rng(n)
    A = closable(S, dtype_of(S, dtype), n, rng)
    wanted = closure_reference(S, A)
    for method, tile in (("floyd-warshall", n), ("r-kleene", 32), ("blocked", 64), ("elimination", 64)):
        assert_equal(S, device.closure(S, A, method, tile), wanted)


@pytest.mark.parametrize("n", [3, 32, 50, 64, 100, 128, 130])
@pytest.mark.parametrize(
    ("name", "dtype"), [("min_plus", "f4"), ("min_plus", "u2"), ("plus_times", "f8"), ("k_best", None)]
)
def test_stack_of_closures(name: str, dtype: str | None, n: int) -> None:
    S, rng = algebra(name), np.random.default_rng(n)
    A = np.stack([closable(S, dtype_of(S, dtype), n, rng) for _ in range(5)])
    assert_equal(S, device.closure(S, A), np.stack([closure_reference(S, x) for x in A]))


@pytest.mark.parametrize(
    ("name", "dtype"), [("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "u2"), ("shortest_hops", None)]
)
def test_large_closure_by_blocks(name: str, dtype: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Huge matrices, with the limit lowered: one product a panel and one for the rest, the pivot left out."""
    from semiring.kernels.cuda.dense import closure

    monkeypatch.setattr(closure, "HUGE", 1)
    S, rng = algebra(name), np.random.default_rng(7)
    A = closable(S, dtype_of(S, dtype), 2048, rng)
    got = device.closure(S, A, "floyd-warshall", 2048)
    other = device.closure(S, A, "r-kleene", 512)
    assert_equal(S, got, other)
    assert_equal(S, device.product(S, got, got), got)


def test_a_missing_star_is_found_at_its_pivot() -> None:
    import cupy

    from semiring.kernels.cuda.choose import kernel

    S = sr.plus_times
    for n, pivot in ((10, 3), (100, 70), (200, 199)):
        A = np.zeros((n, n))
        A[pivot, pivot] = 1
        low = device.lowering(S, [cupy.asarray(A)], n)
        assert kernel(low).close(cupy.asarray(A)) == pivot
    stack = np.zeros((4, 20, 20))
    stack[2, 5, 5] = 1
    assert kernel(low).close_stack(cupy.asarray(stack)).tolist() == [-1, -1, 5, -1]


def test_diagonals() -> None:
    import cupy

    from semiring.kernels.cuda.choose import kernel

    S, rng = sr.min_plus, np.random.default_rng(9)
    A, B = draw(S, np.dtype("f4"), (50, 300), rng), draw(S, np.dtype("f4"), (300, 50), rng)
    a, b = cupy.asarray(A), cupy.asarray(B)
    k = kernel(device.lowering(S, [a, b], 3))
    np.testing.assert_array_equal(cupy.asnumpy(k.diagonal(a, b)), np.diagonal(reference(S, A, B)))
    square: Any = cupy.asarray(A[:, :50] + np.float32(1))
    before = square.copy()
    assert k.equal(square, before)
    k.add_one(square)
    assert cupy.asnumpy(cupy.diagonal(square)).max() == 0 and not k.equal(square, before)
    k.set_diagonal(square, cupy.diagonal(before))
    assert k.equal(square, before)
