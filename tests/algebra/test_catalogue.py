"""The built-in algebras against the oracle's table: flags, elements and operations, dtypes, families."""

from __future__ import annotations

import copy
import math
import pickle
import random
from typing import Any

import numpy as np
import oracle
import pytest
from bridge import CASES, ours

import semiring as sr

inf = math.inf
NAMES = {"I": "idempotent", "S": "selective", "B": "bounded", "C": "commutative"}


def same(S: oracle.Algebra, element: Any, scalar: Any) -> bool:
    """Whether a scalar of the library is an element of the oracle."""
    array = np.empty((1, 1), object if S.objects else np.asarray(scalar).dtype)
    array[0, 0] = scalar
    found = oracle.from_numpy(S, array)[0][0]
    return S.close(element, found, 2.0**-9)


@pytest.mark.parametrize("name", oracle.ALGEBRAS)
def test_flags_of_the_catalogue(name: str) -> None:
    S = oracle.ALGEBRAS[name]
    T = ours(S)
    assert T.flags == tuple(NAMES[f] for f in S.flags if f != "-")
    report = sr.check_laws(T)
    assert report.ok, report
    assert report.derived == {flag: letter in S.flags for letter, flag in NAMES.items()}
    assert len(report.axioms) == 10
    assert len(report.star) == 2


@pytest.mark.parametrize(("name", "dtype"), CASES, ids=str)
def test_elements_and_operations(name: str, dtype: np.dtype) -> None:
    """0, 1, ⊕, ⊗ and star in every dtype, on all samples of the oracle that the dtype holds."""
    S = oracle.for_dtype(oracle.ALGEBRAS[name], dtype)
    T = ours(S)
    if name == "regex":
        assert oracle.language(T.zero) == S.zero
        assert oracle.language(T.one) == S.one
        return
    assert same(S, S.zero, T.zero_in(dtype))
    assert same(S, S.one, T.one_in(dtype))
    held = [x for x in S.samples if holds(S, x, dtype)]
    assert len(held) >= 2
    column = oracle.to_numpy(S, [[x] for x in held], dtype)[:, 0]
    A = T.over(column.dtype)
    assert A.contains(column).all()
    star, defined = A.star(column), A.defined(column)
    for i, a in enumerate(held):
        there = [j for j, b in enumerate(held) if holds(S, S.plus(a, b), dtype)]
        for j, plus in zip(there, A.add(column[i], column[there]), strict=True):
            assert same(S, S.plus(a, held[j]), plus), (a, held[j], plus)
        for j, b in enumerate(held):
            if j not in there and dtype.kind in "iu":
                with pytest.raises(sr.SemiringError, match="cannot hold"):
                    A.add(column[i], column[j : j + 1])
            if holds(S, S.times(a, b), dtype):
                product = A.mul(column[i : i + 1], column[j : j + 1])[0]
                assert same(S, S.times(a, b), product), (a, b, product)
        element = S.star(a)
        assert bool(defined[i]) is (element is not None), a
        if element is not None and holds(S, element, dtype):
            assert same(S, element, star[i]), (a, star[i], element)


def holds(S: oracle.Algebra, element: Any, dtype: np.dtype) -> bool:
    """Whether a dtype holds an element, so that it comes back as it was."""
    try:
        array = oracle.to_numpy(S, [[element]], dtype)
        return oracle.fits(S, [[element]], dtype) and S.close(oracle.from_numpy(S, array)[0][0], element, 2.0**-9)
    except OverflowError:
        return False


def test_the_catalogue_is_whole() -> None:
    assert set(sr.catalogue) == set(oracle.ALGEBRAS)
    for name, S in sr.catalogue.items():
        assert S.description
        assert S.notation
        assert sr.check_laws(name) == sr.check_laws(S)
        made = getattr(sr, name)
        assert made is S or callable(made)


@pytest.mark.parametrize("name", [n for n, S in oracle.ALGEBRAS.items() if not S.objects])
def test_dtypes(name: str) -> None:
    """The library and the oracle's strategies agree on where an algebra lives."""
    S = oracle.ALGEBRAS[name]
    T = ours(S)
    for other, dtype in CASES:
        if other == name:
            resolved = T.resolve_dtype(dtype)
            assert resolved == dtype or set(resolved.names) == set(dtype.names)
    if not S.fields:
        assert T.default_dtype in T.dtypes
        for dtype in T.dtypes:
            assert T.zero_in(dtype) != T.one_in(dtype)
            assert T.resolve_dtype(dtype.newbyteorder()) == dtype


