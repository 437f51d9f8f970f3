"""Plans of sums and products along axes, and of their prefixes: shown, and run."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.machine import memory
from semiring.shapes.sums import sums


def test_plans_have_the_answers_of_the_methods() -> None:
    x = np.random.default_rng(1).integers(0, 9, (30, 40)).astype("f8")
    for verb, shape in (("sum", (40,)), ("prod", (40,)), ("cumsum", (30, 40)), ("cumprod", (30, 40))):
        p = sr.plan(verb, x, sr.min_plus, 0)
        assert (p.operation, p.shape, p.work, p.memory) == (verb, shape, 1200, 8 * np.prod(shape))
        assert np.array_equal(p.run(), getattr(sr.min_plus, verb)(x, 0))
        first = "40" if len(shape) == 1 else "30 × 40"
        assert str(p).startswith(f"operation  {verb} over min-plus, {first}, float64\nmethod     ")
        assert sr.plan(verb, x, "min-plus", axis=None).shape == (() if len(shape) == 1 else (1200,))
    assert sr.plan("sum", x, sr.min_plus, axis=(0, 1), keepdims=True).shape == (1, 1)
    assert str(sr.plan("sum", x, sr.min_plus)).startswith("operation  sum over min-plus, one element, float64")
    out = np.empty(30)
    p = sr.plan("sum", x, sr.min_plus, axis=1, out=out, initial=0.5)
    assert p.memory == 0 and p.run() is out and out.max() <= 0.5


def test_the_algebra_of_a_matrix_and_stored_entries() -> None:
    M = sr.adjacency([("a", "b", 3), ("b", "c", 4)], sr.min_plus)
    assert sr.plan("sum", M).run() == 3
    A = sp.csr_array(np.eye(5))
    p = sr.plan("sum", A, sr.max_times, axis=1)
    assert p.nnz == 5 and p.method == "runs of stored entries" and p.run().tolist() == [1.0] * 5


def test_plans_refuse_what_the_methods_refuse() -> None:
    x = np.zeros((2, 3))
    with pytest.raises(sr.SemiringError, match="axis 2 is out of bounds: x has 2 axes"):
        sr.plan("sum", x, sr.min_plus, 2)
    with pytest.raises(sr.SemiringError, match="sum of ndarray needs an algebra"):
        sr.plan("sum", x)
    with pytest.raises(sr.SemiringError, match="prefixes of a sparse matrix are dense"):
        sr.plan("cumsum", sp.csr_array((2, 2)), sr.max_times)
    with pytest.raises(sr.SemiringError, match="cumsum has no option 'keepdims'; it has out"):
        sr.plan("cumsum", x, sr.min_plus, keepdims=True)


def test_prefixes_ask_for_memory_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1 << 10)
    monkeypatch.setattr(sums, "UNCHECKED_BYTES", 1 << 12)
    x = np.zeros((30, 40))
    with pytest.raises(sr.SemiringError, match=r"all prefixes needs .* use a narrower dtype"):
        sr.min_plus.cumsum(x, 0)
    assert sr.min_plus.cumsum(x, 0, out=np.empty((30, 40))).shape == (30, 40)


def test_methods_say_how() -> None:
    def method(S: sr.Semiring, x: np.ndarray, axis: int | None = None, verb: str = "sum") -> str:
        return sr.plan(verb, x, S, axis).method

    x = np.ones((10, 10))
    assert method(sr.min_plus, x) == "numpy.minimum" and method(sr.counting, x.astype("i8")) == "numpy.add, in 64 bits"
    assert method(sr.log, x) == "powers relative to the maximum, by NumPy"
    assert method(sr.plus_times, x, verb="prod") == "neighbours in pairs"
