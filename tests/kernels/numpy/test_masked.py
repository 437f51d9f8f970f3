"""Products under a mask by NumPy are the product's entries, however many terms are made at once."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.lowering.general import general
from semiring.kernels.numpy import masked
from semiring.kernels.numpy.masked import ArrayMaskedKernel

KEEPS_FIRST = sr.Semiring(
    "keeps first", add=np.maximum, mul=lambda a, b: np.where((a == 0) | (b == 0), 0, a), zero=0, one=1,
    carrier=lambda a: a >= 0, product_only=True,
)


def rows_of(A: np.ndarray) -> Rows:
    there = A != 0
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return Rows(offsets, np.nonzero(there)[1].astype(np.int32), A[there], A.shape[1])


@pytest.mark.parametrize("terms", [1, 50, 1 << 21])
@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (12, 9, 15)])
def test_they_are_entries_of_the_product(m: int, k: int, n: int, terms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(masked, "TERMS", terms)
    random = np.random.default_rng(m)
    A, B = (random.integers(0, 4, shape).astype(float) for shape in ((m, k), (k, n)))
    M = random.random((m, n)) < 0.3
    wanted = rows_of(M.astype(float))
    pattern, start = (wanted.offsets, wanted.columns), random.integers(0, 5, M.sum()).astype(float)
    for S in (sr.plus_times, KEEPS_FIRST):
        for exchange in (False, True):
            T = S.over(np.float64)
            expected = start.copy()
            for e, (i, j) in enumerate(np.argwhere(M)):
                for p in range(k):
                    a, b = (B[p, j], A[i, p]) if exchange else (A[i, p], B[p, j])
                    expected[e] = T.add(expected[e], T.mul(a, b))
            kernel = ArrayMaskedKernel(general(S, np.dtype("f8")), None, exchange)
            for by in ("rows", "pairs", "dense", "half"):
                C = start.copy()
                if by == "rows":
                    kernel.by_rows(C, pattern, rows_of(A), rows_of(B))
                elif by == "pairs":
                    kernel.by_pairs(C, pattern, rows_of(A), rows_of(np.ascontiguousarray(B.T)))
                else:
                    kernel.by_dots(C, pattern, rows_of(A) if by == "half" else A, B)
                assert np.array_equal(C, expected), (S.name, exchange, by)
