"""The kernels of products that say which term won, in NumPy over min-plus, for `host.Host`."""

from __future__ import annotations

from typing import Any

import numpy as np
from gpu.played import Dense


class Tracking(Dense):
    """The kernels of min and + with TRACKS, and those of winners.cu."""

    def numbers(self, address: int, ld: int, rows: int, columns: int) -> np.ndarray:
        return self.host.at(address, 4 * ld, rows, columns, "i4")

    def product(self, g: Any, blocks: int, batch: int, *arguments: int) -> None:
        *usual, W, ldw, next_w = arguments
        A, lda, next_a, B, ldb, next_b, C, ldc, next_c, down, across, steps = usual[:12]
        super().product(g, blocks, batch, *usual)
        shape = down * g.BM, across * g.BN, steps * g.BK
        self.note(g, batch, (A, lda, next_a), (B, ldb, next_b), (C, ldc, next_c), (W, ldw, next_w), shape)

    def product_edge(self, g: Any, blocks: int, batch: int, *arguments: int) -> None:
        *usual, W, ldw, next_w = arguments
        A, lda, next_a, B, ldb, next_b, C, ldc, next_c = usual[:9]
        super().product_edge(g, blocks, batch, *usual)
        shape = usual[9], usual[10], usual[11]
        self.note(g, batch, (A, lda, next_a), (B, ldb, next_b), (C, ldc, next_c), (W, ldw, next_w), shape)

    def note(
        self, g: Any, batch: int, A: tuple[int, ...], B: tuple[int, ...], C: tuple[int, ...], W: tuple[int, ...],
        shape: tuple[int, int, int],
    ) -> None:
        m, n, steps = shape
        for s in range(batch):
            a, b, _ = (self.at(x + s * following, ld, rows, columns) for (x, ld, following), (rows, columns) in zip(
                (A, B, C), ((m, steps), (steps, n), (m, n)), strict=True))
            which, old = self.numbers(W[0] + 4 * s * W[2], W[1], m, n), np.full((m, n), self.zero)
            for k in range(0, steps, g.BK):
                new = self.relax(old, a[:, k : k + g.BK], b[k : k + g.BK])
                which[new != old] = k
                old = new

    def turn(self, _: Any, columns: int, batch: int, B: int, ldb: int, next_b: int, rows: int, wide: int, T: int,
             next_t: int) -> None:
        assert columns == wide
        for s in range(batch):
            to = self.at(T + s * next_t * self.size, rows * self.size, columns, rows)
            to[...] = self.at(B + s * next_b, ldb, rows, columns).T

    def settle(
        self, g: Any, rows: int, batch: int, A: int, lda: int, next_a: int, T: int, next_t: int, C: int, ldc: int,
        next_c: int, W: int, ldw: int, next_w: int, columns: int, steps: int,
    ) -> None:
        for s in range(batch):
            a = self.at(A + s * next_a, lda, rows, steps)
            t = self.at(T + s * next_t * self.size, steps * self.size, columns, steps)
            c = self.at(C + s * next_c, ldc, rows, columns)
            which = self.numbers(W + 4 * s * next_w, ldw, rows, columns)
            for i, j in np.argwhere(which >= 0):
                k = int(which[i, j])
                terms = self.mul(a[i, k : k + g.BK], t[j, k : k + g.BK])
                which[i, j] = k + int(np.flatnonzero(terms == c[i, j])[0])
