"""The JavaScript rule table against NumPy: every operation in every dtype, every algebra, on limits, ±∞, NaN and −0."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from teach.node import NODE, run

import semiring as sr
from semiring.algebra.evaluate import numpy_function
from semiring.algebra.expression import Expression, Traced, apply, operand, typed
from semiring.algebra.operations import ARITY
from semiring.teach.javascript import DTYPES, JAVASCRIPT, algebra, components_in_page, function, runtime

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")
BOOL = np.dtype(bool)
FLOATS = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 1.5, 2.5, -2.5, 7.25, 1e-300, 1e300, 1e-310, 2.0**52 + 1, 0.1, -0.75,
          709.0, -745.0, 3.0, -3.0, math.pi, math.inf, -math.inf, math.nan]
WHOLE = [0, 1, 2, 3, 5, 7, 12, 31, 32, 63, 64, 100, -1, -2, -7]
# Differences that are allowed, in units of the last place: of what is not a sum, product, quotient or root.
CLOSE = dict.fromkeys(
    "exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh "
    "arctanh cbrt hypot power float_power logaddexp logaddexp2".split(), 4
)


def samples(dtype: np.dtype) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([False, True])
    random = np.random.default_rng(dtype.num)
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array([*FLOATS, *random.normal(size=8), *(100 * random.normal(size=6))]).astype(dtype)
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, limits.max // 2, limits.max - 1, limits.max]
    inside = [x for x in WHOLE if limits.min <= x <= limits.max]
    drawn = random.integers(limits.min, limits.max, 6, dtype=dtype, endpoint=True)
    return np.unique(np.concatenate([np.array([*edges, *inside], dtype), drawn]))


def is_same(found: Any, expected: np.generic, apart: int) -> bool:
    """The same element; of floats as many units of the last place apart, the sign of zero left open."""
    if expected.dtype.kind != "f":
        return bool(found == expected.item()) and isinstance(found, bool) is (expected.dtype.kind == "b")
    if np.isnan(expected) or np.isinf(expected):
        return math.isnan(found) if np.isnan(expected) else found == float(expected)
    return bool(abs(float(found) - float(expected)) <= apart * float(np.spacing(np.abs(expected))))


def cases() -> Any:
    """Every operation in every dtype in which NumPy has it: its name, dtype, text, arguments and answers."""
    for name, dtype in itertools.product(ARITY, DTYPES):
        if name == "cast":
            continue
        inputs = [operand(i) for i in range(ARITY[name])]
        if name == "where":
            inputs[0] = apply("greater", operand(0), operand(1))
        e = Expression(name, inputs)
        try:
            (step,) = (s for s in typed([e], [dtype]) if s.node is e)
        except TypeError:
            continue
        if np.dtype("f2") in (step.writes, *step.reads):
            continue
        pool = samples(dtype)
        some = list(itertools.product(pool, repeat=min(len(inputs), 2)))
        if len(inputs) == 3:
            some = [(x, y, pool[i % len(pool)]) for i, (x, y) in enumerate(some)]
        if name == "power" and dtype.kind in "iu":
            some = [(x, y) for x, y in some if y >= 0]
        columns = [np.array(column, dtype) for column in zip(*some, strict=True)]
        answers = numpy_function((e,), len(inputs), (dtype,), (step.writes,))(*((c,) for c in columns))[0]
        text = function(Traced((e,), len(inputs), 1), [dtype], [step.writes])
        calls = [list(call) for call in zip(*columns, strict=True)]
        yield name, dtype, text, calls, np.broadcast_to(answers, len(some))


@needs_node
def test_every_operation_is_numpys(tmp_path: Path) -> None:
    every = list(cases())
    assert {name for name, *_ in every} == {*ARITY} - {"cast"} and sum(len(calls) for *_, calls, _ in every) > 10**5
    found = run([(text, calls) for _, _, text, calls, _ in every], tmp_path)
    wrong = []
    for (name, dtype, _, calls, expected), answers in zip(every, found, strict=True):
        if name.startswith("logaddexp") and dtype == np.float32:  # of opposite terms NumPy has few digits left
            continue
        wrong += [(name, dtype.name, [x.item() for x in call], y, z) for call, y, z in
                  zip(calls, answers, expected, strict=True) if not is_same(y, z, CLOSE.get(name, 0))]
    assert not wrong[:9]


@needs_node
def test_conversions_are_numpys(tmp_path: Path) -> None:
    every, expected = [], []
    for have, want in itertools.permutations(DTYPES, 2):
        pool = samples(have)
        if have.kind == "f" and want.kind in "iu":  # others are what the machine makes of them
            limits = np.iinfo(want)
            pool = pool[(pool > float(limits.min)) & (pool < float(limits.max))]
        e = Expression("cast", [operand(0)], want.str[1:])
        with np.errstate(all="ignore"):
            answers = numpy_function((e,), 1, (have,), (want,))(((pool),))[0]
        every.append((function(Traced((e,), 1, 1), [have], [want]), [[x] for x in pool]))
        expected.append((have, want, pool, answers))
    wrong = [(have, want, x, y, z) for (have, want, pool, answers), found in
             zip(expected, run(every, tmp_path), strict=True)
             for x, y, z in zip(pool, found, answers, strict=True) if not is_same(y, z, 0)]
    assert not wrong[:9]


def in_page(S: sr.Semiring) -> bool:
    try:
        components_in_page(S)
    except sr.SemiringError:
        return False
    return True


@needs_node
def test_every_algebra_is_the_one_that_python_has(tmp_path: Path) -> None:
    algebras = [S for S in sr.catalogue.values() if in_page(S)]
    assert len(algebras) > 20
    every: list[tuple[str, list[list[Any]]]] = []
    expected: list[tuple[Any, ...]] = []
    for S in algebras:
        parts = components_in_page(S)
        dtype = S.default_dtype if S.is_record else parts[0]
        T, pool = S.over(dtype), np.asarray(S.samples()).astype(dtype)
        i, j = np.divmod(np.arange(len(pool) ** 2), len(pool))
        for name, columns in (("add", (pool[i], pool[j])), ("mul", (pool[i], pool[j])), ("star", (pool,)),
                              ("defined", (pool,))):
            calls = [[list(x) if S.is_record else x for x in call] for call in zip(*columns, strict=True)]
            every.append((f"({algebra(S)}).{name}", calls))
            expected.append((S, name, np.asarray(getattr(T, name)(*columns))))
    wrong = []
    for (S, name, answers), found in zip(expected, run(every, tmp_path), strict=True):
        for x, y in zip(found, answers, strict=True):
            pairs = zip(x, y, strict=True) if isinstance(x, list) else [(x, y)]
            wrong += [(S.name, name, a, b) for a, b in pairs if not is_same(a, b, 4)]
    assert not wrong[:9]


def test_what_a_page_does_not_compute_is_refused() -> None:
    for S in (sr.why, sr.pareto, sr.regex):
        with pytest.raises(sr.SemiringError, match="Python objects"):
            algebra(S)
    assert components_in_page(sr.boolean) == (BOOL,) and components_in_page(sr.min_plus) == (np.dtype("f8"),)
    assert components_in_page(sr.shortest_hops) == (np.dtype("f8"),) * 2


def test_all_that_rows_call_is_there() -> None:
    rows = [*JAVASCRIPT.table.values(), *JAVASCRIPT.floating.values(), *JAVASCRIPT.boolean.values()]
    called = {name for row in rows for name in re.findall(r"R\.(\w+)", row)} | {"big", "whole"}
    there = set(re.findall(r"^  (\w+)[:(]", runtime(), re.MULTILINE))
    assert called <= there and there - called == {"one"}, "and nothing else, but what they call themselves"
