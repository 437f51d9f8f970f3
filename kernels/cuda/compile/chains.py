"""CUDA source of products of sequences of small matrices, and its numbers; chains.cu has the kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from .geometry import LIGHT
from .program import Program, data_text, file_text, program
from .thin import STORED, may_be_nan, powers_text, told

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

THREADS = 128  # of a block, at most
STATIC_SHARED = 47 << 10  # bytes of shared memory that a block may have without asking, less what a compiler needs
SHARED = 200 << 10  # bytes of a multiprocessor
HELD = 128  # bytes of the next matrix that a thread asks memory for ahead


@dataclass(frozen=True)
class ChainGeometry:
    """How sequences of matrices are cut; chains.cu has the picture."""

    N: int  # rows and columns of a matrix
    LINES: int  # lines of a product, at most
    VECTOR: int  # elements that a thread loads at once
    WIDTH: int  # elements of a line that a thread computes at once
    GROUP: int  # threads that share a chunk
    THREADS: int  # of a block
    RESIDENT: int  # blocks that should fit in a multiprocessor, which limits their registers

    @property
    def groups(self) -> int:
        """Chunks of a block."""
        return self.THREADS // self.GROUP

    def shared_bytes(self, size: int) -> int:
        """Shared memory of a block for elements of `size` bytes: a matrix and two products for each chunk."""
        run = self.VECTOR * size
        pitch = -(-self.N // self.VECTOR) | 1
        return self.groups * (((self.N + 2 * self.LINES) * pitch | 1) * run + (self.N + self.VECTOR) * size + 16) + 512

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in asdict(self).items())


@lru_cache(4096)
def chain_geometry(size: int, weight: float, n: int, lines: int, alone: bool) -> ChainGeometry | None:
    """For matrices of order n, and products of so many lines; None where they do not fit in shared memory.

    Parameters
    ----------
    size : int
        Bytes of an element.
    weight : float
        Instructions of a ⊕ and a ⊗.
    n, lines : int
    alone : bool
        Whether few chunks are computed at once, so that each step should be short.
    """
    vector = 4 if size in (1, 2, 4) else 2 if size == 8 else 1
    light = weight <= LIGHT
    most = vector if alone else (16 if size <= 4 else 8 if size == 8 else 2) if light else vector
    lines = max(n, lines)
    blocks = -(-n // most)
    width = -(-n // blocks)
    width = -(-width // vector) * vector
    blocks = -(-n // width)
    group = min(max(1 << (lines * blocks - 1).bit_length(), 4), THREADS)
    threads = THREADS if group <= 32 else group
    while True:
        g = ChainGeometry(n, lines, vector, width, group, threads, 1)
        if g.shared_bytes(size) <= STATIC_SHARED:
            break
        if threads <= max(group, 32):
            return None
        threads //= 2
    most_blocks = (4 if light else 2) * THREADS // threads
    resident = max(min(SHARED // g.shared_bytes(size), most_blocks, 16), 1)
    return ChainGeometry(n, lines, vector, width, group, threads, resident)


def chain_source(low: CudaLowering, geometry: ChainGeometry, looks: bool, reverse: bool) -> str:
    """The source of products of sequences.

    Parameters
    ----------
    low : CudaLowering
    geometry : ChainGeometry
    looks : bool
        Whether matrices and answers are data, which may be looked at on the way; else they are in storage.
    reverse : bool
        Whether each matrix is the left factor of its product.
    """
    text = program(low)
    numbers = geometry.constants() + "#define FLAGS_ONLY\n"
    numbers += told(LOOKS=looks, MAY_BE_NAN=looks and may_be_nan(low), REVERSE=reverse)
    seen = file_text("dense/found.cuh") + file_text("dense/runs.cuh") + file_text("dense/seen.cuh")
    lines = text.prelude + (data_text(low) if looks else STORED) + powers_text(low)
    return Program(text.components, lines).source(numbers + seen, "dense/chains.cu")
