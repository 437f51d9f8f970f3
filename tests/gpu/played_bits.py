"""The kernels of `kernels/cuda/bits` in NumPy, for `host.Host`; named and called as the CUDA ones."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from gpu.host import Host

from semiring.kernels.cuda.bits import closure, entries, product, rows, words
from semiring.kernels.cuda.compile import staging

TALL, WIDE = 192, 256  # rows and columns of a tile of product_wgmma.cu
GROUP = 8  # rows of tiles that are numbered together


class Bits:
    """Kernels over packed Boolean matrices; `capability` says which products there are."""

    def __init__(self, host: Host, monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int] = (8, 0)):
        self.host, self.launched = host, list[str]()
        self.passed = 0  # tiles that products passed over
        host.stand_in(monkeypatch)
        seconds = [host.stream(number) for number in range(host.count)]
        for module in (words, product, closure, entries, rows):
            for name, value in {
                "memory": host.memory, "current_device": lambda: host.number, "multiprocessors": lambda: 3,
                "capability": lambda _: capability, "words_function": self.function,
                "_urgent": lambda device, _: seconds[device],
                "_close_function": lambda: self.function("close_bits"), "tensor_map": self.map,
                "_tiled": lambda kernel: self.function(f"multiply_{kernel}"),
                "_wgmma": lambda both, short: self.function("multiply_wgmma"),
            }.items():
                if hasattr(module, name):
                    monkeypatch.setattr(module, name, value)
        for module in closure, product:
            monkeypatch.setattr(module, "known_tiles", self.known_tiles)
        monkeypatch.setattr(entries, "function", lambda name, *of: self.function("_".join(map(str, (name, *of)))))
        monkeypatch.setattr(staging, "LEAST_BYTES", 1 << 60)

    def function(self, name: str) -> Callable[..., None]:
        def launch(*arguments: int) -> None:
            self.launched.append(name)
            self.host.give(lambda: getattr(self, name)(*arguments))

        return launch

    def map(self, M: words.Bits, rows: int) -> tuple[int, ...]:
        assert M.is_aligned
        return M.address, M.ld, M.rows, 8 * M.pairs, rows, *[0] * 11

    def known_tiles(self, A: words.Bits) -> tuple[product.Known, Any]:
        """Of a matrix of which nothing is known."""
        if product.choose(A.rows, A.columns) != "wgmma":
            return product.NOTHING, None
        down, across = -(-A.rows // 64), -(-A.columns // 256)
        full = self.host.array(np.zeros(4 * down * across, np.uint8))
        return product.Known(full.ptr, 4 * down), full

    def bytes(self, address: int, ld: int, rows: int, width: int) -> np.ndarray:
        return self.host.at(address, ld, rows, width, "u1")

    def truths(self, address: int, ld: int, rows: int, columns: int) -> np.ndarray:
        """A copy of the entries."""
        found = np.unpackbits(self.bytes(address, ld, rows, -(-columns // 8)), axis=1, bitorder="little")
        return found[:, :columns].astype(bool)

    def write(self, address: int, ld: int, truths: np.ndarray) -> None:
        """The entries, and zeros up to the end of the last pair of words."""
        rows, columns = truths.shape
        padded = np.zeros((rows, -(-columns // 64) * 64), bool)
        padded[:, :columns] = truths
        self.bytes(address, ld, rows, padded.shape[1] // 8)[...] = np.packbits(padded, axis=1, bitorder="little")

    # Products

    def _multiply(
        self, _blocks: int, _: int, A: int, lda: int, T: int, ldt: int, C: int, ldc: int, to: int, ld_to: int,
        rows: int, width: int, columns: int, steps: int, _down: int, _across: int, accumulate: int,
    ) -> None:
        assert not (A | lda | T | ldt) % 16 and 32 * width - 64 < columns <= 32 * width
        a, t = self.truths(A, lda, rows, 8 * steps), self.truths(T, ldt, columns, 8 * steps)
        result = meeting(a, t)
        if accumulate:
            result |= self.truths(C, ldc, rows, columns)
        self.write(C, ldc, result)
        if to:
            self.write(to, ld_to, result.T)

    multiply_mma = multiply_lop = _multiply

    def multiply_wgmma(self, grid: int, _: int, *arguments: int) -> None:
        of_a, of_t, rest = arguments[:16], arguments[16:32], arguments[32:]
        C, ldc, to, ld_to, rows, width, at, size, steps, down, across, full, full_ld, settled, accumulate = rest
        assert 0 < grid <= down * across and not (to and size) and 128 * steps >= of_a[3]
        assert 32 * width - 64 < of_t[2] <= 32 * width
        a, t = (self.truths(m[0], m[1], m[2], 8 * m[3]) for m in (of_a, of_t))
        kept = np.concatenate([np.arange(at), np.arange(at + size, rows)])
        columns = len(t)
        for tile in range(down * across):
            if settled and self.bytes(settled, 0, 1, down * across)[0, tile]:
                self.passed += 1
                continue
            i, j = tile_at(tile, down, across)
            some, wide = kept[TALL * i : TALL * (i + 1)], slice(WIDE * j, min(WIDE * (j + 1), columns))
            there = self.truths(C, ldc, rows, columns)
            result = meeting(a[some], t[wide])
            there[some, wide] = result | there[some, wide] if accumulate else result
            self.write(C, ldc, there)
            if full:
                for r in np.unique(some // 16).tolist():
                    if there[16 * r : 16 * r + 16, wide].all():
                        self.bytes(full + j * full_ld + r, 0, 1, 1)[...] = 1
        if to:
            self.write(to, ld_to, self.truths(C, ldc, rows, columns).T)

    # words.cu and close.cu

    def close_bits(self, _across: int, _down: int, D: int, ld: int, n: int, width: int) -> None:
        assert n <= 512 and not (D | ld) % 16
        A = self.truths(D, ld, n, n)
        for k in range(n):
            A |= A[:, k, None] & A[k]
        self.write(D, ld, A)

    def transpose(self, _across: int, down: int, M: int, ld: int, to: int, ld_to: int, rows: int, columns: int) -> None:
        assert down <= words.MOST_DOWN
        self.write(to, ld_to, self.truths(M, ld, rows, columns).T)

    def __getattr__(self, name: str) -> Any:
        """Conversions from and to elements of some numbers of some bytes: `pack_1_4`, `unpack_2_8`, …"""
        if not (found := re.fullmatch("(pack|pack_eight|unpack)_([12])_([1248])", name)):
            raise AttributeError(name)
        verb, parts, size = found.groups()
        return partial(getattr(self, f"_{verb}"), np.dtype(f"u{size}"), int(parts))

    def elements(self, address: int, ld: int, step: int, rows: int, columns: int, dtype: np.dtype, parts: int) -> Any:
        """Views of the numbers of each element, wherever they lie: strides may be negative."""
        assert self.host.home(address).number == self.host.number, "in another GPU's memory"
        buffer = (ctypes.c_char * dtype.itemsize).from_address(address)
        one = np.ndarray((1,), dtype, buffer)
        return np.lib.stride_tricks.as_strided(one, (rows, columns, parts), (ld, step, dtype.itemsize))

    def _pack(self, dtype: np.dtype, parts: int, _across: int, _down: int, source: int, ld: int, step: int, to: int,
              ld_to: int, rows: int, columns: int, width: int, counted: int, looked_at: int, low: int, high: int,
              unclear: int) -> None:
        numbers = self.elements(source, ld, step, rows, columns, dtype, parts)
        counted, looked_at, low, high = (dtype.type(x % (1 << 8 * dtype.itemsize))
                                         for x in (counted, looked_at, low, high))
        self.bytes(to, ld_to, rows, 8 * width)[...] = 0
        self.write(to, ld_to, (numbers & counted).any(axis=2))
        seen = numbers & looked_at
        if looked_at and ((seen == low) | (seen == high)).any():
            self.host.at(unclear, 0, 1, 1, "u4")[...] = 1

    def _unpack(self, dtype: np.dtype, parts: int, _across: int, _down: int, M: int, ld: int, to: int, ld_to: int,
                step: int, rows: int, columns: int, one: int) -> None:
        numbers = self.elements(to, ld_to, step, rows, columns, dtype, parts)
        numbers[...] = 0
        numbers[..., 0] = np.where(self.truths(M, ld, rows, columns), dtype.type(one), dtype.type(0))

    def _pack_eight(self, dtype: np.dtype, parts: int, across: int, down: int, source: int, ld: int,
                    *arguments: int) -> None:
        assert not (source | ld * (arguments[2] > 1)) % 16 and parts == 1
        self._pack(dtype, 1, across, down, source, ld, dtype.itemsize, *arguments)

    def pack_bytes(self, _across: int, _down: int, source: int, ld: int, to: int, ld_to: int, rows: int, columns: int,
                   width: int) -> None:
        assert not (source | ld * (rows > 1)) % 16
        self.bytes(to, ld_to, rows, 8 * width)[...] = 0
        self.write(to, ld_to, self.bytes(source, ld, rows, columns) > 0)

    def unpack_bytes(self, _across: int, _down: int, M: int, ld: int, to: int, ld_to: int, rows: int,
                     columns: int) -> None:
        assert not (to | ld_to * (rows > 1)) % 16
        self.bytes(to, ld_to, rows, columns)[...] = self.truths(M, ld, rows, columns)

    def clear(self, rows: int, _down: int, A: int, ld: int, width: int) -> None:
        self.bytes(A, ld, rows, 8 * width)[...] = 0

    def set_entries(self, _across: int, _down: int, M: int, ld: int, rows: int, columns: int, count: int) -> None:
        places = (self.host.at(end, 0, 1, count, "i8")[0].tolist() for end in (rows, columns))
        for i, j in zip(*places, strict=True):
            self.bytes(M + i * ld + j // 8, 0, 1, 1)[...] |= np.uint8(1 << j % 8)

    def set_diagonal(self, blocks: int, _down: int, A: int, ld: int, n: int, values: int) -> None:
        assert 256 * (blocks - 1) < n <= 256 * blocks
        for i in range(n):
            byte = self.bytes(A + i * ld + i // 8, 0, 1, 1)
            one = not values or self.bytes(values, 0, 1, n)[0, i]
            byte[...] = byte & ~np.uint8(1 << i % 8) | (1 << i % 8) * bool(one)

    def meets(self, rows: int, _down: int, A: int, lda: int, B: int, ldb: int, width: int, out: int) -> None:
        a, b = self.truths(A, lda, rows, 64 * width), self.truths(B, ldb, rows, 64 * width)
        self.bytes(out, 0, 1, rows)[0] = (a & b).any(axis=1)

    def some(self, slabs: int, _down: int, A: int, ld: int, rows: int, width: int, out: int) -> None:
        a = self.truths(A, ld, rows, 64 * width)
        self.bytes(out, 0, 1, slabs)[0] = [a[64 * s : 64 * s + 64].any() for s in range(slabs)]

    def settle(self, _blocks: int, _: int, full: int, full_ld: int, of_a: int, of_t: int, rows: int, columns: int,
               at: int, size: int, slabs: int, down: int, across: int, out: int) -> None:
        assert 64 * slabs == TALL
        kept = np.concatenate([np.arange(at), np.arange(at + size, rows)])
        some_a = self.bytes(of_a, 0, 1, -(-rows // 64))[0]
        some_t = self.bytes(of_t, 0, 1, -(-columns // 64))[0]
        for tile in range(down * across):
            i, j = tile_at(tile, down, across)
            parts = np.unique(kept[TALL * i : TALL * (i + 1)] // 16)
            flags = self.bytes(full + j * full_ld, 0, 1, parts[-1] + 1)[0]
            nothing_new = all(flags[p] or not some_a[p // 4] for p in parts)
            self.bytes(out, 0, 1, down * across)[0, tile] = nothing_new or not some_t[4 * j : 4 * j + 4].any()

    def count(self, _across: int, _down: int, A: int, ld: int, rows: int, width: int, total: int) -> None:
        self.host.at(total, 0, 1, 1, "u8")[...] += np.uint64(self.truths(A, ld, rows, 64 * width).sum())

    def compare(self, rows: int, _down: int, A: int, lda: int, B: int, ldb: int, width: int, differ: int) -> None:
        if (self.bytes(A, lda, rows, 8 * width) != self.bytes(B, ldb, rows, 8 * width)).any():
            self.host.at(differ, 0, 1, 1, "i4")[...] = 1


def meeting(A: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Which rows of A and of T have an entry in common."""
    columns = np.packbits(T, axis=0)
    found = np.zeros((len(A), len(columns)), np.uint8)
    for k in range(A.shape[1]):
        found[A[:, k]] |= columns[:, k]
    return np.unpackbits(found, axis=1)[:, : len(T)].astype(bool)


def tile_at(tile: int, down: int, across: int) -> tuple[int, int]:
    """Row and column of tiles: down GROUP rows first."""
    group, rest = divmod(tile, GROUP * across)
    height = min(GROUP, down - group * GROUP)
    return group * GROUP + rest % height, rest // height
