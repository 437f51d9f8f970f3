"""Flags and laws rest on random elements, in every dtype: what is claimed holds in the whole carrier.

An algebra here is a semiring that lacks flags which 0, 1 and small numbers suggest; or none, by a law that fails far
from them; or one in wide dtypes only. What is true of it is written beside it; answers come from `bases`.
"""

from __future__ import annotations

from typing import Any

import families
import numpy as np
import pytest
from bases import REALS
from checking import Effort, examine
from generated import MOVES, Generated, Move, declaration
from hypothesis import given
from hypothesis import strategies as st

import semiring as sr
from semiring.algebra import samples

inf = np.inf
FLAGS = ("idempotent", "selective", "bounded", "commutative")
REAL = {b.name: b for b in REALS}
MOVE = {m.name: m for m in MOVES}


def lattice_above(chain: int, bits: int, at: int = 0) -> dict[str, Any]:
    """A chain of 2ᵏ elements below all subsets of some bits, moved: distributive, and selective on the chain alone."""
    a, b = lambda a: a - at, lambda b: b - at
    return {
        "add": lambda x, y: np.where(np.minimum(a(x), b(y)) < chain, np.maximum(x, y), (a(x) | b(y)) + at),
        "mul": lambda x, y: np.where(np.minimum(a(x), b(y)) < chain, np.minimum(x, y), (a(x) & b(y)) + at),
        "zero": at, "one": at + chain + 2**bits - 1, "dtypes": "i",
        "carrier": lambda x: (x >= at) & (x < at + chain + 2**bits),
    }


# What is declared, and the flags that are true of it.
FALSE_SOMEWHERE: dict[str, tuple[dict[str, Any], str]] = {
    # (a + b) under min on numbers above 100, of which 101 is one: 100.5 is better than one.
    "min and × moved by 100": (
        {"add": np.minimum, "mul": lambda a, b: 100 + (a - 100) * (b - 100), "zero": inf, "one": 101,
         "carrier": lambda a: a > 100}, "ISC"),
    "sets moved by 1000": (
        {"add": lambda a, b: ((a - 1000) | (b - 1000)) + 1000, "mul": lambda a, b: ((a - 1000) & (b - 1000)) + 1000,
         "zero": 1000, "one": 1255, "dtypes": "i", "carrier": lambda a: (a >= 1000) & (a <= 1255)}, "IBC"),
    "a chain of 64 under a lattice": (lattice_above(64, 6), "IBC"),
    "a chain of 1024 under a lattice": (lattice_above(1024, 4), "IBC"),
    "a chain of 64 under a lattice, moved": (lattice_above(64, 3, 5000), "IBC"),
    "a chain of 16 under a lattice, below 0": (lattice_above(16, 4, -900), "IBC"),
    # Sums in units of 10⁻¹⁰, where everything is equal up to 10⁻⁹.
    "+ and × in units of 1e-10": (
        {"add": np.add, "mul": lambda a, b: a * b * 1e10, "zero": 0, "one": 1e-10, "carrier": lambda a: a >= 0}, "C"),
    "+ and × in units of 1e-10, with samples": (
        {"add": np.add, "mul": lambda a, b: a * b * 1e10, "zero": 0, "one": 1e-10, "carrier": lambda a: a >= 0,
         "samples": [2e-11, 5e-11, 1e-10]}, "C"),
    "max and + about 1e-12": (
        {"add": np.maximum, "mul": lambda a, b: a + b - 1e-12, "zero": -inf, "one": 1e-12}, "ISC"),
    "samples that suggest too much": (
        {"add": np.minimum, "mul": np.add, "zero": inf, "one": 0, "samples": [0, 1, 2]}, "ISC"),
    "sums beside samples of 0 and 1": (
        {"add": np.add, "mul": np.multiply, "zero": 0, "one": 1, "samples": [0, 1], "carrier": lambda a: a >= 0}, "C"),
    # Relations on two points: composition does not commute.
    "relations moved by 1000": (
        {"add": lambda a, b: ((a - 1000) | (b - 1000)) + 1000, "mul": lambda a, b: _composed(a - 1000, b - 1000) + 1000,
         "zero": 1000, "one": 1009, "dtypes": "i", "carrier": lambda a: (a >= 1000) & (a <= 1015),
         "star": lambda a: ((a - 1000) | 9) + 1000}, "I"),
    "cost without a sign, and hops": (
        {"fields": {"cost": "f8", "hops": "f8"}, "zero": (inf, inf), "one": (0, 0),
         "add": lambda x, y: np.where((x.cost < y.cost) | ((x.cost == y.cost) & (x.hops <= y.hops)), x, y),
         "mul": lambda x, y: (x.cost + y.cost, x.hops + y.hops),
         "carrier": lambda a: (a.cost > -inf) & (a.hops > -inf) & ((a.cost < inf) | (a.hops == inf))
         & ((a.cost == inf) | (a.hops < inf))}, "ISC"),
    "two widths in units of a thousand": (
        {"fields": {"u": "f8", "v": "f8"}, "zero": (1000, 1000), "one": (2000, 2000),
         "add": lambda x, y: (np.maximum(x.u, y.u), np.maximum(x.v, y.v)),
         "mul": lambda x, y: (np.minimum(x.u, y.u), np.minimum(x.v, y.v)),
         "carrier": lambda a: (a.u >= 1000) & (a.u <= 2000) & (a.v >= 1000) & (a.v <= 2000)}, "IBC"),
    "sets of Python": (
        {"add": lambda a, b: a | b, "mul": lambda a, b: a & b, "zero": frozenset(), "one": frozenset(range(9)),
         "dtype": object}, "IBC"),
    "sums of Python": (
        {"add": lambda a, b: a + b, "mul": lambda a, b: a * b, "zero": 0, "one": 1, "dtype": object}, "C"),
}


