"""The methods that tests go over, as the library lists them: a schedule that is added there is tested by them all."""

from __future__ import annotations

from semiring.solvers.dense.schedules import SCHEDULES

METHODS = ("auto", *SCHEDULES)  # what a closure takes as `method=`, of whatever kind its matrix is
