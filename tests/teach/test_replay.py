"""Steps against the library's closures: values, failures, and the walks that values are over."""

from __future__ import annotations

import itertools
from functools import reduce

import numpy as np
import pytest
from teach.cases import cases, legal, live, scaled

import semiring as sr
from semiring.kernels.wrappers.recording import recorded
from semiring.solvers.dense.schedules import SCHEDULES
from semiring.teach.elements import Elements
from semiring.teach.replay import Replay

CASES = list(cases(3, seed=7))


@pytest.mark.parametrize("name", sorted({case[0] for case in CASES}))
def test_closures_and_failures_are_the_library_s(name: str) -> None:
    for _, method, E, calls, matrix in (case for case in CASES if case[0] == name):
        replay = Replay(scaled(E, matrix), calls, matrix)
        array = np.empty((len(matrix), len(matrix)), E.dtype)
        for i, row in enumerate(matrix):
            for j, x in enumerate(row):
                array[i, j] = x
        try:
            expected = sr.closure(array, E.S, method=method)
        except sr.NoClosureError:
            assert replay.failure is not None, f"{name}, {method}: {matrix}"
            continue
        assert replay.failure is None, f"{name}, {method}: {matrix}: {replay.failure}"
        for row, others in zip(replay.values["A"], expected, strict=True):
            for x, y in zip(row, others, strict=True):
                parts = [(x, y)] if E.dtype.kind == "f" else [(x[f], y[f]) for f in E.dtype.names or ()]
                close = parts and all(p == q or np.isclose(p, q, rtol=1e-9, atol=1e-9) for p, q in parts)
                assert close or x == y, f"{name}, {method}: {matrix}"


@pytest.mark.parametrize("name", [name for name, E in live().items() if E.S.selective])
def test_the_walk_of_a_selected_value_weighs_as_much(name: str) -> None:
    for _, method, E, calls, matrix in (case for case in CASES if case[0] == name):
        replay = Replay(scaled(E, matrix), calls, matrix)
        for step in replay.steps:
            if not step.walks.shortest or step.kind == "copy":
                assert step.kind == "copy" or E.same(step.new, E.zero)
                continue
            walk = step.walks.shortest[0]
            assert (walk[0], walk[-1]) == (step.row, step.column)
            weight = reduce(E.mul, (matrix[u][v] for u, v in itertools.pairwise(walk)), E.one)
            same = E.same(weight, step.new) or np.isclose(float(weight), float(step.new), rtol=1e-12)
            assert same, f"{name}, {method}: {matrix}: {step}"


def test_walks_of_a_sum_are_all_of_them() -> None:
    E = Elements(sr.counting)
    matrix = [[E.zero, E.one, E.one], [E.zero, E.zero, E.one], [E.zero] * 3]
    for method in legal(E.S):
        replay = Replay(E, recorded(SCHEDULES[method], 3, 2), matrix)
        assert replay.values["A"][0][2] == 2
        assert replay.walks["A"][0][2].shortest == ((0, 2), (0, 1, 2))


@pytest.mark.parametrize("method", legal(sr.min_plus))
def test_a_negative_cycle_is_named_by_every_method(method: str) -> None:
    E = Elements(sr.min_plus)
    inf = np.inf
    replay = Replay(E, recorded(SCHEDULES[method], 3, 2), [[inf, 1.0, inf], [inf, inf, -3.0], [1.0, inf, inf]])
    assert replay.failure is not None
    assert replay.failure.improves
    assert replay.failure.weight == -1
    assert len(replay.failure.walks.shortest[0]) == 4


def test_rounding_is_no_cycle() -> None:
    E = scaled(Elements(sr.min_plus), [[0.3, 0.1]])
    inf = np.inf
    replay = Replay(E, recorded(SCHEDULES["floyd-warshall"], 3, 3),
                    [[inf, 0.1, inf], [inf, inf, 0.2], [-0.30000000000000004 - 5e-17, inf, inf]])
    assert replay.failure is None


def test_a_star_that_does_not_exist_ends_it() -> None:
    replay = Replay(Elements(sr.plus_times), recorded(SCHEDULES["floyd-warshall"], 1, 1), [[1.0]])
    assert replay.failure is not None
    assert (replay.failure.vertex, replay.failure.improves, replay.steps) == (0, False, [])
