"""An algebra in each dtype that carries it."""

from __future__ import annotations

import numpy as np
import pytest

import semiring as sr

ALGEBRAS = [S for S in sr.catalogue.values() if isinstance(S, sr.Semiring) and not S.is_object]


@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_zero_and_one_are_neutral_in_every_dtype(S: sr.Semiring) -> None:
    for dtype in S.dtypes:
        T = S.over(dtype)
        for x in S.elements_in(dtype).notable:
            around = np.array([x], dtype)
            zero, one = (np.array([e], dtype) for e in (S.zero_in(dtype), S.one_in(dtype)))
            assert T.add(zero, around)[0] == around[0] == T.mul(one, around)[0], (dtype, x)
            assert T.mul(zero, around)[0] == zero[0], (dtype, x)


def test_a_dtype_is_resolved_once_and_in_native_byte_order() -> None:
    assert sr.min_plus.resolve_dtype(">i4") == np.dtype("i4") == sr.min_plus.resolve_dtype("i4")
    assert sr.min_plus.over("f4") is sr.min_plus.over(np.dtype("f4"))
    with pytest.raises(sr.SemiringError, match="viterbi cannot live in int32; it lives in float64"):
        sr.viterbi.resolve_dtype("i4")


def test_components_of_a_record_by_place_and_by_name() -> None:
    S = sr.shortest_hops
    assert S.components_of((2.5, 1)) == S.components_of({"hops": 1, "cost": 2.5}) == (2.5, 1)
    with pytest.raises(sr.SemiringError, match="needs the 2 components"):
        S.components_of((1.0,))
    with pytest.raises(KeyError):
        S.components_of({"cost": 1.0})
