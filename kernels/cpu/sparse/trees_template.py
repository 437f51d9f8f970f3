"""Trees of best walks from their values. A template: see trees.py, and search_template.py.

Offsets are int64, vertices int32, all arrays addresses. `better` is the strict order of a selective ⊕. The rule by
which ties break, and why it makes trees, stands in `semiring.algorithms.trees`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint64

from semiring.kernels.cpu.compile.raw import (
    ANY,
    PANEL,
    ROW_0,
    ROW_1,
    ROW_2,
    ROW_3,
    as_element,
    fetch,
    first_component,
    load,
    put,
    select,
    stay_apart,
    store,
    trailing_zeros,
    wide_vectors,
)
from semiring.kernels.cpu.dense.operations_template import ZERO, plus
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, SIZE, compiled, entry, inline

from .search_template import better, differs, extend

# Template

NONE = np.int32(-1)
OPEN = np.int32(-2)  # in place of a predecessor that is still looked for
LOST = np.int32(-3)  # and of one that does not exist: the value is zero, that before it is not
WAITS = np.int32(-4)  # open, and will be looked at in the next round


@inline
def at(x: int, step: int, v: int) -> Any:
    """The value of a vertex in a line."""
    return fetch(ELEMENT, x + v * step, 0)


@inline
def is_done(predecessor: int, step: int, u: int, root: int) -> Any:
    """Whether a vertex has its predecessor, or needs none."""
    return (fetch(np.int32, predecessor + u * step, 0) >= 0) | (u == root)


@compiled
def join(
    u: int, x: int, plane: int, x_first: int, v_first: int, a: Any, lanes: int, best: int, other: int, tail: int,
    unit: Any,
) -> None:
    """An edge from u in all lanes: the best product from better vertices, and its tail; the best from others."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        x_u = load(ELEMENT, x, plane, x_first + j, PANEL)
        x_v = load(ELEMENT, x, plane, v_first + j, ROW_0)
        b = load(ELEMENT, best, lanes, j, ROW_1)
        o = load(ELEMENT, other, lanes, j, ROW_2)
        t = load(np.int32, tail, lanes, j, ROW_3)
        c = extend(x_u, a, unit)
        c = c if differs(x_u, as_element(ELEMENT, ZERO)) else as_element(ELEMENT, ZERO)
        nearer = better(x_u, x_v)
        taken = nearer & ((t < 0) | better(c, b))
        store(ELEMENT, best, lanes, j, ROW_1, c if taken else b)
        store(np.int32, tail, lanes, j, ROW_3, np.int32(u) if taken else t)
        o_c = c if better(c, o) else o
        store(ELEMENT, other, lanes, j, ROW_2, o if nearer else o_c)


@inline
def joined(x_u: Any, x_v: Any, a: Any, u: int, best: Any, other: Any, tail: Any, unit: Any) -> Any:
    """`join` in one lane, of values that are at hand."""
    c = extend(x_u, a, unit)
    c = c if differs(x_u, as_element(ELEMENT, ZERO)) else as_element(ELEMENT, ZERO)
    nearer = better(x_u, x_v)
    taken = nearer & ((tail < 0) | better(c, best))
    o_c = c if better(c, other) else other
    return c if taken else best, other if nearer else o_c, np.int32(u) if taken else tail


@inline
def settled(x_v: Any, best: Any, other: Any, tail: Any) -> Any:
    """The tail that is a predecessor; OPEN or LOST in its place."""
    found, apart = differs(x_v, as_element(ELEMENT, ZERO)), better(other, best)
    return select(found, select((tail < 0) | apart, OPEN, tail), select(tail >= 0, LOST, NONE))


