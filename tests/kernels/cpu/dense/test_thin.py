"""Products with few vectors, in one pass over the matrix: against the oracle, tiles, and the general refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import oracle
import pytest
import strategies
from bridge import CASES, ours, to_library
from engines import slow_but
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring import small as short
from semiring.kernels.cpu.compile import price
from semiring.kernels.cpu.dense import thin
from semiring.kernels.cpu.dense.thin import ThinKernel, cuts, thin_kernel, turned
from semiring.kernels.lowering.general import general
from semiring.machine.threads import ALIGNMENT

inf = np.inf
quick = settings(max_examples=40, suppress_health_check=list(HealthCheck))
NUMBERS = [case for case in CASES if np.dtype(case[1]).kind in "fiu"]
DAILY = ("min_plus", "f4"), ("log", "f8"), ("plus_times", "f4"), ("min_plus", "i4")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Matrices of any size are taken, and even small ones are cut, in both directions."""
    for name, value in {"LEAST": 1, "TASK": 8, "LEAST_DEPTH": 3, "PIECE": 64}.items():
        monkeypatch.setattr(thin, name, value)
    monkeypatch.setattr(short, "LARGEST", 0)  # elements of arrays that take another way
    cuts.cache_clear()
    with price.always():
        yield
    cuts.cache_clear()


@pytest.mark.parametrize(("name", "dtype"), slow_but(NUMBERS, *(NUMBERS.index(c) for c in NUMBERS if c in DAILY)),
                         ids=str)
def test_products_with_few_vectors_are_the_oracles(name: str, dtype: np.dtype, small: None) -> None:
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        m, n = data.draw(st.integers(0, 4)), data.draw(st.integers(0, 4))
        k = data.draw(st.integers(0, 9))
        A, B, C = (data.draw(strategies.matrices(S, dtype, shape)) for shape in ((m, k), (k, n), (m, n)))
        a, b, c = (data.draw(strategies.views(to_library(S, x))) for x in (A, B, C))
        expected = oracle.matmul(S, oracle.from_numpy(S, A), oracle.from_numpy(S, B), n)
        total = oracle.matadd(S, oracle.from_numpy(S, C), expected)
        assume(oracle.fits(S, expected, dtype) and oracle.fits(S, total, dtype))
        oracle.assert_same(S, expected, sr.matmul(a, b, T), f"A = {A!r}, B = {B!r}")
        oracle.assert_same(S, total, sr.matmul(a, b, T, accumulate=c), f"A = {A!r}, B = {B!r}, C = {C!r}")
        if n == 1:
            oracle.assert_same(S, expected, sr.matmul(a, b[:, 0], T)[:, None], f"A = {A!r}, b = {B!r}")

    check()


def kinds(S: sr.Semiring) -> list[np.dtype]:
    """The dtypes of an algebra, or that of its records."""
    return [S.element_dtype] if S.fields else [d for d in S.dtypes if d.kind in "biuf"]


PAIRS = [(name, dtype) for name, S in sr.catalogue.items() if S.traced is not None for dtype in kinds(S)]
FIRST = [i for i, (name, dtype) in enumerate(PAIRS) if dtype.names or (name, dtype) in DAILY]


@pytest.mark.parametrize(("name", "dtype"), slow_but(PAIRS, *FIRST), ids=str)
def test_each_term_of_each_row_counts_once(name: str, dtype: np.dtype, small: None) -> None:
    """Of records, too, whatever the lane of a term and its row in a tile: 1 in one place of each row, times ones."""
    S, n = sr.catalogue[name], 43
    one = S.eye(n, dtype)
    x = np.broadcast_to(one.diagonal()[:, None], (n, 3))
    for shift in range(n):
        A = np.roll(one, shift, axis=1)
        for place in (A, np.asfortranarray(A)):
            assert np.array_equal(sr.matmul(place, x, S), x), shift
            assert np.array_equal(sr.matmul(x.T, place, S), x.T), shift


def layouts(x: np.ndarray) -> list[np.ndarray]:
    """The same matrix in both orders, with gaps, and backwards."""
    wide = np.zeros((x.shape[0], 2 * x.shape[1]), x.dtype)
    wide[:, ::2] = x
    return [x, np.asfortranarray(x), wide[:, ::2], x[::-1].copy()[::-1], x[:, ::-1].copy()[:, ::-1]]


