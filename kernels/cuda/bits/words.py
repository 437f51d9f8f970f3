"""Matrices of bits in device memory: where they lie, scratch for them, and the kernels of single words and blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from semiring.kernels.cuda.compile.launch import Function, Module, memory
from semiring.kernels.cuda.compile.program import file_text

ALIGN = 16  # bytes: where rows of operands begin
MOST_DOWN = 65_535  # blocks of a grid, one below the other


class Bits(NamedTuple):
    """A matrix of bits in device memory: where it begins, bytes from row to row, its shape."""

    address: int
    ld: int
    rows: int
    columns: int

    @property
    def pairs(self) -> int:
        """Words of 64 bits that hold a row's entries."""
        return -(-self.columns // 64)

    @property
    def is_aligned(self) -> bool:
        """Whether kernels can read it as an operand as it is."""
        return not (self.address | self.ld) % ALIGN

    def part(self, top: int, bottom: int, left: int, right: int) -> Bits:
        """A block; `left` is a multiple of 64, and `right` too or the number of columns."""
        return Bits(self.address + top * self.ld + left // 8, self.ld, bottom - top, right - left)


@dataclass(frozen=True)
class Geometry:
    """How a kernel cuts C, and what it needs."""

    file: str
    BM: int  # rows of C that a block computes at a time
    BN: int  # columns
    threads: int
    constants: tuple[tuple[str, int], ...] = ()
    shared: int = 0  # bytes of dynamic shared memory

    def source(self) -> str:
        """The text of the kernel."""
        numbers = "".join(f"constexpr int {name} = {value};\n" for name, value in self.constants)
        return "".join(['#line 1 "prelude"\n', numbers, file_text("bits/bits.cuh"), file_text(self.file)])

    def tiles(self, rows: int, columns: int) -> tuple[int, int]:
        """Tiles one below the other, and side by side."""
        return -(-rows // self.BM), -(-columns // self.BN)


@lru_cache(8)
def module_of(g: Geometry) -> Module:
    """The kernels of a file."""
    return Module(g.source())


def scratch(rows: int, columns: int) -> tuple[Bits, Any]:
    """A matrix that holds anything, and its memory, which must be kept as long; room for a multiple of 64 rows."""
    ld = -(-columns // 512) * 64
    taken = memory(max(-(-rows // 64) * 64 * ld, 1))
    return Bits(taken.ptr, ld, rows, columns), taken


def copy(to: Bits, of: Bits) -> None:
    """to ← of, entries only."""
    from cupy.cuda import get_current_stream, runtime

    if of.rows and of.columns:
        runtime.memcpy2DAsync(
            to.address, to.ld, of.address, of.ld, 8 * of.pairs, of.rows, runtime.memcpyDeviceToDevice,
            get_current_stream().ptr,
        )


def clear(M: Bits) -> None:
    """M ← 0, entries only."""
    if M.rows and M.columns:
        words_function("clear")(M.rows, 1, M.address, M.ld, M.pairs)


WORDS = Geometry("bits/words.cu", 256, 256, 256)
CLOSE = Geometry("bits/close.cu", 512, 512, 256)


@lru_cache(16)
def words_function(name: str) -> Function:
    """A kernel of words.cu."""
    return module_of(WORDS).function(name, WORDS.threads)


@lru_cache(1)
def _close_function() -> Function:
    return module_of(CLOSE).function("close_bits", CLOSE.threads)


def close_block(D: Bits) -> None:
    """D ← D⁺ for at most 512 rows that begin on multiples of 16 bytes."""
    _close_function()(1, 1, D.address, D.ld, D.rows, 2 * D.pairs)


def transpose(M: Bits, to: Bits) -> None:
    """to ← M^T."""
    step = MOST_DOWN * 256
    for top in range(0, M.rows, step):
        rows = min(step, M.rows - top)
        words_function("transpose")(
            -(-M.columns // 256), -(-rows // 256), M.address + top * M.ld, M.ld, to.address + top // 8, to.ld,
            rows, M.columns,
        )


def set_diagonal(M: Bits, values: int = 0) -> None:
    """m_ii ← the truth values at an address, or 1."""
    n = min(M.rows, M.columns)
    if n:
        words_function("set_diagonal")(-(-n // 256), 1, M.address, M.ld, n, values)


def some(M: Bits, out: int) -> None:
    """Whether each 64 rows hold anything, as bytes at an address."""
    words_function("some")(-(-M.rows // 64), 1, M.address, M.ld, M.rows, M.pairs, out)
