"""Parts that wait for no more than they read, in any order that their waiting allows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from semiring.algorithms.history.zuccato_lena import in_parts


class Parts:
    """Parts of a matrix under + and ×, or least and sum, whose work is done late and in any order that marks allow."""

    def __init__(self, A: np.ndarray, side: int, parts: int, idempotent: bool, seed: int):
        self.A, self.side, self.parts, self.idempotent = A.copy(), side, parts, idempotent
        self.blocks = -(-len(A) // side)
        self.work: list[list[Callable[[], bool]]] = [[] for _ in range(parts)]
        self.random = np.random.default_rng(seed)

    def part_of(self, k: int) -> int:
        return k * self.parts // self.blocks

    def times(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return (A[:, :, None] + B[None]).min(axis=1, initial=np.inf) if self.idempotent else A @ B

    def cut(self, k: int, part: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The pivot's places, all others, and those of them that are in the part."""
        block = np.arange(len(self.A)) // self.side
        own, others = np.flatnonzero(block == k), np.flatnonzero(block != k)
        return own, others, others[[self.part_of(b) == part for b in block[others]]]

    def give(self, part: int, work: Callable[[], None]) -> None:
        self.work[part].append(lambda: work() is None)

    def close_and_scale(self, k: int) -> None:
        own, others, _ = self.cut(k, 0)

        def work() -> None:
            D = self.A[np.ix_(own, own)]
            if self.idempotent:
                D[np.eye(len(D), dtype=bool)] = 0
                for p in range(len(D)):
                    D = np.minimum(D, D[:, p, None] + D[p])
            else:
                D = np.linalg.inv(np.eye(len(D)) - D)
            self.A[np.ix_(own, own)] = D
            self.A[np.ix_(own, others)] = self.times(D, self.A[np.ix_(own, others)])

        self.give(self.part_of(k), work)

    def columns_of(self, k: int, part: int) -> None:
        own, _, mine = self.cut(k, part)

        def work() -> None:
            self.A[np.ix_(mine, own)] = self.times(self.A[np.ix_(mine, own)], self.A[np.ix_(own, own)])

        self.give(part, work)

    def rest_of(self, k: int, part: int) -> None:
        own, others, mine = self.cut(k, part)
        X = np.ix_(mine, others)

        def work() -> None:
            new = self.times(self.A[np.ix_(mine, own)], self.A[np.ix_(own, others)])
            self.A[X] = np.minimum(self.A[X], new) if self.idempotent else self.A[X] + new

        self.give(part, work)

    def mark(self, part: int) -> list[bool]:
        reached: list[bool] = []
        self.give(part, lambda: reached.append(True))
        return reached

    def wait(self, part: int, mark: list[bool]) -> None:
        self.work[part].append(lambda: bool(mark))

    def finish(self) -> None:
        while any(self.work):
            part = int(self.random.choice([p for p in range(self.parts) if self.work[p]]))
            if self.work[part][0]():
                self.work[part].pop(0)


def closed(A: np.ndarray, idempotent: bool) -> np.ndarray:
    if not idempotent:
        return np.linalg.inv(np.eye(len(A)) - A)
    D = np.where(np.eye(len(A), dtype=bool), 0.0, A)
    for k in range(len(A)):
        D = np.minimum(D, D[:, k, None] + D[k])
    return D


@pytest.mark.parametrize("idempotent", [False, True])
@pytest.mark.parametrize("n, side, parts", [(5, 5, 1), (12, 3, 2), (14, 3, 3), (16, 2, 4)])
def test_the_closure_in_any_order(n: int, side: int, parts: int, idempotent: bool) -> None:
    A = np.random.default_rng(n).random((n, n)) / (2 * n)
    for seed in range(5):
        kernel = Parts(A, side, parts, idempotent, seed)
        in_parts(kernel)
        kernel.finish()
        np.testing.assert_allclose(kernel.A, closed(A, idempotent), rtol=1e-10)


def test_it_is_noticed_where_nobody_waits() -> None:
    A, wrong = np.random.default_rng(0).random((16, 16)) / 32, 0
    for seed in range(10):
        kernel = Parts(A, 2, 4, False, seed)
        kernel.wait = lambda part, mark: None  # type: ignore[method-assign]
        in_parts(kernel)
        kernel.finish()
        wrong += not np.allclose(kernel.A, closed(A, False))
    assert wrong