@compiled
def join_few(
    v: int, x: int, plane: int, pitch: int, lanes: int, tails: int, weights: int, begin: int, end: int, tail: int,
    unit: Any,
) -> int:
    """`join` and `finish` for a vertex with one to four edges and no loop: all but the tails stays in registers.

    The last edge stands for missing ones, since to look at an edge twice changes nothing.
    """
    stay_apart()
    wide_vectors()
    p, q, r = min(begin + 1, end - 1), min(begin + 2, end - 1), end - 1
    u_0, a_0 = int64(fetch(np.int32, tails, begin)), fetch(ELEMENT, weights, begin)
    u_1, a_1 = int64(fetch(np.int32, tails, p)), fetch(ELEMENT, weights, p)
    u_2, a_2 = int64(fetch(np.int32, tails, q)), fetch(ELEMENT, weights, q)
    u_3, a_3 = int64(fetch(np.int32, tails, r)), fetch(ELEMENT, weights, r)
    unsure = np.int32(0)
    for j in range(lanes):
        x_v = load(ELEMENT, x, plane, v * pitch + j, PANEL)
        best, other, t = as_element(ELEMENT, ZERO), as_element(ELEMENT, ZERO), NONE
        best, other, t = joined(load(ELEMENT, x, plane, u_0 * pitch + j, PANEL), x_v, a_0, u_0, best, other, t, unit)
        best, other, t = joined(load(ELEMENT, x, plane, u_1 * pitch + j, PANEL), x_v, a_1, u_1, best, other, t, unit)
        best, other, t = joined(load(ELEMENT, x, plane, u_2 * pitch + j, PANEL), x_v, a_2, u_2, best, other, t, unit)
        best, other, t = joined(load(ELEMENT, x, plane, u_3 * pitch + j, PANEL), x_v, a_3, u_3, best, other, t, unit)
        t = settled(x_v, best, other, t)
        unsure = as_element(np.int32, unsure + select(t < NONE, np.int32(1), np.int32(0)))
        store(np.int32, tail, lanes, j, ROW_3, t)
    return int64(unsure)


@inline
def lifted(x_u: Any, a: Any, u: int, best: Any, tail: Any, before: Any, some: Any, unit: Any) -> Any:
    """The first of the best products, its tail and the value there; and ⊕ of the values at all tails."""
    c = extend(x_u, a, unit)
    taken = better(c, best)
    return c if taken else best, np.int32(u) if taken else tail, x_u if taken else before, as_element(
        ELEMENT, plus(some, x_u)
    )


@inline
def sure(x_v: Any, tail: Any, before: Any, some: Any) -> Any:
    """The tail if it is a predecessor for sure, NONE if there is none, else OPEN."""
    found, reached = differs(x_v, as_element(ELEMENT, ZERO)), differs(some, as_element(ELEMENT, ZERO))
    t = select((tail >= 0) & better(before, x_v), tail, OPEN)
    return select(found, t, select(reached, OPEN, NONE))


@compiled
def join_first(
    v: int, x: int, plane: int, pitch: int, lanes: int, tails: int, weights: int, begin: int, end: int, tail: int,
    unit: Any,
) -> int:
    """`join_few` where the first best edge comes from a better vertex, as most do; OPEN elsewhere, which is counted.

    What a product with zero may be, and of equal edges the first from a better vertex, is left to `join_few`.
    """
    stay_apart()
    wide_vectors()
    p, q, r = min(begin + 1, end - 1), min(begin + 2, end - 1), end - 1
    u_0, a_0 = int64(fetch(np.int32, tails, begin)), fetch(ELEMENT, weights, begin)
    u_1, a_1 = int64(fetch(np.int32, tails, p)), fetch(ELEMENT, weights, p)
    u_2, a_2 = int64(fetch(np.int32, tails, q)), fetch(ELEMENT, weights, q)
    u_3, a_3 = int64(fetch(np.int32, tails, r)), fetch(ELEMENT, weights, r)
    unsure, zero = np.int32(0), as_element(ELEMENT, ZERO)
    if end - begin < 3:
        for j in range(lanes):
            x_v = load(ELEMENT, x, plane, v * pitch + j, PANEL)
            b, t, y, s = zero, NONE, zero, zero
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_0 * pitch + j, PANEL), a_0, u_0, b, t, y, s, unit)
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_1 * pitch + j, PANEL), a_1, u_1, b, t, y, s, unit)
            t = sure(x_v, t, y, s)
            unsure = as_element(np.int32, unsure + select(t == OPEN, np.int32(1), np.int32(0)))
            store(np.int32, tail, lanes, j, ROW_3, t)
    elif end - begin < 4:
        for j in range(lanes):
            x_v = load(ELEMENT, x, plane, v * pitch + j, PANEL)
            b, t, y, s = zero, NONE, zero, zero
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_0 * pitch + j, PANEL), a_0, u_0, b, t, y, s, unit)
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_1 * pitch + j, PANEL), a_1, u_1, b, t, y, s, unit)
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_2 * pitch + j, PANEL), a_2, u_2, b, t, y, s, unit)
            t = sure(x_v, t, y, s)
            unsure = as_element(np.int32, unsure + select(t == OPEN, np.int32(1), np.int32(0)))
            store(np.int32, tail, lanes, j, ROW_3, t)
    else:
        for j in range(lanes):
            x_v = load(ELEMENT, x, plane, v * pitch + j, PANEL)
            b, t, y, s = zero, NONE, zero, zero
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_0 * pitch + j, PANEL), a_0, u_0, b, t, y, s, unit)
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_1 * pitch + j, PANEL), a_1, u_1, b, t, y, s, unit)
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_2 * pitch + j, PANEL), a_2, u_2, b, t, y, s, unit)
            b, t, y, s = lifted(load(ELEMENT, x, plane, u_3 * pitch + j, PANEL), a_3, u_3, b, t, y, s, unit)
            t = sure(x_v, t, y, s)
            unsure = as_element(np.int32, unsure + select(t == OPEN, np.int32(1), np.int32(0)))
            store(np.int32, tail, lanes, j, ROW_3, t)
    return int64(unsure)


