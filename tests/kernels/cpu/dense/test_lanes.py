"""Products of small matrices by vectors against the engine of tiles, to the bit, and what they refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.cpu.compile.jit import from_python
from semiring.kernels.cpu.compile.program import host_features
from semiring.kernels.cpu.dense import lanes
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.general import general

MIXED = sr.Semiring(
    "mixed", add=np.maximum, mul=lambda a, b: np.where(a < b, np.floor(a), np.sqrt(b)) + np.exp(a), zero=-np.inf,
    product_only=True,
)
PAIRS = sr.Semiring(
    "pairs", fields={"cost": "f8", "hops": "i2"}, zero=(np.inf, 32767),
    add=lambda x, y: np.where(x.cost <= y.cost, x, y), mul=lambda x, y: (x.cost + y.cost, np.maximum(x.hops, y.hops)),
    product_only=True,
)
CASES = [
    (sr.min_plus, "f4"), (sr.max_min, "f8"), (sr.max_min, "i1"), (sr.min_plus, "i8"), (sr.max_times, "u2"),
    (sr.boolean, "b1"), (sr.plus_times, "c8"), (sr.gf2, "u1"), (MIXED, "f4"), (PAIRS, PAIRS.element_dtype),
]
SHAPES = [
    (1, 1, 1), (2, 2, 2), (4, 4, 4), (8, 8, 8), (5, 3, 7), (16, 16, 16), (9, 33, 17), (33, 2, 33), (3, 0, 2),
    (0, 3, 2), (2, 3, 0),
]


def of(S: sr.Semiring, dtype: Any) -> tuple[Lowering, Callable[..., int]]:
    low = general(S, S.resolve_dtype(np.dtype(dtype)))
    function = from_python(lanes.small(low).product, 19)

    def product(C: np.ndarray, A: np.ndarray, B: np.ndarray, more: bool = False, checked: bool = False) -> int:
        numbers = (len(C), *A.shape[1:], B.shape[2], more, checked, 1)
        sides = [part for X in (A, B, C) for part in (X.ctypes.data, *X.strides)]
        return function(*sides, *numbers)

    return low, product


def elements(low: Lowering, shape: tuple[int, ...], seed: int) -> np.ndarray:
    rng, X = np.random.default_rng(seed), np.empty(shape, low.storage)
    for name, part in zip(low.storage.names or [None], low.components, strict=True):
        values: Any = rng.integers(0, 5, shape) if part.kind in "iub" else rng.random(shape)
        if part.kind == "f":
            some = np.array([np.inf, -np.inf, 0.0, -0.0, 1.0])[rng.integers(5, size=shape)]
            values = np.where(rng.random(shape) < 0.2, some, values)
        (X if name is None else X[name])[...] = values.astype(part)
    return X


def layouts(X: np.ndarray) -> list[np.ndarray]:
    """The same matrices in C order, in Fortran order, with backward rows, and with gaps."""
    backward, gaps = X[:, ::-1].copy()[:, ::-1], np.repeat(X, 2, axis=2)[:, :, ::2]
    return [X, X.swapaxes(1, 2).copy().swapaxes(1, 2), backward, gaps]


def bits(X: np.ndarray) -> bytes:
    return b"".join(np.ascontiguousarray(X[name] if name else X).tobytes() for name in X.dtype.names or [None])


@pytest.mark.parametrize("narrow", [False, True])
@pytest.mark.parametrize(("S", "dtype"), CASES, ids=lambda case: getattr(case, "name", str(case)[:6]))
def test_products_have_the_bits_of_the_engine(
    S: sr.Semiring, dtype: Any, narrow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On this processor, and on one with vectors of 128 bits and no masks."""
    if narrow:
        monkeypatch.setattr(lanes, "host_features", lambda: {"neon": False})
        lanes.small.cache_clear()
    low, product = of(S, dtype)
    engine = DenseKernel(low, )
    with np.errstate(all="ignore"):
        for seed, (m, k, n) in enumerate(SHAPES):
            A, B, C = (elements(low, (3, *shape), seed) for shape in ((m, k), (k, n), (m, n)))
            for more in (False, True):
                want = C.copy()
                (engine.multiply_add_stack if more else engine.multiply_stack)(want, A, B)
                for a, b, c in zip(layouts(A), layouts(B), layouts(C), strict=True):
                    got = c if c is not C else c.copy()
                    assert product(got, a, b, more) == -1
                    assert bits(got) == bits(want), (m, k, n, more)
    lanes.small.cache_clear()


@pytest.mark.parametrize(("S", "dtype", "bad"), [
    (sr.min_plus, "f4", np.nan), (sr.viterbi, "f8", 1.5), (sr.viterbi, "f4", -0.5), (sr.max_min, "f8", np.nan),
])
def test_what_is_not_an_element_is_seen_wherever_it_stands(S: sr.Semiring, dtype: str, bad: float) -> None:
    low, product = of(S, dtype)
    A, B, C = (np.zeros((4, *shape), low.storage) for shape in ((5, 19), (19, 3), (5, 3)))
    assert product(C, A, B, True, True) == -1
    for X in (A, B, C):
        for s, i, j in ((0, 0, 0), (2, X.shape[1] - 1, X.shape[2] - 1), (3, 1, 0)):
            X[s, i, j] = bad
            for a, b, c in zip(layouts(A), layouts(B), layouts(C), strict=True):
                assert product(c, a, b, True, True) == s
            assert product(C.copy(), A, B, True, False) == -1
            X[s, i, j] = 0
    assert product(C, A, B, True, True) == -1


@pytest.mark.parametrize("n", [2, 4, 8])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_rows_that_share_a_vector_are_looked_at(n: int, dtype: str) -> None:
    _, product = of(sr.min_plus, dtype)
    A, B, C = (np.ones((3, n, n), dtype) for _ in range(3))
    for X in (A, B, C):
        for i, j in ((0, 0), (1, n - 1), (n - 1, n // 4)):
            X[1, i, j] = np.nan
            before = C.copy()
            assert product(C, A, B, True, True) == 1
            assert (C[1:] == before[1:])[~np.isnan(before[1:])].all()
            X[1, i, j] = 1
    assert product(C, A, B, True, True) == -1


def test_the_host_has_the_features_that_are_asked_for() -> None:
    count, height, masked = lanes.geometry((np.dtype("f4"),))
    assert count in (4, 8, 16) and height == 8
    assert not masked or host_features()["avx512bw"]