@pytest.mark.parametrize("dtype", ["f4", pytest.param("f8", marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["min_plus", pytest.param("max_min", marks=pytest.mark.slow), "plus_times"])
def test_every_shape_and_layout(name: str, dtype: str, small: None) -> None:
    random, S = np.random.default_rng(3), getattr(sr, name)
    for _ in range(150):
        m, k, n = random.integers(0, 34, 3)
        if random.random() < 0.7:
            m, n = (m, random.integers(0, 9)) if random.random() < 0.5 else (random.integers(0, 9), n)
        A, B = (random.integers(0, 50, shape).astype(dtype) for shape in ((m, k), (k, n)))
        A[random.random(A.shape) < 0.2] = S.zero_in(A.dtype)
        expected = direct(name, A, B)
        a, b = (rows[random.integers(5)] for rows in (layouts(A), layouts(B)))
        assert np.array_equal(sr.matmul(a, b, S), expected), (m, k, n, a.strides, b.strides)


PAIRS = sr.Semiring("pairs in order", add=np.add, mul=lambda a, b: np.where(a <= b, 1.0, 0.0), zero=0.0,
                    product_only=True)
NEAR = sr.Semiring("nearness", add=np.maximum, mul=lambda a, b: 9 - np.abs(a - b), zero=0.0, product_only=True,
                   carrier=lambda a: (a >= 0) & (a <= 9))
BOTH = sr.Semiring("equal pairs", fields={"x": "f4", "y": "i4"}, zero=(0, 0), product_only=True,
                   add=lambda a, b: (a.x + b.x, a.y + b.y),
                   mul=lambda a, b: (np.where(a.x == b.x, 1.0, 0.0), np.where(a.y == b.y, 1, 0)))


@pytest.mark.parametrize(("S", "dtype"), [(PAIRS, "f4"), (PAIRS, "f8"), (NEAR, "f4"), (BOTH, BOTH.element_dtype)],
                         ids=lambda value: getattr(value, "name", None))
def test_zero_times_zero_need_not_be_zero(S: sr.Semiring, dtype: Any, small: None) -> None:
    """Lanes beyond the last term count nothing: of bare products whose zero absorbs nothing."""
    random = np.random.default_rng(6)
    for k in range(1, 40):
        for m, n in ((9, 2), (2, 9), (1, 30)):
            A, B = (np.zeros(shape, dtype) for shape in ((m, k), (k, n)))
            for X in (A, B):
                for part in [X[field] for field in X.dtype.names] if X.dtype.names else [X]:
                    part[...] = random.integers(0, 5, X.shape)
            expected = S.sum(S.mul(A[:, :, None], B[None]), axis=1)
            for a in (A, np.asfortranarray(A)):
                for b in (B, np.asfortranarray(B)):
                    assert np.array_equal(sr.matmul(a, b, S), expected), (m, k, n, a.strides, b.strides)


def direct(name: str, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The product by NumPy."""
    terms = A[:, :, None] * B[None] if name == "plus_times" else A[:, :, None] + B[None]
    if name == "max_min":
        return np.minimum(A[:, :, None], B[None]).max(1, initial=-inf)
    return terms.sum(1) if name == "plus_times" else terms.min(1, initial=inf)


@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "f8"), ("max_min", "i2"), ("plus_times", "f4")])
def test_sums_stay_within_their_room(name: str, dtype: str, small: None, monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[tuple[np.ndarray, int]] = []

    def exact(size: int) -> tuple[np.ndarray, int]:
        memory = np.full(size + 4 * ALIGNMENT, 165, np.uint8)
        rooms.append((memory, size))
        return memory, -(-memory.ctypes.data // ALIGNMENT) * ALIGNMENT

    monkeypatch.setattr(thin, "scratch", exact)
    random = np.random.default_rng(4)
    for m, k, n in (7, 5, 3), (130, 9, 1), (3, 40, 21), (2, 19, 16):
        A, B = (random.integers(0, 50, shape).astype(dtype) for shape in ((m, k), (k, n)))
        for a in layouts(A):
            C = np.empty((m, n), dtype)
            view = turned(C, a, B)
            if view is not None:
                thin_kernel(general(getattr(sr, name), C.dtype), view).product(view, False)
                assert np.array_equal(C, sr.matmul(A, B, getattr(sr, name)))
    assert len(rooms) > 10
    for memory, size in rooms:
        begin = -memory.ctypes.data % ALIGNMENT
        assert (memory[:begin] == 165).all() and (memory[begin + size:] == 165).all(), size


def test_operands_keep_their_order(small: None) -> None:
    """Whichever of them is the matrix: ⊗ that does not commute."""
    random = np.random.default_rng(0)
    S = triangles()
    assert not S.commutative
    for m, k, n in ((1, 9, 30), (30, 9, 1), (3, 30, 2), (1, 40, 1)):
        A, B = (np.zeros(shape, S.element_dtype) for shape in ((m, k), (k, n)))
        for X in (A, B):
            for field in "abc":
                X[field] = random.integers(0, 5, X.shape)
        found = sr.matmul(A, B, S)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(thin, "LEAST", 1 << 60)
            expected = sr.matmul(A, B, S)
        assert (found == expected).all()
        assert (sr.matmul(np.asfortranarray(A), np.asfortranarray(B), S) == expected).all()


def triangles() -> sr.Semiring:
    """Upper triangular matrices of 2 × 2 over max-plus, as records of three numbers."""
    return sr.Semiring(
        "triangles", fields={"a": "f8", "b": "f8", "c": "f8"}, zero=(-inf, -inf, -inf), one=(0.0, -inf, 0.0),
        carrier=lambda x: (x[0] < inf) & (x[1] < inf) & (x[2] < inf),
        add=lambda x, y: tuple(map(np.maximum, x, y)),
        mul=lambda x, y: (x[0] + y[0], np.maximum(x[0] + y[1], x[1] + y[2]), x[2] + y[2]),
    )


@pytest.mark.parametrize("name", ["min_plus", "plus_times", "viterbi", "max_min"])
@pytest.mark.parametrize("place", ["first", "last", "vector", "both"])
def test_what_is_refused_is_refused_as_before(name: str, place: str, small: None) -> None:
    S, random = getattr(sr, name), np.random.default_rng(1)
    for bad in (np.nan, inf, -inf, -1.0, 2.0):
        for shape in ((40, 30, 1), (1, 40, 30), (2, 50, 3)):
            m, k, n = shape
            A, B = random.random((m, k)), random.random((k, n))
            big, little = (A, B) if A.size >= B.size else (B, A)
            if place in ("first", "last", "both"):
                big.flat[0 if place == "first" else big.size - 1] = bad
            if place in ("vector", "both"):
                little.flat[little.size // 2] = bad
            found = told(A, B, S)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(thin, "LEAST", 1 << 60)
                assert found == told(A, B, S), (bad, shape)


def told(A: np.ndarray, B: np.ndarray, S: sr.Semiring) -> Any:
    """The answer, rounded, or the refusal."""
    try:
        return np.round(sr.matmul(A, B, S), 12).tolist()
    except sr.SemiringError as e:
        return type(e), str(e)


def test_results_do_not_depend_on_threads(small: None) -> None:
    low = general(sr.plus_times, np.dtype("f4"))
    random = np.random.default_rng(2)
    for m, k, n in ((300, 200, 2), (2, 300, 200), (1, 5000, 1)):
        A, B = random.random((m, k)).astype("f4"), random.random((k, n)).astype("f4")
        found = []
        for count in (1, 2, 5):
            kernel, C = ThinKernel(ThinKernel.program_of(low), count), np.empty((m, n), "f4")
            given = turned(C, A, B)
            assert given
            kernel.product(given, False)
            found.append(C)
        assert np.array_equal(found[0], found[1])
        assert np.array_equal(found[0], found[2])
        assert np.allclose(found[0], A @ B, rtol=1e-5)


def test_the_plan_says_so_and_tiles_do_the_rest() -> None:
    A, x = np.zeros((200, 200), "f4"), np.zeros(200, "f4")
    with price.always():
        assert sr.plan("matmul", A, x, sr.min_plus).method == "one pass over the matrix"
        assert sr.plan("matmul", A, A, sr.min_plus).method == "tiled product"
        assert sr.plan("matmul", A[:9], x, sr.min_plus).method == "tiled product"  # small: a call is longer