@compiled
def lift_four(
    x: int, plane: int, pitch: int, lanes: int, tails: int, weights: int, begin: int, best: int, tail: int,
    before: int, some: int, fresh: bool, unit: Any,
) -> None:
    """The first four edges to a vertex with more of them, or four that are neither first nor last; see `lifted`."""
    stay_apart()
    wide_vectors()
    u_0, a_0 = int64(fetch(np.int32, tails, begin)), fetch(ELEMENT, weights, begin)
    u_1, a_1 = int64(fetch(np.int32, tails, begin + 1)), fetch(ELEMENT, weights, begin + 1)
    u_2, a_2 = int64(fetch(np.int32, tails, begin + 2)), fetch(ELEMENT, weights, begin + 2)
    u_3, a_3 = int64(fetch(np.int32, tails, begin + 3)), fetch(ELEMENT, weights, begin + 3)
    if fresh:
        for j in range(lanes):
            store(ELEMENT, best, lanes, j, ROW_1, as_element(ELEMENT, ZERO))
            store(np.int32, tail, lanes, j, ROW_3, NONE)
            store(ELEMENT, before, lanes, j, ROW_2, as_element(ELEMENT, ZERO))
            store(ELEMENT, some, lanes, j, ROW_0, as_element(ELEMENT, ZERO))
    for j in range(lanes):
        b, t = load(ELEMENT, best, lanes, j, ROW_1), load(np.int32, tail, lanes, j, ROW_3)
        y, s = load(ELEMENT, before, lanes, j, ROW_2), load(ELEMENT, some, lanes, j, ROW_0)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_0 * pitch + j, PANEL), a_0, u_0, b, t, y, s, unit)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_1 * pitch + j, PANEL), a_1, u_1, b, t, y, s, unit)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_2 * pitch + j, PANEL), a_2, u_2, b, t, y, s, unit)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_3 * pitch + j, PANEL), a_3, u_3, b, t, y, s, unit)
        store(ELEMENT, best, lanes, j, ROW_1, b)
        store(np.int32, tail, lanes, j, ROW_3, t)
        store(ELEMENT, before, lanes, j, ROW_2, y)
        store(ELEMENT, some, lanes, j, ROW_0, s)


