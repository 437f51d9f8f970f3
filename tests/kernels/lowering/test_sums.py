"""Sums of integers with an infinity that no sum reaches, against Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from watched import Watched

import semiring as sr
from semiring.kernels.facts import Facts
from semiring.kernels.lowering import parts
from semiring.kernels.lowering.sums import narrow, tropical_integers, widen

inf = float("inf")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
quick = settings(max_examples=200)
# Least absolute values, and the length of a sum: from where nothing can overflow to where everything does.
LARGEST = st.integers(0, 2**64).map(int) | st.sampled_from([0, 1, 100, 127, 2**13, 2**29 - 1, 2**31, 2**61])


def algebra(dtype: np.dtype, least: bool) -> sr.Semiring:
    return sr.min_plus if least or dtype.kind == "u" else sr.max_plus


@quick
@given(st.sampled_from(INTEGERS), LARGEST, st.integers(0, 10**6), st.booleans(), st.booleans())
def test_the_narrowest_storage_that_no_sum_leaves(
    name: str, largest: int, length: int, least: bool, in_place: bool
) -> None:
    dtype = np.dtype(name)
    S, bound = algebra(dtype, least), largest * max(length, 1)
    low = tropical_integers(S, dtype, Facts(largest=largest), length, in_place)
    sizes = [size for size in (2, 4, 8) if not in_place or size >= dtype.itemsize]
    fitting = [size for size in sizes if 2 ** (8 * size - 2) - 1 > 2 * bound]
    if not fitting:
        assert low.name == "Python integers" and str(bound) in low.reason
        return
    assert low.storage == np.dtype(f"i{fitting[0]}") and low.name == f"{low.storage} sums"
    infinity, limit = abs(int(low.zero[0])), np.iinfo(low.storage).max
    assert 2 * infinity <= limit  # ∞ + ∞ does not overflow
    assert infinity - bound > bound  # an absent edge in a sum shows
    assert (int(low.zero[0]) > 0) == (S is sr.min_plus) and low.one == (0,)


@quick
@given(st.data(), st.sampled_from(INTEGERS), st.booleans(), st.integers(1, 4))
def test_sums_along_paths(data: st.DataObject, name: str, least: bool, length: int) -> None:
    """Sums of so many elements, some of them absent, each added to what was best so far: exact, or refused."""
    dtype = np.dtype(name)
    S, limits = algebra(dtype, least), np.iinfo(name)
    absent = limits.max if S is sr.min_plus else limits.min
    weights = st.integers(max(limits.min + 1, -200), min(limits.max - 1, 200)) | st.just(absent)
    rows = data.draw(st.lists(st.lists(weights, min_size=length, max_size=length), min_size=1, max_size=6))
    A = np.array(rows, dtype)
    finite = [abs(x) for row in rows for x in row if x != absent]
    low = tropical_integers(S, dtype, Facts(largest=max(finite, default=0)), length, False)
    best, stored = (np.minimum if S is sr.min_plus else np.maximum), low.encode(A, True)
    total = stored[:, 0]
    for column in stored.T[1:]:
        total = best(low.zero[0], total + column)
    expected = [S.zero if absent in row else sum(row) for row in rows]
    for one, wanted in zip(total, expected, strict=True):
        if wanted in (inf, -inf):
            assert low.decode(one[None]) == absent
        elif limits.min + bool(limits.min) <= wanted <= limits.max - (absent == limits.max or limits.min < 0):
            assert low.decode(one[None]) == wanted
        else:
            with pytest.raises(sr.SemiringError, match=f"a result is {wanted}, which {dtype.name} cannot hold"):
                low.decode(one[None])


@pytest.mark.parametrize(("name", "dtype", "limit"), [
    ("min_plus", "i4", "low_limit"), ("max_plus", "i4", "high_limit"), ("min_plus", "i8", "low_limit"),
])
def test_the_opposite_infinity_needs_python(name: str, dtype: str, limit: str) -> None:
    S, kind = sr.catalogue[name], np.dtype(dtype)
    low = tropical_integers(S, kind, Facts(largest=1, **{limit: True}), 2, False)
    assert low.name == "Python integers" and "opposite infinity" in low.reason
    own = "high_limit" if limit == "low_limit" else "low_limit"
    assert tropical_integers(S, kind, Facts(largest=1, **{own: True}), 2, False).name == "int16 sums"
    assert tropical_integers(sr.min_plus, np.dtype("u1"), Facts(largest=1, low_limit=True), 2, False).kind == "numba"


@pytest.mark.parametrize(("name", "dtype", "limit"), [
    ("min_plus", "i1", -128), ("min_plus", "i1", 127), ("max_plus", "i1", 127), ("max_plus", "i1", -128),
    ("min_plus", "u1", 255),
])
def test_a_sum_that_would_read_as_infinite_is_refused(name: str, dtype: str, limit: int) -> None:
    low = tropical_integers(sr.catalogue[name], np.dtype(dtype), Facts(largest=100), 2, False)
    inside = limit - 1 if limit > 0 else limit + 1
    assert low.decode(np.array([inside, 0], low.storage)).tolist() == [inside, 0]
    with pytest.raises(sr.SemiringError, match=f"a result is {limit}, which"):
        low.decode(np.array([limit, 0], low.storage))
    assert tropical_integers(sr.min_plus, np.dtype("u1"), Facts(), 2, False).decode(np.zeros(1, "i2")) == 0


@pytest.mark.parametrize(("name", "dtype"), [("min_plus", "i8"), ("max_plus", "i8"), ("min_plus", "u8"),
                                             ("min_plus", "u2"), ("max_plus", "i1")])
def test_storage_is_compared_with_what_it_may_hold(name: str, dtype: str) -> None:
    """Limits of the data's dtype that the storage's cannot hold occur in no element: NumPy is not asked for them."""
    low = tropical_integers(sr.catalogue[name], np.dtype(dtype), Facts(largest=9), 4, False)
    A = np.array([[0, 9], [5, np.iinfo(dtype).max if name == "min_plus" else np.iinfo(dtype).min]], dtype)
    assert low.storage == np.int16 and (low.decode(low.encode(A, True).view(Watched)) == A).all()


class TestMemory:
    A = np.arange(12, dtype="i4").reshape(3, 4)
    A[1, 2] = np.iinfo("i4").max

    def test_in_place(self) -> None:
        low, B = tropical_integers(sr.min_plus, self.A.dtype, Facts(largest=11), 3, True), self.A.copy()
        stored = low.encode(B, False)
        assert np.shares_memory(stored, B) and stored[1, 2] == low.zero[0] < np.iinfo("i4").max
        found = low.decode(stored)
        assert np.shares_memory(found, B) and (B == self.A).all()

    def test_a_copy(self) -> None:
        for in_place in (True, False):
            low, B = tropical_integers(sr.min_plus, self.A.dtype, Facts(largest=11), 3, in_place), self.A.copy()
            stored = low.encode(B, True)
            assert stored.dtype == ("i4" if in_place else "i2")
            assert not np.shares_memory(stored, B) and (B == self.A).all()
            assert (low.decode(stored) == self.A).all()

    @pytest.mark.parametrize("chunk", [1, 3, 5, 100])
    def test_piece_by_piece(self, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(parts, "CHUNK", chunk)
        low = tropical_integers(sr.min_plus, self.A.dtype, Facts(largest=11), 3, False)
        for B in (self.A, np.asfortranarray(self.A), self.A[::2, ::-1], self.A[:0], self.A[0], self.A[1, 2, ...]):
            assert (low.decode(low.encode(B, True)) == B).all()
        byte = tropical_integers(sr.min_plus, np.dtype("u1"), Facts(largest=200), 3, False)
        stored = np.array([[1, 2, 3], [4, 254, byte.zero[0]], [255, 0, 0]], byte.storage)
        assert byte.decode(stored[:2]).tolist() == [[1, 2, 3], [4, 254, 255]]
        with pytest.raises(sr.SemiringError, match="a result is 255, which uint8 cannot hold"):
            byte.decode(stored)


class TestWeightsAlongAPath:
    """`widen` to data in which no sum overflows, and `narrow` back."""

    def test_floats_where_they_are_exact(self) -> None:
        A = np.array([[5, 127], [-128, -7]], "i1")
        found = widen(sr.min_plus, A, Facts(largest=7))
        assert found.dtype == np.float64 and found.tolist() == [[5, inf], [-inf, -7]]
        assert widen(sr.max_plus, A, Facts(largest=7)).tolist() == [[5, inf], [-inf, -7]]
        unsigned = np.array([0, 200, 255], "u1")
        assert widen(sr.min_plus, unsigned, Facts(largest=200)).tolist() == [0, 200, inf]

    def test_python_integers_where_they_are_not(self) -> None:
        A = np.array([[2**62, np.iinfo("i8").max]])
        found = widen(sr.min_plus, A, Facts(largest=2**62))
        assert found.dtype == object and found.tolist() == [[2**62, inf]] and found[0, 0] + 1 == 2**62 + 1
        most = (2**53 - 1) // 2
        assert widen(sr.min_plus, np.zeros((2, 2), "i8"), Facts(largest=most)).dtype == np.float64
        assert widen(sr.min_plus, np.zeros((2, 2), "i8"), Facts(largest=most + 1)).dtype == object

    def test_whatever_cannot_overflow_stays(self) -> None:
        for S, dtype in ((sr.min_plus, "f4"), (sr.max_min, "i4"), (sr.gcd_lcm, "u8"), (sr.boolean, "?")):
            A = np.zeros((2, 2), dtype)
            assert widen(S, A, Facts()) is A
            assert narrow(S, A[0, 0], A.dtype) is not None and narrow(S, A[0, 0], A.dtype).dtype == A.dtype

    @pytest.mark.parametrize(("name", "dtype", "value", "found"), [
        ("min_plus", "i1", 5.0, np.int8(5)), ("min_plus", "i1", inf, inf),
        ("min_plus", "u1", inf, inf), ("min_plus", "i1", -inf, -inf), ("counting", "u1", inf, inf),
        ("max_plus", "i1", -inf, -inf), ("counting", "i1", 126, np.int8(126)), ("counting", "i1", 127, 127),
        ("min_plus", "i1", 126.0, np.int8(126)), ("min_plus", "u1", 0.0, np.uint8(0)),
        # As Python's numbers: what leaves the dtype, and what would read as infinite.
        ("min_plus", "i1", 127.0, 127), ("min_plus", "i1", -128.0, -128), ("min_plus", "u1", 255.0, 255),
        ("min_plus", "i1", 300.0, 300), ("min_plus", "i8", 2**63 + 5, 2**63 + 5), ("min_plus", "u1", -1.0, -1),
        ("max_plus", "i1", 127.0, 127), ("max_plus", "i1", -127.0, np.int8(-127)),
    ])
    def test_back(self, name: str, dtype: str, value: float, found: object) -> None:
        narrowed = narrow(sr.catalogue[name], value, np.dtype(dtype))
        assert narrowed == found and type(narrowed) is type(found)
