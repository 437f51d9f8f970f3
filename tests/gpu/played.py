"""The kernels of `kernels/cuda/dense` in NumPy, over one algebra, for `host.Host`; named and called as the CUDA ones.

A launch is one step here: what blocks of threads do at the same time may not depend on each other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from gpu.host import Host

Operation = Callable[[Any, Any], Any]


class Dense:
    """Kernels on elements of a dtype; `star` answers None where there is none."""

    def __init__(
        self, host: Host, dtype: Any, add: Operation, mul: Operation, zero: Any, one: Any = None,
        star: Callable[[Any], Any] = lambda a: None,
    ):
        self.host, self.dtype, self.size = host, np.dtype(dtype), np.dtype(dtype).itemsize
        self.add, self.mul, self.star = add, mul, star
        self.zero, self.one = (self.dtype.type(x) if x is not None else None for x in (zero, one))
        self.launched: list[str] = []

    def module(self, source: str) -> Any:
        """What `launch.Module` is: kernels that read the numbers which the source was given."""
        found = re.findall(r"constexpr (?:int|bool) (\w+) = (\d+|true|false);", source)
        numbers = SimpleNamespace(**{name: int({"true": 1, "false": 0}.get(value, value)) for name, value in found})

        def function(name: str, threads: int, shared: int = 0) -> Callable[..., None]:
            def launch(across: int, down: int, *arguments: int) -> None:
                self.launched.append(name)
                self.host.give(lambda: self.play(name, threads, numbers, across, down, *arguments))

            launch.at_hand = lambda: True
            return launch

        return SimpleNamespace(function=function)

    def play(self, name: str, threads: int, numbers: Any, *arguments: int) -> None:
        """Do what a kernel does that was launched with so many threads a block."""
        getattr(self, name)(numbers, *arguments)

    def at(self, address: int, ld: int, rows: int, columns: int) -> np.ndarray:
        return self.host.at(address, ld, rows, columns, self.dtype)

    def relax(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """C ⊕ A ⊗ B."""
        for k in range(A.shape[1]):
            C = self.add(C, self.mul(A[:, k, None], B[None, k]))
        return C

    def times(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """A ⊗ B."""
        return self.relax(np.full((len(A), B.shape[1]), self.zero), A, B)

    def closed(self, A: np.ndarray) -> tuple[np.ndarray, int]:
        """A*, by the definition of the pivot step, and the first pivot without a star, or −1."""
        A, failed = A.copy(), -1
        for p in range(len(A)):
            s = self.star(A[p, p])
            if s is None:
                failed, s = p if failed < 0 else failed, self.one
            row, column = self.mul(s, A[p]), A[:, p].copy()
            A = self.add(A, self.mul(column[:, None], row[None]))
            A[p], A[:, p] = row, self.mul(column, s)
            A[p, p] = s
        return A, failed

    # product.cu

    def product(
        self, g: Any, blocks: int, batch: int, A: int, lda: int, next_a: int, B: int, ldb: int, next_b: int,
        C: int, ldc: int, next_c: int, down: int, across: int, steps: int,
        row_gap_at: int, row_gap: int, column_gap_at: int, column_gap: int, accumulate: int,
    ) -> None:
        assert blocks == down * across and not (A | lda | next_a | B | ldb | next_b | C | ldc | next_c) % 16
        rows, columns = np.arange(down * g.BM), np.arange(across * g.BN)
        rows += row_gap * (rows // g.BM * g.BM >= row_gap_at)
        columns += column_gap * (columns // g.BN * g.BN >= column_gap_at)
        for s in range(batch):
            a = self.at(A + s * next_a, lda, rows[-1] + 1, steps * g.BK)[rows]
            b = self.at(B + s * next_b, ldb, steps * g.BK, columns[-1] + 1)[:, columns]
            c = self.at(C + s * next_c, ldc, rows[-1] + 1, columns[-1] + 1)
            place = np.ix_(rows, columns)
            c[place] = self.relax(c[place] if accumulate else np.full((len(rows), len(columns)), self.zero), a, b)

    def product_edge(
        self, g: Any, blocks: int, batch: int, A: int, lda: int, next_a: int, B: int, ldb: int, next_b: int,
        C: int, ldc: int, next_c: int, m: int, n: int, k: int, accumulate: int,
    ) -> None:
        assert blocks == -(-m // g.BM) * -(-n // g.BN)
        for s in range(batch):
            c = self.at(C + s * next_c, ldc, m, n)
            a, b = self.at(A + s * next_a, lda, m, k), self.at(B + s * next_b, ldb, k, n)
            c[...] = self.relax(c if accumulate else np.full((m, n), self.zero), a, b)

    # close.cu

    def close_stack(
        self, g: Any, blocks: int, _: int, A: int, lda: int, next_a: int, D: int, ld: int, next_d: int, n: int,
        batch: int, start: int, failed: int, left: int,
    ) -> None:
        assert n <= g.ORDER and blocks == -(-batch // g.MATRICES)
        for s in range(batch):
            if left and not self.host.at(left + 4 * s, 4, 1, 1, "i4")[0, 0]:
                continue
            self.at(D + s * next_d, ld, n, n)[...], pivot = self.closed(self.at(A + s * next_a, lda, n, n))
            if failed and pivot >= 0 and self.host.at(failed + 4 * s, 4, 1, 1, "i4")[0, 0] < 0:
                self.host.at(failed + 4 * s, 4, 1, 1, "i4")[...] = start + pivot

    def close_powers(
        self, g: Any, blocks: int, _: int, A: int, lda: int, next_a: int, D: int, ld: int, next_d: int, n: int,
        batch: int, left: int,
    ) -> None:
        """Believes every other matrix, and closes it by logarithms, as they are what this plays."""
        assert n <= g.ORDER and blocks == -(-batch // g.MATRICES)
        for s in range(batch):
            self.host.at(left + 4 * s, 4, 1, 1, "i4")[...] = s % 2
            if s % 2 == 0:
                self.at(D + s * next_d, ld, n, n)[...] = self.closed(self.at(A + s * next_a, lda, n, n))[0]

    def panels(
        self, g: Any, blocks: int, _: int, A: int, ld: int, n: int, k: int, which: int, side: int, start: int,
        failed: int,
    ) -> None:
        assert blocks == (4 if which == 0 else 2) * (-(-n // g.ORDER) - 1)
        matrix, own, others = self.at(A, ld, n, n), *self._blocks(g, n, k)
        D = self._side(g, side, own)
        if which < 2:
            D[...], pivot = self.closed(matrix[own, own])
            seen = self.host.at(failed, 4, 1, 1, "i4")
            if pivot >= 0 and seen[0, 0] < 0:
                seen[...] = start + k * g.ORDER + pivot
            matrix[own, others] = self.times(D, matrix[own, others])
        if which != 1:
            matrix[others, own.start : own.stop] = self.times(matrix[others, own.start : own.stop], D)

    def rest(self, g: Any, blocks: int, _: int, A: int, ld: int, n: int, k: int, skipped: int, side: int) -> None:
        assert blocks == (-(-n // g.ORDER) - skipped) ** 2 + 1
        matrix, own, others = self.at(A, ld, n, n), *self._blocks(g, n, k, skipped)
        matrix[np.ix_(others, others)] = self.relax(
            matrix[np.ix_(others, others)], matrix[others, own], matrix[own, others]
        )
        matrix[own, own] = self._side(g, side, own)

    def strips(self, g: Any, blocks: int, _: int, A: int, ld: int, n: int, k: int) -> None:
        assert blocks == 2 * (2 * (-(-n // g.ORDER) - 1) - 1)
        matrix, own, others = self.at(A, ld, n, n), *self._blocks(g, n, k)
        after, far = self._blocks(g, n, k + 1)[0], self._blocks(g, n, k, 2)[1]
        matrix[after, others] = self.relax(matrix[after, others], matrix[after, own], matrix[own, others])
        matrix[far, after] = self.relax(matrix[far, after], matrix[far, own], matrix[own, after])

    def _blocks(self, g: Any, n: int, k: int, skipped: int = 1) -> tuple[slice, np.ndarray]:
        """Block k of the diagonal, and all rows that are in none of the `skipped` blocks from there on."""
        first, last = k * g.ORDER, min((k + skipped) * g.ORDER, n)
        others = np.concatenate([np.arange(first), np.arange(last, n)])
        return slice(first, min(first + g.ORDER, n)), others

    def _side(self, g: Any, side: int, own: slice) -> np.ndarray:
        return self.at(side, g.ORDER * self.size, g.ORDER, g.ORDER)[: own.stop - own.start, : own.stop - own.start]

    # elements.cu and words.cu

    def diagonal(self, _g: Any, rows: int, _: int, A: int, lda: int, D: int, ldd: int, out: int, k: int) -> None:
        a, d = self.at(A, lda, rows, k), self.at(D, ldd, k, rows)
        self.at(out, 0, 1, rows)[0] = [self.times(a[i : i + 1], d[:, i : i + 1])[0, 0] for i in range(rows)]

    def set_diagonal(self, _g: Any, blocks: int, _: int, A: int, ld: int, n: int, values: int) -> None:
        assert 128 * (blocks - 1) < n <= 128 * blocks
        a = np.einsum("ii->i", self.at(A, ld, n, n))
        a[...] = self.at(values, 0, 1, n)[0] if values else self.add(self.one, a)

    def compare(self, _g: Any, rows: int, _: int, A: int, lda: int, B: int, ldb: int, columns: int, out: int) -> None:
        if not (self.at(A, lda, rows, columns) == self.at(B, ldb, rows, columns)).all():
            self.host.at(out, 4, 1, 1, "i4")[...] = 1

    def place(
        self, _g: Any, tall: int, batch: int, A: int, lda: int, next_a: int, rows: int, columns: int,
        T: int, ld: int, next_t: int, wide: int,
    ) -> None:
        for s in range(batch):
            target = self.at(T + s * next_t, ld, tall, wide)
            down, across = min(rows, tall), min(columns, wide)
            inside = self.at(A + s * next_a, lda, down, across).copy()
            target[...] = self.zero
            target[:down, :across] = inside

    def turn(
        self, _g: Any, _blocks: int, batch: int, A: int, lda: int, next_a: int, rows: int, columns: int,
        T: int, ld: int, next_t: int,
    ) -> None:
        for s in range(batch):
            self.at(T + s * next_t, ld, columns, rows)[...] = self.at(A + s * next_a, lda, rows, columns).T

    def pick(self, _g: Any, blocks: int, _: int, values: int, places: int, count: int, out: int) -> None:
        assert 128 * (blocks - 1) < count <= 128 * blocks
        chosen = self.host.at(places, 0, 1, count, "i8")[0]
        self.at(out, 0, 1, count)[0] = self.at(values, 0, 1, int(chosen.max()) + 1)[0][chosen]

    def fill_words(
        self, _g: Any, rows: int, batch: int, A: int, ld: int, following: int, to: int, _rows: int, columns: int
    ) -> None:
        for s in range(batch):
            words = self.at(to + 4 * s * rows * columns, 4 * columns, rows, columns)
            words[...] = self.host.at(A + s * following, ld, rows, columns, "u2") * np.uint32(0x10001)


def halves(function: Operation) -> Operation:
    """An operation on unsigned halves of words of 32 bits, side by side."""

    def words(a: Any, b: Any) -> Any:
        a, b = np.broadcast_arrays(np.asarray(a, "u4"), np.asarray(b, "u4"))
        low, high = function(a.astype("u2"), b.astype("u2")), function((a >> 16).astype("u2"), (b >> 16).astype("u2"))
        return low.astype("u4") | high.astype("u4") << np.uint32(16)

    return words
