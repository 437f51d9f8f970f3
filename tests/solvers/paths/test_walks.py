"""Walks whose weight a dtype cannot hold, and vertices that some walk leads to."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import semiring as sr
from semiring.solvers.paths import walks
from semiring.solvers.paths.walks import as_python


@pytest.mark.parametrize("looked", [1, 3, 1 << 14])
def test_what_is_lost_is_told_whichever_line_it_is_in(looked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many edges are looked at together."""
    monkeypatch.setattr(walks, "FRACTIONS_AT_ONCE", looked)
    i, j = np.array([0, 1, 3, 4, 6, 7, 8]), np.array([1, 2, 4, 5, 7, 8, 2])
    weights = np.array([0.5, 0.5, 1e-30, 1e-30, 1e-30, 1e-30, 0.25], "f4")
    for change, pair in ((1.0, "from 6 to 2"), (1e30, "from 3 to 5")):  # walks to 2 come first
        A = sp.csr_array((weights * np.where(i >= 6, change, 1).astype("f4"), (i, j)), shape=(9, 9))
        for matrix in (A, A.toarray()):
            with pytest.raises(sr.SemiringError, match=f"the best walk {pair} has a weight that float32 cannot hold"):
                sr.paths(matrix, sr.max_times if change > 1 else sr.viterbi)
    true = sp.csr_array((np.full(7, 0.4, "f4"), (i, j)), shape=(9, 9))  # of which two make 0 ∨ (0.4 + 0.4 − 1) = 0
    R = sr.paths(true, sr.lukasiewicz)
    assert len(R) == 7 and R[3, 5].vertices is None


def test_numbers_as_pythons() -> None:
    assert type(as_python(np.float32(2))) is float and type(as_python(np.int8(2))) is int
    record = np.zeros(1, "f4,i4")[0]
    assert as_python(record) is record and as_python("text") == "text"
