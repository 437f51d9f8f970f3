"""Some entries of a product of matrices over one semiring. A template: see masked.py, and template.py.

    c_ij ← c_ij ⊕ a_ik ⊗ b_kj   for all k, and the entries (i, j) of a mask in compressed rows

Offsets are int64, columns int32, all arrays addresses. A function takes the terms of an entry in the order of A's
entries.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import as_element, fetch, first_component, put
from semiring.kernels.cpu.dense.operations_template import plus, times
from semiring.kernels.cpu.dense.template import DEPTH, ELEMENT, ITEM, compiled, entry, inline

K = 0  # replaced by each step

# Template

SPARSER = 16  # a row this many times longer than another is searched for the columns of that one
LOW = (1 << 32) - 1


@inline
def combine(x: Any, a: Any, b: Any, unit: Any) -> Any:
    """x ⊕ a ⊗ b in the element's own types."""
    return as_element(ELEMENT, plus(x, as_element(ELEMENT, times(a, b, unit))))


@compiled
def first_from(columns: int, begin: int, end: int, column: int) -> int:
    """The first of the entries ``begin:end`` whose column is not less; steps double, so that near ones are cheap."""
    step = int64(1)
    low = begin
    while low + step < end and int64(fetch(np.int32, columns, low + step)) < column:
        low += step
        step += step
    high = min(low + step, end)
    while low < high:
        middle = (low + high) >> 1
        if int64(fetch(np.int32, columns, middle)) < column:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def search(
    C: int, wanted: int, begin: int, end: int, a: Any, columns: int, values: int, each: int, q: int, q_end: int,
    unit: Any,
) -> None:
    """Wanted entries ``begin:end`` of C ← C ⊕ a ⊗ a row of B, which is searched for each of their columns."""
    for r in range(begin, end):
        j = int64(fetch(np.int32, wanted, r))
        q = first_from(columns, q, q_end, j)
        if q == q_end:
            break
        if int64(fetch(np.int32, columns, q)) == j:
            put(ELEMENT, C, r, combine(fetch(ELEMENT, C, r), a, fetch(ELEMENT, values, q & each), unit))


@compiled
def meet(met: int, columns: int, begin: int, end: int, table: int) -> int:
    """The entries ``begin:end`` whose columns are in a table, and how many: each with its number in the upper half.

    No branch depends on what is met: it could not be predicted.
    """
    count = int64(0)
    for s in range(begin, end):
        place = int64(fetch(np.int32, table, int64(fetch(np.int32, columns, s))))
        put(np.int64, met, count, ((s - begin) << 32) | place)
        count += int64(place != 0)
    return count


@entry(*[int64] * 16)
def by_rows(
    C: int, M_offsets: int, M_columns: int, A_offsets: int, A_columns: int, A_values: int, B_offsets: int,
    B_columns: int, B_values: int, B_each: int, later: int, first: int, last: int, table: int, met: int, one: int,
) -> None:
    """Wanted entries of the rows ``first:last`` of C ← C ⊕ A ⊗ B, rows of B one after the other.

    `later` has a byte for each entry of A that is left out here. `table` has a number for each column of B, all 0
    before and after: one more than the place of a wanted entry in its row. `met` is room for the longest row of B:
    which of its entries are in wanted columns.
    """
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        begin, end = fetch(np.int64, M_offsets, i), fetch(np.int64, M_offsets, i + 1)
        p_begin, p_end = fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)
        if begin == end or p_begin == p_end:
            continue
        for r in range(begin, end):
            put(np.int32, table, int64(fetch(np.int32, M_columns, r)), np.int32(r - begin + 1))
        row = C + (begin - 1) * ITEM
        for p in range(p_begin, p_end):
            if fetch(np.uint8, later, p):
                continue
            k, a = int64(fetch(np.int32, A_columns, p)), fetch(ELEMENT, A_values, p)
            q, q_end = fetch(np.int64, B_offsets, k), fetch(np.int64, B_offsets, k + 1)
            if q_end - q > SPARSER * (end - begin):
                search(C, M_columns, begin, end, a, B_columns, B_values, B_each, q, q_end, unit)
                continue
            count = meet(met, B_columns, q, q_end, table)
            for h in range(count):
                both = fetch(np.int64, met, h)
                r, s = both & LOW, q + (both >> 32)
                put(ELEMENT, row, r, combine(fetch(ELEMENT, row, r), a, fetch(ELEMENT, B_values, s & B_each), unit))
        for r in range(begin, end):
            put(np.int32, table, int64(fetch(np.int32, M_columns, r)), np.int32(0))


