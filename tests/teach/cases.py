"""Random small graphs over every algebra that pages compute with, under every method that its laws allow."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

import semiring as sr
from semiring.algebra.objects import Regex
from semiring.errors import LawError
from semiring.kernels.wrappers.recording import recorded
from semiring.solvers.dense.schedules import SCHEDULES, resolve_method
from semiring.teach.elements import Elements
from semiring.teach.page import algebra_functions, calls_as_data, element_as_json
from semiring.teach.replay import Replay

# What edges weigh, for algebras that numbers of the pool below are not elements of.
OTHERS: dict[str, list[Any]] = {
    "shortest_count": [(0, 1), (1, 1), (2, 1), (2, 3), (5, 2)],
    "shortest_hops": [(0, 1), (1, 1), (2, 1), (2, 3), (0, 0)],
    "widest_shortest": [(0, 1), (1, 1), (2, -1), (2, 3), (5, np.inf)],
    "expectation": [(0.5, 1), (0.25, -2), (-0.125, 0)],
    "k_best": [(1, np.inf, np.inf), (0, 2, 3), (2, 2, np.inf), (5, 7, 7)],
    "regex": list(map(sr.letter, "xyzuvw")),
}
POOL = [0, 1, 2, 3, 5, 0.5, 0.25, 0.75, 7, 12, -1, -2.5, 6, 4]


def pool(E: Elements, name: str) -> list[Any]:
    """Elements of an algebra that edges weigh."""
    found = []
    for value in OTHERS.get(name, POOL):
        try:
            found.append(E.element(value))
        except (sr.SemiringError, OverflowError):
            continue
    return found


def live() -> dict[str, Elements]:
    """The algebras of the catalogue that pages compute with."""
    return {name: E for name, S in sr.catalogue.items() if (E := Elements(S)).live}


def legal(S: sr.Semiring) -> list[str]:
    """The methods that the laws of an algebra allow."""
    found = []
    for method in SCHEDULES:
        try:
            found.append(resolve_method(method, S))
        except LawError:
            continue
    return found


def cases(each: int, seed: int = 0) -> Iterator[tuple[str, str, Elements, list[Any], list[list[Any]]]]:
    """Name, method, elements, recorded calls and a matrix, `each` times for every algebra under every method."""
    random = np.random.default_rng(seed)
    for name, E in live().items():
        weights = pool(E, name)
        for method in legal(E.S):
            for _ in range(each):
                n = int(random.integers(1, 4 if name == "regex" else 6))
                tile = n if method == "floyd-warshall" else int(random.integers(1, 4))
                share = random.choice([0.2, 0.5, 0.9])
                matrix = [[weights[random.integers(len(weights))] if random.random() < share else E.zero
                           for _ in range(n)] for _ in range(n)]
                yield name, method, E, recorded(SCHEDULES[method], n, tile), matrix


def scaled(E: Elements, matrix: list[list[Any]]) -> Elements:
    """The elements, knowing how large the weights are."""
    if E.dtype.kind == "f":
        sizes = [abs(float(x)) for row in matrix for x in row]
        E.scale = max((s for s in sizes if np.isfinite(s)), default=0.0) or 1.0
    return E


# Runs in the page, or in node after the page's own scripts: cases in, steps out.
DRIVER = """
const written_ = x => Array.isArray(x) ? x.map(written_) : typeof x === "bigint" ? {big: String(x)}
  : typeof x === "number" && !Number.isFinite(x) ? String(x) : isText(x) ? x.text : x;
const answer_ = cases => cases.map(([functions, info, calls, matrix]) => {
  const neutral = {zero: decoded(info.zero), one: decoded(info.one)};
  const S = info.regex ? {...info, ...REGEX} : {...eval(`(${functions})`), ...info, ...neutral};
  const given = matrix.map(row => row.map(x => info.regex ? typed(x, REGEX.zero) : decoded(x)));
  const {steps, failure} = replay(S, calls, given);
  const told = s => [s.kind, s.name, s.i, s.j, written_(s.value ?? null), s.walks?.shortest ?? [],
    s.walks?.more ?? false, s.changed];
  const {vertex, weight, walks, improves} = failure ?? {};
  return [steps.map(told), failure && [vertex, written_(weight), walks.shortest, improves]];
});
"""


def question(E: Elements, calls: list[Any], matrix: list[list[Any]]) -> list[Any]:
    """A case as a page takes it."""
    S = E.S
    info = {"selective": S.selective, "diverges": S.may_diverge, "unit": S.has_unit_stars, "regex": S.name == "regex",
            "zero": element_as_json(E.zero), "one": element_as_json(E.one)}
    functions = "" if info["regex"] else algebra_functions(S)
    return [functions, info, calls_as_data(calls), [[element_as_json(x) for x in row] for row in matrix]]


def answer(E: Elements, calls: list[Any], matrix: list[list[Any]]) -> list[Any]:
    """What the page should say: steps, and the failure."""
    replay = Replay(scaled(E, matrix), calls, matrix)
    steps = [[s.kind, s.matrix, s.row, s.column, s.new, _lists(s.walks.shortest), s.walks.more, s.changed]
             for s in replay.steps]
    failure = replay.failure
    return [steps, failure and [failure.vertex, failure.weight, _lists(failure.walks.shortest), failure.improves]]


def _lists(walks: Any) -> list[list[int]]:
    return [list(walk) for walk in walks]


def differences(expected: list[Any], found: list[Any], exact: bool) -> list[str]:
    """Where a page's answer is another: values that are not exact may differ by rounding."""
    (steps, failure), (other, failed) = expected, found
    if len(steps) != len(other):
        return [f"{len(steps)} steps, the page has {len(other)}"]
    bad = []
    for at, (step, page) in enumerate(zip(steps, other, strict=True)):
        value, shown = step[4], page[4]
        same = step[:4] == page[:4] and step[5:7] == page[5:7] and (not exact or step[7] == page[7])
        if not (same and equal(value, shown, exact)):
            bad.append(f"step {at}: {step}, the page has {page}")
    if (failure is None) != (failed is None) or (failure and (
        failure[0] != failed[0] or failure[2:] != failed[2:] or not equal(failure[1], failed[1], exact)
    )):
        bad.append(f"failure {failure}, the page has {failed}")
    return bad


def equal(value: Any, shown: Any, exact: bool) -> bool:
    """Whether a page's value is ours."""
    if value is None:
        return shown is None
    if isinstance(value, Regex):
        return bool(shown == value.text)
    if isinstance(value, np.void):
        return all(equal(value[f], part, exact) for f, part in zip(value.dtype.names, shown, strict=True))
    if isinstance(shown, dict):
        return int(value) == int(shown["big"])
    ours, theirs = float(value), float(shown)  # Python reads what JavaScript writes: Infinity, NaN
    if math.isnan(ours) or math.isinf(ours):
        return str(ours) == str(theirs)
    return ours == theirs or (not exact and abs(ours - theirs) <= 1e-12 * max(1.0, abs(ours)))


def as_json(questions: list[Any]) -> str:
    """Cases as a page reads them."""
    return json.dumps(questions)