def _composed(a: Any, b: Any) -> Any:
    rows = [((a >> 2 * i & 1) * (b & 3)) | ((a >> (2 * i + 1) & 1) * (b >> 2 & 3)) for i in (0, 1)]
    return rows[0] | (rows[1] << 2)


@pytest.mark.parametrize("name", FALSE_SOMEWHERE)
def test_flags_that_are_false_far_from_0_and_1_are_not_claimed(name: str) -> None:
    declared, true = FALSE_SOMEWHERE[name]
    S = sr.Semiring(name, **declared)
    assert [f for f in S.flags if f[0].upper() not in true] == []


@pytest.mark.parametrize(
    ("name", "flag"), [(n, f) for n, (_, true) in FALSE_SOMEWHERE.items() for f in FLAGS if f[0].upper() not in true]
)
def test_flags_that_are_false_far_from_0_and_1_are_refused_when_declared(name: str, flag: str) -> None:
    declared, _ = FALSE_SOMEWHERE[name]
    if "samples" in declared or declared.get("dtype") is object:
        pytest.skip("elements that a caller chose, or Python's, refute what they can")
    with pytest.raises(sr.LawError, match=flag):
        sr.Semiring(name, **declared, **{flag: True})


@pytest.mark.parametrize("flag", FLAGS)
def test_objects_without_samples_have_the_flags_that_are_declared(flag: str) -> None:
    declared, true = FALSE_SOMEWHERE["sets of Python"]
    assert sr.Semiring("s", **declared).flags == ()
    if flag[0].upper() in true:
        assert sr.Semiring("s", **declared, **{flag: True}).flags == (flag,)


def test_an_improving_cycle_is_found_where_one_is_not_the_best() -> None:
    S = sr.Semiring("moved", **FALSE_SOMEWHERE["min and × moved by 100"][0])
    A = np.full((3, 3), inf)
    A[0, 1] = A[1, 0] = 100.5
    with pytest.raises(sr.NoClosureError):
        sr.closure(A, S)


