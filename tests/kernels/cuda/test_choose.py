"""Which form of an algebra the GPU runs: by its expressions and by facts about the data."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import codes
from hypothesis import example, given
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cuda.bits.engine import BooleanKernel
from semiring.kernels.cuda.choose import (
    can_be_ranked,
    choose,
    general_on_device,
    kernel,
    packed_on_device,
    ranked,
    without_facts,
)
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.facts import DeviceFacts, Facts


def test_lowerings_follow_the_data() -> None:
    def name(S: sr.Semiring, dtype: str, **known: float) -> str:
        return choose(S, np.dtype(dtype), DeviceFacts(**known), 2, in_place=False).name

    twin = sr.Semiring("another name", add=np.minimum, mul=np.add, zero=np.inf, one=0)
    for S in (sr.min_plus, twin):
        assert name(S, "f4", largest=9, least=0, high_limit=True) == "bits of non-negative floats"
        assert name(S, "f4", largest=9, least=-1) == "general"
        assert name(S, "f4", largest=9, least=0, low_limit=True) == "general"
        assert name(S, "u2", largest=100, least=0) == "uint16 sums"
        assert name(S, "i4", largest=100, least=-1) == "int16 sums"
        assert name(S, "i4", largest=10**6, least=-1) == "int32 sums"
        assert name(S, "i4", largest=10**9, least=-1) == "int64 sums"
    assert name(sr.max_plus, "f4", largest=9, least=0, low_limit=True) == "bits of non-negative floats"
    assert name(sr.max_plus, "f4", largest=9, least=0, high_limit=True) == "general"
    assert name(sr.viterbi, "f4", largest=1, least=0) == "bits of non-negative floats"
    assert name(sr.max_times, "f4", largest=2, least=0) == "general"
    assert name(sr.max_min, "f4", largest=2, least=-3) == "ordered integers"
    with pytest.raises(sr.SemiringError, match="cpu"):
        name(sr.why, "O")


def test_equal_conditions_give_the_same_form() -> None:
    """Data of another size need no other form, and so no other compiled code."""
    forms = {
        choose(sr.min_plus, np.dtype("i4"), DeviceFacts(largest=n, least=-n), 2, in_place=False) for n in (1, 10, 4000)
    }
    assert len(forms) == 1


@pytest.mark.parametrize(
    ("S", "dtype", "facts", "message"),
    [
        (sr.why, "O", Facts(), "why: elements are Python objects, which live on the CPU only; use device='cpu'"),
        (sr.gcd_lcm, "u1", Facts(multiple=256), "gcd-lcm: a least common multiple may leave uint8; use device='cpu'"),
        (sr.min_plus, "i4", Facts(low_limit=True),
         "min-plus: -2147483648 stands for the opposite infinity, which only the CPU computes with; use device='cpu'"),
        (sr.max_plus, "i1", Facts(high_limit=True),
         "max-plus: 127 stands for the opposite infinity, which only the CPU computes with; use device='cpu'"),
        (sr.min_plus, "i8", Facts(largest=2**61),
         f"min-plus: a path may weigh up to {2**62}, beyond the GPU's integers; use device='cpu'"),
    ],
)
def test_what_only_the_cpu_computes_is_refused(S: sr.Semiring, dtype: str, facts: Facts, message: str) -> None:
    with pytest.raises(sr.SemiringError) as caught:
        choose(S, np.dtype(dtype), facts, 2, in_place=False)
    assert str(caught.value) == message


def test_the_last_that_fits_is_computed() -> None:
    assert choose(sr.gcd_lcm, np.dtype("u1"), Facts(multiple=255), 2, in_place=False).storage == np.uint8
    assert choose(sr.min_plus, np.dtype("i8"), Facts(largest=2**60 - 1), 2, in_place=False).storage == np.int64


@st.composite
def weights(draw: st.DrawFn) -> tuple[sr.Semiring, np.ndarray, bool]:
    """Numbers of a tropical algebra's integers, its infinity among them or not, and whether they stay in place."""
    S = draw(st.sampled_from([sr.min_plus, sr.max_plus]))
    dtype = draw(st.sampled_from([d for d in S.dtypes if d.kind in "iu"]))
    limits, length = np.iinfo(dtype), draw(st.integers(1, 5))
    most = draw(st.sampled_from([300, 8191, 16_384, 32_767, 2**29, 2**30, 2**31, 2**40])) // length
    most = min(most + draw(st.integers(-1, 1)), int(limits.max) - 1)
    least = 0 if dtype.kind == "u" or draw(st.booleans()) else max(-most, int(limits.min) + 1)
    numbers = st.sampled_from([least, most, most - 1]) | st.integers(least, most)
    if draw(st.booleans()):
        numbers |= st.just(int(S.zero_in(dtype)))
    return S, np.array(draw(st.lists(numbers, min_size=length, max_size=length)), dtype), draw(st.booleans())


