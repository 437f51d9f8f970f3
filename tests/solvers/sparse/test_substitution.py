"""What substitution in sparse factors gives: tables by rows or columns, and answers where A* is kept dense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sparse_patterns import weighted_grid

import semiring as sr
from semiring.operands.read import read
from semiring.solvers.sparse import substitution
from semiring.solvers.task import Task


def test_tables_are_solved_by_rows_or_by_columns_whichever_takes_fewer_terms() -> None:
    F = sr.factor(weighted_grid(30), sr.min_plus)
    many, one = np.arange(900), np.array([17])
    ways = {(len(a), 0 if b is None else len(b)): F._way(a, b).rpartition("factors")[2]
            for a, b in ((one, one), (one, many), (many, one), (many[:2], one), (one, None))}
    down = "; up from the sources, and down to the targets only"
    assert ways == {(1, 1): down, (1, 900): down, (2, 1): down, (1, 0): "",
                    (900, 1): "; columns of the targets, which take less work"}
    plan = sr.plan("closure_rows", F, sources=[3], targets=[9])
    assert plan.shape == (1, 1) and plan.reasons["method"].endswith(down)
    assert sr.plan("path", F, source=3, target=9).reasons["method"].startswith("by existing factors, back along")
    for starts, ends in ((one, one), (many, one), (one, many)):
        np.testing.assert_allclose(F.rows(starts, targets=ends), F.rows(starts)[:, ends], rtol=1e-14)


def test_parts_of_a_closure_that_is_kept_dense() -> None:
    F, G = (sr.factor(weighted_grid(5), sr.min_plus) for _ in range(2))
    F._by.closed = F.lowering.encode(substitution.stable_closure(F._A), True)
    some, ends = np.array([3, 24, 3]), np.array([24, 3, 0, 24])
    for reflexive in (True, False):
        np.testing.assert_allclose(F.rows(some, targets=ends, reflexive=reflexive),
                                   G.rows(some, reflexive=reflexive)[:, ends], rtol=1e-14)
        np.testing.assert_allclose(F.rows(some, reflexive=reflexive), G.rows(some, reflexive=reflexive), rtol=1e-14)


def test_a_dense_closure_stays_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where rounding errors grew; the factors are there too."""
    asked: list[Any] = []

    def task(verb: str, S: sr.Semiring, given: Any, wanted: Any) -> Any:
        asked.append(wanted.device)
        return Task(verb, S, given, wanted)

    monkeypatch.setattr(substitution, "Task", task)
    A = read(weighted_grid(4), sr.min_plus)
    np.testing.assert_array_equal(substitution.stable_closure(A), sr.closure(weighted_grid(4), sr.min_plus))
    assert asked == ["cpu"]
