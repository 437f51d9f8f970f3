"""Closures and products as verbs: what a prepared matrix keeps, and how a function becomes a verb."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring import matrices
from semiring.solvers.task import Task, options

TRIPLES = ([3.0, 10.0, 4.0], ([0, 0, 1], [1, 2, 2]))


@pytest.mark.parametrize("matrix", [np.full((2, 2), 0.5), sp.csr_array(TRIPLES, (3, 3)), sr.pack([(0, 1)])])
def test_what_is_prepared_is_not_overwritten(matrix: Any) -> None:
    S = sr.boolean if isinstance(matrix, sr.PackedMatrix) else sr.max_min
    P = sr.prepare(matrix, S)
    with pytest.raises(sr.SemiringError, match=r"^overwrite=True would change A, which was prepared"):
        sr.closure(P, S, overwrite=True)


def test_a_verb_computes_the_task_that_its_function_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "BUILDERS", {})

    @matrices.verb
    def twice(A: Any, *, device: str | None = None) -> Any:
        """Double."""
        return Task("matmul", sr.min_plus, (A, A), options(device=device), (None,))

    assert twice(np.array([[1.0]])).tolist() == [[2]] and twice.__doc__ == "Double."
    assert matrices.BUILDERS["twice"](np.array([[1.0]]), device="cpu").options.device == "cpu"
