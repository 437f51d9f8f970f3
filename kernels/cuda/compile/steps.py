"""CUDA source of chains of rows, and the numbers of its geometry; dense/steps.cu has the kernel."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from .program import Program, data_text, file_text, program
from .thin import may_be_nan, powers_text, told

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

SIDE = 64  # elements of a row, at most
COLUMN = 256  # bytes of a matrix's column, which a thread holds in registers
WRITTEN = 2048  # instructions of a step, all of which are written out


@dataclass(frozen=True)
class StepGeometry:
    """How chains are computed; steps.cu has the picture."""

    N: int  # elements of a row
    VECTOR: int  # elements that a thread reads from shared memory at once
    GROUP: int  # threads that share a sequence
    THREADS: int  # of a block

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in asdict(self).items())


def step_geometry(size: int, weight: float, n: int) -> StepGeometry | None:
    """For rows of n elements of `size` bytes; None where a column is too large, or a step takes too many instructions.

    Examples
    --------
    >>> step_geometry(4, 1.5, 20)
    StepGeometry(N=20, VECTOR=4, GROUP=32, THREADS=64)
    >>> step_geometry(8, 1.5, 33) is None
    True
    """
    if not 0 < n <= SIDE or n * size > COLUMN or n * weight > WRITTEN:
        return None
    group = max(1 << (n - 1).bit_length(), 4)
    return StepGeometry(n, 4 if size in (1, 2, 4) else 2 if size == 8 else 1, group, max(group, 64))


def step_source(low: CudaLowering, geometry: StepGeometry) -> str:
    """The source of chains of rows of data."""
    text = program(low)
    numbers = geometry.constants() + "#define FLAGS_ONLY\n" + told(LOOKS=True, MAY_BE_NAN=may_be_nan(low))
    seen = file_text("dense/found.cuh") + file_text("dense/runs.cuh") + file_text("dense/seen.cuh")
    lines = text.prelude + data_text(low) + powers_text(low)
    return Program(text.components, lines).source(numbers + seen, "dense/steps.cu")
