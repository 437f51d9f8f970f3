"""Declaring an algebra: tracing, records, dtypes, laws, flags, and what is refused."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import oracle
import pytest
from bridge import CASES, ours

import semiring as sr
from semiring.algebra import laws
from semiring.kernels.build import kernel
from semiring.kernels.choose import choose
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general

inf = np.inf
NAMES = {"I": "idempotent", "S": "selective", "B": "bounded", "C": "commutative"}


def same(S: oracle.Algebra, element: Any, scalar: Any) -> bool:
    """Whether a scalar of the library is an element of the oracle."""
    array = np.empty((1, 1), object if S.objects else np.asarray(scalar).dtype)
    array[0, 0] = scalar
    found = oracle.from_numpy(S, array)[0][0]
    return S.close(element, found, 2.0**-9)


# The catalogue against the oracle's table


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
    plus, star, defined = A.add(column[:, None], column), A.star(column), A.defined(column)
    for i, a in enumerate(held):
        for j, b in enumerate(held):
            assert same(S, S.plus(a, b), plus[i, j]) or not holds(S, S.plus(a, b), dtype), (a, b, plus[i, j])
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


# Declaring


def test_spellings_of_one_operation_are_one_expression() -> None:
    declared = [
        sr.Semiring("a", add=add, mul=mul, zero=inf, one=0)
        for add, mul in (
            (np.minimum, np.add),
            (lambda a, b: np.minimum(b, a), lambda a, b: a + b),
            (lambda a, b: np.where(a < b, a, b), lambda a, b: np.add(b, a)),
            (lambda a, b: np.where(a > b, b, a), lambda a, b: b + a),
            (lambda a, b: np.fmin(a, b), lambda a, b: a + b),
        )
    ]
    for S in declared[1:]:
        assert S.traced.add.is_plain("minimum"), S
        assert S.traced.raw_mul.is_plain("add"), S
    assert declared[0].traced.add == declared[1].traced.add or declared[1].traced.add.is_plain("minimum")
    assert declared[0].is_tropical


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
    with pytest.raises(sr.SemiringError, match="dtype may only be object"):
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
    with pytest.raises(sr.LawError, match=f"mine was declared {flag}, but .* fails: .* at a = .* ≠ .*; drop the flag"):
        sr.Semiring("mine", **options, **{flag: True})
    assert flag not in sr.Semiring("mine", **options).flags


def test_counter_examples_are_refused_with_a_witness() -> None:
    with pytest.raises(
        sr.LawError,
        match=r"plus-min is not a semiring: ⊗ distributes on the left fails: .* at a = 1, b = ∞, c = ∞"
        r".*product_only=True",
    ):
        sr.Semiring("plus-min", add=np.add, mul=np.minimum, zero=0, one=inf, carrier=lambda a: a >= 0)
    with pytest.raises(sr.LawError, match="shortest-widest is not a semiring: ⊗ distributes"):
        sr.Semiring(
            "shortest-widest", fields={"width": "f8", "dist": "f8"}, zero=(-inf, inf), one=(inf, 0),
            add=lambda x, y: np.where((x.width > y.width) | ((x.width == y.width) & (x.dist <= y.dist)), x, y),
            mul=lambda x, y: (np.minimum(x.width, y.width), x.dist + y.dist),
            carrier=lambda a: (a.dist >= 0) & ((a.width > -inf) | (a.dist == inf)),
        )
    for S in sr.counter_examples.values():
        report = sr.check_laws(S)
        assert not report.ok
        failed = {v.law.name for v in report.failures}
        assert {"⊗ distributes on the left", "⊗ distributes on the right"} <= failed
        for verdict in report.failures:
            assert len(verdict.witness) == verdict.law.arity


@pytest.mark.parametrize(("broken", "law"), [
    ({"zero": 0.0, "one": 1.0}, "0 is neutral for ⊕"),
    ({"one": 3.0}, "1 is neutral"),
    ({"add": np.subtract, "zero": 0.0, "one": 1.0}, "⊕ is associative"),
    ({"mul": np.subtract}, "⊗ is associative|1 is neutral on the left"),
    ({"star": lambda a: a}, "star unfolds on the left"),
    ({"zero": 5.0, "carrier": lambda a: a <= 5}, "⊗ is associative|absorbs"),
])
def test_broken_laws_are_named(broken: dict, law: str) -> None:
    options = {"add": np.minimum, "mul": np.add, "zero": inf, "one": 0.0} | broken
    with pytest.raises(sr.LawError, match=rf"mine is not a semiring: .*({law})"):
        sr.Semiring("mine", **options)


def test_samples_of_the_caller() -> None:
    assert sr.check_laws(sr.min_plus, [1.0, 2.0, -inf, inf]).ok
    report = sr.check_laws(sr.shortest_hops, [(1.0, 2), (0.0, 0), (inf, inf)])
    assert report.ok and report.samples == 3
    assert sr.check_laws(sr.plus_min, [0.0, 3.0]).derived["commutative"]
    assert str(sr.check_laws(sr.plus_min, [0.0, 1.0, 3.0, inf])).startswith("plus-min: not a semiring on 4 samples\n")
    assert str(sr.check_laws(sr.min_plus, [1.0, 2.0])).startswith("min-plus: a semiring on 2 samples\n")
    assert [v.law.name for v in sr.check_laws(sr.boolean)][: len(laws.AXIOMS)] == [law.name for law in laws.AXIOMS]


def test_samples_outside_the_carrier_are_left_out_but_0_and_1_must_be_inside() -> None:
    with pytest.raises(sr.SemiringError, match="0 or 1 is outside the carrier that was declared"):
        sr.Semiring("mine", add=np.minimum, mul=np.add, zero=inf, one=0.0, carrier=np.isfinite)


# Showing


def test_repr_shows_the_tuple_and_the_flags() -> None:
    assert repr(sr.min_plus) == "Semiring min-plus: (R ∪ {±∞}, min, +, +∞, 0)  idempotent, selective, commutative"
    assert repr(sr.plus_times).endswith("commutative")
    mine = sr.Semiring("mine", add=np.minimum, mul=lambda a, b: np.maximum(a, b), zero=inf, one=-inf)
    assert repr(mine) == "Semiring mine: (S, min(a, b), max(a, b), ∞, −∞)  idempotent, selective, bounded, commutative"
    for S in sr.catalogue.values():
        page = S._repr_html_()
        assert page.startswith("<table>") and page.endswith("</table>")
        assert page.count("<tr>") == page.count("</tr>") == 4
        for text in ("(S, ⊕, ⊗, 0, 1)", "flags", "closure", "dtypes"):
            assert f"<th>{text}</th>" in page
    odd = sr.Semiring("<b>&", add=np.minimum, mul=np.maximum, zero=inf, one=-inf)
    assert "<caption>&lt;b&gt;&amp;</caption>" in odd._repr_html_()


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


@pytest.mark.parametrize("dtype", ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_zero_absorbs_in_integers(dtype: str) -> None:
    for S in (sr.min_plus, sr.max_min, sr.min_max, sr.max_times, sr.min_times, sr.counting, sr.gcd_lcm, sr.max_plus):
        try:
            zero = S.zero_in(dtype)
            S.resolve_dtype(dtype)
        except sr.SemiringError:
            continue
        limits = np.iinfo(dtype)
        values = np.array([limits.min, 0, 1, 2, limits.max - 1, limits.max], dtype)
        A = S.over(np.dtype(dtype))
        values = values[A.contains(values)]
        for product in (A.mul(np.full_like(values, zero), values), A.mul(values, np.full_like(values, zero))):
            assert (product == zero).all(), (S, dtype)
        assert (A.add(np.full_like(values, zero), values) == values).all()


def test_sums_of_integers_never_wrap() -> None:
    low, top = -128, 127
    S = sr.min_plus
    eights = lambda *values: np.array(values, "i1")  # noqa: E731
    assert S.mul(eights(low, low, 5, top), eights(low, 3, low, low)).tolist() == [low, low, low, top]
    for x, y in ((100, 100), (-100, -100), (120, 7), (-120, -8)):
        with pytest.raises(sr.SemiringError, match="min-plus: a sum leaves int8; use a wider dtype"):
            S.mul(eights(x), eights(y))
    assert sr.max_plus.mul(eights(low, top), eights(top, 3)).tolist() == [low, top]
    assert S.mul(np.array([0, 255], "u1"), np.array([7, 0], "u1")).tolist() == [7, 255]
    assert sr.counting.mul([2], [inf]).tolist() == [np.iinfo("i8").max]
    with pytest.raises(sr.SemiringError, match=r"0\.5 is not an integer"):
        sr.counting.mul([2], [0.5])


def test_saturation_in_64_bits() -> None:
    for dtype in ("i8", "u8"):
        top = int(np.iinfo(dtype).max)
        large = np.array([top - 1, top // 2, 2**32, top], dtype)
        assert sr.counting.mul(large, np.array([1, 2, 2**31 - 1, 1], dtype)).tolist() == [
            top - 1, top // 2 * 2, 2**32 * (2**31 - 1), top]
        assert sr.counting.mul(large, large).tolist() == [top] * 4
        assert sr.counting.add(large, large).tolist()[0] == top
        product = sr.matmul(large[None], np.array([1, 0, 0, 0], dtype)[:, None], sr.counting)
        assert product.tolist() == [[top - 1]]


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
