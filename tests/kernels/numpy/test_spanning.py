"""Spanning trees by NumPy against rounds over all vertices, and which lowerings they take."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.numpy.spanning import ArraySpanning, is_ordered, recoded


def form(S: sr.Semiring, dtype: str) -> Lowering:
    return choose(S, np.dtype(dtype), Facts(), 9, in_place=False, packed=False)


@pytest.mark.parametrize(("S", "better", "worse"), [
    (sr.min_max, np.minimum, np.maximum), (sr.max_min, np.maximum, np.minimum)])
@pytest.mark.parametrize("n", [1, 2, 25])
def test_closures_are_those_of_warshalls_rounds(S: sr.Semiring, better: np.ufunc, worse: np.ufunc, n: int) -> None:
    A = np.random.default_rng(n).integers(-9, 9, (n, n))
    A = np.triu(A) + np.triu(A, 1).T
    expected = A.copy()
    for k in range(n):
        better(expected, worse(expected[:, k, None], expected[k]), out=expected)
    engine, D = ArraySpanning(form(S, "i8")), A.copy()
    engine.fill(D, *engine.tree(A), False)
    assert np.array_equal(D, expected)


def test_words_of_floats() -> None:
    """Integers of the same order, and back."""
    low = form(sr.min_max, "f4")
    x = np.array([-np.inf, -1.5, -0.0, 0.0, 2.0, np.inf], "f4")
    words = recoded(x.view(low.storage), low.flipped)
    assert (np.diff(words.astype("i8")) > 0).all() and np.array_equal(words, low.encode(x, True))
    assert np.array_equal(recoded(words, low.flipped), x.view(low.storage))
    assert recoded(words, 0) is words


def test_which_lowerings_it_takes() -> None:
    assert is_ordered(form(sr.min_max, "u2")) and is_ordered(form(sr.max_min, "f2"))
    assert form(sr.max_min, "f2").flipped == 0, "it has other storage than the data"
    assert not is_ordered(form(sr.min_plus, "f8"))
    assert not is_ordered(form(sr.shortest_hops, sr.shortest_hops.dtypes[0]))
