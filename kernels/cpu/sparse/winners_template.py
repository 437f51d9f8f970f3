"""Products that say which term won. A template: see winners.py, and search_template.py.

Offsets are int64, columns and winners int32, all arrays addresses. `better` is the strict order of a selective ⊕.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import (
    PANEL,
    ROW_0,
    ROW_1,
    as_element,
    fetch,
    first_component,
    load,
    put,
    select,
    stay_apart,
    store,
    wide_vectors,
)
from semiring.kernels.cpu.dense.operations_template import ZERO, plus
from semiring.kernels.cpu.dense.template import DEPTH, ELEMENT, ITEM, compiled, entry

from .search_template import better, differs, extend

K = 0  # replaced by each step

# Template

NONE = np.int32(-1)


@compiled
def join(k: int, a: Any, b: int, c: int, which: int, lanes: int, unit: Any) -> None:
    """c ← c ⊕ a ⊗ b for some columns, and k where that is another element."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        x = load(ELEMENT, c, lanes, j, ROW_0)
        p = load(np.int32, which, lanes, j, ROW_1)
        t = extend(a, load(ELEMENT, b, lanes, j, PANEL), unit)
        won = better(t, x)
        store(ELEMENT, c, lanes, j, ROW_0, t if won else x)
        store(np.int32, which, lanes, j, ROW_1, select(won, np.int32(k), p))


@entry(*[int64] * 11)
def multiply(
    C: int, which: int, offsets: int, columns: int, values: int, B: int, first: int, last: int, width: int, strip: int,
    one: int,
) -> None:
    """Rows ``first:last`` of the product of compressed rows and B, and the k of the term that each entry is.

    C and B are `width` wide, and taken `strip` columns at a time, of which B's rows stay in the cache.
    """
    unit = first_component(ELEMENT, one)
    for begin in range(0, width, strip):
        lanes = min(strip, width - begin)
        for i in range(first, last):
            c, p = C + (i * width + begin) * ITEM, which + (i * width + begin) * 4
            for j in range(lanes):
                store(ELEMENT, c, lanes, j, ROW_0, as_element(ELEMENT, ZERO))
                store(np.int32, p, lanes, j, ROW_1, NONE)
            for e in range(fetch(np.int64, offsets, i), fetch(np.int64, offsets, i + 1)):
                k = int64(fetch(np.int32, columns, e))
                join(k, fetch(ELEMENT, values, e), B + (k * width + begin) * ITEM, c, p, lanes, unit)


@entry(*[int64] * 14)
def by_rows(
    C: int, which: int, M_offsets: int, M_columns: int, A_offsets: int, A_columns: int, A_values: int, B_offsets: int,
    B_columns: int, B_values: int, first: int, last: int, table: int, one: int,
) -> None:
    """Wanted entries of the rows ``first:last`` of a product of compressed rows, and the k of the term that each is.

    C begins as zero, `which` as −1. `table` has a number for each column of B, all 0 before and after: one more than
    the place of a wanted entry in its row.
    """
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        begin, end = fetch(np.int64, M_offsets, i), fetch(np.int64, M_offsets, i + 1)
        if begin == end:
            continue
        for r in range(begin, end):
            put(np.int32, table, int64(fetch(np.int32, M_columns, r)), np.int32(r - begin + 1))
        for p in range(fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)):
            k, a = int64(fetch(np.int32, A_columns, p)), fetch(ELEMENT, A_values, p)
            for q in range(fetch(np.int64, B_offsets, k), fetch(np.int64, B_offsets, k + 1)):
                place = int64(fetch(np.int32, table, int64(fetch(np.int32, B_columns, q))))
                if place:
                    r = begin + place - 1
                    t = extend(a, fetch(ELEMENT, B_values, q), unit)
                    if better(t, fetch(ELEMENT, C, r)):
                        put(ELEMENT, C, r, t)
                        put(np.int32, which, r, np.int32(k))
        for r in range(begin, end):
            put(np.int32, table, int64(fetch(np.int32, M_columns, r)), np.int32(0))


@entry(*[int64] * 13)
def by_dots(
    C: int, which: int, M_offsets: int, M_columns: int, A_offsets: int, A_columns: int, A_values: int, B: int,
    B_step: int, B_column: int, first: int, last: int, one: int,
) -> None:
    """The same for a dense B: for each wanted entry the ⊕ of its terms, and then the first term that equals it.

    If `A_columns` is 0, the rows of A have no gaps. The sums of DEPTH entries are computed at once, because each waits
    for its last term. Noting k meanwhile would take too many registers.
    """
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        begin, end = fetch(np.int64, M_offsets, i), fetch(np.int64, M_offsets, i + 1)
        p_begin, p_end = fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)
        whole = end - (end - begin) % DEPTH
        for r in range(begin, whole, DEPTH):
            b_K = B + int64(fetch(np.int32, M_columns, r + K)) * B_column  # each K
            x_K = fetch(ELEMENT, C, r + K)  # each K
            for p in range(p_begin, p_end):
                k = int64(fetch(np.int32, A_columns, p)) if A_columns else p - p_begin
                a, at = fetch(ELEMENT, A_values, p), k * B_step
                x_K = as_element(ELEMENT, plus(x_K, extend(a, fetch(ELEMENT, b_K + at, 0), unit)))  # each K
            put(ELEMENT, C, r + K, x_K)  # each K
        for r in range(begin, end):
            b, x = B + int64(fetch(np.int32, M_columns, r)) * B_column, fetch(ELEMENT, C, r)
            if r >= whole:
                for p in range(p_begin, p_end):
                    k = int64(fetch(np.int32, A_columns, p)) if A_columns else p - p_begin
                    t = extend(fetch(ELEMENT, A_values, p), fetch(ELEMENT, b + k * B_step, 0), unit)
                    x = as_element(ELEMENT, plus(x, t))
            if not differs(x, as_element(ELEMENT, ZERO)):
                continue
            for p in range(p_begin, p_end):
                k = int64(fetch(np.int32, A_columns, p)) if A_columns else p - p_begin
                t = extend(fetch(ELEMENT, A_values, p), fetch(ELEMENT, b + k * B_step, 0), unit)
                if not differs(t, x):
                    put(ELEMENT, C, r, t)
                    put(np.int32, which, r, np.int32(k))
                    break