@given(case=weights())
@example(case=(sr.max_plus, np.array([-8100, -92], "i4"), False))  # at the threshold of 16 bits
@example(case=(sr.min_plus, np.array([16_000, 16_767, 0], "i4"), False))
def test_sums_in_storage_are_the_sums_of_the_numbers(case: tuple[sr.Semiring, np.ndarray, bool]) -> None:
    """Beside Python's integers: no sum overflows in storage or is treated as infinite, and what leaves is seen."""
    S, numbers, in_place = case
    limits, better = np.iinfo(numbers.dtype), min if S.zero > 0 else max
    absent = int(S.zero_in(numbers.dtype))
    finite = [x for x in numbers.tolist() if x != absent]
    facts = DeviceFacts(
        largest=max(map(abs, finite), default=0), least=min(finite, default=np.inf),
        low_limit=limits.min in numbers, high_limit=limits.max in numbers,
    )
    low = choose(S, numbers.dtype, facts, len(numbers), in_place=in_place)
    assert not in_place or low.storage.itemsize in (numbers.dtype.itemsize, 8)
    encode, decode, leaves = map(codes.function, low.codes)
    room, infinity = np.iinfo(low.storage), int(low.zero[0])
    stored, wanted = int(low.one[0]), 0
    for x in numbers:
        assert decode(encode(x)) == x and type(encode(x)) is low.storage.type
        reached = stored + int(encode(x))
        assert room.min <= reached <= room.max
        stored = better(infinity, reached)
        wanted = S.zero if absent == x else wanted + int(x)
        found = low.storage.type(stored)
        stays = wanted == S.zero or (limits.min <= wanted <= limits.max and wanted != absent)
        assert bool(leaves(found)) != stays
        assert not stays or decode(found) == (absent if wanted == S.zero else wanted)


@pytest.mark.parametrize(
    ("S", "x", "y"),
    [(sr.min_plus, np.int8(63), np.int8(64)), (sr.min_plus, np.uint8(127), np.uint8(128)),
     (sr.max_plus, np.int8(-64), np.int8(-64)), (sr.min_plus, np.uint16(30_000), np.uint16(35_535))],
)
def test_a_sum_that_would_read_as_infinite_leaves_the_dtype(S: sr.Semiring, x: np.generic, y: np.generic) -> None:
    least = min(int(x), int(y))
    low = choose(S, x.dtype, DeviceFacts(largest=max(abs(int(x)), abs(int(y))), least=least), 2, in_place=False)
    encode, decode, leaves = map(codes.function, low.codes)
    total = int(encode(x)) + int(encode(y))
    assert total == int(S.zero_in(x.dtype)) and leaves(low.storage.type(total))
    nearer = low.storage.type(total - 1 if total > 0 else total + 1)
    assert not leaves(nearer) and decode(nearer) == nearer


