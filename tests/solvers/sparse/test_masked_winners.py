"""The winning terms of wanted entries of a product, against those of the whole product."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min], ids=lambda S: S.name)
@pytest.mark.parametrize("sparse", [False, True])
def test_winners_are_those_of_the_whole_product(S: sr.Semiring, sparse: bool) -> None:
    rng = np.random.default_rng(5)
    zero = S.zero_in(np.dtype("f8"))
    A, B = (np.where(rng.random(shape) < 0.5, rng.integers(1, 4, shape), zero) for shape in ((7, 9), (9, 6)))
    M = rng.random((7, 6)) < 0.4
    whole, terms = sr.matmul(A, B, S, argmax=True)
    values, which = sr.matmul(A, B, S, mask=sp.csr_array(M) if sparse else M, argmax=True)
    if sparse:
        found = [sp.coo_array(x) for x in (values, which)]
        stored = M & (terms >= 0)
        for x, expected in zip(found, (whole, terms), strict=True):
            assert sorted(zip(*x.coords, strict=True)) == sorted(zip(*stored.nonzero(), strict=True))
            assert np.array_equal(x.data, expected[x.coords])
    else:
        assert np.array_equal(values[M], whole[M]) and (values[~M] == zero).all()
        assert np.array_equal(which[M], terms[M]) and (which[~M] == -1).all()
