"""Sums and products are methods of every algebra, found without loading them."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import semiring as sr


def test_they_are_methods_of_an_algebra_of_ones_own() -> None:
    late = sr.Semiring("late", add=np.maximum, mul=np.add, zero=-np.inf, one=0.0)
    x = np.array([[1.0, 4.0], [3.0, 2.0]])
    assert (late.sum(x), late.prod(x)) == (4.0, 10.0)
    assert late.cumsum(x, 1).tolist() == [[1.0, 4.0], [3.0, 3.0]] and late.cumprod(x).tolist() == [1.0, 5.0, 8.0, 10.0]
    assert late.opposite.prod(x, axis=0).tolist() == [4.0, 6.0]


def test_an_algebra_does_not_load_them() -> None:
    code = "import sys, semiring as sr; sr.min_plus; assert 'semiring.shapes.sums.sums' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
