"""⊕, ⊗ and star of elements in arrays, in lists and alone."""

from __future__ import annotations

import numpy as np
import pytest
from layouts import hops_and_costs, laid_out, layouts, same

import semiring as sr

inf = np.inf


def test_elements_from_python_numbers() -> None:
    assert sr.min_plus.add(1, 2) == 1
    assert sr.min_plus.mul(inf, -inf) == inf
    assert sr.max_times.mul(0.0, inf) == 0
    assert sr.counting.mul([0, 2], [inf, 3]).tolist() == [0, 6]
    assert sr.log.mul(-inf, inf) == -inf
    assert sr.min_plus.add(np.int8(5), np.int8(3)) == 3
    assert sr.boolean.add(True, False)
    assert (sr.gf2.eye(2) == [[1, 0], [0, 1]]).all()
    assert sr.regex.mul(sr.letter("a"), sr.letter("b")) == sr.regex.mul(sr.letter("a"), sr.letter("b"))


@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min, sr.plus_times, sr.log, sr.viterbi], ids=lambda S: S.name)
def test_arrays_broadcast_and_agree_with_single_elements(S: sr.Semiring) -> None:
    x = S.samples()
    for op in (S.add, S.mul):
        table = op(x[:, None], x[None, :])
        assert table.shape == (len(x), len(x)) and table.dtype == x.dtype
        for i, a in enumerate(x):
            for j, b in enumerate(x):
                assert op(a, b) == table[i, j], (S.name, a, b)


def test_what_has_no_place_in_the_dtype_is_refused() -> None:
    with pytest.raises(sr.SemiringError, match="a sum leaves int8"):
        sr.min_plus.mul(np.array([100], "i1"), np.array([100], "i1"))
    with pytest.raises(sr.SemiringError, match="min-plus: "):
        sr.min_plus.add(np.array([1], "i1"), [0.5])
    with pytest.raises(sr.SemiringError, match="the star of 1 does not exist"):
        sr.plus_times.star([0.5, 1.0])


def test_objects_in_lists_and_alone() -> None:
    """A list of one object is an array of one, as a list of one number is."""
    a, b = sr.letter("a"), sr.letter("b")
    for given, shape in (([a], (1,)), ([a, b], (2,)), ([], (0,)), (a, None)):
        found = sr.regex.star(given)
        assert (found.shape if isinstance(found, np.ndarray) else None) == shape, given
    assert sr.why.add([frozenset()], [frozenset({frozenset("a")})]).shape == (1,)
    assert sr.why.add(frozenset(), frozenset({frozenset("a")})) == frozenset({frozenset("a")})


@pytest.mark.parametrize("S", [sr.shortest_count, hops_and_costs()], ids=lambda S: S.name)
def test_records_in_any_layout(S: sr.Semiring) -> None:
    """By the names of their fields, whatever their order; answers have the algebra's own."""
    x = S.samples().view(S.element_dtype)
    table = {op: getattr(S, op)(x[:, None], x[None]) for op in ("add", "mul")}
    for dtype in layouts(S):
        y = laid_out(x, dtype)
        for op, expected in table.items():
            found = getattr(S, op)(y[:, None], y[None])
            assert found.dtype == S.element_dtype and same(found, expected), (dtype, op)
            assert same(np.asarray(getattr(S, op)(y[2], y[3])), expected[2, 3, ...])
        assert S.star(y[S.over(dtype).defined(y)]).dtype == S.element_dtype
