"""Arrays part by part: every element once, in whatever order axes lie in memory; conversions keep that order."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.kernels.lowering import parts
from semiring.kernels.lowering.base import Lowering
from semiring.kernels.lowering.comparing import ordered_integers, single_for_half
from semiring.kernels.lowering.general import general
from semiring.kernels.lowering.sums import tropical_integers

quick = settings(max_examples=200)
SHAPES = st.lists(st.integers(0, 7), max_size=4)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Any shape, any order of axes in memory, steps and turned axes."""
    shape = draw(SHAPES)
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in shape]
    order = draw(st.permutations(range(len(shape))))
    whole = np.arange(prod(2 * n for n in shape)).reshape([2 * shape[axis] for axis in order])
    back = np.argsort(order) if shape else ()
    return whole.transpose(back)[tuple(slice(None, n * abs(s), s) if s > 0 else slice(n - 1, None, s) if n else
                                       slice(0) for n, s in zip(shape, steps, strict=True))]


@quick
@given(SHAPES, st.integers(1, 40), st.booleans())
def test_chunks_are_the_array_and_none_is_large(shape: list[int], size: int, fortran: bool) -> None:
    array = np.zeros(shape, order="F" if fortran else "C")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "CHUNK", size)
        found = parts.chunks(array)
    for part in found:
        part += 1  # views: what is written to them is written to the array
        assert part.size <= size or (array.ndim > 1 and len(part) == 1)
    assert (array == 1).all()
    assert len(found) <= 1 + (array.size and 2 * prod(shape) // min(size, prod(shape)))


@quick
@given(arrays(), st.integers(1, 40))
def test_each_part_once_and_the_same_of_all(array: np.ndarray, size: int) -> None:
    other = np.zeros(array.shape, int)  # which lies in another order
    times = parts.like(array, np.dtype("i1"))
    times[...] = 0

    def visit(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
        b += a
        c += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "CHUNK", size)
        parts.each_part(visit, array, other, times)
        assert (other == array).all() and (times == 1).all()
        found = parts.converted(array, np.dtype("f8"))
    assert found.dtype == np.float64 and (found == array).all()


def test_an_error_in_a_part_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "CHUNK", 3)

    def refuse(part: np.ndarray) -> None:
        if 17 in part:
            raise ValueError("17 is here")

    parts.each_part(refuse, np.arange(17))
    with pytest.raises(ValueError, match="17 is here"):
        parts.each_part(refuse, np.arange(40).reshape(5, 8))


REMAINDERS = sr.Semiring("remainders", add=lambda a, b: (a + b) % 200, mul=lambda a, b: (a * b) % 200, zero=0, one=1,
                         dtypes="u", carrier=lambda a: a < 200, samples=[0, 1, 2, 3, 100, 150, 199])
LOWERINGS = {
    "sums in their place": tropical_integers(sr.min_plus, np.dtype("i4"), Facts(largest=9), 3, True),
    "narrower sums": tropical_integers(sr.min_plus, np.dtype("i8"), Facts(largest=9), 3, False),
    "wider sums": tropical_integers(sr.max_plus, np.dtype("i1"), Facts(largest=9), 3, False),
    "ordered integers": ordered_integers(general(sr.max_min, np.dtype("f4"))),
    "halves": single_for_half(ordered_integers(general(sr.max_min, np.dtype("f4"))), np.dtype("f2")),
    "widened": general(REMAINDERS, np.dtype("u1")),
}


def steps(array: np.ndarray) -> list[int]:
    """From each element to the next along every axis that has one, in elements."""
    along = [s // array.itemsize for s, n in zip(array.strides, array.shape, strict=True) if n > 1]
    return along if array.size else []


@pytest.mark.parametrize("name", LOWERINGS)
def test_conversions_keep_elements_and_their_order_in_memory(name: str) -> None:
    low: Lowering = LOWERINGS[name]
    zero: Any = low.algebra.zero_in(low.dtype)

    @settings(max_examples=60)
    @given(arrays(), st.integers(1, 40))
    def check(places: np.ndarray, size: int) -> None:
        A = parts.like(places, low.dtype)
        A[...] = places % 9
        A[places % 5 == 0] = zero
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(parts, "CHUNK", size)
            stored = low.encode(A, True)
            kept, back = stored.copy("K"), low.decode(stored)
        assert back.dtype == low.dtype and (back == A).all() and not np.shares_memory(stored, A)
        assert steps(kept) == steps(back) == steps(A)

    check()
