"""CUDA source of convolutions, and the numbers of their geometry; convolution.cu has the kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from .geometry import LIGHT
from .program import program

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

SHARED = 24 << 10  # bytes of a block's shared memory for runs of a, at most


@dataclass(frozen=True)
class ConvolutionGeometry:
    """How convolutions are cut; convolution.cu has the picture."""

    RUN: int  # neighbours of c that a thread holds
    VECTOR: int  # elements that a thread loads at once
    THREADS: int  # of a block
    RESIDENT: int  # blocks that should fit in a multiprocessor, which limits their registers
    DEPTH: int  # steps of t that are in shared memory at once, at most
    UNROLL: int  # times RUN steps that are written out

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in asdict(self).items())

    def shared_bytes(self, size: int) -> int:
        """Shared memory of a block for elements of `size` bytes."""
        return (2 * self.THREADS * (self.RUN + self.VECTOR) + self.DEPTH) * size


@lru_cache(256)
def convolution_geometry(size: int, weight: float) -> ConvolutionGeometry:
    """For elements of `size` bytes: 16 registers of c where a ⊕ and a ⊗ take few instructions, 4 elements elsewhere."""
    vector = 4 if size in (1, 2, 4) else 2 if size == 8 else 1
    if weight <= LIGHT and size in (4, 8):
        return ConvolutionGeometry(4 * vector, vector, 128, 5, 256 * vector, 2)
    if weight <= LIGHT and vector > 1:  # the compiler keeps each in a register of 32 bits, and moves them more often
        return ConvolutionGeometry(8, vector, 128, 5, 1024, 2)
    run = max(vector, 4 if size <= 16 else 2 if size <= 32 else 1)
    threads = 128
    while threads > 32 and 2 * threads * (run + vector) * size > SHARED:
        threads //= 2
    return ConvolutionGeometry(run, vector, threads, 4 if size <= 8 else 1, 16 * run, 1)


def convolution_source(low: CudaLowering, exchanged: bool) -> str:
    """The source of convolutions of one lowering; if `exchanged`, the operands of ⊗ are b and a."""
    text = program(low)
    g = convolution_geometry(text.size, text.weight)
    numbers = g.constants() + f"constexpr bool EXCHANGED = {'true' if exchanged else 'false'};\n"
    return text.source(numbers, "dense/convolution.cu")
