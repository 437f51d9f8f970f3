"""Generated algebras answer as those that they were made from: a few thousand closures; `make fuzz` tries many more.

A failure prints the declaration and the smallest matrices as code to paste.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import bases
import families
import numpy as np
import pytest
from bases import EXISTS, Array, Base
from checking import Effort, Tally, examine
from engines import slow_but

import semiring as sr

FAMILIES = families.families()
# One of a kind each: exact and rounding, selective or not, with and without inverses, odd zeros, tables, bits, records.
SOME = (
    "min-plus ≥ 0, 1/(1 + x)", "min-plus, x + 100", "viterbi, 3 − 2 x", "non-negative plus-times, x²",
    "plus-times up to ∞, log x", "lukasiewicz, −x", "min-plus up to 60, as it is", "semiring 17 of 4 elements",
    "field of 9", "relations on two points", "shortest paths counted, −x, x + 100",
    "triangular matrices over plus-times", "min-plus × max-plus, as it is, as it is",
    "tuples (1, 1) in order, as it is, as it is, f8 f8",
    "tuples (1, 1, -1) in order, as it is, as it is, as it is, i2 i4 i8",
    "tuples (-1, 1, -1) in order, −x, as it is, x + 100, f8 f8 f8",
)
LITTLE = Effort(stack=8, orders=(1, 2, 3, 5, 7), single=2, dtypes=1, few=2, sparse=False)


def elements(base: Base, most: int = 16) -> Array:
    """Some of the elements that matrices are drawn from, with zero and one."""
    pools = np.concatenate([*base.pools, np.array([base.zero, base.one], base.dtype)])
    return pools[np.random.default_rng(0).permutation(len(pools))[:most]]


BASES = {g.base.name: g.base for g in FAMILIES.values()}


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_bases_obey_the_laws_and_have_the_flags_they_claim(base: Base) -> None:
    assert not bases.laws_fail(base, elements(base))


def test_a_base_that_breaks_a_law_is_found() -> None:
    broken = replace(BASES["min-plus ≥ 0"], times=lambda a, b: a + b + (a == 3) * (b == 2))
    assert bases.laws_fail(broken, elements(broken))


def test_there_are_as_many_small_semirings_as_are_known() -> None:
    """Up to renaming, with 0 ≠ 1."""
    assert [len(bases.all_semirings(m)) for m in (2, 3, 4)] == [2, 6, 40]


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_closures_of_bases_solve_their_equation_and_are_sums_of_powers(base: Base) -> None:
    g = next(g for g in FAMILIES.values() if g.base.name == base.name)
    dtype = g.record_dtypes[0] if g.record_dtypes else np.dtype("i8" if base.dtype == bases.WHOLE else "f8")
    A = g.from_data(g.draw(np.random.default_rng(1), 60, 4, dtype))
    star, code = bases.closure(base, A)
    there = code == EXISTS
    assert there.sum() >= 10
    A, star = A[there], star[there]
    one = np.broadcast_to(base.eye(4), A.shape)
    assert _near(bases.matmul(base, A, star, one), star)
    if base.has("idempotent"):
        total, power = one, one
        for _ in range(64):
            power = bases.matmul(base, power, A)
            total = base.plus(total, power)
        assert _near(total, star)


def _near(x: Array, y: Array) -> bool:
    if x.dtype.names:
        return all(_near(x[f], y[f]) for f in x.dtype.names)
    with np.errstate(invalid="ignore"):
        return bool(((x == y) | (np.abs(x - y) <= 1e-9 * np.maximum(1, np.abs(y)))).all())


def test_every_declaration_is_taken_and_no_flag_is_claimed_that_is_false() -> None:
    refused, false = {}, {}
    for name, g in FAMILIES.items():
        try:
            S = g.declare(sr)
        except sr.SemiringError as e:
            refused[name] = str(e)
            continue
        flags = [flag for flag in S.flags if not g.base.has(flag)]
        if flags:
            false[name] = flags
    assert not refused
    assert not false


def told(tally: Tally) -> str:
    return "\n".join(map(str, tally.differences[:3]))


@pytest.mark.parametrize("name", slow_but([[name] for name in SOME], *range(0, len(SOME), 2)))
def test_generated_algebras_answer_as_their_bases(name: str) -> None:
    tally = examine(FAMILIES[name], sr, effort=LITTLE)
    assert tally.counts["closures"] > 300
    assert not tally.refused
    assert not tally.counts["differences"], told(tally)


@pytest.mark.parametrize("name", ["sets of residues modulo 4", "tropical polynomials, star derived"])
def test_stars_that_nobody_declared_and_sums_of_powers_reach_are_found(name: str) -> None:
    tally = examine(FAMILIES[name], sr, effort=LITTLE)
    assert not tally.counts["differences"], told(tally)
    assert not tally.counts["no closure"]


def library(**changes: Any) -> SimpleNamespace:
    """The library with some of its names replaced."""
    return SimpleNamespace(**{name: getattr(sr, name) for name in sr.__all__} | changes)


def test_a_wrong_kernel_is_found_and_the_matrix_shrunk() -> None:
    def closure(A: Any, S: Any, **options: Any) -> Any:
        result = sr.closure(A, S, **options)
        if options.get("method") == "blocked" and options.get("tile") == 2 and result.shape[-1] > 2:
            result[..., 0, 2] = S.zero_in(result.dtype)  # the last step does not reach one entry
        return result

    tally = examine(FAMILIES["min-plus, x + 100"], library(closure=closure), effort=LITTLE)
    assert tally.counts["differences"]
    assert all("blocked" in d.text and "tile=2" in d.text for d in tally.differences)
    smallest = tally.differences[0].inputs[0]
    assert smallest.shape == (3, 3)
    assert (smallest != np.inf).sum() == 1
    assert "sr.Semiring(" in told(tally)


def test_an_entry_that_is_nan_or_an_input_that_is_changed_is_found() -> None:
    def spoil(A: Any, S: Any, *rest: Any, **options: Any) -> Any:
        if A.flags.writeable and A.shape[-1] == 3:
            A[..., 0, 0] = S.one_in(A.dtype)
        return sr.matmul(A, *rest, S, **options) if rest else sr.closure(A, S, **options)

    def poison(A: Any, S: Any, **options: Any) -> Any:
        result = sr.closure(A, S, **options)
        if result.shape[-1] == 5:
            result[..., 0, 0] = np.nan
        return result

    for changed, kind in ((spoil, "changed"), (poison, "NaN")):
        tally = examine(FAMILIES["min-plus, x + 100"], library(closure=changed), effort=LITTLE)
        assert kind in {d.kind for d in tally.differences}


def test_a_declaration_that_means_another_algebra_is_found() -> None:
    right = FAMILIES["min-plus ≥ 0, as it is"]
    wrong = replace(right, code=right.code.replace("a + b", "np.maximum(a, b)"))
    assert wrong.code != right.code
    assert examine(wrong, sr, effort=LITTLE).counts["differences"]


def test_a_flag_that_is_claimed_and_false_is_found() -> None:
    g = FAMILIES["min-plus ≥ 0, as it is"]
    few = replace(g, base=replace(g.base, flags="I"))
    kinds = {d.kind for d in examine(few, sr, effort=LITTLE).differences}
    assert kinds == {"flags"}


def test_answers_where_there_is_no_closure_and_refusals_where_there_is_one_are_found() -> None:
    def eager(A: Any, S: Any, **options: Any) -> Any:
        return sr.closure(A, S, check=False, **options)

    def timid(A: Any, S: Any, **options: Any) -> Any:
        raise sr.NoClosureError("no")

    for closure, kind in ((eager, "answered"), (timid, "refused")):
        tally = examine(FAMILIES["min-plus, x + 100"], library(closure=closure), effort=LITTLE)
        assert kind in {d.kind for d in tally.differences}
