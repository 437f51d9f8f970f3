"""Trees of best walks from their values, by the general rule. A template: see trees.py, and trees_template.py.

Here are predecessors of any vertex in any lanes: where they come from better vertices, at a look at its edges; else by
rounds along best edges, a bit for each lane; and guesses where rounding left no best edge.
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
    bits_of_bytes,
    fetch,
    load,
    put,
    select,
    stay_apart,
    store,
    trailing_zeros,
    wide_vectors,
)
from semiring.kernels.cpu.dense.operations_template import ZERO, operation
from semiring.kernels.cpu.dense.template import ELEMENT, SIZE, compiled, inline

from .search_template import better, differs
from .tree_hops_template import HOP, HOP_BYTES, NONE, OPEN, STRIP, at, has, hop_at, join_set, named, product, put_hop

# Template

LOST = np.int32(-3)  # in place of a predecessor that does not exist: the value is zero, that before it is not
WAITS = np.int32(-4)  # open, and will be looked at in the next round


@inline
def is_done(predecessor: int, step: int, u: int, root: int) -> Any:
    """Whether a vertex has its predecessor, or needs none."""
    return (hop_at(predecessor, step, u) >= 0) | (u == root)


@compiled
def join(
    u: int, v: int, x: int, plane: int, pitch: int, first: int, lanes: int, a: Any, hop: int, best: int, other: int,
    tail: int,
) -> None:
    """An edge from u to v in some lanes: the best product from better vertices, and its hop; the best from others."""
    stay_apart()
    wide_vectors()
    x_first, v_first = u * pitch + first, v * pitch + first
    for j in range(lanes):
        x_u = load(ELEMENT, x, plane, x_first + j, PANEL)
        x_v = load(ELEMENT, x, plane, v_first + j, ROW_0)
        b = load(ELEMENT, best, STRIP, j, ROW_1)
        o = load(ELEMENT, other, STRIP, j, ROW_2)
        t = as_element(np.int32, load(HOP, tail, 0, j, ROW_3))
        c = product(x_u, a)
        c = c if differs(x_u, as_element(ELEMENT, ZERO)) else as_element(ELEMENT, ZERO)
        nearer = better(x_u, x_v)
        taken = nearer & ((t < 0) | better(c, b))
        store(ELEMENT, best, STRIP, j, ROW_1, c if taken else b)
        store(HOP, tail, 0, j, ROW_3, as_element(HOP, hop if taken else t))
        o_c = c if better(c, o) else o
        store(ELEMENT, other, STRIP, j, ROW_2, o if nearer else o_c)


@compiled
def finish(x: int, plane: int, v_first: int, lanes: int, best: int, other: int, tail: int) -> int:
    """The tails that are predecessors; OPEN and LOST in place of others, which are counted. The best of all products.
    """
    stay_apart()
    wide_vectors()
    unsure = np.int32(0)
    for j in range(lanes):
        x_v = load(ELEMENT, x, plane, v_first + j, ROW_0)
        b, o = load(ELEMENT, best, STRIP, j, ROW_1), load(ELEMENT, other, STRIP, j, ROW_2)
        t = as_element(np.int32, load(HOP, tail, 0, j, ROW_3))
        found, apart = differs(x_v, as_element(ELEMENT, ZERO)), better(o, b)
        t = select(found, select((t < 0) | apart, OPEN, t), select(t >= 0, LOST, NONE))
        unsure = as_element(np.int32, unsure + select(t < NONE, np.int32(1), np.int32(0)))
        store(HOP, tail, 0, j, ROW_3, as_element(HOP, t))
        store(ELEMENT, best, STRIP, j, ROW_1, o if better(o, b) else b)
    return int64(unsure)


@compiled
def all_tails(
    v: int, x: int, plane: int, pitch: int, first: int, lanes: int, tails: int, weights: int, begin: int, end: int,
    tail: int, best: int, other: int,
) -> int:
    """Predecessors in some lanes, with OPEN and LOST in place of those that `join` does not find: how many these are.

    `best` takes the best products of all edges.
    """
    stay_apart()
    for j in range(lanes):
        store(ELEMENT, best, STRIP, j, ROW_1, as_element(ELEMENT, ZERO))
        store(ELEMENT, other, STRIP, j, ROW_2, as_element(ELEMENT, ZERO))
        store(HOP, tail, 0, j, ROW_3, as_element(HOP, NONE))
    for p in range(begin, end):
        u = int64(fetch(np.int32, tails, p))
        if u != v:
            hop = np.int32(named(u, p - begin))
            join(u, v, x, plane, pitch, first, lanes, fetch(ELEMENT, weights, p), hop, best, other, tail)
    return finish(x, plane, v * pitch + first, lanes, best, other, tail)


@compiled
def tail_of(
    v: int, root: int, x: int, x_step: int, predecessor: int, p_step: int, offsets: int, tails: int, weights: int,
) -> Any:
    """The best edge to v of the least tail that is done; −1 where there is none."""
    stay_apart()
    best, some, tail, begin = as_element(ELEMENT, ZERO), False, NONE, fetch(np.int64, offsets, v)
    for p in range(begin, fetch(np.int64, offsets, v + 1)):
        u = int64(fetch(np.int32, tails, p))
        x_u = at(x, x_step, u)
        if u == v or not differs(x_u, as_element(ELEMENT, ZERO)):
            continue
        c = product(x_u, fetch(ELEMENT, weights, p))
        if not some or better(c, best):
            best, some, tail = c, True, NONE
        if tail == NONE and not better(best, c) and is_done(predecessor, p_step, u, root):
            tail = np.int32(named(u, p - begin))
    return tail


@compiled
def nearest(
    root: int, x: int, x_step: int, predecessor: int, p_step: int, offsets: int, tails: int, weights: int, some: int,
    count: int, place: int,
) -> int:
    """Put the one of some vertices that is open and best reached from one that is done at `place`, and that one.

    0 where there is none, else 1.
    """
    stay_apart()
    best, nearest, before = as_element(ELEMENT, ZERO), int64(-1), NONE
    for i in range(count):
        v = int64(fetch(np.int32, some, i))
        if hop_at(predecessor, p_step, v) != OPEN:
            continue
        least, tail, begin = as_element(ELEMENT, ZERO), NONE, fetch(np.int64, offsets, v)
        for p in range(begin, fetch(np.int64, offsets, v + 1)):
            u = int64(fetch(np.int32, tails, p))
            if u != v and is_done(predecessor, p_step, u, root):
                c = product(at(x, x_step, u), fetch(ELEMENT, weights, p))
                if tail == NONE or better(c, least):
                    least, tail = c, np.int32(named(u, p - begin))
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
    heads: int, some: int, total: int, waiting: int, found: int,
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
            put_hop(predecessor, p_step, v, OPEN)
            tail = tail_of(v, root, x, x_step, predecessor, p_step, offsets, tails, weights)
            if tail != NONE:
                put(np.int32, found, 2 * new, np.int32(v))
                put(np.int32, found, 2 * new + 1, tail)
                new += 1
        if new == 0:
            guessed = 1
            new = nearest(root, x, x_step, predecessor, p_step, offsets, tails, weights, some, total, found)
            if new == 0:  # a walk to them was lost
                for i in range(total):
                    v = int64(fetch(np.int32, some, i))
                    if hop_at(predecessor, p_step, v) == OPEN:
                        put_hop(predecessor, p_step, v, NONE)
                return guessed
        left -= new
        count = int64(0)
        for i in range(new):
            v = int64(fetch(np.int32, found, 2 * i))
            put_hop(predecessor, p_step, v, fetch(np.int32, found, 2 * i + 1))
        for i in range(new):
            v = int64(fetch(np.int32, found, 2 * i))
            for p in range(fetch(np.int64, leaving, v), fetch(np.int64, leaving, v + 1)):
                w = int64(fetch(np.int32, heads, p))
                if hop_at(predecessor, p_step, w) == OPEN:
                    put_hop(predecessor, p_step, w, WAITS)
                    put(np.int32, waiting, count, np.int32(w))
                    count += 1
    return guessed


@inline
def gather_bits(bytes_: int, lanes: int, words: int) -> None:
    """A bit for each of some lanes, in words, from a byte for each that is not zero."""
    for j in range(lanes, (lanes + 63) // 64 * 64):
        store(np.uint8, bytes_, 0, j, ANY, np.uint8(0))
    for w in range((lanes + 63) // 64):
        put(np.uint64, words, w, bits_of_bytes(bytes_ + 64 * w))


@compiled
def open_lanes(tail: int, lanes: int, bytes_: int, words: int, bounded: int) -> int:
    """Which lanes of a strip are open, a bit each: all that have a tail too, where walks are not `bounded`.

    The answer is how many are LOST.
    """
    stay_apart()
    wide_vectors()
    lost = np.int32(0)
    for j in range(lanes):
        t = as_element(np.int32, load(HOP, tail, 0, j, ROW_3))
        is_open = (t == OPEN) | ((t >= 0) & (bounded == 0))
        store(np.uint8, bytes_, 0, j, ROW_1, select(is_open, np.uint8(1), np.uint8(0)))
        lost = as_element(np.int32, lost + select(t == LOST, np.int32(1), np.int32(0)))
    gather_bits(bytes_, lanes, words)
    return int64(lost)


@compiled
def tight_lanes(
    x: int, plane: int, x_first: int, a: Any, lanes: int, best: int, bytes_: int, words: int
) -> None:
    """In which lanes of a strip an edge is best, a bit each."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        x_u = load(ELEMENT, x, plane, x_first + j, PANEL)
        b = load(ELEMENT, best, STRIP, j, ROW_1)
        tight = differs(x_u, as_element(ELEMENT, ZERO)) & (not better(b, product(x_u, a)))
        store(np.uint8, bytes_, 0, j, ROW_2, select(tight, np.uint8(1), np.uint8(0)))
    gather_bits(bytes_, lanes, words)


