"""Closures of which some may not exist: as one by one, and the others are as if they were alone."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from bridge import same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from methods import METHODS

import semiring as sr

inf = np.inf
quick = settings(max_examples=40, suppress_health_check=list(HealthCheck))
STACKS: dict[str, tuple[sr.Semiring, str, list[Any]]] = {
    "min-plus": (sr.min_plus, "f8", [inf, inf, -1.0, 0.0, 1.0, 2.0]),
    "integers": (sr.min_plus, "i4", [2**31 - 1, -1, 0, 1, 2]),
    "halves": (sr.min_plus, "f2", [inf, inf, -1.0, 0.0, 1.0]),
    "max-times": (sr.max_times, "f8", [0.0, 0.5, 1.0, 2.0]),
    "modulo 2": (sr.gf2, "u1", [0, 0, 1]),
    "fractions": (sr.plus_times, "O", [Fraction(0), Fraction(0), Fraction(1), Fraction(1, 2)]),
    "no cycle improves": (sr.max_min, "f8", [-inf, 1.0, 2.0]),
}


def alone(A: np.ndarray, S: sr.Semiring, **options: Any) -> np.ndarray | None:
    try:
        return sr.closure(A, S, **options)
    except sr.NoClosureError:
        return None


@pytest.mark.parametrize("name", STACKS)
def test_each_matrix_is_closed_as_if_it_were_alone(name: str) -> None:
    S, dtype, elements = STACKS[name]
    methods = [m for m in METHODS if m != "squaring" or S.has_unit_stars]

    @quick
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        leading = data.draw(st.sampled_from([(1,), (3,), (2, 2), (0,)]))
        n = data.draw(st.integers(0, 4))
        shape = (*leading, n, n)
        size = int(np.prod(shape))
        A = np.empty(size, dtype)
        A[...] = data.draw(st.lists(st.sampled_from(elements), min_size=size, max_size=size))
        A = A.reshape(shape)
        options: dict[str, Any] = {
            "method": data.draw(st.sampled_from(methods)), "reflexive": data.draw(st.booleans()),
            "tile": data.draw(st.sampled_from([None, 1, 2])),
        }
        before = A.copy()
        found = sr.closure(A, S, on_divergence="mask", **options)
        assert same_bits(A, before) and found.exists.shape == leading and found.values.dtype == A.dtype
        again = sr.closure(A.copy(), S, on_divergence="mask", overwrite=True, **options)
        assert np.array_equal(again.exists, found.exists) and same_bits(again.values, found.values)
        for place in np.ndindex(leading):
            expected = alone(A[place], S, **options)
            assert found.exists[place] == (expected is not None)
            zeros = np.full((n, n), S.zero_in(A.dtype), A.dtype)
            assert same_bits(found.values[place], zeros if expected is None else expected)

    check()


@pytest.mark.parametrize("n", [5, 140])
def test_rounding_in_one_matrix_and_a_cycle_in_another(n: int) -> None:
    """The first has to be computed anew, in which rounding errors do not grow; the second stays without a closure."""
    random = np.random.default_rng(n)
    height = random.normal(size=n)
    A = np.stack([height[:, None] - height] * 3)
    A[1, 0, 1] -= 1
    for overwrite in (False, True):
        found = sr.closure(A.copy(), sr.min_plus, on_divergence="mask", overwrite=overwrite)
        assert found.exists.tolist() == [True, False, True]
        assert np.isinf(found.values[1]).all()
        assert (found.values[[0, 2]].diagonal(0, 1, 2) == 0).all()
        assert np.allclose(found.values[[0, 2]], A[[0, 2]], rtol=0, atol=1e-12)


MAKE: dict[str, Callable[[np.ndarray], Any]] = {
    "array": np.asarray, "sparse": lambda A: sp.csr_array(np.where(np.isinf(A), 0, A)),
    "matrix": lambda A: sr.Matrix(A, sr.min_plus, ["a", "b"]), "prepared": lambda A: sr.prepare(A, sr.min_plus),
}


@pytest.mark.parametrize("what", MAKE)
def test_one_matrix_of_any_kind(what: str) -> None:
    good, bad = np.array([[inf, 3.0], [-2.0, inf]]), np.array([[inf, 3.0], [-4.0, inf]])
    found = sr.closure(MAKE[what](good), sr.min_plus, on_divergence="mask")
    expected = sr.closure(MAKE[what](good), sr.min_plus)
    assert found.exists is np.True_ and type(found.values) is type(expected)
    assert same_bits(np.asarray(found.values), np.asarray(expected))
    values, exists = sr.closure(MAKE[what](bad), sr.min_plus, on_divergence="mask")
    assert not exists and exists.shape == () and type(values) is type(expected)
    assert np.isinf(np.asarray(values)).all()
    if what == "matrix":
        assert values.names == ["a", "b"]


def test_bits_always_have_a_closure() -> None:
    found = sr.closure(sr.pack([(0, 1), (1, 0)]), sr.boolean, on_divergence="mask")
    assert found.exists and found.values.count() == 4


def test_walks_of_few_edges_always_have_a_best() -> None:
    A = np.array([[[-1.0]], [[2.0]]])
    found = sr.closure(A, sr.min_plus, on_divergence="mask", max_edges=3)
    assert found.exists.tolist() == [True, True] and found.values.ravel().tolist() == [-3, 0]


def test_the_plan_is_that_of_the_closure() -> None:
    A = np.zeros((4, 3, 3))
    assert sr.plan("closure", A, sr.min_plus, on_divergence="mask").method == sr.plan("closure", A, sr.min_plus).method
    assert sr.plan("closure", A, sr.min_plus, on_divergence="mask").run().exists.all()
    with pytest.raises(sr.SemiringError, match="on_divergence must be 'raise' or 'mask', and is 'ignore'"):
        sr.closure(A, sr.min_plus, on_divergence="ignore")
