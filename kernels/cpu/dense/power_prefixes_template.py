"""All prefixes of sequences over log-sum-exp, by powers, some sequences at once. A template: see power_prefixes.py.

A sum is a maximum and a sum of powers for each lane (../compile/lane_prefixes.py). As in prefixes_template.py, blocks
of terms are summed up in turn, and their totals as a binary counter carries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.lane_prefixes import PowerPrefixes
from semiring.kernels.cpu.compile.raw import put, wide_vectors
from semiring.kernels.cpu.dense.template import ITEM, compiled, entry

COUNT = 16  # lanes of a vector
MASKED = True  # whether the processor reads and writes some lanes of a vector only


def inside_vectors(v: Any, a: Any) -> Any:
    return v.equal(a, a)


by: Any = PowerPrefixes(np.float32, COUNT, 1, MASKED, False, False, True, inside_vectors)

# Template

rows, lines, totals = by.block(True, True), by.block(False, True), by.block(False, False)
joined, copied, begun, ended = by.joined(), by.copied(), by.started(), by.ended()
SUM = 2 * COUNT * ITEM  # bytes of a sum


@compiled
def carried(stack: int, number: int, first: int, total: int, base: int) -> None:
    """base ← the sum of all blocks up to the one with this number and total, after `first`; the stack keeps the total.

    Level l of the stack holds the sum of 2^l blocks if bit l of their number is set. `total` is overwritten.
    """
    level = 0
    while number >> level & 1:
        joined((stack + level * SUM, total, total))
        level += 1
    copied((total, stack + level * SUM))
    level += 1
    while number >> level:
        if number >> level & 1:
            joined((stack + level * SUM, total, total))
        level += 1
    joined((first, total, base))


@entry(*[int64] * 11)
def power_prefixes(
    x: int, out: int, step: int, hop: int, count: int, length: int, block: int, room: int, before: int, sums: int,
    failed: int,
) -> None:
    """out[i, j] ← before[i] ⊕ x[i, 0] ⊕ … ⊕ x[i, j], in the same places as x; `failed` as in folds_template.py.

    `before` may be 0. If `sums` is not, nothing but the sums of all elements of a sequence is written, there. `room` is
    for three sums, and one for each level of the stack.
    """
    wide_vectors()
    strange = int64(0)
    first, base, total, stack = room, room + SUM, room + 2 * SUM, room + 3 * SUM
    for i in range(0, count, COUNT):
        live = min(COUNT, count - i)
        begun((before + i * ITEM if before else 0, live, first))
        copied((first, base))
        for begin in range(0, length, block):
            n = min(block, length - begin)
            given, to = x + i * step + begin * hop, out + i * step + begin * hop
            if sums:
                strange |= totals((given, to, hop, n, step, live, base, total))
            elif MASKED and step == ITEM:
                strange |= rows((given, to, hop, n, step, live, base, total))
            else:
                strange |= lines((given, to, hop, n, step, live, base, total))
            if sums or begin + n < length:
                carried(stack, begin // block, first, total, base)
        if sums:
            ended((base, live, sums + i * ITEM))
    if strange:
        put(np.int64, failed, 0, int64(1))