@compiled
def join_last(
    v: int, x: int, plane: int, pitch: int, lanes: int, tails: int, weights: int, begin: int, end: int, best: int,
    tail: int, before: int, some: int, unit: Any,
) -> int:
    """`join_first` for the last edges to a vertex, one to four of them, after `lift_four` for those before."""
    stay_apart()
    wide_vectors()
    p, q, r = min(begin + 1, end - 1), min(begin + 2, end - 1), end - 1
    u_0, a_0 = int64(fetch(np.int32, tails, begin)), fetch(ELEMENT, weights, begin)
    u_1, a_1 = int64(fetch(np.int32, tails, p)), fetch(ELEMENT, weights, p)
    u_2, a_2 = int64(fetch(np.int32, tails, q)), fetch(ELEMENT, weights, q)
    u_3, a_3 = int64(fetch(np.int32, tails, r)), fetch(ELEMENT, weights, r)
    unsure = np.int32(0)
    for j in range(lanes):
        x_v = load(ELEMENT, x, plane, v * pitch + j, PANEL)
        b, t = load(ELEMENT, best, lanes, j, ROW_1), load(np.int32, tail, lanes, j, ROW_3)
        y, s = load(ELEMENT, before, lanes, j, ROW_2), load(ELEMENT, some, lanes, j, ROW_0)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_0 * pitch + j, PANEL), a_0, u_0, b, t, y, s, unit)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_1 * pitch + j, PANEL), a_1, u_1, b, t, y, s, unit)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_2 * pitch + j, PANEL), a_2, u_2, b, t, y, s, unit)
        b, t, y, s = lifted(load(ELEMENT, x, plane, u_3 * pitch + j, PANEL), a_3, u_3, b, t, y, s, unit)
        t = sure(x_v, t, y, s)
        unsure = as_element(np.int32, unsure + select(t == OPEN, np.int32(1), np.int32(0)))
        store(np.int32, tail, lanes, j, ROW_3, t)
    return int64(unsure)


@compiled
def finish(x: int, plane: int, v_first: int, lanes: int, best: int, other: int, tail: int) -> int:
    """The tails that are predecessors; OPEN and LOST in place of others, which are counted."""
    stay_apart()
    wide_vectors()
    unsure = np.int32(0)
    for j in range(lanes):
        x_v = load(ELEMENT, x, plane, v_first + j, ROW_0)
        b, o = load(ELEMENT, best, lanes, j, ROW_1), load(ELEMENT, other, lanes, j, ROW_2)
        t = settled(x_v, b, o, load(np.int32, tail, lanes, j, ROW_3))
        unsure = as_element(np.int32, unsure + select(t < NONE, np.int32(1), np.int32(0)))
        store(np.int32, tail, lanes, j, ROW_3, t)
    return int64(unsure)


@compiled
def tail_of(
    v: int, root: int, x: int, x_step: int, predecessor: int, p_step: int, offsets: int, tails: int, weights: int,
    unit: Any,
) -> Any:
    """The least tail of a best edge to v that is done; −1 where there is none."""
    stay_apart()
    best, some, tail = as_element(ELEMENT, ZERO), False, NONE
    for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
        u = int64(fetch(np.int32, tails, p))
        x_u = at(x, x_step, u)
        if u == v or not differs(x_u, as_element(ELEMENT, ZERO)):
            continue
        c = extend(x_u, fetch(ELEMENT, weights, p), unit)
        if not some or better(c, best):
            best, some, tail = c, True, NONE
        if tail == NONE and not better(best, c) and is_done(predecessor, p_step, u, root):
            tail = np.int32(u)
    return tail


@compiled
def nearest(
    root: int, x: int, x_step: int, predecessor: int, p_step: int, offsets: int, tails: int, weights: int, some: int,
    count: int, place: int, unit: Any,
) -> int:
    """Put the one of some vertices that is open and best reached from one that is done at `place`, and that one.

    0 where there is none, else 1.
    """
    stay_apart()
    best, nearest, before = as_element(ELEMENT, ZERO), int64(-1), NONE
    for i in range(count):
        v = int64(fetch(np.int32, some, i))
        if fetch(np.int32, predecessor + v * p_step, 0) != OPEN:
            continue
        least, tail = as_element(ELEMENT, ZERO), NONE
        for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
            u = int64(fetch(np.int32, tails, p))
            if u != v and is_done(predecessor, p_step, u, root):
                c = extend(at(x, x_step, u), fetch(ELEMENT, weights, p), unit)
                if tail == NONE or better(c, least):
                    least, tail = c, np.int32(u)
        if tail != NONE and (nearest < 0 or better(least, best)):
            best, nearest, before = least, v, tail
    if nearest < 0:
        return 0
    put(np.int32, place, 0, np.int32(nearest))
    put(np.int32, place, 1, before)
    return 1


