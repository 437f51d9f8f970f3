"""Warshall's algorithm with sets of Python's for rows."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from semiring.algorithms.history.warshall import warshall


class Sets:
    """Rows of truth values in NumPy."""

    def unite(self, A: np.ndarray, k: int) -> None:
        A[A[:, k]] |= A[k].copy()

    def add_one(self, A: np.ndarray) -> None:
        np.fill_diagonal(A, True)


@given(st.integers(0, 6).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_it_is_what_powers_reach(entries: list[bool]) -> None:
    n = round(len(entries) ** 0.5)
    A = np.array(entries, bool).reshape(n, n)
    reached = np.linalg.matrix_power(A.astype(float) + np.eye(n), n) > 0 if n else A
    warshall(A, Sets())
    assert (reached == A).all()
