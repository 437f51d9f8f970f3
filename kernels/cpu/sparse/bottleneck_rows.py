"""The compiled loops that write next hops from components; `semiring.kernels.cpu.sparse.bottleneck` calls them.

They take addresses, of int32 for vertices, nodes of the tree and places, and of int64 for where their parts begin. What
was found is more than a cache holds, and a row reads an element from each of hundreds of its parts. So the rows of
neighbours in the tree, for which it lies side by side, are written together; and it is asked for before it is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.bits.vectors import compiled
from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.raw import ROW_0

fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
put: Any = raw.put
store: Any = raw.store
select: Any = raw.select
store_turned: Any = raw.store_turned
prefetch: Any = raw.prefetch
stay_apart: Any = raw.stay_apart
NONE = -1
GROUP = 8  # vertices whose rows are written together
AHEAD = 2 * GROUP  # of what was found, the element so many further on is asked for
WORKSPACE = 12 * GROUP  # bytes for each vertex, and for four more


@compiled
def least_holding(p: int, q: int, above: int, start: int, size: int, names: int) -> Any:
    """The least component that holds the vertices at p and q ≥ p; NONE where none does."""
    x: Any = int64(fetch(np.int32, names, p))
    while x >= 0 and fetch(np.int32, start, x) + fetch(np.int32, size, x) <= q:
        x = int64(fetch(np.int32, above, x))
    return x


@compiled
def largest_holding(p: int, above: int, names: int) -> Any:
    """The component of all edges that holds the vertex at p."""
    x: Any = int64(fetch(np.int32, names, p))
    while fetch(np.int32, above, x) >= 0:
        x = int64(fetch(np.int32, above, x))
    return x


@compiled
def mark(begin: int, end: int, place: int, names: int, known: int) -> None:
    """The vertices at ``begin:end`` belong to a place."""
    for q in range(begin, end):
        put(np.int32, known, int64(fetch(np.int32, names, q)), np.int32(place))


@compiled
def hops_to_outside(
    p: int, own: int, limit: int, above: int, start: int, size: int, children: int, child: int, base: int, names: int,
    places: int, found: int, known: int, hops: int,
) -> Any:
    """Hops from GROUP vertices at p to all places beside a component that holds them; the largest one that does.

    Vertices are marked in those of at most `limit`.
    """
    whole: Any = int64(fetch(np.int32, above, own))
    while whole >= 0:
        begin, place = int64(fetch(np.int32, start, whole)), int64(fetch(np.int32, base, whole))
        marked = fetch(np.int32, size, whole) <= limit
        for y in range(fetch(np.int64, children, whole), fetch(np.int64, children, whole + 1)):
            c = int64(fetch(np.int32, child, y))
            if c != own:
                inside, width = int64(fetch(np.int32, start, c)), int64(fetch(np.int32, size, c))
                source = fetch(np.int64, places, c) + p - begin - select(inside < p, width, 0)
                prefetch(found + 4 * (source + AHEAD))
                for r in range(GROUP):
                    put(np.int32, hops, GROUP * place + r, fetch(np.int32, found, source + r))
                if marked:
                    mark(inside, inside + width, place, names, known)
                place += 1
        own, whole = whole, int64(fetch(np.int32, above, whole))
    return own


@compiled
def hops_to_inside(
    p: int, stop: int, depth: int, count: int, start: int, size: int, children: int, child: int, n: int, names: int,
    places: int, found: int, known: int, hops: int, stack: int,
) -> Any:
    """Hops from vertices at ``p:stop`` within the components of a stack, each with its place as seen from elsewhere.

    There are `count` places before, and as many as are returned afterwards.
    """
    while depth > 0:
        depth -= 1
        whole, outer = fetch(np.int64, stack, 2 * depth), fetch(np.int64, stack, 2 * depth + 1)
        begin = int64(fetch(np.int32, start, whole))
        end = begin + fetch(np.int32, size, whole)
        if whole < n:
            mark(begin, end, outer, names, known)
            continue
        for y in range(fetch(np.int64, children, whole), fetch(np.int64, children, whole + 1)):
            c = int64(fetch(np.int32, child, y))
            inside, width = int64(fetch(np.int32, start, c)), int64(fetch(np.int32, size, c))
            source, here = fetch(np.int64, places, c) - begin, GROUP * count - p
            for r in range(GROUP):  # from outside of the whole
                put(np.int32, hops, GROUP * count + r, fetch(np.int32, hops, GROUP * outer + r))
            for q in range(max(p, begin), min(stop, inside)):
                put(np.int32, hops, here + q, fetch(np.int32, found, source + q))
            for q in range(max(p, inside + width), min(stop, end)):
                put(np.int32, hops, here + q, fetch(np.int32, found, source - width + q))
            if inside < stop and inside + width > p:
                put(np.int64, stack, 2 * depth, c)
                put(np.int64, stack, 2 * depth + 1, count)
                depth += 1
            else:
                mark(inside, inside + width, count, names, known)
            count += 1
    return count


@compiled
def write_rows(
    first: int, last: int, n: int, above: int, start: int, size: int, children: int, child: int, base: int, names: int,
    places: int, found: int, offsets: int, columns: int, P: int, workspace: int,
) -> None:
    """Rows of the vertices at ``first:last`` in the tree's order: the vertex after each on the way to every other.

    From a vertex beside a component the hop to all of its vertices is the same. So for GROUP neighbours in the tree all
    others fall into few places: the largest components that hold none of the GROUP. `known` says the place of each
    vertex, and `hops` the GROUP hops to each place. Beside a component that holds this GROUP and the last one places
    are the same, and only hops are read. A node x of the tree is made of ``child[children[x]:children[x + 1]]``.
    Behind what is found there are GROUP more elements.

    With `offsets` and `columns` of all edges P takes their numbers, a byte each, in place of vertices. Workspace:
    WORKSPACE bytes for each vertex, and for four more.
    """
    hops = workspace  # GROUP of each place; the first is for what is not reached
    stack = hops + 4 * GROUP * (2 * n + 1)  # holds GROUP components at most, which have no vertex in common
    rows = stack + 16 * GROUP
    known = rows + 8 * GROUP
    before = int64(NONE)  # the least component that held the vertices before
    begin: Any = int64(0)
    end: Any = int64(0)  # of the vertices that are not at the first place
    mark(0, n, 0, names, known)
    for r in range(GROUP):
        put(np.int32, hops, r, np.int32(NONE))
    for p in range(first, last, GROUP):
        stop = min(p + GROUP, last)
        least = least_holding(p, stop - 1, above, start, size, names)
        limit: Any = int64(0)  # vertices of the largest component in which places change
        if before >= 0 and least >= 0:
            both = least_holding(p - 1, p, above, start, size, names)
            if both >= 0:
                limit = int64(max(fetch(np.int32, size, before), fetch(np.int32, size, both)))
        if limit == 0:
            mark(begin, end, 0, names, known)
            begin, end, limit = p, p, n
        depth, count = int64(0), int64(1)
        if least >= 0:
            put(np.int64, stack, 0, least)
            put(np.int64, stack, 1, int64(0))
            depth, count = int64(1), int64(fetch(np.int32, base, least))
            largest = hops_to_outside(p, least, limit, above, start, size, children, child, base, names, places, found,
                                      known, hops)
            begin = min(begin, int64(fetch(np.int32, start, largest)))
            end = max(end, int64(fetch(np.int32, start, largest)) + fetch(np.int32, size, largest))
        while least < 0 and end < stop:
            largest = largest_holding(end, above, names)
            put(np.int64, stack, 2 * depth, largest)
            put(np.int64, stack, 2 * depth + 1, int64(0))
            begin = min(begin, int64(fetch(np.int32, start, largest)))
            end = int64(fetch(np.int32, start, largest)) + fetch(np.int32, size, largest)
            depth += 1
        count = hops_to_inside(p, stop, depth, count, start, size, children, child, n, names, places, found, known,
                               hops, stack)
        before = least
        for r in range(stop - p):
            put(np.int64, rows, r, int64(fetch(np.int32, names, p + r)))
        if offsets == 0:
            write_vertices(stop - p, n, known, hops, rows, P)
        else:
            write_numbers(stop - p, n, count, known, hops, rows, offsets, columns, P, known + 4 * (n + n % 2))


@compiled
def write_vertices(count: int, n: int, known: int, hops: int, rows: int, P: int) -> None:
    """So many rows of P: what is found for the places of all vertices."""
    stay_apart()
    for r in range(count):
        row = P + 4 * n * fetch(np.int64, rows, r)
        for t in range(n):
            place = int64(fetch(np.int32, known, t))
            store(np.int32, row, 0, t, ROW_0, fetch(np.int32, hops, GROUP * place + r))


@compiled
def write_numbers(
    count: int, n: int, number: int, known: int, hops: int, rows: int, offsets: int, columns: int, P: int,
    workspace: int,
) -> None:
    """The same with numbers of edges in place of vertices, for so many places; `rows` become addresses.

    Workspace: GROUP bytes for each place, GROUP for each vertex and two more, and n for rows past `count`.
    """
    stay_apart()
    packed = workspace
    edges = packed + GROUP * (number + 1)  # that lead from the vertices to each other one, after those to NONE
    for r in range(GROUP):
        put(np.int8, edges, r - GROUP, np.int8(NONE))
    for r in range(count):
        v = fetch(np.int64, rows, r)
        begin = fetch(np.int64, offsets, v)
        for e in range(begin, fetch(np.int64, offsets, v + 1)):
            put(np.int8, edges, GROUP * int64(fetch(np.int32, columns, e)) + r, np.int8(e - begin))
        put(np.int64, rows, r, P + n * v)
    for r in range(count, GROUP):
        put(np.int64, rows, r, edges + GROUP * n)
    for i in range(number):
        for r in range(GROUP):
            to = int64(fetch(np.int32, hops, GROUP * i + r))
            put(np.int8, packed, GROUP * i + r, fetch(np.int8, edges, GROUP * to + r))
    turned = n - n % GROUP
    for t in range(0, turned, GROUP):
        store_turned(rows, packed, known, t)
    for r in range(count):
        row = fetch(np.int64, rows, r)
        for t in range(turned, n):
            place = int64(fetch(np.int32, known, t))
            store(np.int8, row, 0, t, ROW_0, fetch(np.int8, packed, GROUP * place + r))
