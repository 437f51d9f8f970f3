"""Convolutions by single elements and by blocks: both as defined, and neither changes what it only reads."""

from __future__ import annotations

import numpy as np
import pytest
from bridge import read_only, same_bits

import semiring as sr
from semiring.kernels.build import kernel
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy import convolution
from semiring.kernels.numpy.convolution import accumulating, by_blocks, by_elements, by_outer_product

inf = np.inf
LOW = general(sr.min_plus, np.dtype("f8")).interpreted


def defined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    c = np.full(len(a) + len(b) - 1, inf)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            c[i + j] = min(c[i + j], x + y)
    return c


@pytest.mark.parametrize("depth", [7, 4096])
@pytest.mark.parametrize(("m", "n"), [(1, 1), (5, 40), (40, 5), (130, 70), (70, 130)])
def test_blocks_and_elements_are_as_defined(m: int, n: int, depth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(convolution, "DEPTH", depth)
    random = np.random.default_rng(m)
    a, b = (read_only(random.integers(0, 99, k).astype(float)) for k in (m, n))
    expected = defined(a, b)
    for first, count in [(0, m + n - 1), (min(m, n) - 1, abs(m - n) + 1), (m + n - 2, 1)]:
        C = np.full(count, inf)
        by_blocks(kernel(LOW), LOW, C, a, b, first)
        assert same_bits(C, expected[first : first + count])
        C = np.full(count, inf)
        by_elements(accumulating(LOW), C, a, b, (first,))
        assert same_bits(C, expected[first : first + count])
    assert same_bits(by_outer_product(LOW, a, b), expected)


def test_what_c_held_counts() -> None:
    a, b = np.array([0.0, 3.0]), np.array([1.0])
    for C in (np.array([0.5, 9.0]), np.array([9.0, 0.5])):
        expected = np.minimum(C, [1.0, 4.0])
        D = C.copy()
        by_blocks(kernel(LOW), LOW, C, a, b, 0)
        by_elements(accumulating(LOW), D, a, b, (0,))
        assert same_bits(C, expected)
        assert same_bits(D, expected)


def test_no_term_beyond_the_ends_is_computed() -> None:
    """As many products as the definition has, in two dimensions and any window."""
    counted = 0

    def accumulate(C: np.ndarray, a: np.ndarray, b: np.ndarray) -> None:
        nonlocal counted
        counted += np.broadcast(a, b).size
        assert C.shape == np.broadcast_shapes(a.shape, b.shape)

    A, B = np.zeros((4, 5)), np.zeros((3, 2))
    by_elements(accumulate, np.zeros((6, 6)), A, B, (0, 0))
    assert counted == A.size * B.size
    counted = 0
    by_elements(accumulate, np.zeros((2, 4)), A, B, (2, 1))
    assert counted == 2 * 4 * B.size
