"""Trees of best walks from their values. A template: see trees.py, and search_template.py.

Offsets are int64, vertices int32, all arrays addresses. `better` is the strict order of a selective ⊕. The rule by
which ties break, and why it makes trees, stands in `semiring.algorithms.trees`. Here are predecessors that are sure at
a look at the edges to a vertex, as most are; the others are left to tree_rounds_template.py.
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
    call,
    fetch,
    fold,
    load,
    put,
    select,
    stay_apart,
    store,
    wide_vectors,
)
from semiring.kernels.cpu.dense.operations_template import ONE, ZERO, plus
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, SIZE, compiled, entry, inline

from .search_template import better, differs
from .tree_hops_template import HOP, HOP_BYTES, MONOTONE, NONE, OPEN, STRIP, at, join_set, named, product, put_hop

# Template

LABEL = np.int64 if SIZE == 8 else np.int32  # a vertex beside its value, in as many bits: no mask has to change


@inline
def edge(pitch: int, first: int, tails: int, weights: int, begin: int, number: int) -> Any:
    """Weight and label of an edge to a vertex whose edges begin at `begin`, and where the values of its tail lie."""
    u, a = int64(fetch(np.int32, tails, begin + number)), fetch(ELEMENT, weights, begin + number)
    return a, as_element(LABEL, named(u, number)), u * pitch + first


@inline
def begun(x_u: Any, a: Any) -> Any:
    """The first product; ⊕ with zero drops the NaN that it may be of a zero, where ⊗ is not one operation."""
    c = product(x_u, a)
    return c if MONOTONE else as_element(ELEMENT, plus(as_element(ELEMENT, ZERO), c))


@inline
def lifted(known: Any, edge: Any, x: int, plane: int, j: int) -> Any:
    """The first of the best products, its label, and the value at its tail, where it is needed: with one edge more."""
    best, tail, before = known
    a, label, x_first = edge
    x_u = load(ELEMENT, x, plane, x_first + j, PANEL)
    total = as_element(ELEMENT, plus(best, product(x_u, a)))
    taken = differs(total, best)
    if MONOTONE:
        return total, select(taken, label, tail), before
    return total, select(taken, label, tail), x_u if taken else before


@inline
def lifted_from_one(edge: Any, others: Any, x: int, plane: int, j: int) -> Any:
    """`lifted` for some edges, of which `edge` is the first to its vertex."""
    a, label, x_first = edge
    x_u = load(ELEMENT, x, plane, x_first + j, PANEL)
    return fold(lifted, (begun(x_u, a), label, x_u), others, (x, plane, j))


@inline
def sure(x_v: Any, known: Any, least: Any, nothing: Any) -> Any:
    """The label if its tail is better for sure, else OPEN; `nothing` where the value is zero.

    `least` is the best of all edges: with a tail that is no better than the vertex, the best product would be no better
    than that of the vertex and this edge.
    """
    best, label, before = known
    nearer = better(best, product(x_v, least)) if MONOTONE else better(before, x_v)
    t = select(nearer, label, as_element(LABEL, OPEN))
    return select(differs(x_v, as_element(ELEMENT, ZERO)), t, nothing)


@inline
def count_open(unsure: Any, t: Any) -> Any:
    return as_element(LABEL, unsure + select(t == OPEN, as_element(LABEL, 1), as_element(LABEL, 0)))


@inline
def kept_at(kept: Any, j: int) -> Any:
    """What is known of a lane from earlier edges: see `keep`."""
    best, label, before = kept
    b = load(ELEMENT, best, STRIP, j, ROW_1)
    return b, load(LABEL, label, 0, j, ROW_0), b if MONOTONE else load(ELEMENT, before, STRIP, j, ROW_2)


@inline
def keep(kept: Any, j: int, known: Any) -> None:
    """Write what is known of a lane for later edges."""
    best, label, before = kept
    store(ELEMENT, best, STRIP, j, ROW_1, known[0])
    store(LABEL, label, 0, j, ROW_0, known[1])
    if not MONOTONE:
        store(ELEMENT, before, STRIP, j, ROW_2, known[2])


@compiled
def all_edges(
    edge: Any, others: Any, x: int, plane: int, v_first: int, lanes: int, tail: int, least: Any, nothing: Any
) -> int:
    """`sure_tails` for a vertex with few edges."""
    stay_apart()
    wide_vectors()
    unsure = as_element(LABEL, 0)
    for j in range(lanes):
        known = lifted_from_one(edge, others, x, plane, j)
        t = sure(load(ELEMENT, x, plane, v_first + j, PANEL), known, least, nothing)
        unsure = count_open(unsure, t)
        store(HOP, tail, 0, j, ROW_3, as_element(HOP, t))
    return int64(unsure)


@compiled
def first_edges(edge: Any, others: Any, x: int, plane: int, lanes: int, kept: Any) -> None:
    """The first edges to a vertex that has more of them."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        keep(kept, j, lifted_from_one(edge, others, x, plane, j))


