"""Labels in buckets against settling vertices: rows to the bit, several sources of one row, and giving up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.build import sums_numbers
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse import buckets
from semiring.kernels.cpu.sparse.buckets import CpuBucketKernel, width_of
from semiring.kernels.lowering.general import general

inf = float("inf")
# An algebra, a dtype, and weights, none better than 1.
ALGEBRAS: list[tuple[str, str, list[Any]]] = [
    ("min_plus", "f8", [0, 0.1, 0.30000000000000004, 1e-300, 7.5, inf]), ("min_plus", "f4", [1, 2, 1000]),
    ("max_plus", "f8", [0, -0.25, -3, -inf]), ("min_plus", "f8", [0, 0]),
]


def compressed(n: int, edges: dict[tuple[int, int], Any], dtype: str) -> Rows:
    found = sorted(edges)
    offsets = np.searchsorted([u for u, _ in found], np.arange(n + 1)).astype(np.int64)
    return Rows(offsets, np.array([v for _, v in found], np.int32), np.array([edges[e] for e in found], dtype), n)


def largest(A: Rows) -> float:
    finite = np.abs(A.values[np.isfinite(A.values)])
    return float(finite.max()) if finite.size else 0.0


@pytest.mark.parametrize(("name", "dtype", "weights"), ALGEBRAS)
def test_rows_are_those_of_settling(name: str, dtype: str, weights: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    S = sr.catalogue[name]
    low = general(S, np.dtype(dtype))
    T = S.over(dtype)

    @settings(max_examples=60)
    @given(st.integers(0, 10**6), st.sampled_from([1, 2, 9, 70]), st.sampled_from([1, 3]), st.sampled_from([0, 1, 3]))
    def check(seed: int, n: int, threads: int, times: int) -> None:
        monkeypatch.setattr(buckets, "TIMES", times)  # 0: given up at once
        rng = np.random.default_rng(seed)
        ends = rng.integers(0, n, (rng.integers(0, 4 * n + 1), 2)).tolist()
        A = compressed(n, {(u, v): rng.choice(weights) for u, v in ends}, dtype)
        kernel, sources = CpuBucketKernel(program(low), threads), rng.integers(0, n, rng.integers(0, 6))
        expected = kernel.settle(A, sources)
        assert np.array_equal(kernel.rows(A, sources, largest(A)), expected)
        if len(sources):
            found = kernel.nearest(A, np.unique(sources), largest(A))
            best = expected[0]
            for row in expected[1:]:
                best = T.add(best, row)
            assert found is not None or times < 3 or not width_of(A, largest(A))
            assert found is None or np.array_equal(found, best)

    check()


def test_integers_are_their_own_size() -> None:
    low = sr.plan("closure", np.array([[0, 3], [200, 0]], np.int32), sr.min_plus).lowering
    assert sums_numbers(low)
    A = compressed(4, {(0, 1): 3, (1, 2): 200, (0, 2): 204, (2, 3): 5}, low.storage.str)
    assert CpuBucketKernel.of(low).rows(A, np.array([0]), 204).tolist() == [[0, 3, 203, 208]]


def test_what_suits_and_how_wide_buckets_are() -> None:
    assert not any(sums_numbers(general(S, np.dtype("f8"))) for S in (sr.max_min, sr.viterbi))
    ring = {(i, (i + 1) % 8): float(i) for i in range(8)}
    assert 0 < width_of(compressed(8, ring, "f8"), 7.0) <= 4
    assert width_of(compressed(8, {(0, 1): 0.0}, "f8"), 0.0) == 0 == width_of(compressed(8, {}, "f8"), 0.0)
    far = compressed(8, {**ring, (0, 5): 1e30}, "f8")
    assert 1e30 / width_of(far, 1e30) <= buckets.LARGEST_RING, "the ring of buckets has room for every edge"
    assert width_of(compressed(2, {(0, 1): 5e-324}, "f8"), 5e-324) == 0, "its inverse is infinite"


def test_the_name_of_the_kept_function() -> None:
    (function,) = CpuBucketKernel.code(general(sr.min_plus, np.dtype("f8")))
    assert function.on_disk.startswith("buckets_") and function.name == "pass_buckets"
