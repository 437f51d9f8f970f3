"""The frontier's rounds on a small engine of the test's own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import oracle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semiring.algorithms.frontier import frontier

inf = np.inf
S = oracle.ALGEBRAS["min_plus"]
weights = st.sampled_from([inf, inf, 0, 1, 2, 3.5, -1])


@dataclass
class Dense:
    """Rounds over min-plus on a dense matrix: `x` and the frontier of one source."""

    A: np.ndarray
    rounds: int
    calls: list[int] = field(default_factory=list)

    def advance(self, state: tuple[np.ndarray, np.ndarray], rounds: int) -> bool:
        self.calls.append(rounds)
        x, F = state
        for _ in range(rounds):
            best = np.minimum(x, np.min(np.where(F[:, None], x[:, None] + self.A, inf), axis=0, initial=inf))
            F[:] = best < x
            x[:] = best
        return bool(F.any())


@settings(max_examples=200)
@given(data=st.data(), n=st.integers(1, 7), rounds=st.integers(1, 9))
def test_rounds(data: st.DataObject, n: int, rounds: int) -> None:
    rows = [[data.draw(weights) for _ in range(n)] for _ in range(n)]
    kernel = Dense(np.array(rows, float), rounds)
    x, F = np.full(n, inf), np.zeros(n, bool)
    x[0], F[0] = 0, True
    ended = frontier((x, F), kernel, n)
    inside = reached(rows)
    assert ended == (not oracle.has_improving_cycle(S, [[rows[i][j] for j in inside] for i in inside]))
    assert sum(kernel.calls) <= n + 1 and max(kernel.calls) <= rounds
    if ended:
        assert x.tolist() == best_walks(rows)


def reached(rows: list) -> list[int]:
    closed = oracle.closure_by_elimination(oracle.boolean, [[x != inf for x in row] for row in rows])
    return [v for v in range(len(rows)) if closed[0][v]]


def best_walks(rows: list) -> list:
    inside = reached(rows)
    closed = oracle.closure_by_elimination(S, [[rows[i][j] for j in inside] for i in inside])
    found = dict(zip(inside, closed[inside.index(0)], strict=True))
    return [found.get(v, inf) for v in range(len(rows))]


def test_an_engine_that_never_ends_is_left() -> None:
    kernel = Dense(np.array([[-1.0]]), 2)
    assert not frontier((np.zeros(1), np.ones(1, bool)), kernel, 5)
    assert sum(kernel.calls) == 6
    with pytest.raises(AssertionError):
        assert frontier((np.zeros(1), np.ones(1, bool)), kernel, 5)
