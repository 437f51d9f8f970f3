"""Stars that are not declared, and those of Python objects."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from methods import METHODS

import semiring as sr
from semiring.algebra.stars import remembered

inf = np.inf
DENSE = tuple(method for method in METHODS if method != "squaring")  # which needs cycles that do not improve


def capped(most: int) -> sr.Semiring:
    """Longest paths up to a bound: a cycle improves until the bound is reached."""
    return sr.Semiring(
        f"capped at {most}", add=np.maximum, mul=lambda a, b: np.where((a < 0) | (b < 0), -1, np.minimum(a + b, most)),
        zero=-1, one=0, carrier=lambda a: (a >= -1) & (a <= most) & (np.floor(a) == a), dtypes="fi",
    )


@pytest.mark.parametrize("method", DENSE)
@pytest.mark.parametrize("dtype", ["f8", "i8", "i1"])
def test_a_cycle_that_stops_improving_has_a_closure(method: str, dtype: str) -> None:
    S = capped(60)
    assert S.selective and not S.bounded and S.has_reached_star and not S.may_diverge
    A = np.array([[-1, 3, -1, -1], [2, -1, 7, -1], [-1, -1, -1, -1], [-1, -1, 0, -1]], dtype)
    expected = np.array([[60, 60, 60, -1], [60, 60, 60, -1], [-1, -1, 0, -1], [-1, -1, 0, 0]])
    assert sr.closure(A, S, method=method, tile=2).tolist() == expected.tolist()
    assert sr.factor(A, S).closure().tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", ["f8", "i8", "i1", "O"])
def test_best_walks_go_round_as_often_as_that_improves(dtype: str) -> None:
    """Dense and sparse, and each walk as heavy as the closure says."""
    S = capped(20)
    A = np.array([[-1, 3, -1, -1], [2, -1, 7, -1], [-1, -1, -1, 0], [-1, -1, 0, -1]], dtype)
    star = sr.closure(A, S)
    for i in range(4):
        for j in range(4):
            weight, walk = sr.path(A, S, i, j)
            assert weight == star[i, j]
            assert (walk is None) == (weight == -1)
            assert walk is None or weight == reduce(S.mul, [A[e] for e in pairwise(walk)], 0)
    assert sr.path(A, S, 0, 1) == (20, [0, 1] * 5)  # 3 + 4 · (2 + 3)
    i, j = np.nonzero(A != -1)
    M = sp.coo_array((A[i, j], (i, j)), A.shape).tocsr() if dtype != "O" else A
    assert np.array_equal(sr.closure_rows(M, S, range(4)), star)
    rows, before = sr.closure_rows(M, S, [2, 3], predecessors=True)
    assert rows.tolist() == star[2:].tolist()
    assert before.tolist() == [[-1, -1, -1, 2], [-1, -1, 3, -1]]
    with pytest.raises(sr.LawError, match=r"capped at 20: best walks go round a cycle .* ask sr.path"):
        sr.closure_rows(M, S, [0], predecessors=True)


def test_squaring_needs_cycles_that_do_not_improve() -> None:
    with pytest.raises(sr.LawError, match="squaring needs an algebra in which longer and longer walks stop improving"):
        sr.closure(np.array([[3]]), capped(60), method="squaring")


def test_a_sum_too_long_is_no_star() -> None:
    S = capped(1000)  # 1,000 steps of 1, and at most 128 are tried
    assert not S.has_reached_star and S.may_diverge
    with pytest.raises(sr.SemiringError, match="declare it with star="):
        S.star(1.0)
    assert sr.closure(np.array([[1.0]]), S).tolist() == [[1000]]  # by products


def least(terms: list) -> Any:
    return reduce(np.minimum, terms)


def polynomial(x: Any, y: Any) -> tuple:
    """The product of polynomials over min-plus, up to the third power of the unknown."""
    return tuple(least([x[i] + y[k - i] for i in range(k + 1)]) for k in range(4))


ON_RECORDS = sr.Semiring(
    "tropical polynomials", fields=[(f"c{k}", "f8") for k in range(4)], zero=(inf,) * 4, one=(0, inf, inf, inf),
    add=lambda x, y: tuple(map(np.minimum, x, y)), mul=polynomial,
    carrier=lambda a: (a.c0 >= 0) & (a.c1 > -inf) & (a.c2 > -inf) & (a.c3 > -inf),
)
ON_OBJECTS = sr.Semiring(
    "tropical polynomials", dtype=object, zero=(inf,) * 4, one=(0.0, inf, inf, inf),
    add=lambda x, y: tuple(map(min, x, y)),
    mul=lambda x, y: tuple(min(x[i] + y[k - i] for i in range(k + 1)) for k in range(4)),
)


@pytest.mark.parametrize("S", [ON_RECORDS, ON_OBJECTS], ids=["records", "objects"])
@pytest.mark.parametrize("method", DENSE)
def test_polynomials_on_a_cycle(S: sr.Semiring, method: str) -> None:
    """Two edges, of weight 1 and 2 and of one step each: a cycle of two steps, whose powers leave the polynomial."""
    zero = (inf,) * 4
    A = S.array([[zero, (inf, 1.0, inf, inf)], [(inf, -2.0, inf, inf), zero]])
    expected = [[(0, inf, -1, inf), (inf, 1, inf, 0)], [(inf, -2, inf, -3), (0, inf, -1, inf)]]
    assert sr.closure(A, S, method=method, tile=1).tolist() == expected


def test_powers_that_end_in_0_are_summed_without_idempotence() -> None:
    S = sr.Semiring(
        "power series", fields={"a": "f8", "b": "f8", "c": "f8"}, zero=(0, 0, 0), one=(1, 0, 0),
        add=lambda x, y: (x.a + y.a, x.b + y.b, x.c + y.c),
        mul=lambda x, y: (x.a * y.a, x.a * y.b + x.b * y.a, x.a * y.c + x.b * y.b + x.c * y.a),
        carrier=lambda x: np.isfinite(x.a) & np.isfinite(x.b) & np.isfinite(x.c),
    )
    A = S.array([[(0, 2, 0), (0, 0, 0)], [(0, 1, 0), (0, 0, 0)]])
    assert sr.closure(A, S)["c"].tolist() == [[4, 0], [2, 0]]
    with pytest.raises(sr.NoClosureError):
        sr.closure(S.array([[(0.5, 0, 0)]]), S)


def test_rounding_is_no_end() -> None:
    """In doubles the powers of 100.5, of distance ½ to 100, end at 100, which no element is."""
    S = sr.Semiring("moved", add=np.minimum, mul=lambda a, b: 100 + (a - 100) * (b - 100), zero=inf, one=101,
                    carrier=lambda a: a > 100)
    assert not S.has_reached_star
    with pytest.raises(sr.NoClosureError, match="cycle 0 → 0"):
        sr.closure(np.array([[100.5]]), S)


def test_objects_whose_powers_do_not_end() -> None:
    S = sr.Semiring("strings", dtype=object, add=lambda x, y: x | y, mul=lambda x, y: {p + q for p in x for q in y},
                    zero=frozenset(), one=frozenset({""}))
    with pytest.raises(sr.NoClosureError, match="vertex 0"):
        sr.closure(S.array([[frozenset("a")]]), S)
    A = S.array([[frozenset(), frozenset("a")], [frozenset(), frozenset()]])
    assert sr.closure(A, S)[0, 1] == {"a"}


def test_a_declared_star_that_is_reached() -> None:
    """A chain in which 1 is not the best: a cycle better than 1 improves once, and then no more."""
    S = sr.Semiring("chain", add=np.maximum, mul=lambda a, b: np.where((a == 0) | (b == 0), 0, np.maximum(a, b)),
                    zero=0, one=1, star=lambda a: np.maximum(a, 1), dtypes="fi",
                    carrier=lambda a: (a == 0) | (a == 1) | (a == 2) | (a == 3))
    assert S.selective and not S.bounded and S.has_reached_star and not S.may_diverge
    A = np.array([[0, 2, 0], [1, 0, 0], [0, 3, 0]])
    for method in DENSE:
        assert sr.closure(A, S, method=method).tolist() == [[2, 2, 0], [2, 2, 0], [3, 3, 1]]
    for T in (sr.min_plus, sr.max_plus, sr.max_times):
        assert T.may_diverge and not T.has_reached_star


class Hidden:
    """An object that holds its parts where they are not seen at once."""

    __slots__ = ("parts",)

    def __init__(self, parts: frozenset):
        self.parts = parts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)


def joined(x: frozenset, y: frozenset) -> frozenset:
    return frozenset(p + q for p in x for q in y)


def polynomials(p: tuple, q: tuple) -> tuple:
    terms: dict = {}
    for (m, k), (n, l) in product(p, q):
        power = tuple(sorted(m + n))
        terms[power] = terms.get(power, 0) + k * l
    return tuple(sorted(terms.items()))


def summed(p: tuple, q: tuple) -> tuple:
    terms = dict(p)
    for m, k in q:
        terms[m] = terms.get(m, 0) + k
    return tuple(sorted(terms.items()))


GROWING: dict[str, tuple[dict, list]] = {
    "words": ({"zero": frozenset(), "one": frozenset([""]), "add": frozenset.union, "mul": joined},
              [frozenset("p"), frozenset(["p", "qq"])]),
    "hidden words": ({"zero": Hidden(frozenset()), "one": Hidden(frozenset([""])),
                      "add": lambda x, y: Hidden(x.parts | y.parts),
                      "mul": lambda x, y: Hidden(joined(x.parts, y.parts))},
                     [Hidden(frozenset("p")), Hidden(frozenset(["p", "qq"]))]),
    "polynomials": ({"zero": (), "one": (((), 1),), "add": summed, "mul": polynomials},
                    [((("x",), 1),), ((("x", "z"), 1), (("y",), 2))]),
    "numbers": ({"zero": 0, "one": 1, "add": lambda a, b: a + b, "mul": lambda a, b: a * b}, [2, 3**5]),
}


@pytest.mark.parametrize("name", GROWING)
def test_sums_that_grow_without_end_are_given_up_soon(name: str) -> None:
    """Declaring tries no such sum, and a closure that needs one is refused with what to do; both within seconds."""
    declaration, (a, b) = GROWING[name]
    began = time.thread_time()
    S = sr.Semiring(name, dtype=object, samples=[a, b], **declaration)
    assert time.thread_time() - began < 2
    C = sr.closure(sr.adjacency([(1, 2, a), (2, 3, b), (1, 3, b)], S), S)
    assert C[1, 3] == S.add(b, S.mul(a, b))
    for ask in (lambda: sr.closure([(1, 2, a), (2, 2, b)], S), lambda: S.star([b])):
        began = time.thread_time()
        with pytest.raises(sr.SemiringError, match="star=") as caught:
            ask()
        assert time.thread_time() - began < 8 and len(str(caught.value)) < 600


def test_objects_whose_sums_are_reached_late_have_a_star() -> None:
    S = sr.Semiring("capped", dtype=object, add=max, mul=lambda a, b: -1 if -1 in (a, b) else min(a + b, 900), zero=-1,
                    one=0, samples=[1, 2, 3, 450, 900])
    assert S.star([1, 7, 0]).tolist() == [900, 900, 0]
    best = sr.Semiring("no end", dtype=object, add=max, mul=lambda a, b: a + b, zero=-inf, one=0, selective=True,
                       samples=[1, 2, -3])
    A = np.array([[-inf, 1], [1, -inf]], object)
    for ask in (lambda: sr.path(A, best, 0, 1), lambda: sr.closure_rows(A, best, 0), lambda: sr.closure(A, best)):
        with pytest.raises(sr.NoClosureError, match="star="):
            ask()


@pytest.mark.parametrize("nothing", [None, float("nan")], ids=str)
def test_a_star_of_objects_that_gives_nothing_does_not_exist(nothing: Any) -> None:
    S = sr.Semiring(
        "exact", add=lambda a, b: Fraction(a) + b, mul=lambda a, b: Fraction(a) * b, zero=Fraction(0), one=Fraction(1),
        dtype=object, star=lambda a: nothing if a == 1 else 1 / (1 - Fraction(a)),
    )
    half, one, none = Fraction(1, 2), Fraction(1), Fraction(0)
    assert S.star([half]).tolist() == [2]
    with pytest.raises(sr.SemiringError, match="exact: the star of 1 does not exist"):
        S.star([half, one])
    A = np.array([[half, one], [none, one]], object)
    for verb in (sr.closure, sr.factor):
        with pytest.raises(sr.NoClosureError, match="vertex 1"):
            verb(A, S)
    with pytest.raises(sr.NoClosureError, match="vertex 1"):
        sr.closure(sr.as_graph([(0, 1, one), (1, 1, one)]), S)
    assert sr.closure(A[None], S, on_divergence="mask").exists.tolist() == [False]


def test_what_is_remembered_belongs_to_the_object_that_is_asked_of() -> None:
    double = remembered(lambda a: 2 * a)
    numbers = [1000 + i for i in range(50)]

    def ask(k: int) -> bool:
        return all(double(numbers[(i * k) % 50]) == 2 * numbers[(i * k) % 50] for i in range(2000))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(ask, (1, 3, 7, 9)))