# Laws that fail far from 0 and 1.
BROKEN = {
    "associative beyond 60": {"add": np.minimum, "mul": lambda a, b: np.where(a + b > 60, a + b + 1, a + b),
                              "zero": inf, "one": 0, "carrier": lambda a: a >= 0},
    "associative beyond 600": {"add": np.minimum, "mul": lambda a, b: np.where(a + b > 600, a + b + 1, a + b),
                               "zero": inf, "one": 0, "carrier": lambda a: a >= 0},
    "commutative beyond 60": {"add": lambda a, b: np.where(a + b > 60, a, np.minimum(a, b)), "mul": np.add, "zero": inf,
                              "one": 0, "carrier": lambda a: a >= 0},
    "distributive below −50": {"add": lambda a, b: np.where(np.minimum(a, b) < -50, a + b, np.maximum(a, b)),
                               "mul": np.add, "zero": -inf, "one": 0},
    "neutral one beyond 60": {"add": np.maximum, "mul": lambda a, b: np.where((a > 60) | (b > 60), 61, a * b),
                              "zero": 0, "one": 1, "carrier": lambda a: (a >= 0)},
    "zero that does not absorb beyond 60": {"add": np.maximum, "mul": lambda a, b: np.where(a > 60, a, a * b),
                                            "zero": 0, "one": 1, "carrier": lambda a: (a >= 0)},
    "fractions beside whole numbers": {"add": np.add, "mul": lambda a, b: np.floor(a * b), "zero": 0, "one": 1,
                                       "carrier": lambda a: a >= 0},
    "modulo 7 of all numbers": {"add": lambda a, b: (a + b) % 7, "mul": lambda a, b: (a * b) % 7, "zero": 0, "one": 1,
                                "dtypes": "i"},
    "bits beyond those of one": {"add": lambda a, b: a | b, "mul": lambda a, b: a & b, "zero": 0, "one": 255,
                                 "dtypes": "i"},
    "in tiny numbers": {"add": np.maximum, "mul": lambda a, b: a * b * 1e10 + 1e-12, "zero": 0, "one": 1e-10,
                        "carrier": lambda a: (a >= 0) & (a <= 1e-10)},
    "records": {"fields": {"p": "f8", "q": "f8"}, "zero": (inf, inf), "one": (0, 0),
                "add": lambda x, y: (np.minimum(x.p, y.p), np.where(x.q + y.q > 60, x.q, np.minimum(x.q, y.q))),
                "mul": lambda x, y: (x.p + y.p, x.q + y.q), "carrier": lambda a: (a.p >= 0) & (a.q >= 0)},
}


@pytest.mark.parametrize("name", BROKEN)
def test_laws_that_fail_far_from_0_and_1_are_refused(name: str) -> None:
    with pytest.raises(sr.LawError, match="is not a semiring"):
        sr.Semiring(name, **BROKEN[name])  # type: ignore[arg-type]


# Right in wide dtypes; in narrow ones the algebra is computed in wider ones, or refused with the reason.


def by(name: str, forth: Any, back: Any, **more: Any) -> Move:
    return Move(name, forth, back, "", "", **more)


def capped(low: int, top: int, kinds: str) -> Generated:
    """min(a + b − low, top): the sum of two elements leaves narrow dtypes before the constant is taken off."""
    name = f"capped from {low} to {top} in {kinds}"
    assert top - low == 60
    move = by(name, lambda x: x + low, lambda x: x - low, exact=True, whole=True)
    code = declaration(
        name, "np.minimum(a, b)", f"np.minimum(a + b - {low}, {top})", str(top), str(low), dtypes=repr(kinds),
        carrier=f"lambda a: (a >= {low}) & (a <= {top})",
    )
    return Generated(name, code, REAL["min-plus up to 60"], (("", "", move),), top, low, declared_star=False)


def scaled(unit: float, kinds: str = "f") -> Generated:
    """max and × on [0, unit]: the constant does not fit narrow floats, or its reciprocal has none."""
    name = f"viterbi in units of {unit}"
    wide = np.longdouble(unit)
    code = declaration(
        name, "np.maximum(a, b)", f"a * b / {unit!r}" if unit > 1 else f"a * b * {1 / unit!r}", "0", repr(unit),
        carrier=f"lambda a: (a >= 0) & (a <= {unit!r})", dtypes=repr(kinds),
    )
    move = by(name, lambda x: x * wide, lambda x: x / wide)
    return Generated(
        name, code, REAL["viterbi"], (("", "", move),), 0, unit, tolerance=64.0, relative=True, declared_star=False
    )


