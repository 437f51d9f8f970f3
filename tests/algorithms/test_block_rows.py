"""Block rows dealt to workers that do their work at once, on an engine that writes down what it is asked."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from semiring.algorithms.block_rows import block_rows, eliminate, scale_row
from semiring.algorithms.blocks import spans


class AtOnce:
    """A team that does everything when it is asked, and writes down the order."""

    def __init__(self, A: Any, side: int, kernel: Any):
        self.A, self.kernel, self.spans = A, kernel, spans(A.shape[0], side)
        self.count, self.asked = len(self.spans), []  # type: ignore[var-annotated]

    def _row(self, i: int) -> Any:
        return self.A[self.spans[i], :]

    def pivot(self, k: int) -> None:
        self.asked.append(("pivot", k))
        scale_row(self._row(k), self.spans[k], self.kernel)

    def update(self, i: int, k: int) -> None:
        self.asked.append(("update", i, k))
        eliminate(self._row(i), self._row(k), self.spans[k], self.kernel)

    def update_rest(self, k: int) -> None:
        self.asked.append(("rest", k))
        for i in range(self.count):
            if i not in (k, k + 1):
                eliminate(self._row(i), self._row(k), self.spans[k], self.kernel)


@pytest.mark.parametrize(("n", "side"), [(1, 1), (2, 1), (3, 2), (4, 4), (5, 1), (5, 2), (5, 3), (5, 9)])
def test_every_walk_is_found_once(n: int, side: int, plain: SimpleNamespace) -> None:
    """Also those through a pivot block many times: ⊕ is not idempotent, and ⊗ does not commute."""
    A, kernel = plain.edges(n), plain.Kernel(plain.WALKS)
    block_rows(AtOnce(A, side, kernel))
    assert A.read() == plain.all_walks(n)
    assert kernel.work == n**3, "as progress counts"


def test_the_next_pivot_is_made_before_the_one_after_is_needed(plain: SimpleNamespace) -> None:
    team = AtOnce(plain.edges(3), 1, plain.Kernel(plain.WALKS))
    block_rows(team)
    assert team.asked == [("pivot", 0), ("update", 1, 0), ("rest", 0), ("pivot", 1),
                          ("update", 2, 1), ("rest", 1), ("pivot", 2), ("rest", 2)]