@compiled
def next_edges(edges: Any, x: int, plane: int, lanes: int, kept: Any) -> None:
    """Edges to a vertex that has more of them before and after these."""
    stay_apart()
    wide_vectors()
    for j in range(lanes):
        keep(kept, j, fold(lifted, kept_at(kept, j), edges, (x, plane, j)))


@compiled
def last_edges(
    edges: Any, x: int, plane: int, v_first: int, lanes: int, kept: Any, tail: int, least: Any, nothing: Any
) -> int:
    """`sure_tails` for the last edges to a vertex, after those before."""
    stay_apart()
    wide_vectors()
    unsure = as_element(LABEL, 0)
    for j in range(lanes):
        known = fold(lifted, kept_at(kept, j), edges, (x, plane, j))
        t = sure(load(ELEMENT, x, plane, v_first + j, PANEL), known, least, nothing)
        unsure = count_open(unsure, t)
        store(HOP, tail, 0, j, ROW_3, as_element(HOP, t))
    return int64(unsure)


@inline
def pair(pitch: int, first: int, tails: int, weights: int, begin: int, number: int, count: int) -> Any:
    """Two edges to a vertex that has so many; the last edge stands for one that it has not, which changes nothing."""
    return (
        edge(pitch, first, tails, weights, begin, number),
        edge(pitch, first, tails, weights, begin, min(number + 1, count - 1)),
    )


@compiled
def sure_tails(
    v: int, x: int, plane: int, pitch: int, first: int, lanes: int, tails: int, weights: int, begin: int, count: int,
    tail: int, best: int, label: int, before: int, least: Any, nothing: Any,
) -> int:
    """Predecessors where the first best edge comes from a better vertex, as most do, and no edge is a loop.

    OPEN elsewhere: in how many lanes is the answer. What a product with zero may be, and of equal edges the first from
    a better vertex, is left to `all_tails`. `nothing` is for lanes in which the vertex has the value zero.
    """
    stay_apart()
    v_first, kept = v * pitch + first, (best, label, before)
    e_0, e_1 = pair(pitch, first, tails, weights, begin, 0, count)
    if count < 3:
        return all_edges(e_0, (e_1,), x, plane, v_first, lanes, tail, least, nothing)
    e_2, e_3 = pair(pitch, first, tails, weights, begin, 2, count)
    if count == 3:
        return all_edges(e_0, (e_1, e_2), x, plane, v_first, lanes, tail, least, nothing)
    if count == 4:
        return all_edges(e_0, (e_1, e_2, e_3), x, plane, v_first, lanes, tail, least, nothing)
    e_4, e_5 = pair(pitch, first, tails, weights, begin, 4, count)
    if count <= 6:
        return all_edges(e_0, (e_1, e_2, e_3, e_4, e_5), x, plane, v_first, lanes, tail, least, nothing)
    first_edges(e_0, (e_1, e_2, e_3, e_4, e_5), x, plane, lanes, kept)
    number = 6
    while True:
        e_0, e_1 = pair(pitch, first, tails, weights, begin, number, count)
        if number + 2 >= count:
            return last_edges((e_0, e_1), x, plane, v_first, lanes, kept, tail, least, nothing)
        e_2, e_3 = pair(pitch, first, tails, weights, begin, number + 2, count)
        if number + 4 >= count:
            return last_edges((e_0, e_1, e_2, e_3), x, plane, v_first, lanes, kept, tail, least, nothing)
        next_edges((e_0, e_1, e_2, e_3), x, plane, lanes, kept)
        number += 4


@compiled
def turn(n: int, offsets: int, tails: int, places: int, leaving: int, heads: int) -> None:
    """The edges from every vertex, as `offsets` and `tails` say those to it; and where each edge stands among these."""
    stay_apart()
    for u in range(n + 1):
        put(np.int64, leaving, u, int64(0))
    for p in range(fetch(np.int64, offsets, n)):
        after = int64(fetch(np.int32, tails, p)) + 1
        put(np.int64, leaving, after, fetch(np.int64, leaving, after) + 1)
    for u in range(n):
        put(np.int64, leaving, u + 1, fetch(np.int64, leaving, u + 1) + fetch(np.int64, leaving, u))
    for v in range(n):
        for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
            u = int64(fetch(np.int32, tails, p))
            place = fetch(np.int64, leaving, u)
            put(np.int64, places, p, place)
            put(np.int32, heads, place, as_element(np.int32, v))
            put(np.int64, leaving, u, place + 1)
    for u in range(n, 0, -1):  # each is where the next one begins
        put(np.int64, leaving, u, fetch(np.int64, leaving, u - 1))
    put(np.int64, leaving, 0, int64(0))


