"""Three phases a round: over + and ×, where (1 − A)⁻¹ comes out if the order is right; and over least and sum."""

from __future__ import annotations

import numpy as np
import pytest

from semiring.algorithms.history.katz_kider import katz_kider


class Phases:
    """Phases by NumPy, over + and ×."""

    idempotent = False

    def __init__(self, A: np.ndarray, side: int):
        self.A, self.side = A.copy(), side
        self.blocks = -(-len(A) // side)
        self.called: list[str] = []

    def cut(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        here = np.arange(len(self.A)) // self.side == k
        return np.flatnonzero(here), np.flatnonzero(~here)

    def times(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A @ B

    def star(self, D: np.ndarray) -> np.ndarray:
        return np.linalg.inv(np.eye(len(D)) - D)

    def close(self, k: int) -> None:
        self.called.append("close")
        own, _ = self.cut(k)
        self.A[np.ix_(own, own)] = self.star(self.A[np.ix_(own, own)])

    def rows(self, k: int) -> None:
        self.called.append("rows")
        own, rest = self.cut(k)
        self.A[np.ix_(own, rest)] = self.times(self.A[np.ix_(own, own)], self.A[np.ix_(own, rest)])

    def columns(self, k: int) -> None:
        self.called.append("columns")
        own, rest = self.cut(k)
        self.A[np.ix_(rest, own)] = self.times(self.A[np.ix_(rest, own)], self.A[np.ix_(own, own)])

    def panels(self, k: int) -> None:
        self.rows(k)
        self.columns(k)
        self.called[-2:] = ["panels"]

    def rest(self, k: int) -> None:
        self.called.append("rest")
        own, rest = self.cut(k)
        self.A[np.ix_(rest, rest)] += self.times(self.A[np.ix_(rest, own)], self.A[np.ix_(own, rest)])


class Distances(Phases):
    """The same over least and sum."""

    idempotent = True

    def times(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return (A[:, :, None] + B[None]).min(axis=1, initial=np.inf)

    def star(self, D: np.ndarray) -> np.ndarray:
        D = np.where(np.eye(len(D), dtype=bool), 0.0, D)
        for k in range(len(D)):
            D = np.minimum(D, D[:, k, None] + D[k])
        return D

    def rest(self, k: int) -> None:
        self.called.append("rest")
        own, rest = self.cut(k)
        X = np.ix_(rest, rest)
        self.A[X] = np.minimum(self.A[X], self.times(self.A[np.ix_(rest, own)], self.A[np.ix_(own, rest)]))


@pytest.mark.parametrize("n, side", [(0, 3), (1, 3), (7, 7), (10, 3), (12, 4)])
def test_the_closure_comes_out(n: int, side: int) -> None:
    A = np.random.default_rng(n).random((n, n)) / (2 * max(n, 1))
    kernel = Phases(A, side)
    katz_kider(kernel)
    np.testing.assert_allclose(kernel.A, np.linalg.inv(np.eye(n) - A), rtol=1e-10)
    assert kernel.called == ["close", "rows", "rest", "columns"] * kernel.blocks
    lengths = Distances(A, side)
    katz_kider(lengths)
    np.testing.assert_allclose(lengths.A, Distances(A, n or 1).star(A), rtol=1e-12)
    assert lengths.called == ["close", "panels", "rest"] * lengths.blocks


def test_the_order_for_idempotent_algebras_is_wrong_elsewhere() -> None:
    A = np.random.default_rng(1).random((10, 10)) / 20
    kernel = Phases(A, 3)
    kernel.idempotent = True
    katz_kider(kernel)
    assert not np.allclose(kernel.A, np.linalg.inv(np.eye(10) - A))
