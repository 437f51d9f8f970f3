"""Where 0 and 1 are the Boolean algebra, by its tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.lowering.boolean import is_boolean

BOTH = (False, True)
# Sums of ones differ from 1: two walks are more than one, or none at all.
COUNTED = {"plus_times", "counting", "log", "gf2", "mod_p"}
SCALAR = [name for name in sr.catalogue if sr.catalogue[name].traced and not sr.catalogue[name].is_record]


@pytest.mark.parametrize("name", SCALAR)
def test_tables(name: str) -> None:
    S = sr.catalogue[name]
    for dtype in S.dtypes:
        bit = {False: S.zero_in(dtype), True: S.one_in(dtype)}
        x, y = (np.array([bit[pair[i]] for pair in product(BOTH, BOTH)], dtype) for i in (0, 1))
        sums, products = ([bit[op(*pair)] for pair in product(BOTH, BOTH)] for op in (lambda p, q: p or q,
                                                                                     lambda p, q: p and q))
        added = np.asarray(S.add(x, y))
        assert np.asarray(S.mul(x, y)).tolist() == products  # as in every semiring
        assert (added[:3] == sums[:3]).all()
        assert is_boolean(S, dtype) == bool(added[3] == sums[3]) == (name not in COUNTED), dtype
        if is_boolean(S, dtype):
            assert (S.star(np.array([bit[False], bit[True]], dtype)) == bit[True]).all()


def test_a_cycle_of_weight_one_with_another_star() -> None:
    S = sr.Semiring("cycles", add=np.maximum, mul=np.multiply, zero=0, one=1, dtypes="f",
                    star=lambda a: np.where(a == 0, 1, np.inf),
                    carrier=lambda a: (a == 0) | (a == 1) | (a == np.inf), samples=[0, 1, np.inf])
    assert not is_boolean(S, np.dtype("f8"))


def test_a_cycle_of_weight_one_without_a_star() -> None:
    for star, expected in ((lambda a: 0, True), (lambda a: np.where(a == 0, np.nan, 0), False)):
        S = sr.Semiring("cycles", add=np.minimum, mul=np.maximum, zero=np.inf, one=0, star=star, dtypes="f",
                        carrier=lambda a: (a == 0) | (a == np.inf), samples=[0, np.inf])
        assert is_boolean(S, np.dtype("f8")) == expected


def test_where_a_bit_stands_for_nothing() -> None:
    assert not is_boolean(sr.regex, np.dtype(object))
    assert not is_boolean(sr.min_plus, np.dtype(object))
    assert not is_boolean(sr.shortest_hops, sr.shortest_hops.default_dtype)
    bare = sr.Semiring("bare", add=np.maximum, mul=np.multiply, zero=0, one=1, dtypes="f", product_only=True)
    assert not is_boolean(bare, np.dtype("f8"))
