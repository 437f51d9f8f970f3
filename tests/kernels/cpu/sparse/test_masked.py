"""Compiled products under a mask are the product's entries, for any number of threads and any lengths of rows."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.program import program
from semiring.kernels.cpu.sparse.masked import DotsKernel, MaskedKernel, _later
from semiring.kernels.cpu.sparse.structure import transpose
from semiring.kernels.lowering.general import general

LOW = general(sr.plus_times, np.dtype("f8"))


def rows_of(A: np.ndarray) -> Rows:
    there = A != 0
    offsets = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return Rows(offsets, np.nonzero(there)[1].astype(np.int32), A[there], A.shape[1])


def drawn(random: np.random.Generator, rows: int, columns: int, skewed: bool) -> np.ndarray:
    """Whole numbers; in some rows many, in most few."""
    share = random.random(rows) ** 8 if skewed else np.full(rows, 0.2)
    return np.where(random.random((rows, columns)) < share[:, None], random.integers(1, 9, (rows, columns)), 0.0)


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(0, 3, 2), (3, 0, 2), (3, 2, 0), (1, 1, 1), (7, 5, 9), (300, 200, 250)])
def test_they_are_entries_of_the_product(m: int, k: int, n: int, skewed: bool) -> None:
    random = np.random.default_rng(m)
    A, B = drawn(random, m, k, False), drawn(random, k, n, skewed)
    for share in (0.01, 0.6):
        M = random.random((m, n)) < share
        wanted = rows_of(M.astype(float))
        pattern, start = (wanted.offsets, wanted.columns), random.integers(0, 5, M.sum()).astype(float)
        expected = start + (A @ B)[M]
        for threads in (1, 3):
            sparse, dots = MaskedKernel(program(LOW), threads), DotsKernel(program(LOW), threads)
            for kernel, by in ((sparse, "rows"), (sparse, "pairs"), (dots, "dense"), (dots, "half")):
                C = start.copy()
                if by == "rows":
                    kernel.by_rows(C, pattern, rows_of(A), rows_of(B))
                elif by == "pairs":
                    kernel.by_pairs(C, pattern, rows_of(A), transpose(rows_of(B)))
                else:
                    kernel.by_dots(C, pattern, rows_of(A) if by == "half" else A, B[:, ::-1].copy()[:, ::-1])
                assert np.array_equal(C, expected), (threads, by)


def test_long_rows_that_many_meet_become_tables() -> None:
    """In test data, too; the choice follows from lengths alone."""
    random = np.random.default_rng(300)
    A, B = drawn(random, 300, 200, False), drawn(random, 200, 250, True)
    M = rows_of((random.random((300, 250)) < 0.05).astype(float))
    later, work = _later(M.offsets, rows_of(A), rows_of(B), 1)
    for threads in (2, 3):
        assert all(map(np.array_equal, _later(M.offsets, rows_of(A), rows_of(B), threads), (later, work)))
    assert 0 < later.sum() < len(later) and work[0] == 0 and (np.diff(work) >= 0).all()
    later = later.astype(bool)
    assert (np.diff(rows_of(B).offsets)[rows_of(A).columns[later]] > 5).all()
