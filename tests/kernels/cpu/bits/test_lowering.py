"""Which algebras have a form in bits, how many planes it takes, and that data come back from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.bits import PackedRows
from semiring.kernels.blocks.planes import Planes
from semiring.kernels.cpu.bits.lowering import bit_planes, packed_bits
from semiring.kernels.facts import Facts

TWO_VALUED = [
    ("boolean", "?"), ("boolean", "f4"), ("boolean", "u8"), ("min_plus", "f8"), ("min_plus", "i2"), ("max_plus", "f4"),
    ("max_min", "f8"), ("viterbi", "f2"), ("bitset_may", "u1"), ("bitset_must", "u4"),
]


@pytest.mark.parametrize(("name", "dtype"), TWO_VALUED)
@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (3, 64), (5, 65), (9, 130)])
def test_zeros_and_ones_as_bits(name: str, dtype: str, shape: tuple[int, int]) -> None:
    S, kind = sr.catalogue[name], np.dtype(dtype)
    ones = np.random.default_rng(0).random(shape) < 0.5
    A = np.where(ones, S.one_in(kind), S.zero_in(kind)).astype(kind)
    low = packed_bits(S, kind)
    for given_ in (A, np.asfortranarray(A), np.repeat(A, 2, axis=1)[:, ::2]):
        stored = low.encode(given_, True)
        assert type(stored) is PackedRows and stored.shape == shape and stored.count() == ones.sum()
        found = low.decode(stored)
        assert found.dtype == kind and (found == A).all()
        assert [r.nonzero()[0].tolist() for r in found == S.one_in(kind)] == [r.nonzero()[0].tolist() for r in ones]


@pytest.mark.parametrize(("n", "nbytes"), [(0, 0), (1, 64), (512, 512 * 64), (513, 513 * 128)])
def test_sizes(n: int, nbytes: int) -> None:
    """A row takes whole cache lines."""
    low = packed_bits(sr.boolean, np.dtype("?"))
    made = low.empty((n, n))
    assert low.matrix_bytes(n) == nbytes == made.nbytes and not made.words.any()
    assert low.empty((2, 600)).shape == (2, 600)


def test_the_form() -> None:
    low = packed_bits(sr.min_plus, np.dtype("f8"))
    assert (low.name, low.kind, low.dtype, low.storage) == ("packed bits", "packed", np.dtype("f8"), np.dtype("u8"))
    assert low is packed_bits(sr.min_plus, np.dtype("f8")) is not packed_bits(sr.min_plus, np.dtype("f4"))
    assert not low.on_gpu and not low.is_identity and "a bit each" in low.reason


@settings(max_examples=100)
@given(st.sampled_from(["u1", "u2", "u4", "u8"]), st.integers(0, 2**64 - 1), st.booleans())
def test_a_plane_for_each_bit_that_occurs_and_one_for_the_rest(dtype: str, largest: int, must: bool) -> None:
    kind = np.dtype(dtype)
    largest %= int(np.iinfo(kind).max)  # any but the set of all bits
    S, everything = sr.bitset_must if must else sr.bitset_may, np.iinfo(kind).max
    low = bit_planes(S, kind, Facts(largest=largest, high_limit=True))
    A = np.array([[0, largest, everything, largest >> 1]], kind)
    planes = low.encode(A, True)
    assert isinstance(planes, Planes) and planes.shape == A.shape
    needed = {b: [x >> b & 1 for x in A[0].tolist()] for b in range(8 * kind.itemsize)}
    assert len(planes.planes) == min(largest.bit_length() + 1, 8 * kind.itemsize)
    highest = needed[len(planes.planes) - 1]
    assert all(needed[b] == highest for b in range(len(planes.planes), 8 * kind.itemsize))
    for b, plane in enumerate(planes.planes):
        assert int(plane.words[0, 0]) == sum((x ^ must) << j for j, x in enumerate(needed[b]))
    assert (low.decode(planes) == A).all()


def test_the_form_in_planes() -> None:
    low = bit_planes(sr.bitset_must, np.dtype("u2"), Facts(largest=5))
    assert (low.name, low.kind, low.dtype) == ("bit planes", "planes", np.dtype("u2"))
    assert low.reason == "bits of the complements never meet: 4 Boolean closures of a bit each, 64 a word"
    assert low is bit_planes(sr.bitset_must, np.dtype("u2"), Facts(largest=7, high_limit=True))


def test_what_has_no_planes() -> None:
    for name in sr.catalogue:
        S = sr.catalogue[name]
        for dtype in map(np.dtype, ("u1", "u8", "i4", "f8", "?")):
            if not S.is_object and not S.is_record and dtype in S.dtypes:
                planes = bit_planes(S, dtype, Facts(largest=1))
                assert (planes is not None) == (name in ("bitset_may", "bitset_must") and dtype.kind == "u"), name
    few = sr.Semiring("few", add=np.bitwise_or, mul=np.bitwise_and, zero=0, one=7, dtypes="u", star=lambda a: 7,
                      carrier=lambda a: a <= 7)
    assert bit_planes(few, np.dtype("u1"), Facts(largest=7)) is None
    renamed = sr.Semiring("labels", add=np.bitwise_or, mul=np.bitwise_and, zero=0, one=np.inf, dtypes="u",
                          star=lambda a: np.inf)
    assert bit_planes(renamed, np.dtype("u1"), Facts(largest=7)) is not None
