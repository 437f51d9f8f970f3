"""Folds in pairs, in their order, and cut into pieces."""

from __future__ import annotations

from itertools import accumulate, combinations, pairwise
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.kernels.numpy import folds


def joined(x: Any, y: Any) -> Any:
    """The texts of both, one after the other: the order shows."""
    return np.asarray(x + y)


def texts(shape: tuple[int, ...]) -> np.ndarray:
    made = np.empty(shape, object)
    made[...] = np.array([f"{i}," for i in range(prod(shape))], object).reshape(shape)
    return made


@given(st.integers(1, 40))
def test_pairs_keep_their_order(n: int) -> None:
    x = texts((n,))
    assert folds.folded(joined, x, 0).tolist() == ["".join(x)]
    assert folds.scanned(joined, x).tolist() == list(accumulate(x))


def test_roundings_grow_with_the_logarithm() -> None:
    depth = lambda a, b: np.maximum(a, b) + 1  # noqa: E731 - how many operations a term has passed
    for n in (1, 2, 3, 100, 1023, 1025):
        zeros = np.zeros(n, int)
        assert folds.folded(depth, zeros, 0) <= (n - 1).bit_length()
        assert folds.scanned(depth, zeros).max() <= 2 * n.bit_length()


@given(st.lists(st.integers(1, 9), max_size=12))
def test_runs(lengths: list[int]) -> None:
    values = texts((sum(lengths),))
    offsets = np.cumsum([0, *lengths])
    found = folds.folded_runs(joined, values, offsets).tolist()
    assert found == ["".join(values[a:b]) for a, b in pairwise(offsets)]


@settings(max_examples=60)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.data())
def test_pieces(shape: list[int], data: st.DataObject) -> None:
    x = texts(tuple(shape))
    x = np.asfortranarray(x) if data.draw(st.booleans()) else x
    axes = sorted(data.draw(st.sets(st.integers(0, x.ndim - 1))))

    def piece(part: np.ndarray, axes: list[int]) -> np.ndarray:
        for axis in reversed(axes):
            part = folds.folded(joined, part, axis)
        return part

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folds, "LEAST", data.draw(st.sampled_from([2, 4])))
        found = folds.in_pieces(piece, x, axes, False, 8)
    wanted = x
    for axis in reversed(axes):
        wanted = folds.folded(joined, wanted, axis)
    assert found.tolist() == wanted.tolist()


@pytest.mark.parametrize("ufunc", [np.add, np.multiply])
def test_blocks_are_the_same_sums_and_products(ufunc: np.ufunc) -> None:
    rng = np.random.default_rng(7)
    for shape in [(1,), (128,), (129,), (5000,), (300, 4), (4, 300), (2, 300, 3), (300, 2, 300)]:
        x = 1 + (rng.random(shape) + 1j * rng.random(shape)) / 1000
        for array in (x, x.T, x[::-1], x.real):
            for axes in [axes for k in (1, 2, 3) for axes in combinations(range(x.ndim), k)]:
                found = folds.in_blocks(ufunc, array, list(axes))
                wanted = ufunc.reduce(array, axis=axes, keepdims=True)
                assert found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-10)
