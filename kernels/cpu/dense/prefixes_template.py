"""All prefixes of sequences over one operation of a semiring. A template: see prefixes.py, and template.py.

    out_i ← x₀ ∘ x₁ ∘ … ∘ x_i

An operation that rounds takes blocks of terms. Totals of blocks are combined in pairs, then in pairs of pairs, as the
digits of a binary counter carry: level l of the stack holds the total of 2^l blocks if bit l of their number is set.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import ROW_0, ROW_1, as_element, fetch, load, put, stay_apart, store, wide_vectors
from semiring.kernels.cpu.dense.template import DEPTH, ELEMENT, ITEM, SIZE, compiled, entry, inline

K = 0  # replaced by each step


@inline
def operate(x: Any, t: Any) -> Any:
    return t if t < x else x


@inline
def inside(a: Any) -> Any:
    return a == a


# Template


@inline
def combined(x: Any, t: Any) -> Any:
    """x ∘ t in the element's own types."""
    return as_element(ELEMENT, operate(x, t))


@inline
def carried(stack: int, hop: int, number: int, total: Any) -> Any:
    """x₀ ∘ x₁ ∘ … of all blocks up to the one with this number and total; the stack keeps the total."""
    level = 0
    while number >> level & 1:
        total = combined(fetch(ELEMENT, stack + level * hop, 0), total)
        level += 1
    put(ELEMENT, stack + level * hop, 0, total)
    level += 1
    while number >> level:
        if number >> level & 1:
            total = combined(fetch(ELEMENT, stack + level * hop, 0), total)
        level += 1
    return total


@compiled
def some_lines(x: int, out: int, step: int, hop: int, length: int, block: int, stack: int) -> Any:
    """The prefixes of DEPTH lines side by side, since each operation waits for the one before it."""
    stay_apart()
    fine = True
    base_K = fetch(ELEMENT, x + K * step, 0)  # each K
    for begin in range(0, length, block):
        end = min(begin + block, length)
        t_K = fetch(ELEMENT, x + K * step + begin * hop, 0)  # each K
        fine = fine & inside(t_K)  # each K
        if begin == 0:
            put(ELEMENT, out + K * step, 0, t_K)  # each K
            for j in range(1, end):
                s_K = fetch(ELEMENT, x + K * step + j * hop, 0)  # each K
                fine = fine & inside(s_K)  # each K
                t_K = combined(t_K, s_K)  # each K
                put(ELEMENT, out + K * step + j * hop, 0, t_K)  # each K
        else:
            put(ELEMENT, out + K * step + begin * hop, 0, combined(base_K, t_K))  # each K
            for j in range(begin + 1, end):
                s_K = fetch(ELEMENT, x + K * step + j * hop, 0)  # each K
                fine = fine & inside(s_K)  # each K
                t_K = combined(t_K, s_K)  # each K
                put(ELEMENT, out + K * step + j * hop, 0, combined(base_K, t_K))  # each K
        if end < length:
            base_K = carried(stack + K * ITEM, DEPTH * ITEM, begin // block, t_K)  # each K
    return fine


@compiled
def one_line(x: int, out: int, hop: int, length: int, block: int, stack: int) -> Any:
    """The prefixes of one line."""
    stay_apart()
    fine = True
    base = fetch(ELEMENT, x, 0)
    for begin in range(0, length, block):
        end = min(begin + block, length)
        t = fetch(ELEMENT, x + begin * hop, 0)
        fine = fine & inside(t)
        put(ELEMENT, out + begin * hop, 0, combined(base, t) if begin else t)
        for j in range(begin + 1, end):
            s = fetch(ELEMENT, x + j * hop, 0)
            fine = fine & inside(s)
            t = combined(t, s)
            put(ELEMENT, out + j * hop, 0, combined(base, t) if begin else t)
        if end < length:
            base = carried(stack, ITEM, begin // block, t)
    return fine


@entry(*[int64] * 9)
def prefixes_of_lines(
    x: int, out: int, step: int, hop: int, lines: int, length: int, block: int, stack: int, failed: int
) -> None:
    """out[i, j] ← x[i, 0] ∘ … ∘ x[i, j], in the same places as x; `failed` as in folds_template.py."""
    fine = True
    whole = lines - lines % DEPTH
    for i in range(0, whole, DEPTH):
        fine = fine & some_lines(x + i * step, out + i * step, step, hop, length, block, stack)
    for i in range(whole, lines):
        fine = fine & one_line(x + i * step, out + i * step, hop, length, block, stack)
    if not fine:
        put(np.int64, failed, 0, int64(1))


@entry(*[int64] * 8)
def prefixes_of_rows(x: int, out: int, row: int, rows: int, width: int, block: int, room: int, failed: int) -> None:
    """out[i, j] ← x[0, j] ∘ … ∘ x[i, j] for `width` columns that lie side by side.

    `room` is for two rows, and for a row of each level of the stack.
    """
    wide_vectors()
    fine = True
    base = room + width * SIZE
    stack = base + (width * SIZE + ITEM - 1) // ITEM * ITEM
    for begin in range(0, rows, block):
        end = min(begin + block, rows)
        for i in range(begin, end):
            given, to = x + i * row, out + i * row
            if i == begin:
                for j in range(width):
                    t = fetch(ELEMENT, given, j)
                    fine = fine & inside(t)
                    store(ELEMENT, room, width, j, ROW_0, t)
            else:
                for j in range(width):
                    s = fetch(ELEMENT, given, j)
                    fine = fine & inside(s)
                    store(ELEMENT, room, width, j, ROW_0, combined(load(ELEMENT, room, width, j, ROW_0), s))
            if begin:
                for j in range(width):
                    t = load(ELEMENT, room, width, j, ROW_0)
                    put(ELEMENT, to, j, combined(load(ELEMENT, base, width, j, ROW_1), t))
            else:
                for j in range(width):
                    put(ELEMENT, to, j, load(ELEMENT, room, width, j, ROW_0))
        if end < rows:
            for j in range(width):
                total = carried(stack + j * ITEM, width * ITEM, begin // block, load(ELEMENT, room, width, j, ROW_0))
                store(ELEMENT, base, width, j, ROW_1, total)
    if not fine:
        put(np.int64, failed, 0, int64(1))


@entry(*[int64] * 5)
def shift_lines(out: int, step: int, carries: int, lines: int, length: int) -> None:
    """out[i, j] ← carries[i] ∘ out[i, j]."""
    wide_vectors()
    for i in range(lines):
        first = fetch(ELEMENT, carries, i)
        for j in range(length):
            put(ELEMENT, out + i * step, j, combined(first, fetch(ELEMENT, out + i * step, j)))
