"""Products and squaring by tiles, over NumPy's matrix product with min and +."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr
from semiring.algorithms.history.tiled import tiled_product, tiled_squaring
from semiring.kernels.build import kernel
from semiring.kernels.lowering.general import general

ENGINE = kernel(general(sr.min_plus, np.dtype("f8")).interpreted)


@pytest.mark.parametrize("tile", [1, 2, 3, 8])
def test_a_product_is_that_of_all_terms(tile: int) -> None:
    random = np.random.default_rng(tile)
    A, B = random.random((5, 7)), random.random((7, 4))
    C = np.full((5, 4), -1.0)
    tiled_product(C, A, B, ENGINE, tile)
    assert ((A[:, :, None] + B).min(axis=1) == C).all()


def test_it_stops_when_a_product_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.full((64, 64), np.inf)
    A[0, 1] = 1.0  # one edge: the first square is the closure
    products = []
    monkeypatch.setattr(ENGINE, "equal", lambda X, Y: products.append(1) or bool((X == Y).all()), raising=False)
    tiled_squaring(A, ENGINE, 16)
    assert len(products) == 1 and A[0, 1] == 1 and (A.diagonal() == 0).all()


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_a_long_path_needs_all_rounds(n: int) -> None:
    A = np.full((n, n), np.inf)
    A[np.arange(n - 1), np.arange(1, n)] = 1
    tiled_squaring(A, ENGINE, 4)
    far = np.arange(n) - np.arange(n)[:, None]
    assert (np.where(far >= 0, far, np.inf) == A).all()
