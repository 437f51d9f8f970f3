"""Convolutions by vectors: how rows are cut, that no term is lost, with and without masks, and the same in threads."""

from __future__ import annotations

import numpy as np
import pytest
from bridge import same_bits
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.dense import convolution, lanes
from semiring.kernels.cpu.dense.convolution import Strips, Vectors, Windows
from semiring.kernels.lowering.general import general

inf = np.inf
LOW = general(sr.min_plus, np.dtype("f4"))


def defined(a: np.ndarray, b: np.ndarray, first: int, count: int) -> np.ndarray:
    c = np.full(len(a) + len(b) - 1, inf, a.dtype)
    for j in range(len(b)):
        c[j : j + len(a)] = np.minimum(c[j : j + len(a)], a + b[j])
    return c[first : first + count]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 16), st.integers(1, 17)), min_size=1,
                max_size=2), st.integers(0, 3))
def test_terms_are_counted(axes: list[tuple[int, int, int, int]], stack: int) -> None:
    left, right, first, count = zip(*axes, strict=True)
    windows = Windows((stack,), left, right, first, count)
    pairs = 1
    for m, n, f, c in axes:
        pairs *= sum(f <= i + j < f + c for i in range(m) for j in range(n))
    assert windows.terms == windows.exchanged.terms == stack * pairs


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.sampled_from(["f4", "f8"]))
def test_few_terms_are_products_with_zero(m: int, n: int, dtype: str) -> None:
    low = general(sr.min_plus, np.dtype(dtype))
    strips = Strips.of(low, m, n, m + n - 1)
    lanes_, height, _ = lanes.geometry(low.components)
    assert strips.width % lanes_ == 0
    assert (strips.rows - 1) * strips.width < m + n - 1 <= strips.rows * strips.width
    assert 1 <= strips.group <= strips.rows
    depth = min(n + strips.width, m + strips.group * strips.width)
    least = min(n, m) + max(height, 1) * lanes_
    assert depth <= 1.3 * least + lanes_


@pytest.mark.parametrize("narrow", [False, True], ids=["this processor", "128 bits and no masks"])
def test_every_length_and_window(narrow: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if narrow:
        monkeypatch.setattr(lanes, "host_features", lambda: {"neon": False})
        lanes.small.cache_clear()
    random = np.random.default_rng(3)
    for m, n in [(1, 1), (1, 90), (90, 1), (17, 16), (128, 129), (300, 31), (31, 300), (700, 650)]:
        a, b = (random.integers(0, 99, k).astype("f4") for k in (m, n))
        for first, count in [(0, m + n - 1), (min(m, n) - 1, abs(m - n) + 1), (m + n - 2, 1), ((m + n) // 3, 1)]:
            found = Vectors(LOW, Windows((), (m,), (n,), (first,), (count,)), a, b).run()
            assert same_bits(found, defined(a, b, first, count)), (m, n, first, count)
    lanes.small.cache_clear()


def test_the_answer_does_not_depend_on_how_work_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    a, b = (random.integers(0, 999, k).astype("f4") for k in (3000, 2000))
    windows = Windows((), (3000,), (2000,), (0,), (4999,))
    expected = defined(a, b, 0, 4999)
    for threads in ("1", "3"):
        monkeypatch.setenv("SEMIRING_NUM_THREADS", threads)
        for depth, rows in ((256, 8), (1 << 20, 64)):
            monkeypatch.setattr(convolution, "DEPTH", depth)
            monkeypatch.setattr(convolution, "ROWS", rows)
            assert same_bits(Vectors(LOW, windows, a, b).run(), expected)