UNSIGNED = Generated(
    "lukasiewicz from 0 to 8, unsigned",
    declaration("lukasiewicz from 0 to 8, unsigned", "np.maximum(a, b)", "np.maximum(a + b - 8, 0)", "0", "8",
                         carrier="lambda a: a <= 8", dtypes="'u'"),
    REAL["lukasiewicz"], (("", "", by("8 x", lambda x: 8 * x, lambda x: x / 8, exact=True, whole=True)),), 0, 8,
    declared_star=False,
)
SIGNS = Generated(
    "lukasiewicz from 0 to 8, both",
    declaration("lukasiewicz from 0 to 8, both", "np.maximum(a, b)", "np.where(a + b < 8, 0, a + b - 8)", "0",
                         "8", carrier="lambda a: (a >= 0) & (a <= 8)", dtypes="'ui'"),
    UNSIGNED.base, UNSIGNED.parts, 0, 8, declared_star=False,
)
NARROW = (
    (capped(6, 66, "i"), "i1"), (capped(100, 160, "iu"), "u1"), (capped(200, 260, "u"), "u1 u2"),
    (capped(-128, -68, "i"), "i1"), (capped(32640, 32700, "i"), "i2"), (scaled(1e-40), "f4 f2"), (scaled(1e40), "f4"),
    (scaled(60000.0), "f2"), (scaled(float(np.e)), "f2"), (SIGNS, "u1"),
)


@pytest.mark.parametrize(("g", "dtypes"), NARROW, ids=lambda x: str(x))
def test_narrow_dtypes_answer_right_or_are_refused(g: Generated, dtypes: str) -> None:
    S = g.declare(sr)
    effort = Effort(stack=12, orders=(2, 4, 6), single=2, few=2, sparse=False)
    for dtype in map(np.dtype, dtypes.split()):
        zero, _ = g.to_data(g.base.full((2, 2), g.base.zero), dtype)
        try:
            sr.closure(zero, S)
        except sr.SemiringError as e:
            assert dtype.name in str(e)
            continue
        tally = examine(g, sr, effort=effort, dtypes=[dtype])
        assert tally.counts["closures"] > 100
        assert not tally.differences, str(tally.differences[0])


def test_differences_that_wrap_in_every_unsigned_dtype_are_refused() -> None:
    """a + b − 8 is not a number below 0, so that its maximum with 0 is not 0."""
    with pytest.raises(sr.LawError, match="is not a semiring"):
        UNSIGNED.declare(sr)


def test_the_carriers_ends_obey_the_laws_in_every_dtype() -> None:
    """0, 1 and the ends of the carrier, combined by the library's own operations in each dtype it claims."""
    for g in (capped(6, 66, "iu"), capped(100, 160, "iu"), SIGNS):
        S = g.declare(sr)
        for dtype in S.dtypes:
            ends, fits = g.to_data(np.array([g.base.zero, g.base.one], g.base.dtype), dtype)
            assert fits.all()
            a, b, c = (x.ravel() for x in np.meshgrid(ends, ends, ends))
            assert (S.mul(S.mul(a, b), c) == S.mul(a, S.mul(b, c))).all(), (g, dtype)
            assert (S.mul(a, S.add(b, c)) == S.add(S.mul(a, b), S.mul(a, c))).all(), (g, dtype)


NAN = ("Einstein sums", "Hamacher products", "conductances in series", "resistors in parallel")


@pytest.mark.parametrize("name", NAN)
def test_nan_comes_out_of_nothing(name: str) -> None:
    """0 ⊗ a is NaN by the formula; no answer of any verb may show it."""
    g = families.families()[name]
    tally = examine(g, sr, effort=Effort(stack=12, orders=(3, 5), single=3, dtypes=1, sparse=name == NAN[0]))
    assert tally.counts["closures"] > 200
    assert not tally.differences, str(tally.differences[0])


@given(st.lists(st.sampled_from([0.0, -0.0, 1.5, -3.0, 7.0, 200.0])), st.sampled_from(["f8", "f4", "i4", "u1", "c16"]))
def test_candidates_are_taken_once_and_in_order(values: list[float], dtype: str) -> None:
    array = np.abs(values).astype(dtype) if dtype == "u1" else np.array(values).astype(dtype)
    assert samples._distinct(array).tolist() == np.unique(array).tolist()