@compiled
def mark_tight(
    v: int, x: int, plane: int, pitch: int, first: int, lanes: int, tails: int, weights: int, begin: int, end: int,
    best: int, bytes_: int, places: int, tight: int, row: int,
) -> None:
    """In which lanes of a strip each edge to v is best: rows of bits, as edges leave, none for a loop."""
    stay_apart()
    for p in range(begin, end):
        u, place = int64(fetch(np.int32, tails, p)), tight + row * fetch(np.int64, places, p)
        if u != v:
            a = fetch(ELEMENT, weights, p)
            tight_lanes(x, plane, u * pitch + first, a, lanes, best, bytes_, place)
        else:
            for w in range((lanes + 63) // 64):
                put(np.uint64, place, w, uint64(0))


@compiled
def lead_from(hop: int, tight: int, lanes: int, place: int, p_line: int, powers: int) -> None:
    """An edge to a vertex in the lanes of some bits; `powers` are those of 2."""
    stay_apart()
    wide_vectors()
    for h in range((lanes + 31) // 32):
        half, line, count = fetch(np.int32, tight, h), place + 32 * h * p_line, min(lanes - 32 * h, 32)
        if half == 0:
            continue
        if p_line == HOP_BYTES:
            for j in range(count):
                there = as_element(np.int32, half & load(np.int32, powers, 0, j, ROW_1)) != 0
                put(HOP, line, j, select(there, as_element(HOP, hop), fetch(HOP, line, j)))
        else:
            for j in range(count):
                if as_element(np.int32, half & load(np.int32, powers, 0, j, ROW_1)) != 0:
                    put_hop(line, p_line, j, hop)


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
def begin_rounds(
    n: int, words: int, open_: int, new: int, ahead: int, won: int, offsets: int, tails: int, places: int, listed: int,
    active: int, coming: int,
) -> None:
    """What `reach_lanes` begins with: what is done before an open vertex is active, in the lanes where it is done."""
    stay_apart()
    for b in range((n + 63) // 64):
        put(np.uint64, active, b, uint64(0))
        put(np.uint64, coming, b, uint64(0))
    for v in range(n):
        if not has(listed, v):
            continue
        for w in range(words):
            put(np.uint64, new + 8 * words * v, w, ~fetch(np.uint64, open_ + 8 * words * v, w))
            put(np.uint64, ahead + 8 * words * v, w, uint64(0))
        for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
            u, row = int64(fetch(np.int32, tails, p)), won + 8 * words * fetch(np.int64, places, p)
            for w in range(words):
                put(np.uint64, row, w, uint64(0))
            if not has(listed, u) and not has(active, u):
                for w in range(words):
                    put(np.uint64, new + 8 * words * u, w, ~uint64(0))
            join_set(active, u)
    for v in range(n):
        if has(listed, v) and not has(active, v):
            for w in range(words):
                put(np.uint64, new + 8 * words * v, w, uint64(0))


@compiled
def reach_lanes(
    n: int, lanes: int, open_: int, new: int, ahead: int, tight: int, won: int, taken: int, powers: int, offsets: int,
    tails: int, places: int, leaving: int, heads: int, P: int, p_line: int, p_step: int, listed: int, active: int,
) -> None:
    """`reach` in all lanes at once, as far as best edges lead: the same rounds, of lanes as bits.

    In a round the vertices that were reached in the one before take all that is open at the ends of their best edges,
    in ascending order: so the least takes it. Which these are is a bit each, at `active`, and then those of the next
    round; `listed` are those that are open in some lane, to which alone edges lead. Edges stand as they leave; `tight`
    says in which lanes each is best, and `won` takes in which it was taken. Lanes that are still open in the end need a
    guess. `powers` are to be those of 2.
    """
    stay_apart()
    wide_vectors()
    words, blocks = (lanes + 63) // 64, (n + 63) // 64
    coming = active + 8 * blocks
    begin_rounds(n, words, open_, new, ahead, won, offsets, tails, places, listed, active, coming)
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
                    if not has(listed, v):
                        continue
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
                    join_set(coming, v)
                    more = True
                for w in range(words):
                    store(np.uint64, from_, 0, w, ROW_3, uint64(0))
        new, ahead = ahead, new
        active, coming = coming, active
    for j in range(32):
        store(np.int32, powers, 0, j, ROW_1, as_element(np.int32, 1 << j))
    for v in range(n):
        if has(listed, v):
            begin = fetch(np.int64, offsets, v)
            for p in range(begin, fetch(np.int64, offsets, v + 1)):
                row, u = won + 8 * words * fetch(np.int64, places, p), int64(fetch(np.int32, tails, p))
                lead_from(named(u, p - begin), row, lanes, P + v * p_step, p_line, powers)


@operation
def settle_vertex(
    v: int, x: int, plane: int, pitch: int, lanes: int, tails: int, weights: int, begin: int, end: int,
    bounded: int, tail: int, best: int, other: int, bytes_: int, lost: int, roots: int, roots_here: int, row: int,
    places: int, tight: int, words: int,
) -> int:
    """Predecessors of one vertex by the general rule; whether some lanes, which `row` takes, are left to rounds."""
    unsure = int64(0)
    for strip in range(0, lanes, STRIP):
        unsure += all_tails(
            v, x, plane, pitch, strip, min(lanes - strip, STRIP), tails, weights, begin, end,
            tail + HOP_BYTES * strip, best + strip * SIZE, other,
        )
    if unsure <= roots_here and bounded:
        return 0
    lacking = int64(0)
    for strip in range(0, lanes, STRIP):
        count = min(lanes - strip, STRIP)
        lacking += open_lanes(tail + HOP_BYTES * strip, count, bytes_, row + strip // 8, bounded)
    for j in range(lanes if lacking > 0 else 0):
        if as_element(np.int32, load(HOP, tail, 0, j, ANY)) == LOST:
            store(HOP, tail, 0, j, ANY, as_element(HOP, NONE))
            known = fetch(np.int64, lost, j)
            put(np.int64, lost, j, int64(v) if known < 0 else min(known, int64(v)))
    for j in range(lanes if roots_here > 0 else 0):
        if fetch(np.int64, roots, j) == v:
            word = fetch(np.uint64, row, j // 64)
            put(np.uint64, row, j // 64, word & ~(uint64(1) << uint64(j % 64)))
    left = uint64(0)
    for w in range(words):
        left |= fetch(np.uint64, row, w)
    if left == 0:
        return 0
    for strip in range(0, lanes, STRIP):
        mark_tight(
            v, x, plane, pitch, strip, min(lanes - strip, STRIP), tails, weights, begin, end, best + strip * SIZE,
            bytes_, places, tight + strip // 8, 8 * words,
        )
    return 1


@operation
def reach_rest(
    n: int, begin: int, lanes: int, open_: int, new: int, ahead: int, tight: int, won: int, taken: int, powers: int,
    offsets: int, tails: int, weights: int, places: int, leaving: int, heads: int, X: int, x_line: int, x_step: int,
    P: int, p_line: int, p_step: int, roots: int, guessed: int, listed: int, waiting: int, found: int, some: int,
) -> int:
    """Predecessors of what `grow` left open in lines from `begin` on: by rounds, and then by guesses."""
    words = (lanes + 63) // 64
    reach_lanes(
        n, lanes, open_, new, ahead, tight, won, taken, powers, offsets, tails, places, leaving, heads,
        P + begin * p_line, p_line, p_step, listed, waiting,
    )
    blocks = (n + 63) // 64
    for w in range(words):  # in which lanes vertices are left
        put(np.uint64, new, w, uint64(0))
    for b in range(blocks):
        left = fetch(np.uint64, listed, b)
        while left != 0:
            row = open_ + 8 * words * (64 * b + trailing_zeros(left))
            left &= left - uint64(1)
            for w in range(words):
                put(np.uint64, new, w, fetch(np.uint64, new, w) | fetch(np.uint64, row, w))
    for j in range(lanes):
        count, bit = int64(0), uint64(1) << uint64(j % 64)
        line = P + (begin + j) * p_line
        for b in range(blocks if fetch(np.uint64, new, j // 64) & bit != 0 else 0):
            left = fetch(np.uint64, listed, b)
            while left != 0:
                v = 64 * b + trailing_zeros(left)
                left &= left - uint64(1)
                if fetch(np.uint64, open_, v * words + j // 64) & bit != 0:
                    put_hop(line, p_step, v, OPEN)
                    put(np.int32, some, count, np.int32(v))
                    count += 1
        if count > 0:
            guess = reach(
                fetch(np.int64, roots, begin + j), X + (begin + j) * x_line, x_step, line, p_step, offsets, tails,
                weights, leaving, heads, some, count, waiting, found,
            )
            put(np.uint8, guessed, begin + j, np.uint8(guess))
    return 0