@compiled
def reach(
    root: int, x: int, x_step: int, predecessor: int, p_step: int, offsets: int, tails: int, weights: int, leaving: int,
    heads: int, some: int, total: int, waiting: int, found: int, unit: Any,
) -> int:
    """Predecessors of the open vertices of a line, breadth first from those that are done; 1 if one is a guess, or 0.

    They stand in `some`; in `waiting` there is room for so many, in `found` for so many pairs.
    """
    stay_apart()
    count = left = total
    guessed = 0
    for i in range(total):
        put(np.int32, waiting, i, fetch(np.int32, some, i))
    while left > 0:
        new = int64(0)
        for i in range(count):
            v = int64(fetch(np.int32, waiting, i))
            put(np.int32, predecessor + v * p_step, 0, OPEN)
            tail = tail_of(v, root, x, x_step, predecessor, p_step, offsets, tails, weights, unit)
            if tail != NONE:
                put(np.int32, found, 2 * new, np.int32(v))
                put(np.int32, found, 2 * new + 1, tail)
                new += 1
        if new == 0:
            guessed = 1
            new = nearest(root, x, x_step, predecessor, p_step, offsets, tails, weights, some, total, found, unit)
            if new == 0:  # a walk to them was lost
                for i in range(total):
                    v = int64(fetch(np.int32, some, i))
                    if fetch(np.int32, predecessor + v * p_step, 0) == OPEN:
                        put(np.int32, predecessor + v * p_step, 0, NONE)
                return guessed
        left -= new
        count = int64(0)
        for i in range(new):
            v = int64(fetch(np.int32, found, 2 * i))
            put(np.int32, predecessor + v * p_step, 0, fetch(np.int32, found, 2 * i + 1))
        for i in range(new):
            v = int64(fetch(np.int32, found, 2 * i))
            for p in range(fetch(np.int64, leaving, v), fetch(np.int64, leaving, v + 1)):
                w = int64(fetch(np.int32, heads, p))
                if fetch(np.int32, predecessor + w * p_step, 0) == OPEN:
                    put(np.int32, predecessor + w * p_step, 0, WAITS)
                    put(np.int32, waiting, count, np.int32(w))
                    count += 1
    return guessed


