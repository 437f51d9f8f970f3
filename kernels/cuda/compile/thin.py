"""CUDA source of small and thin products, and the numbers of their geometry; thin.cu has the kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from .geometry import LIGHT
from .program import Program, data_text, file_text, program
from .rules import literal

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

STORED = (
    '#line 1 "data"\nusing Given = Value;\nusing Number = int;\nconstexpr bool IS_NUMBER = false;\n'
    "DEVICE bool contains(Given) { return true; }\nDEVICE bool has_nan(Given) { return false; }\n"
    "DEVICE Value encode(Given x) { return x; }\nDEVICE Given decode(Value y) { return y; }\n"
    "DEVICE bool leaves(Value) { return false; }\n"
)  # of data that are in storage


@dataclass(frozen=True)
class ThinGeometry:
    """How small and thin products are cut; thin.cu has the picture."""

    ROWS: int  # rows of an answer of a stack that a thread holds, and of a matrix that a warp reads at once
    VECTOR: int  # elements that a thread loads at once
    THREADS: int  # of a block
    RESIDENT: int  # blocks that should fit in a multiprocessor, which limits their registers
    SHARED: int = 0  # bytes of shared memory in which a block holds matrices of a stack
    LOADS: int = 2  # runs of each operand of a stack that a thread asks memory for before it waits

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in asdict(self).items())


def thin_geometries(size: int, weight: float, powers: bool) -> tuple[ThinGeometry, ThinGeometry, ThinGeometry]:
    """For elements of `size` bytes: for stacks of tiny matrices, for stacks of small ones, and for vectors.

    Powers of logarithms are as light as + and ×, but for what is done once for each element.

    The first two hold 8 and 32 elements of the answer a thread: tiny matrices need threads, and small ones have to read
    shared memory seldom.
    """
    vector = 4 if size in (1, 2, 4) else 2 if size == 8 else 1
    light = (powers or weight <= LIGHT) and vector > 1
    return (
        ThinGeometry(2, vector, 128, 8 if powers else 10 if light else 4, 12 << 10),
        ThinGeometry(8 if light else 4, vector, 128, 5 if light else 3, 36 << 10, 4 if light else 2),
        ThinGeometry(2 if light else 1, vector, 256, 3 if powers else 4 if light else 1),
    )


def near_power(size: int, binary: bool) -> str:
    """A power of what is at most 0: in single precision by two instructions, off by ε (2 + |a|) in relation to it."""
    if size == 8:
        return f"::exp{'2' * binary}(a)"
    return "exp2f(a)" if binary else f"exp2f(a * {literal(np.float32(1 / np.log(2)))})"


def thin_source(low: CudaLowering, geometry: ThinGeometry, part: str, looks: bool, left: bool = True) -> str:
    """The source of small and thin products.

    Parameters
    ----------
    low : CudaLowering
    geometry : ThinGeometry
    part : {"STACK", "VECTORS"}
        Products of a stack, or of a matrix and a vector.
    looks : bool
        Whether operands and the answer are data, which are looked at on the way; else they are in storage.
    left : bool
        Whether the matrix is the left factor of a vector.
    """
    text = program(low)
    integers = looks and low.dtype.kind in "iu"
    numbers = geometry.constants() + f"#define {part}\n#define {'FACTS' if integers else 'FLAGS_ONLY'}\n"
    numbers += told(LOOKS=looks, MAY_BE_NAN=looks and may_be_nan(low), MATRIX_LEFT=left)
    seen = file_text("dense/found.cuh") + file_text("dense/runs.cuh") + file_text("dense/seen.cuh")
    lines = text.prelude + (data_text(low) if looks else STORED) + powers_text(low)
    return Program(text.components, lines).source(numbers + seen, "dense/thin.cu")


def told(**facts: bool) -> str:
    """The text of constants that are true or false."""
    return "".join(f"constexpr bool {name} = {'true' if is_so else 'false'};\n" for name, is_so in facts.items())


def may_be_nan(low: CudaLowering) -> bool:
    """Whether a result may be NaN, where numbers leave their range."""
    return not low.drops_nan and (low.dtype.kind in "fc" or low.dtype.names is not None)


def powers_text(low: CudaLowering) -> str:
    """Powers and logarithms of elements in storage, if ⊕ is a log-sum-exp and ⊗ the sum; else nothing."""
    text, form = program(low), low.log_sum
    if form is None:
        return ""
    base, absent = "2" * form.binary, literal(low.components[0].type(low.zero[0]))
    log = f"__log{base}f" if text.size == 4 else f"::log{base}"
    return "".join([
        "#define POWERS\n", told(NEGATED=form.negated),
        f"DEVICE Value power(Value a) {{ return {near_power(text.size, form.binary)}; }}\n",
        f"DEVICE Value logarithm(Value x) {{ return {log}(x); }}\n",
        f"DEVICE bool is_absent(Value a) {{ return a == {absent}; }}\n",
    ])
