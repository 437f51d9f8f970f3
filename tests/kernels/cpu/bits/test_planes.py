"""Bit sets as one Boolean matrix a bit: round trips, and closures against the general kernel, by every schedule."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.build import kernel as build_kernel
from semiring.kernels.cpu.bits.lowering import bit_planes
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cpu.bits.planes import PlanesKernel
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.solvers.dense.schedules import SCHEDULES

ALGEBRAS = {"may": sr.bitset_may, "must": sr.bitset_must}
DTYPES = ["u1", "u2", "u4", "u8"]
SIZES = st.one_of(st.sampled_from([0, 1, 63, 64, 65, 130]), st.integers(0, 90))


def labels(n: int, dtype: str, bits: int, seed: int) -> np.ndarray:
    """Sets of the lowest bits, some of them of all bits and some of none."""
    rng = np.random.default_rng(seed)
    everything = np.iinfo(dtype).max
    A = rng.integers(0, 2**bits, (n, n), dtype=np.uint64).astype(dtype) if bits else np.zeros((n, n), dtype)
    A[rng.random((n, n)) < rng.choice([0, 0.5, 0.98])] = 0
    A[rng.random((n, n)) < rng.choice([0, 0.1])] = everything
    return A


def facts_of(A: np.ndarray) -> Facts:
    rest = A[np.iinfo(A.dtype).max != A]
    return Facts(largest=int(rest.max(initial=0)), high_limit=len(rest) < A.size)


@settings(max_examples=60)
@given(SIZES, st.sampled_from(DTYPES), st.sampled_from(list(ALGEBRAS)), st.integers(0, 64), st.integers(0, 10**6))
def test_round_trip(n: int, dtype: str, name: str, bits: int, seed: int) -> None:
    width = 8 * np.dtype(dtype).itemsize
    A = labels(n, dtype, min(bits, width), seed)
    S, facts = ALGEBRAS[name], facts_of(A)
    low = bit_planes(S, np.dtype(dtype), facts)
    planes = low.encode(A, True)
    assert len(planes.planes) == min(int(facts.largest).bit_length() + 1, width)
    given_ = ~A if name == "must" else A
    for b, plane in enumerate(planes.planes):
        bits = given_ >> np.array(b, dtype) & np.array(1, dtype) > 0
        assert np.array_equal(PackedMatrix(plane.words, n).to_dense(), bits)
        assert not plane.words[:, -(-n // 64) :].any()
    assert np.array_equal(low.decode(planes), A)
    assert np.array_equal(low.decode(low.encode(np.asfortranarray(A), True)), A)
    assert np.array_equal(low.decode(low.encode(np.repeat(A, 2, 0)[::2], True)), A)


@settings(max_examples=30)
@given(
    SIZES, st.sampled_from(DTYPES), st.sampled_from(list(ALGEBRAS)), st.sampled_from([0, 1, 3, 7, 8]),
    st.sampled_from(["floyd-warshall", "blocked", "r-kleene", "squaring", "elimination"]), st.booleans(),
    st.integers(0, 10**6),
)
def test_closures(n: int, dtype: str, name: str, bits: int, method: str, reflexive: bool, seed: int) -> None:
    A = labels(n, dtype, bits, seed)
    S = ALGEBRAS[name]
    if name == "must":
        A = ~A
    low = bit_planes(S, np.dtype(dtype), facts_of(A))
    kernel, plain = PlanesKernel(), build_kernel(general(S, np.dtype(dtype)).interpreted)
    work, original, expected = low.encode(A, True), low.encode(A, True), A.copy()
    SCHEDULES[method](work, kernel, 64)
    SCHEDULES["floyd-warshall"](expected, plain, max(n, 1))
    assert np.array_equal(low.decode(work), expected)
    if not reflexive:
        kernel.set_diagonal(work, kernel.diagonal(original, work))
        plain.set_diagonal(expected, plain.diagonal(A, expected))
        assert np.array_equal(low.decode(work), expected)


@pytest.mark.parametrize("threads", [1, 3, 20])
def test_many_rows_on_threads(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEMIRING_NUM_THREADS", str(threads))
    A = labels(700, "u1", 8, 3) & np.random.default_rng(2).integers(0, 2, (700, 700), "u1") * 255
    A[np.random.default_rng(1).random((700, 700)) < 0.99] = 0
    low, kernel = bit_planes(sr.bitset_may, np.dtype("u1"), facts_of(A)), PlanesKernel()
    work = low.encode(A, True)
    assert kernel.close(work) == -1
    expected = A.copy()
    SCHEDULES["floyd-warshall"](expected, build_kernel(general(sr.bitset_may, A.dtype)), 700)
    assert np.array_equal(low.decode(work), expected) and len(np.unique(expected)) > 2


def test_the_operations_of_a_kernel() -> None:
    kernel = PlanesKernel()
    A, B, C = (labels(130, "u2", 9, seed) for seed in (1, 2, 3))
    low = bit_planes(sr.bitset_may, np.dtype("u2"), Facts(largest=511))
    a, b, c = (low.encode(x, True) for x in (A, B, C))
    product = sr.matmul(A, B, sr.bitset_may)
    kernel.multiply_add(c, a, b)
    assert np.array_equal(low.decode(c), C | product)
    kernel.multiply(c, a, b)
    assert np.array_equal(low.decode(c), product)
    kernel.right(a, b)
    assert kernel.equal(a, c)
    kernel.left(c, b)
    assert np.array_equal(low.decode(b), sr.matmul(product, B, sr.bitset_may))
    other = kernel.like(b)
    assert other.shape == b.shape and not kernel.equal(other, b)
    kernel.assign(other, b)
    assert kernel.equal(other, b)
    kernel.add_one(other)
    assert (low.decode(other).diagonal() == 2**16 - 1).all()
    part = b[64:128, 0:64]
    kernel.assign(part, part[0:64, 0:64])
    assert part.shape == (64, 64)