@entry(*[int64] * 15)
def by_columns(
    C: int, M_offsets: int, M_columns: int, T_offsets: int, T_rows: int, T_values: int, B_offsets: int,
    B_columns: int, B_values: int, B_each: int, first: int, depth: int, table: int, met: int, one: int,
) -> None:
    """The same for entries of A by columns, T: a row of B is the table, and rows of the mask are looked up in it.

    T's rows count from `first` on. It pays if a row of B is long and meets many rows of A.
    """
    unit = first_component(ELEMENT, one)
    for k in range(depth):
        t_begin, t_end = fetch(np.int64, T_offsets, k), fetch(np.int64, T_offsets, k + 1)
        q, q_end = fetch(np.int64, B_offsets, k), fetch(np.int64, B_offsets, k + 1)
        if t_begin == t_end or q == q_end:
            continue
        looked_up = int64(0)
        for t in range(t_begin, t_end):
            i = first + int64(fetch(np.int32, T_rows, t))
            looked_up += fetch(np.int64, M_offsets, i + 1) - fetch(np.int64, M_offsets, i)
        by_search = q_end - q > SPARSER * looked_up
        after = int64(fetch(np.int32, B_columns, q_end - 1)) + 1
        if not by_search:
            for s in range(q, q_end):
                put(np.int32, table, int64(fetch(np.int32, B_columns, s)), np.int32(s - q + 1))
        for t in range(t_begin, t_end):
            i, a = first + int64(fetch(np.int32, T_rows, t)), fetch(ELEMENT, T_values, t)
            begin, end = fetch(np.int64, M_offsets, i), fetch(np.int64, M_offsets, i + 1)
            if by_search:
                search(C, M_columns, begin, end, a, B_columns, B_values, B_each, q, q_end, unit)
                continue
            if begin < end and int64(fetch(np.int32, M_columns, end - 1)) >= after:
                end = first_from(M_columns, begin, end, after)
            count = meet(met, M_columns, begin, end, table)
            for h in range(count):
                both = fetch(np.int64, met, h)
                r, s = begin + (both >> 32), q - 1 + (both & LOW)
                put(ELEMENT, C, r, combine(fetch(ELEMENT, C, r), a, fetch(ELEMENT, B_values, s & B_each), unit))
        if not by_search:
            for s in range(q, q_end):
                put(np.int32, table, int64(fetch(np.int32, B_columns, s)), np.int32(0))


@entry(*[int64] * 12)
def by_pairs(
    C: int, M_offsets: int, M_columns: int, A_offsets: int, A_columns: int, A_values: int, T_offsets: int,
    T_columns: int, T_values: int, first: int, last: int, one: int,
) -> None:
    """Wanted entries of the rows ``first:last`` of C ← C ⊕ A ⊗ B: each a row of A times a row of T, B transposed."""
    unit = first_component(ELEMENT, one)
    for i in range(first, last):
        p_begin, p_end = fetch(np.int64, A_offsets, i), fetch(np.int64, A_offsets, i + 1)
        for r in range(fetch(np.int64, M_offsets, i), fetch(np.int64, M_offsets, i + 1)):
            j = int64(fetch(np.int32, M_columns, r))
            p, q, q_end = p_begin, fetch(np.int64, T_offsets, j), fetch(np.int64, T_offsets, j + 1)
            if p == p_end or q == q_end:
                continue
            long_p, long_q = p_end - p > SPARSER * (q_end - q), q_end - q > SPARSER * (p_end - p)
            x = fetch(ELEMENT, C, r)
            while p < p_end and q < q_end:
                here, there = int64(fetch(np.int32, A_columns, p)), int64(fetch(np.int32, T_columns, q))
                if here == there:
                    x = combine(x, fetch(ELEMENT, A_values, p), fetch(ELEMENT, T_values, q), unit)
                    p, q = p + 1, q + 1
                elif here < there:
                    p = first_from(A_columns, p, p_end, there) if long_p else p + 1
                else:
                    q = first_from(T_columns, q, q_end, here) if long_q else q + 1
            put(ELEMENT, C, r, x)


@entry(*[int64] * 12)
def by_dots(
    C: int, M_offsets: int, M_columns: int, A_offsets: int, A_columns: int, A_values: int, B: int, B_step: int,
    B_column: int, first: int, last: int, one: int,
) -> None:
    """Wanted entries of the rows ``first:last`` of C ← C ⊕ A ⊗ B: each a row of A times a column of a dense B.

    Without columns of A, its rows have no gaps. Some entries are computed at once, because each waits for its last
    term.
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
                x_K = combine(x_K, a, fetch(ELEMENT, b_K + at, 0), unit)  # each K
            put(ELEMENT, C, r + K, x_K)  # each K
        for r in range(whole, end):
            b = B + int64(fetch(np.int32, M_columns, r)) * B_column
            x = fetch(ELEMENT, C, r)
            for p in range(p_begin, p_end):
                k = int64(fetch(np.int32, A_columns, p)) if A_columns else p - p_begin
                x = combine(x, fetch(ELEMENT, A_values, p), fetch(ELEMENT, b + k * B_step, 0), unit)
            put(ELEMENT, C, r, x)