@compiled
def open_lanes(tail: int, lanes: int, words: int, bounded: int) -> None:
    """Which lanes of a vertex are open, a bit each: all that have a tail too, where walks are not `bounded`."""
    stay_apart()
    for w in range((lanes + 63) // 64):
        bits = uint64(0)
        for j in range(min(lanes - 64 * w, 64)):
            t = load(np.int32, tail, lanes, 64 * w + j, ROW_3)
            is_open = (t == OPEN) | ((t >= 0) & (bounded == 0))
            bits |= select(is_open, uint64(1) << uint64(j), uint64(0))
        put(np.uint64, words, w, bits)


@compiled
def best_of_all(u: int, x: int, plane: int, x_first: int, a: Any, lanes: int, best: int, unit: Any) -> None:
    """The best product of the edges to a vertex in all lanes; of an edge from u."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        x_u = load(ELEMENT, x, plane, x_first + j, PANEL)
        b = load(ELEMENT, best, lanes, j, ROW_1)
        c = extend(x_u, a, unit)
        c = c if differs(x_u, as_element(ELEMENT, ZERO)) else as_element(ELEMENT, ZERO)
        store(ELEMENT, best, lanes, j, ROW_1, c if better(c, b) else b)


@compiled
def tight_lanes(
    x: int, plane: int, x_first: int, a: Any, lanes: int, best: int, open_: int, words: int, unit: Any
) -> None:
    """In which open lanes an edge is best, a bit each."""
    stay_apart()
    wide_vectors()
    for w in range((lanes + 63) // 64):
        bits = uint64(0)
        for j in range(min(lanes - 64 * w, 64)):
            x_u = load(ELEMENT, x, plane, x_first + 64 * w + j, PANEL)
            b = load(ELEMENT, best, lanes, 64 * w + j, ROW_1)
            tight = differs(x_u, as_element(ELEMENT, ZERO)) & (not better(b, extend(x_u, a, unit)))
            bits |= select(tight, uint64(1) << uint64(j), uint64(0))
        put(np.uint64, words, w, bits & fetch(np.uint64, open_, w))


@compiled
def lead_from(u: int, tight: int, lanes: int, place: int, p_line: int, powers: int) -> None:
    """u before a vertex in the lanes of some bits; `powers` are those of 2."""
    stay_apart()
    wide_vectors()
    for h in range((lanes + 31) // 32):
        half, line, count = fetch(np.int32, tight, h), place + 32 * h * p_line, min(lanes - 32 * h, 32)
        if half == 0:
            continue
        if p_line == 4:
            for j in range(count):
                there = as_element(np.int32, half & load(np.int32, powers, 0, j, ROW_1)) != 0
                put(np.int32, line, j, select(there, np.int32(u), fetch(np.int32, line, j)))
        else:
            for j in range(count):
                if as_element(np.int32, half & load(np.int32, powers, 0, j, ROW_1)) != 0:
                    put(np.int32, line + j * p_line, 0, np.int32(u))


@inline
def takes(from_: int, tight: int, open_: int, words: int, taken: int) -> Any:
    """The lanes in which a tail was reached before, its edge is tight and the head open; whether there are any."""
    some = uint64(0)
    for w in range(words):
        word = load(np.uint64, from_, 0, w, ROW_3) & load(np.uint64, tight, 0, w, ROW_1)
        word &= load(np.uint64, open_, 0, w, ROW_2)
        store(np.uint64, taken, 0, w, PANEL, word)
        some |= word
    return some


@compiled
def reach_lanes(
    n: int, lanes: int, open_: int, new: int, ahead: int, tight: int, won: int, taken: int, powers: int, leaving: int,
    heads: int, P: int, p_line: int, p_step: int, active: int,
) -> None:
    """`reach` in all lanes at once, as far as best edges lead: the same rounds, of lanes as bits.

    In a round the vertices that were reached in the one before take all that is open at the ends of their best edges,
    in ascending order: so the least takes it. Which these are is a bit each, at `active`, and then those of the next
    round. Edges stand as they leave; `tight` says in which lanes each is best, and `won` takes in which it was taken.
    Lanes that are still open in the end need a guess. `powers` are to be those of 2.
    """
    stay_apart()
    wide_vectors()
    words, blocks = (lanes + 63) // 64, (n + 63) // 64
    coming = active + 8 * blocks
    for b in range(blocks):
        put(np.uint64, active, b, ~uint64(0))
        put(np.uint64, coming, b, uint64(0))
    put(np.uint64, active, blocks - 1, ~uint64(0) >> uint64(64 * blocks - n))
    for i in range(fetch(np.int64, leaving, n) * words):
        store(np.uint64, won, 0, i, ROW_0, uint64(0))
    for i in range(n * words):  # at first from all that is done
        store(np.uint64, new, 0, i, ROW_3, ~load(np.uint64, open_, 0, i, ROW_2))
        store(np.uint64, ahead, 0, i, ROW_3, uint64(0))
    more = True
    while more:
        more = False
        for b in range(blocks):
            left = fetch(np.uint64, active, b)
            put(np.uint64, active, b, uint64(0))
            while left != 0:
                u = 64 * b + trailing_zeros(left)
                left &= left - uint64(1)
                from_ = new + 8 * words * u
                for e in range(fetch(np.int64, leaving, u), fetch(np.int64, leaving, u + 1)):
                    v = int64(fetch(np.int32, heads, e))
                    row, next_row = open_ + 8 * words * v, ahead + 8 * words * v
                    if takes(from_, tight + 8 * words * e, row, words, taken) == 0:
                        continue
                    for w in range(words):
                        word = load(np.uint64, taken, 0, w, PANEL)
                        store(np.uint64, row, 0, w, ROW_2, load(np.uint64, row, 0, w, ROW_2) & ~word)
                        store(np.uint64, next_row, 0, w, ROW_3, load(np.uint64, next_row, 0, w, ROW_3) | word)
                    chosen = won + 8 * words * e
                    for w in range(words):
                        word = load(np.uint64, chosen, 0, w, ROW_0) | load(np.uint64, taken, 0, w, PANEL)
                        store(np.uint64, chosen, 0, w, ROW_0, word)
                    put(np.uint64, coming, v >> 6, fetch(np.uint64, coming, v >> 6) | (uint64(1) << uint64(v & 63)))
                    more = True
                for w in range(words):
                    store(np.uint64, from_, 0, w, ROW_3, uint64(0))
        new, ahead = ahead, new
        active, coming = coming, active
    for j in range(32):
        store(np.int32, powers, 0, j, ROW_1, as_element(np.int32, 1 << j))
    for u in range(n):
        for e in range(fetch(np.int64, leaving, u), fetch(np.int64, leaving, u + 1)):
            v = int64(fetch(np.int32, heads, e))
            lead_from(u, won + 8 * words * e, lanes, P + v * p_step, p_line, powers)


@entry(*[int64] * 23)
def grow(
    X: int, x_line: int, x_step: int, P: int, p_line: int, p_step: int, lost: int, guessed: int, roots: int,
    offsets: int, tails: int, weights: int, leaving: int, heads: int, order: int, n: int, first: int, last: int,
    width: int, bounded: int, in_place: int, workspace: int, one: int,
) -> None:
    """Lines ``first:last`` of the predecessors of the walks whose values are X, `width` lines at a time.

    The value of vertex v in line i lies ``i · x_line + v · x_step`` bytes after X. Lines stand side by side, a lane
    each, and every edge is looked at once for all of them; where they lie so already (`in_place`) they are not
    copied. Vertices are looked at in `order`: where neighbours follow each other, lines are read from nearby memory.
    `lost` takes of each line the first vertex whose value is zero though one before it is not, or −1, and `guessed` 1
    where rounding left no best edge to some vertices.

    Workspace: 8 bytes for each edge, up to a multiple of 64; n elements of every lane in planes, then three elements
    and a vertex of every lane, each up to a multiple of 64 bytes; 5 n vertices, up to a multiple of 64 bytes; a bit of
    every lane, up to a word, two for each edge, three for each vertex, and one; and 128 bytes.
    """
    unit = first_component(ELEMENT, one)
    edges = fetch(np.int64, leaving, n)
    places, values = workspace, workspace + (8 * edges + 63) // 64 * 64  # where each stands among those that leave
    for v in range(n):
        put(np.int32, values, v, np.int32(0))  # of the edges from v, how many were met
    for v in range(n):
        for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
            u = int64(fetch(np.int32, tails, p))
            met = fetch(np.int32, values, u)
            put(np.int64, places, p, fetch(np.int64, leaving, u) + met)
            put(np.int32, values, u, as_element(np.int32, met + 1))
    for begin in range(first, last, width):
        lanes = min(width, last - begin)
        words = (lanes + 63) // 64
        x, plane, pitch = values, n * lanes, lanes
        best = x + (n * width * SIZE + 63) // 64 * 64
        other = best + (width * SIZE + 63) // 64 * 64
        more = other + (width * SIZE + 63) // 64 * 64
        spare = more + (width * SIZE + 63) // 64 * 64
        waiting = spare + (width * 4 + 63) // 64 * 64
        found = waiting + 4 * n
        rooted = found + 8 * n  # lanes whose root each vertex is, which are open
        some = rooted + 4 * n
        open_ = waiting + (20 * n + 63) // 64 * 64
        new = open_ + 8 * n * words
        ahead = new + 8 * n * words
        taken = ahead + 8 * n * words
        powers = taken + 8 * words
        tight = powers + 128  # of every edge, as they leave
        won = tight + 8 * words * edges
        if in_place:
            x, pitch = X + begin * ITEM, x_step // ITEM
        else:
            for block in range(0, n, 8):  # of a cache line of every line
                for j in range(lanes):
                    line = X + (begin + j) * x_line
                    for v in range(block, min(block + 8, n)):
                        store(ELEMENT, x, plane, v * lanes + j, ANY, at(line, x_step, v))
        for v in range(n):
            put(np.int32, rooted, v, np.int32(0))
        for j in range(lanes):
            put(np.int64, lost, begin + j, int64(-1))
            root = fetch(np.int64, roots, begin + j)
            put(np.int32, rooted, root, as_element(np.int32, fetch(np.int32, rooted, root) + 1))
        all_done = True
        for i in range(n):
            v = int64(fetch(np.int32, order, i))
            tail = P + begin * 4 + v * p_step if in_place else spare
            edge, stop = fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)
            plain = edge < stop
            for p in range(edge, stop):
                plain = plain and int64(fetch(np.int32, tails, p)) != v
            few, unsure = stop <= edge + 4, int64(lanes) + 1  # not known
            if plain and bounded and few:
                unsure = join_first(v, x, plane, pitch, lanes, tails, weights, edge, stop, tail, unit)
            elif plain and bounded:
                p = edge
                while p + 4 < stop:
                    lift_four(x, plane, pitch, lanes, tails, weights, p, best, tail, other, more, p == edge, unit)
                    p += 4
                unsure = join_last(v, x, plane, pitch, lanes, tails, weights, p, stop, best, tail, other, more, unit)
            if unsure <= int64(fetch(np.int32, rooted, v)):
                pass
            elif plain and few:
                unsure = join_few(v, x, plane, pitch, lanes, tails, weights, edge, stop, tail, unit)
            else:
                for j in range(lanes):
                    store(ELEMENT, best, lanes, j, ROW_1, as_element(ELEMENT, ZERO))
                    store(ELEMENT, other, lanes, j, ROW_2, as_element(ELEMENT, ZERO))
                    store(np.int32, tail, lanes, j, ROW_3, NONE)
                for p in range(edge, stop):
                    u = int64(fetch(np.int32, tails, p))
                    if u != v:
                        a = fetch(ELEMENT, weights, p)
                        join(u, x, plane, u * pitch, v * pitch, a, lanes, best, other, tail, unit)
                unsure = finish(x, plane, v * pitch, lanes, best, other, tail)
            row = open_ + 8 * words * v
            if unsure > int64(fetch(np.int32, rooted, v)) or not bounded:
                open_lanes(tail, lanes, row, bounded)
                for j in range(lanes):
                    if load(np.int32, tail, lanes, j, ANY) == LOST:
                        store(np.int32, tail, lanes, j, ANY, NONE)
                        least = fetch(np.int64, lost, begin + j)
                        put(np.int64, lost, begin + j, int64(v) if least < 0 else min(least, int64(v)))
                for j in range(lanes if fetch(np.int32, rooted, v) > 0 else 0):
                    if fetch(np.int64, roots, begin + j) == v:
                        word = fetch(np.uint64, row, j // 64)
                        put(np.uint64, row, j // 64, word & ~(uint64(1) << uint64(j % 64)))
                for j in range(lanes):
                    store(ELEMENT, best, lanes, j, ROW_1, as_element(ELEMENT, ZERO))
                for p in range(edge, stop):
                    u = int64(fetch(np.int32, tails, p))
                    if u != v:
                        best_of_all(u, x, plane, u * pitch, fetch(ELEMENT, weights, p), lanes, best, unit)
                for p in range(edge, stop):
                    u = int64(fetch(np.int32, tails, p))
                    place = tight + 8 * words * fetch(np.int64, places, p)
                    if u != v:
                        tight_lanes(x, plane, u * pitch, fetch(ELEMENT, weights, p), lanes, best, row, place, unit)
                    else:
                        for w in range(words):
                            put(np.uint64, place, w, uint64(0))
                all_done = False
            else:
                for w in range(words):
                    put(np.uint64, row, w, uint64(0))
            if not in_place:
                for j in range(lanes):
                    t = load(np.int32, tail, lanes, j, ANY)
                    put(np.int32, P + (begin + j) * p_line + v * p_step, 0, t)
        for i in range(begin, begin + lanes):
            put(np.int32, P + i * p_line + fetch(np.int64, roots, i) * p_step, 0, NONE)
        if all_done:
            continue
        reach_lanes(
            n, lanes, open_, new, ahead, tight, won, taken, powers, leaving, heads, P + begin * p_line, p_line,
            p_step, waiting,
        )
        for w in range(words):  # in which lanes vertices are left
            lacking = uint64(0)
            for v in range(n):
                lacking |= fetch(np.uint64, open_, v * words + w)
            put(np.uint64, new, w, lacking)
        for j in range(lanes):
            count, bit = int64(0), uint64(1) << uint64(j % 64)
            line = P + (begin + j) * p_line
            for v in range(n if fetch(np.uint64, new, j // 64) & bit != 0 else 0):
                if fetch(np.uint64, open_, v * words + j // 64) & bit != 0:
                    put(np.int32, line + v * p_step, 0, OPEN)
                    put(np.int32, some, count, np.int32(v))
                    count += 1
            if count > 0:
                guess = reach(
                    fetch(np.int64, roots, begin + j), X + (begin + j) * x_line, x_step, line, p_step, offsets, tails,
                    weights, leaving, heads, some, count, waiting, found, unit,
                )
                put(np.uint8, guessed, begin + j, np.uint8(guess))
