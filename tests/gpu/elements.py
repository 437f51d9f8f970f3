"""For tests of the CUDA engine: random matrices over any algebra, and NumPy's products and closures of them."""

from __future__ import annotations

import numpy as np

import semiring as sr

BOTTLENECK = sr.Semiring(
    "users-max-times", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: (a >= 0) & (a <= 1)
)


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
    elif S.name == "min-times":  # of numbers from 1 on
        out[...] = np.abs(numbers(dtype)) + dtype.type(1)
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
