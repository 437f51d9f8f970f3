"""CUDA source of folds along axes, and the numbers of their geometry; folds.cu and prefixes.cu have the kernels."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .program import Program, data_text, elements_text, file_text
from .rules import CUDA, function, literal
from .thin import STORED, near_power

if TYPE_CHECKING:
    from semiring.kernels.cuda.lowering import CudaLowering

RULES = replace(CUDA, fused={})  # a product and a sum are rounded one after the other, as on the CPU
RUN = 16  # bytes that a thread loads at once
HELD = 64  # bytes of small elements that a thread holds, twice as many if these are loaded in runs and just folded
MOST_ITEMS = 16  # … and how many
SHARED = 32 << 10  # bytes of shared memory in which a block joins what its threads have folded
MOST_SHARED = 44 << 10  # … and in which it holds the elements of prefixes


@dataclass(frozen=True)
class FoldGeometry:
    """How folds are cut; folds.cu has the picture."""

    VECTOR: int  # elements that a thread loads at once
    ITEMS: int  # elements that a thread loads before it folds them
    THREADS: int  # of a block
    RESIDENT: int = 4  # blocks that should fit in a multiprocessor, which limits their registers

    def constants(self) -> str:
        """The text of the numbers."""
        return "".join(f"constexpr int {name} = {value};\n" for name, value in asdict(self).items())


def fold_geometry(given: int, part: int, powers: bool) -> FoldGeometry | None:
    """For elements of so many bytes in the data, and parts of sums of so many; None if a part is too large.

    Examples
    --------
    >>> fold_geometry(4, 4, False)
    FoldGeometry(VECTOR=4, ITEMS=32, THREADS=256, RESIDENT=4)
    """
    vector = RUN // given if given in (1, 2, 4, 8) else 1
    value = part // 2 if powers else part
    items = min(max(HELD // max(given, value), 1), MOST_ITEMS) * (1 if powers or vector == 1 else 2)
    threads = 256
    while threads * vector * part > SHARED and threads > 32:
        threads //= 2
    if threads * vector * part > SHARED:
        return None
    return FoldGeometry(vector, max(vector, 1 << items.bit_length() - 1), threads, 4 if value <= 8 else 1)


def prefix_geometry(folded: FoldGeometry, value: int, part: int) -> FoldGeometry:
    """The geometry of prefixes beside that of folds: a block holds what it reads, and a part for each thread."""
    items = min(max(HELD // max(value, RUN // folded.VECTOR), folded.VECTOR), MOST_ITEMS, folded.ITEMS)
    threads = folded.THREADS
    while threads * ((items + 1) * value + part) > MOST_SHARED:
        threads //= 2
    return replace(folded, THREADS=threads, ITEMS=items)


def fold_source(
    low: CudaLowering, op: str, geometry: FoldGeometry, looks: bool, ordered: bool, file: str = "folds"
) -> str:
    """The source of folds, or of prefixes.

    Parameters
    ----------
    low : CudaLowering
    op : {"add", "mul"}
    geometry : FoldGeometry
    looks : bool
        Whether elements and answers are data, which are looked at on the way; else they are in storage.
    ordered : bool
        Whether operands keep their order.
    file : {"folds", "prefixes"}
    """
    form = low.log_sum if op == "add" else None
    outputs = (low.add if op == "add" else low.scale).outputs
    lines = [
        *elements_text(low, RULES), function("operate", "x, t", outputs, low.components, rules=RULES),
        data_text(low) if looks else STORED, *_doubts(low, op, looks),
    ]
    if form is not None:
        size, base = low.components[0].itemsize, "2" * form.binary
        logarithm = f"log{base}f" if size == 4 else f"::log{base}"
        lines += [
            "#define POWERS\n", f"constexpr bool NEGATED = {'true' if form.negated else 'false'};\n",
            f"DEVICE Value power(Value a) {{ return {near_power(size, form.binary)}; }}\n",
            f"DEVICE Value logarithm(Value x) {{ return {logarithm}(x); }}\n",
        ]
    numbers = geometry.constants() + "#define FLAGS_ONLY\n"
    for constant, is_so in (("LOOKS", looks), ("ORDERED", ordered)):
        numbers += f"constexpr bool {constant} = {'true' if is_so else 'false'};\n"
    numbers += "".join(file_text(f"dense/{name}.cuh") for name in ("found", "runs", "folds"))
    return Program(low.components, "".join(lines)).source(numbers, f"dense/{file}.cu")


def _doubts(low: CudaLowering, op: str, looks: bool) -> tuple[str, str]:
    """Whether this form is not right for an element of the data, and whether x ∘ t = r left its type on the way.

    Integers that leave their dtype are reserved numbers, if no wider one holds them; of sums of signed numbers, such a
    number may come back. Sums under min or max are not kept apart from ∞.
    """
    strange = slips = "false"
    if looks and low.storage == low.dtype and low.may_leave:
        strange, slips = low.codes.leaves.format("encode(x)"), low.codes.leaves.format("r")
    elif looks and op == "mul" and low.algebra.is_tropical and low.dtype.kind in "iu":
        kind, up = low.storage, low.algebra.zero == np.inf
        least, most = (literal(kind.type(n)) for n in (np.iinfo(kind).min, np.iinfo(kind).max))
        zero, opposite = (most, least) if up else (least, most)
        if kind.kind == "i" or not up:
            strange = f"x == {opposite}"
        beyond = "((x ^ r) & (t ^ r)) < 0" if kind.kind == "i" else "r < x"
        slips = f"x != {zero} && t != {zero} && ({beyond} || r == {least} || r == {most})"
        if kind.kind == "u" and up:
            slips = f"x != {zero} && t != {zero} && ({beyond} || r == {zero})"
    return (
        f"DEVICE bool strange(Given x) {{ return {strange}; }}\n",
        f"DEVICE bool slips(Value x, Value t, Value r) {{ return {slips}; }}\n",
    )