@entry(*[int64] * 25)
def grow(
    X: int, x_line: int, x_step: int, P: int, p_line: int, p_step: int, lost: int, guessed: int, roots: int,
    offsets: int, tails: int, weights: int, order: int, n: int, first: int, last: int, width: int, bounded: int,
    tied: int, lossless: int, in_place: int, settle: int, rest: int, stopped: int, workspace: int,
) -> None:
    """Lines ``first:last`` of the predecessors of the walks whose values are X, `width` lines at a time.

    The value of vertex v in line i lies ``i · x_line + v · x_step`` bytes after X. Lines stand side by side, a lane
    each, and every edge is looked at once for all of them; where they lie so already (`in_place`) they are not
    copied. Vertices are looked at in `order`: where neighbours follow each other, lines are read from nearby memory.
    `lost` takes of each line the first vertex whose value is zero though one before it is not, or −1, and `guessed` 1
    where rounding left no best edge to some vertices. Where lines are `tied`, most best edges are expected to lead
    between equal values. `settle` and `rest` are the addresses of `settle_vertex` and `reach_rest`, which many graphs
    do not need: without them `stopped` takes the first line of those that do, of which and of what follows nothing is
    known then; else −1.

    Workspace: 12 bytes for each edge and 8 for each vertex, and 8, up to a multiple of 64; n elements of every lane in
    planes, and a vertex of every lane, each up to a multiple of 64 bytes; an element of every lane, up to a multiple of
    STRIP; four elements, two labels and a byte of STRIP lanes; 5 n vertices, up to a multiple of 64 bytes; a bit of
    every lane, up to a word, two for each edge, three for each vertex, and one; 128 bytes; and a bit of every vertex,
    up to a word.
    """
    nothing = as_element(LABEL, NONE if lossless else OPEN)
    edges, turned = fetch(np.int64, offsets, n), False
    places, leaving = workspace, workspace + 8 * edges  # see `turn`
    heads = leaving + 8 * (n + 1)
    values = workspace + (12 * edges + 8 * (n + 1) + 63) // 64 * 64
    for begin in range(first, last, width):
        lanes = min(width, last - begin)
        words = (lanes + 63) // 64
        x, plane, pitch = values, n * lanes, lanes
        spare = values + (n * width * SIZE + 63) // 64 * 64
        best = spare + (width * 4 + 63) // 64 * 64  # of every strip
        other = best + (width + STRIP - 1) // STRIP * STRIP * SIZE
        label = other + STRIP * SIZE
        bytes_ = label + STRIP * 8
        waiting = bytes_ + STRIP
        found = waiting + 4 * n
        rooted = found + 8 * n  # lanes whose root each vertex is, which are open
        some = rooted + 4 * n
        open_ = waiting + (20 * n + 63) // 64 * 64
        new = open_ + 8 * n * words
        ahead = new + 8 * n * words
        taken = ahead + 8 * n * words
        powers = taken + 8 * words
        listed = powers + 128  # vertices that are open in some lane
        tight = listed + (n + 63) // 64 * 8  # of every edge, as they leave
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
        for b in range((n + 63) // 64):
            put(np.uint64, listed, b, uint64(0))
        all_done = True
        for i in range(n):
            v = int64(fetch(np.int32, order, i))
            tail = P + begin * HOP_BYTES + v * p_step if in_place else spare
            begins, stop = fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)
            loop, roots_here, least = False, int64(fetch(np.int32, rooted, v)), as_element(ELEMENT, ZERO)
            for p in range(begins, stop):
                loop = loop or int64(fetch(np.int32, tails, p)) == v
                least = as_element(ELEMENT, plus(least, fetch(ELEMENT, weights, p)))
            told = differs(least, as_element(ELEMENT, ONE)) or not MONOTONE
            unsure = int64(lanes) + 1  # not known
            if begins == stop:
                unsure = int64(0)
                for j in range(lanes):
                    store(HOP, tail, 0, j, ANY, as_element(HOP, NONE))
            elif bounded and told and not (loop or tied):
                unsure = int64(0)
                for strip in range(0, lanes, STRIP):
                    unsure += sure_tails(
                        v, x, plane, pitch, strip, min(lanes - strip, STRIP), tails, weights, begins, stop - begins,
                        tail + HOP_BYTES * strip, best, label, other, least, nothing,
                    )
            if unsure > roots_here:
                if rest == 0:
                    put(np.int64, stopped, 0, begin)
                    return
                if not turned:
                    turn(n, offsets, tails, places, leaving, heads)
                    turned = True
                if call(settle, (
                    v, x, plane, pitch, lanes, tails, weights, begins, stop, bounded, tail, best, other, bytes_,
                    lost + 8 * begin, roots + 8 * begin, roots_here, open_ + 8 * words * v, places, tight, words,
                )) != 0:
                    join_set(listed, v)
                    all_done = False
            if not in_place:
                for j in range(lanes):
                    put_hop(P + (begin + j) * p_line, p_step, v, load(HOP, tail, 0, j, ANY))
        for i in range(begin, begin + lanes):
            put_hop(P + i * p_line, p_step, fetch(np.int64, roots, i), NONE)
        if all_done:
            continue
        call(rest, (
            n, begin, lanes, open_, new, ahead, tight, won, taken, powers, offsets, tails, weights, places, leaving,
            heads, X, x_line, x_step, P, p_line, p_step, roots, guessed, listed, waiting, found, some,
        ))
    put(np.int64, stopped, 0, int64(-1))
