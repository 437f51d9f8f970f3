"""What a place without an entry stands for, and whether an algebra allows that."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from graphs.listing import refused

import semiring as sr
from semiring.graphs.held import Array, arranged, refuse_unless


def test_zeros_that_do_not_absorb_need_all_elements() -> None:
    S = sr.Semiring("sums", "(R, min, (x + y) / 2, 100, -)", add=np.minimum, mul=lambda x, y: (x + y) / 2, zero=100.0,
                    product_only=True)
    sparse = sr.Matrix(sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0]])), S)
    with refused("zero", sr.LawError):
        _ = sparse * sparse
    assert (sparse * sparse.hold("dense")).equals(sparse.hold("dense") * sparse.hold("dense"))


@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times, sr.boolean, sr.shortest_count], ids=lambda S: S.name)
def test_zero_of_an_algebra_absorbs_and_is_neutral(S: sr.Semiring) -> None:
    refuse_unless(S, "absorbs")
    refuse_unless(S, "is neutral for ⊕")


def test_an_order_of_rows_alone_or_of_columns_alone() -> None:
    held, order = Array(np.arange(4.0).reshape(2, 2), sr.min_plus), np.array([1, 0])
    assert arranged(held, None, None) is held
    assert arranged(held, order, None).all().tolist() == [[2.0, 3.0], [0.0, 1.0]]
    assert arranged(held, None, order).all().tolist() == [[1.0, 0.0], [3.0, 2.0]]
    assert arranged(held, order, order).all().tolist() == [[3.0, 2.0], [1.0, 0.0]]
