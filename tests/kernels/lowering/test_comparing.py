"""Floats as integers of the same order, halves in single precision: nothing is lost, and orders agree."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Traced
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.comparing import only_compares, ordered_integers, rounded_to, single_for_half
from semiring.kernels.lowering.general import general

HALF = np.dtype("f2")
FORMS = {dtype: ordered_integers(general(sr.max_min, np.dtype(dtype))) for dtype in ("f4", "f8")}
quick = settings(max_examples=150)


def evaluated(low: Lowering, operation: Traced, *arrays: np.ndarray) -> np.ndarray:
    """An operation on arrays in storage, by NumPy."""
    run = numpy_function(operation.outputs, operation.arity, low.components, low.components)
    return np.broadcast_to(run(*((a,) for a in arrays))[0], arrays[0].shape)


def floats(dtype: str) -> Any:
    """Special values and random bits, so that NaN of both signs and subnormal numbers occur too."""
    whole = np.dtype(f"u{dtype[1]}")
    special = st.sampled_from([0.0, -0.0, np.inf, -np.inf, 1.0, -1.0, np.finfo(dtype).max, np.finfo(dtype).tiny])
    bits = st.integers(0, np.iinfo(whole).max).map(lambda b: np.array(b, whole).view(dtype).item())
    return st.lists(special | bits, min_size=2, max_size=9).map(lambda x: np.array(x, dtype))


@pytest.mark.parametrize("dtype", FORMS)
class TestOrderedIntegers:
    def test_there_and_back(self, dtype: str) -> None:
        @quick
        @given(floats(dtype))
        def check(a: np.ndarray) -> None:
            kept, low = a.copy(), FORMS[dtype]
            code = low.encode(a, True)
            assert code.dtype == low.storage == np.dtype(f"i{dtype[1]}")
            assert a.tobytes() == kept.tobytes() and not np.shares_memory(code, a)
            assert low.decode(code).tobytes() == kept.tobytes()
            in_place = low.encode(a, False)
            assert np.shares_memory(in_place, a) and np.shares_memory(low.decode(in_place), a)
            assert a.tobytes() == kept.tobytes()

        check()

    def test_the_order_is_that_of_the_floats(self, dtype: str) -> None:
        @quick
        @given(floats(dtype).filter(lambda a: not np.isnan(a).any()))
        def check(a: np.ndarray) -> None:
            code = FORMS[dtype].encode(a, True)
            x, y = np.meshgrid(a, a)
            p, q = np.meshgrid(code, code)
            assert ((p < q) == ((x < y) | ((x == y) & np.signbit(x) & ~np.signbit(y)))).all()  # −0 before 0

        check()

    @pytest.mark.parametrize("name", ["max_min", "min_max"])
    def test_operations(self, dtype: str, name: str) -> None:
        S, low = sr.catalogue[name], ordered_integers(general(sr.catalogue[name], np.dtype(dtype)))
        a, b = (x.ravel() for x in np.meshgrid(*[np.array([np.inf, -np.inf, 0, 1, -1, 2.5, -1e30, 1e-40], dtype)] * 2))
        for operation, expected in ((low.add, S.add(a, b)), (low.mul, S.mul(a, b)), (low.scale, S.mul(a, b))):
            found = evaluated(low, operation, low.encode(a, True), low.encode(b, True))
            assert (low.decode(found.copy()) == expected).all()
        star = evaluated(low, low.star, low.encode(a, True))
        assert (low.decode(star.copy()) == S.star(a)).all()
        for code, meant in ((low.zero, S.zero), (low.one, S.one)):
            assert low.decode(np.array(code)) == meant and np.array(code).dtype == low.storage


def test_constants_between_are_recoded() -> None:
    capped = sr.Semiring("capped", add=np.maximum, mul=lambda a, b: np.minimum(np.minimum(a, b), -1.5), zero=-np.inf,
                         one=-1.5, star=lambda a: -1.5, dtypes="f", carrier=lambda a: a <= -1.5, samples=[-1.5, -2, -7])
    low = ordered_integers(general(capped, np.dtype("f8")))
    a = np.array([-2.0, -1.5, -7])
    found = evaluated(low, low.mul, low.encode(a, True), low.encode(np.full(3, -1.5), True))
    assert low.decode(found.copy()).tolist() == [-2, -1.5, -7]
    assert low.decode(evaluated(low, low.star, low.encode(a, True)).copy()).tolist() == [-1.5] * 3


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (7,), (2**19,), (600, 1000), (3, 2**18)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_negative_numbers_anywhere_are_in_order_too(dtype: str, shape: tuple[int, ...]) -> None:
    """Parts without any are left as they are: the first row, a later one, the last element, or none has some."""
    low, rng = ordered_integers(general(sr.max_min, np.dtype(dtype))), np.random.default_rng(1)
    for place in ("none", "first", "later", "last", "all"):
        a = rng.random(shape).astype(dtype)
        if a.size:
            flat = a.reshape(-1)
            some = {"none": [], "first": [0], "later": [a.size // 2], "last": [-1], "all": slice(None)}[place]
            flat[some] = -flat[some]
        stored = low.encode(a, True)
        bits = a.view(low.storage).copy()
        assert (stored == np.where(bits < 0, bits ^ np.iinfo(low.storage).max, bits)).all()
        assert low.decode(stored.copy()).tobytes() == a.tobytes()


def test_what_only_compares() -> None:
    names = [n for n in sr.catalogue if sr.catalogue[n].traced and np.dtype("f8") in sr.catalogue[n].dtypes]
    assert {n for n in names if only_compares(general(sr.catalogue[n], np.dtype("f8")))} == {"max_min", "min_max"}
    assert not only_compares(general(sr.widest_shortest, sr.widest_shortest.default_dtype))  # several components


def test_where_a_star_is_missing_more_than_comparing_is_done() -> None:
    partial = sr.Semiring("partial", add=np.maximum, mul=np.minimum, zero=0, one=1, dtypes="f",
                          star=lambda a: np.where(a == 0.5, np.nan, 1), carrier=lambda a: (a >= 0) & (a <= 1),
                          samples=[0, 1, 0.25])
    assert not only_compares(general(partial, np.dtype("f8")))


class TestHalves:
    low = single_for_half(ordered_integers(general(sr.max_min, np.dtype("f4"))), HALF)

    def test_every_half_comes_back(self) -> None:
        every = np.arange(2**16, dtype="u2").view(HALF)
        with np.errstate(invalid="ignore"):
            stored = self.low.encode(every, False)
            found = self.low.decode(stored.copy())
        assert stored.dtype == np.dtype("i4") and found.dtype == HALF
        assert np.array_equal(found, every, equal_nan=True)
        assert (np.signbit(found) == np.signbit(every)).all()
        assert (every.view("u2") == np.arange(2**16)).all()  # the data were not changed

    def test_what_is_too_large_for_a_half_is_infinite_without_a_warning(self) -> None:
        plain = single_for_half(general(sr.max_plus, np.dtype("f4")), HALF)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert plain.decode(np.array([65504, 65519, 65520, -1e9, 1e-9], "f4")).tolist() == [
                65504, 65504, np.inf, -np.inf, 0
            ]

    def test_it_says_so(self) -> None:
        assert self.low.name == "ordered integers, single precision" and self.low.dtype == HALF
        assert self.low.reason.startswith("the CPU has no half-precision arithmetic; ⊕ and ⊗ only compare")

    def test_constants_are_those_of_halves(self) -> None:
        """0.1 in the data is the half next to it, which is 1; the single-precision number next to 0.1 is not."""
        tenth = sr.Semiring("tenth", add=np.maximum, mul=np.minimum, zero=0, one=0.1, star=lambda a: 0.1, dtypes="f",
                            carrier=lambda a: (a >= 0) & (a <= 0.1), samples=[0, 0.1, 0.05])
        single = general(tenth, np.dtype("f4"))
        low, half = rounded_to(single, HALF), np.float32(np.float16(0.1))
        assert single.one == (np.float32(0.1),) and low.one == (half,) and half != np.float32(0.1)
        assert isinstance(low.one[0], np.float32)
        assert evaluated(low, low.star, np.zeros(1, "f4")).item() == half
