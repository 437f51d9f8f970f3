"""Masks on a GPU: places in order, on the host in CuPy's place; tests/gpu/test_masks.py has the products."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from semiring.solvers.products.masked_on_gpu import Wanted, in_order, rows_of


@pytest.fixture(autouse=True)
def on_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", np)


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (5, 0), (0, 2), (40, 7)])
def test_places_in_any_order(shape: tuple[int, int]) -> None:
    random = np.random.default_rng(shape[1])
    M = random.random(shape) < 0.4
    rows, columns = (x.astype(np.int32) for x in np.nonzero(M))
    turn = np.concatenate([random.permutation(len(rows)), np.arange(min(len(rows), 3))])  # some of them twice
    offsets, tails, heads = in_order(rows[turn], columns[turn], shape)
    assert np.array_equal(tails, rows) and np.array_equal(heads, columns)
    assert np.array_equal(offsets, np.concatenate([[0], np.cumsum(M.sum(1))]))
    assert np.array_equal(rows_of(offsets, len(heads)), rows)


def test_entries_of_truths_are_those_of_a_pattern() -> None:
    M = np.random.default_rng(0).random((6, 9)) < 0.3
    found = Wanted(M, None).entries
    assert [x.tolist() for x in found[1:]] == [x.tolist() for x in np.nonzero(M)]
    assert Wanted(None, found).entries is found
