"""Floyd's loops over an engine that writes down what it is asked."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.algorithms.blocks import UndefinedStar
from semiring.algorithms.history.floyd import floyd


class MinPlus:
    """Vertices eliminated by NumPy; a pivot below zero has no star."""

    def __init__(self) -> None:
        self.seen: list[int] = []

    def eliminate(self, A: np.ndarray, k: int) -> bool:
        self.seen.append(k)
        np.minimum(A, A[:, k, None] + A[k], out=A)
        A[k, k] = min(A[k, k], 0)
        return bool(A[k, k] >= 0)


def test_every_vertex_is_eliminated_once_in_order() -> None:
    A = np.array([[0.0, 1, 9], [9, 0, 1], [9, 9, 0]])
    engine = MinPlus()
    floyd(A, engine)
    assert engine.seen == [0, 1, 2] and A[0, 2] == 2


def test_the_first_pivot_without_a_star_is_told() -> None:
    with pytest.raises(UndefinedStar) as caught:
        floyd(np.array([[0.0, 1], [-2, 0]]), MinPlus())
    assert caught.value.pivot == 1
