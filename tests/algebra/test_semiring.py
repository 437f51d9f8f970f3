"""Declaring an algebra: tracing, records, dtypes, laws, flags, and what is refused."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.kernels.build import kernel
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general

inf = np.inf


# Declaring


def test_a_twin_of_a_built_in_shares_its_code() -> None:
    """Kernels are chosen by what the expressions are, never by a name."""
    twin = sr.Semiring("somebody's", add=np.minimum, mul=lambda a, b: a + b, zero=inf, one=0.0,
                       star=lambda a: np.where(a < 0, -inf, 0))
    for dtype in ("f4", "f8"):
        one, other = (general(S, np.dtype(dtype)) for S in (twin, sr.min_plus))
        assert one.key == other.key
        assert kernel(one) is kernel(other)
    facts = Facts(largest=9)
    one, other = (choose(S, np.dtype("i4"), facts, 5, in_place=False) for S in (twin, sr.min_plus))
    assert kernel(one) is kernel(other)
    narrow = sr.Semiring(
        "narrow", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: (a >= 0) & (a <= 1)
    )
    assert general(narrow, np.dtype("f8")).mul == general(sr.viterbi, np.dtype("f8")).mul
    A = np.array([[inf, 2.0], [1.0, inf]])
    assert (sr.closure(A, twin) == sr.closure(A, sr.min_plus)).all()


def hops(**options: Any) -> sr.Semiring:
    declared = {
        "fields": {"cost": "f8", "hops": "f8"}, "zero": (inf, inf), "one": (0, 0),
        "add": lambda x, y: np.where((x.cost < y.cost) | ((x.cost == y.cost) & (x.hops <= y.hops)), x, y),
        "mul": lambda x, y: (x.cost + y.cost, x.hops + y.hops), "star": lambda a: (0, 0),
        "carrier": lambda a: (a.cost >= 0) & (a.hops >= 0) & ((a.cost < inf) | (a.hops == inf)),
    }
    return sr.Semiring("hops", **(declared | options))


@pytest.mark.parametrize("mul", [
    lambda x, y: (x.cost + y.cost, x.hops + y.hops),
    lambda x, y: [x.cost + y.cost, x.hops + y.hops],
    lambda x, y: {"hops": x.hops + y.hops, "cost": x.cost + y.cost},
    lambda x, y: tuple(p + q for p, q in zip(x, y, strict=True)),
    lambda x, y: (x["cost"] + y[0], x[1] + y["hops"]),
], ids=["tuple", "list", "mapping", "iterated", "indexed"])
def test_records_are_returned_in_many_ways(mul: Any) -> None:
    S = hops(mul=mul)
    assert S.is_record
    assert S.selective and S.bounded and S.idempotent and S.commutative
    assert S.traced.raw_mul == hops().traced.raw_mul
    assert S.mul((1.0, 2), (3.0, 4)).item() == (4, 6)
    assert S.zero_in(S.default_dtype).item() == (inf, inf)


def test_zero_of_a_record_may_be_a_mapping() -> None:
    S = hops(zero={"hops": inf, "cost": inf}, one={"cost": 0, "hops": 0})
    assert S.zero_in(S.default_dtype).item() == (inf, inf)
    assert S.eye(2)["cost"].tolist() == [[0, inf], [inf, 0]]
    with pytest.raises(sr.SemiringError, match="needs the 2 components"):
        hops(zero=(inf,))


def test_records_run_like_built_in_ones() -> None:
    S = hops()
    A = S.array([[(inf, inf), (1.0, 1), (2.0, 1)], [(inf, inf), (inf, inf), (1.0, 1)], [(inf, inf)] * 3])
    assert sr.closure(A, S)[0, 2].item() == (2, 1)
    assert (sr.closure(A, S) == sr.closure(A, sr.shortest_hops)).all()


def test_what_cannot_be_traced_runs_on_objects_and_says_so_once() -> None:
    with pytest.warns(sr.SemiringWarning, match="slow: .*run on Python objects.*NumPy ufuncs.*dtype=object") as caught:
        S = sr.Semiring(
            "slow",
            add=lambda a, b: math.gcd(a, b),
            mul=lambda a, b: math.lcm(a, b),
            zero=0,
            one=1,
            star=lambda a: 1,
            samples=[2, 3, 6, 4],
        )
    assert len(caught) == 1
    assert S.is_object
    A = np.array([[0, 4], [6, 0]], object)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sr.matmul(A, A, S).tolist() == [[12, 0], [0, 12]]
        assert sr.closure(A, S).tolist() == [[1, 4], [6, 1]]
        sr.Semiring(
            "meant", dtype=object, add=lambda a, b: math.gcd(a, b), mul=lambda a, b: math.lcm(a, b), zero=0, one=1
        )
    with pytest.raises(sr.SemiringError, match="dtype can only be object"):
        sr.Semiring("mine", dtype="f8", add=np.minimum, mul=np.add, zero=inf, one=0)


def test_fractions_are_exact() -> None:
    third = Fraction(1, 3)
    A = np.array([[Fraction(0), third], [third, Fraction(0)]], object)
    closed = sr.closure(A, sr.plus_times)
    assert closed.tolist() == [[Fraction(9, 8), Fraction(3, 8)], [Fraction(3, 8), Fraction(9, 8)]]
    assert sr.matmul(A, A, sr.plus_times)[0, 0] == Fraction(1, 9)
    best = sr.closure(A, sr.max_times)
    assert best.tolist() == [[1, third], [third, 1]]
    B = np.array([[0, 2], [0, 0]], object)
    B[1, 0] = inf
    assert sr.matmul(B, B, sr.counting)[1, 1] == inf


def test_the_default_star() -> None:
    """a* = 1 where 1 bounds a, and undefined elsewhere."""
    S = sr.Semiring(
        "reliable", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: (a >= 0) & (a <= 1)
    )
    assert S.star([0.0, 0.5, 1.0]).tolist() == [1, 1, 1]
    assert S.bounded
    T = sr.Semiring("open", add=np.minimum, mul=np.add, zero=inf, one=0)
    assert T.star(2.0) == 0
    with pytest.raises(sr.SemiringError, match="open: the star of -1 does not exist"):
        T.star(-1.0)
    with pytest.raises(sr.NoClosureError):
        sr.closure(np.array([[-1.0]]), T)
    assert sr.closure(np.array([[1.0]]), T)[0, 0] == 0
    P = sr.Semiring("sums", add=np.add, mul=np.multiply, zero=0.0, one=1.0, carrier=np.isfinite)
    with pytest.raises(sr.NoClosureError, match="eliminating vertex 1"):
        sr.closure(np.array([[0.0, 2.0], [0.5, 0.25]]), P)
    assert sr.closure(np.array([[0.0, 2.0], [0.0, 0.0]]), P).tolist() == [[1, 2], [0, 1]]


@pytest.mark.parametrize(
    ("flag", "options"),
    [
        ("idempotent", {"add": np.add, "mul": np.multiply, "zero": 0.0, "one": 1.0, "carrier": np.isfinite}),
        ("selective", {"add": np.gcd, "mul": np.lcm, "zero": 0, "one": 1, "dtypes": "iu", "carrier": lambda a: a >= 0}),
        ("bounded", {"add": np.minimum, "mul": np.add, "zero": inf, "one": 0.0}),
        (
            "commutative",
            {
                "fields": {"a": "f8", "b": "f8"},
                "zero": (0, 0),
                "one": (1, 0),
                "add": lambda x, y: (x.a + y.a, x.b + y.b),
                "mul": lambda x, y: (x.a * y.a, x.a * y.b + x.b * y.a * y.a),
                "samples": [(1, 1), (2, 1), (0, 1)],
                "product_only": True,
            },
        ),
    ],
)
def test_flags_that_the_samples_refute(flag: str, options: dict) -> None:
    with pytest.raises(sr.LawError, match=f"mine was declared {flag}, but .* not .*With a = .* = .*; drop the flag"):
        sr.Semiring("mine", **options, **{flag: True})
    assert flag not in sr.Semiring("mine", **options).flags


def test_samples_outside_the_carrier_are_left_out_but_0_and_1_must_be_inside() -> None:
    with pytest.raises(sr.SemiringError, match="zero or one is outside the declared carrier"):
        sr.Semiring("mine", add=np.minimum, mul=np.add, zero=inf, one=0.0, carrier=np.isfinite)


# Showing


def test_repr_shows_the_tuple_and_the_flags() -> None:
    assert repr(sr.min_plus) == "Semiring min-plus: (R ∪ {±∞}, min, +, +∞, 0)  idempotent, selective, commutative"
    assert repr(sr.plus_times).endswith("commutative")
    mine = sr.Semiring("mine", add=np.minimum, mul=lambda a, b: np.maximum(a, b), zero=inf, one=-inf)
    assert repr(mine) == (
        "Semiring mine: (R ∪ {±∞}, min(a, b), max(a, b), ∞, −∞)  idempotent, selective, bounded, commutative")
    for S in sr.catalogue.values():
        page = S._repr_html_()
        assert page.startswith("<table ") and page.endswith("</table>")
        assert page.count("<tr>") == page.count("</tr>") == 4
        for text in ("(S, ⊕, ⊗, 0, 1)", "flags", "closure", "dtypes"):
            assert f'<th scope="row">{text}</th>' in page
    odd = sr.Semiring("<b>&", add=np.minimum, mul=np.maximum, zero=inf, one=-inf)
    assert ">&lt;b&gt;&amp;</caption>" in odd._repr_html_()
