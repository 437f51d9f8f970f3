"""Small and thin products: one pass over the operands gives what a careful call gives, at any shape and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr

NAMES = [
    ("min_plus", "f4"), ("min_plus", "f8"), ("min_plus", "f2"), ("max_plus", "i4"), ("min_plus", "u1"),
    ("max_min", "f8"), ("viterbi", "f4"), ("plus_times", "f4"), ("counting", "i8"), ("log", "f4"), ("log", "f8"),
    ("boolean", "?"), ("gcd_lcm", "i4"), ("shortest_count", None), ("expectation", None),
]


def operands(
    name: str, dtype: str | None, shapes: Any, seed: int, zeros: float
) -> tuple[sr.Semiring, list[np.ndarray]]:
    """Small whole numbers, of which no product of the tests is too large; some are zero."""
    S, rng = sr.catalogue[name], np.random.default_rng(seed)
    kind = np.dtype(S.dtypes[-1] if dtype is None else dtype)
    found = []
    for shape in shapes:
        X = np.empty(shape, kind)
        if kind.names:
            for field in kind.names:
                X[field] = rng.integers(1, 4, shape)
        elif name == "viterbi":
            X[...] = rng.integers(0, 9, shape) / 8
        else:
            X[...] = rng.integers(0, 4, shape)
        X[rng.random(shape) < zeros] = S.zero_in(kind)
        found.append(X)
    return S, found


def on_device(X: np.ndarray, layout: str) -> Any:
    import cupy

    if layout == "columns" and X.ndim > 1:
        return cupy.asarray(np.ascontiguousarray(X.swapaxes(-1, -2))).swapaxes(-1, -2)
    if layout == "gaps":
        wide = cupy.empty((*X.shape[:-1], X.shape[-1] + 3), X.dtype)
        wide[..., 3:] = cupy.asarray(X)
        return wide[..., 3:]
    return cupy.asarray(X)


def check(name: str, dtype: str | None, shapes: Any, layouts: tuple[str, str], seed: int, zeros: float) -> None:
    S, (A, B) = operands(name, dtype, shapes, seed, zeros)
    want = sr.matmul(A, B, S, device="cpu")
    for _ in range(2):
        found = sr.matmul(on_device(A, layouts[0]), on_device(B, layouts[1]), S).get()
        if name == "log":
            eps = np.finfo(want.dtype).eps
            np.testing.assert_allclose(found, want, rtol=4 * eps, atol=eps * (A.shape[-1] + 40))
        else:
            np.testing.assert_array_equal(found, want)


LAYOUTS = st.tuples(*[st.sampled_from(["rows", "columns", "gaps"])] * 2)
ZEROS = st.sampled_from([0, 0.3, 1])


@settings(max_examples=80, deadline=None)
@given(
    kind=st.sampled_from(NAMES), batch=st.sampled_from([(), (1,), (7,), (3, 2), (300,)]), m=st.integers(1, 33),
    k=st.integers(1, 33), n=st.integers(1, 33), layouts=LAYOUTS, zeros=ZEROS, seed=st.integers(0, 99),
)
def test_stacks(
    kind: Any, batch: tuple[int, ...], m: int, k: int, n: int, layouts: Any, zeros: float, seed: int
) -> None:
    check(*kind, ((*batch, m, k), (*batch, k, n)), layouts, seed, zeros)


@settings(max_examples=80, deadline=None)
@given(
    kind=st.sampled_from(NAMES), m=st.sampled_from([1, 5, 64, 300]), n=st.sampled_from([1, 7, 16, 200]),
    k=st.sampled_from([1, 31, 64, 65, 1000, 5000]), layouts=LAYOUTS, zeros=ZEROS, seed=st.integers(0, 99),
    vectors=st.booleans(),
)
def test_thin(kind: Any, m: int, n: int, k: int, layouts: Any, zeros: float, seed: int, vectors: bool) -> None:
    if kind[0] in ("counting", "gcd_lcm") or kind[1] == "u1":
        k = min(k, 65)
    a, b = ((k,) if vectors and m == 1 else (m, k)), ((k,) if vectors and n == 1 else (k, n))
    check(*kind, (a, b), layouts, seed, zeros)


@pytest.mark.parametrize("shapes", [
    ((60, 40_000), (40_000, 50)), ((130, 20_000), (20_000, 100)), ((9, 70_000), (70_000, 90)),
])
@pytest.mark.parametrize("kind", [("min_plus", "f4"), ("max_min", "f8"), ("counting", "i8"), ("shortest_count", None)])
def test_long_k(kind: Any, shapes: Any) -> None:
    """Parts of k are joined in their order: each call has the same bits."""
    for layouts in (("rows", "rows"), ("columns", "columns")):
        check(*kind, shapes, layouts, 0, 0.1)


def test_wide_ranges_of_logarithms() -> None:
    """Powers underflow, rows never meet: the stated bound holds wherever the sums are finite."""
    import cupy

    rng = np.random.default_rng(0)
    A, B = (rng.normal(size=(500, 16, 16), scale=1000).astype("f4") for _ in range(2))
    for X in (A, B):
        X[rng.random(X.shape) < 0.3] = -np.inf
    terms = A.astype("f8")[:, :, :, None] + B.astype("f8")[:, None]
    top = terms.max(axis=2)
    there = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        want = there + np.log(np.exp(terms - there[:, :, None]).sum(axis=2))
    found = sr.matmul(cupy.asarray(A), cupy.asarray(B), sr.log).get()
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.isfinite(found), finite)
    far = np.abs((A.max(axis=2)[:, :, None] + B.max(axis=1)[:, None])[finite] - want[finite])
    bound = np.finfo("f4").eps * (16 + 16 + 4 * far + np.abs(want[finite]))
    assert (np.abs(found[finite] - want[finite]) <= bound).all()