def test_parameters_of_families() -> None:
    for make, bad, message in (
        (sr.mod_p, 6, "must be a prime"),
        (sr.mod_p, 2**31 + 11, "must be a prime"),
        (sr.k_best, 0, "from 1 to 8"),
        (sr.k_best, 9, "from 1 to 8"),
        (sr.saturating_min_plus, 0, "at least 1"),
    ):
        with pytest.raises(sr.SemiringError, match=message):
            make(bad)
    assert sr.mod_p(5) is sr.mod_p(5)
    assert sr.closure(np.array([[0, 3], [1, 0]]), "mod_p(5)").tolist() == [[2, 1], [2, 2]]
    large = 2**31 - 1
    S = sr.mod_p(large)
    a = np.array([2, 3, large - 2, 12345])
    assert [s * (1 - x) % large for s, x in zip(S.star(a).tolist(), a.tolist(), strict=True)] == [1] * 4


@pytest.mark.parametrize("k", range(1, 9))
def test_the_k_least_of_both_and_of_all_sums(k: int) -> None:
    S = sr.k_best(k)
    chance = random.Random(k)

    def element() -> tuple[float, ...]:
        lengths = sorted(float(chance.randrange(6)) for _ in range(chance.randint(0, k)))
        return (*lengths, *[inf] * (k - len(lengths)))

    for _ in range(50):
        x, y = element(), element()
        assert S.add(x, y).item() == tuple(sorted(x + y)[:k])
        assert S.mul(x, y).item() == tuple(sorted(p + q for p in x for q in y)[:k])
        steps = x[0] if x[0] else 1.0  # the star of a walk of length a: 0, a, 2a …
        assert S.star((steps, *[inf] * (k - 1))).item() == tuple(steps * i if i else 0.0 for i in range(k))
    assert S.zero == (inf,) * k and S.one == (0, *[inf] * (k - 1))


@pytest.mark.parametrize("p", [2, 3, 5, 7, 251, 65_537])
def test_a_field_has_inverses(p: int) -> None:
    S = sr.mod_p(p)
    a = np.array(sorted({0, *range(2, min(p, 300)), p - 1} - {1}))
    star = S.star(a)
    assert ((star >= 0) & (star < p)).all() and (star * (1 - a) % p == 1).all()
    assert S.add(a, a[::-1]).tolist() == [(x + y) % p for x, y in zip(a.tolist(), a[::-1].tolist(), strict=True)]
    assert S.mul(a, a[::-1]).tolist() == [x * y % p for x, y in zip(a.tolist(), a[::-1].tolist(), strict=True)]
    with pytest.raises(sr.SemiringError, match="the star of 1 does not exist"):
        S.star(np.array([1]))


@pytest.mark.parametrize("M", [1, 2, 127, 255])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4"])
def test_sums_up_to_a_bound(M: int, dtype: str) -> None:
    """In 8 bits too no sum wraps on the way."""
    S, a = sr.saturating_min_plus(M), np.arange(M + 1)
    found = S.mul(a[:, None].astype(dtype), a.astype(dtype))
    assert found.dtype == dtype and np.array_equal(found, np.minimum(M, a[:, None] + a))


def test_names_of_families() -> None:
    made = [sr.saturating_min_plus(9), sr.k_best(2), sr.mod_p(5)]
    assert [S.name for S in made] == ["saturating-min-plus(9)", "2-best", "mod-5"]
    assert made == [sr.saturating_min_plus(9), sr.k_best(2), sr.mod_p(5)]
    for p in (1, 0, -7, 9, 25, 2.0, True):
        with pytest.raises(sr.SemiringError, match=r"must be a (whole number|prime)"):
            sr.mod_p(p)


def test_a_number_of_any_type_names_the_same_algebra() -> None:
    assert sr.k_best(np.int8(2)) is sr.k_best(2)
    assert sr.mod_p(np.int64(7)) is sr.mod_p(7)
    assert sr.saturating_min_plus(np.uint8(9)) is sr.saturating_min_plus(9)


@pytest.mark.parametrize("name", [*sr.catalogue, *sr.counter_examples])
def test_algebras_are_pickled_by_name(name: str) -> None:
    S = getattr(sr, name, None) or sr.counter_examples[name]
    S = S if isinstance(S, sr.Semiring) else sr.catalogue[name]
    assert pickle.loads(pickle.dumps(S)) is S is copy.deepcopy(S) is copy.copy(S)


def test_algebras_with_parameters_are_pickled_by_what_gives_them() -> None:
    made = [sr.mod_p(11), sr.k_best(5), sr.saturating_min_plus(99), sr.lexicographic(sr.min_plus, sr.max_min),
            sr.lexicographic(sr.min_plus, sr.k_best(2), fields=["x", "y", "z"])]
    for S in made:
        assert pickle.loads(pickle.dumps(S)) is S