@pytest.mark.parametrize(
    ("S", "length", "known", "is_fast"),
    [
        (sr.min_plus, 2, DeviceFacts(largest=3, least=0.0), True),
        (sr.min_plus, 2, DeviceFacts(largest=3, least=-0.0), False),  # its bits are below all others
        (sr.min_plus, 2, DeviceFacts(largest=3, least=1, low_limit=True), False),
        (sr.max_plus, 2, DeviceFacts(largest=1e38, least=0, low_limit=True), True),
        (sr.max_plus, 4, DeviceFacts(largest=1e38, least=0, low_limit=True), False),  # +∞ + −∞ might come up
        (sr.viterbi, 2, DeviceFacts(largest=1.5, least=0), False),  # so might 0 · ∞
        (sr.plus_times, 2, DeviceFacts(largest=1, least=0), False),
        (sr.min_plus, 2, Facts(largest=3), False),  # the least is unknown
    ],
)
def test_floats_compare_as_integers_where_none_is_negative(
    S: sr.Semiring, length: int, known: Facts, is_fast: bool
) -> None:
    low = choose(S, np.dtype("f4"), known, length, in_place=False)
    assert low.non_negative == is_fast and low.is_identity
    assert not choose(S, np.dtype("f8"), known, length, in_place=False).non_negative


def test_halves() -> None:
    """Two a word for one ⊗ and what is added to it; rounded once where there are more."""
    half, known = np.dtype("f2"), DeviceFacts(largest=3, least=0)
    assert choose(sr.min_plus, half, known, 3, in_place=False).name == "pairs of halves"
    for low in (choose(sr.min_plus, half, known, 4, in_place=False), without_facts(sr.min_plus, half)):
        assert (low.dtype, low.storage) == (half, np.dtype("f4")) and low.name.endswith("single precision")
    assert choose(sr.max_min, half, known, 4, in_place=False).storage == np.int16
    assert without_facts(sr.min_plus, np.dtype("f4")) is general_on_device(sr.min_plus, np.dtype("f4"))


def test_what_compares_only_can_be_ranked() -> None:
    bottleneck = sr.Semiring("declared here", add=np.minimum, mul=np.maximum, zero=np.inf, one=-np.inf)
    found = {
        S.name: [d for d in ("f8", "f4", "f2", "i8", "i4", "i2", "u4", "u1") if np.dtype(d) in S.dtypes
                 and can_be_ranked(S, np.dtype(d))]
        for S in (sr.max_min, bottleneck, sr.min_plus, sr.plus_times, sr.viterbi)
    }
    wide = ["f8", "f4", "i8", "i4", "u4"]
    assert found == {"max-min": wide, "declared here": wide, "min-plus": [], "plus-times": [], "viterbi": []}
    assert not can_be_ranked(sr.shortest_hops, sr.shortest_hops.default_dtype)


@pytest.mark.parametrize(("rank", "last"), [("u2", 65_535), ("u4", 4_294_967_295)])
@pytest.mark.parametrize("up", [True, False])
def test_ranks(up: bool, rank: str, last: int) -> None:
    low = ranked(sr.max_min if up else sr.min_max, np.dtype("f8"), up, np.dtype(rank))
    assert low.storage == rank and (low.zero[0], low.one[0]) == ((0, last) if up else (last, 0))
    assert low.dtype == np.float64 and f"{8 * int(rank[1])} bits" in low.reason


def test_bits_where_one_plus_one_is_one() -> None:
    two_valued = DeviceFacts(largest=1, least=0, two_valued=True)

    def kind(S: sr.Semiring, facts: Facts, packed: bool = True) -> str:
        return choose(S, np.dtype("f4"), facts, 2, in_place=False, packed=packed).kind

    assert kind(sr.min_plus, two_valued) == kind(sr.max_min, two_valued) == "packed"
    assert kind(sr.min_plus, two_valued, packed=False) == kind(sr.min_plus, Facts()) == "cuda"
    assert kind(sr.plus_times, two_valued) == "cuda"


def test_engines_are_shared_where_the_text_is_the_same() -> None:
    twin = sr.Semiring("another name", add=np.minimum, mul=np.add, zero=np.inf, one=0)
    single, double = np.dtype("f4"), np.dtype("f8")
    engine = kernel(general_on_device(sr.min_plus, single))
    assert isinstance(engine, CudaKernel) and kernel(general_on_device(twin, single)) is engine
    assert kernel(general_on_device(sr.min_plus, double)) is not engine
    known = DeviceFacts(largest=9, least=0)
    assert kernel(choose(sr.min_plus, single, known, 2, in_place=False)) is not engine, "another way to compare"
    assert isinstance(kernel(packed_on_device(sr.min_plus, single)), BooleanKernel)
