"""Chains of rows on a GPU: what is refused before anything runs; tests/gpu/test_chains_of_rows.py has the answers."""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring.kernels.cuda.compile.steps import step_geometry
from semiring.operands.dense import Dense
from semiring.shapes.sequences.forward_on_gpu import offer
from semiring.shapes.sequences.layout import layout


def offered(S: sr.Semiring, dtype: str, n: int, argmax: bool = False) -> sr.Plan:
    given = [Dense(np.zeros(shape, dtype), S, what) for shape, what in (((n,), "x"), ((n, n), "stack"))]
    return offer(given, layout((n,), (n, n), None, None, 7), False, argmax)


def test_a_plan_says_what_will_be_done() -> None:
    plan = offered(sr.log, "f4", 16, argmax=True)
    assert plan.shape == (8, 16) and plan.work == 7 * 16 * 16 and plan.memory == 8 * 16 * (4 + 1)
    assert plan.method == "rows of sequences side by side"


def test_rows_that_registers_hold() -> None:
    """Longer ones go by products of the engine."""
    assert offered(sr.min_plus, "f8", 32).method == "rows of sequences side by side"
    assert step_geometry(8, 1.5, 32) and step_geometry(8, 1.5, 33) is None


def test_complex_numbers_are_pairs_in_registers() -> None:
    assert offered(sr.plus_times, "c16", 3).lowering.dtype == np.dtype("c16")
