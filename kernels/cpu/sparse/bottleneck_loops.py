"""The compiled loops over components that lie within each other; `semiring.kernels.cpu.sparse.bottleneck` calls them.

Those that look at edges take arrays, those that look at pairs of vertices addresses, of int32 for vertices and nodes of
the tree, and of int64 for where their parts begin.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.bits.vectors import compiled
from semiring.kernels.cpu.compile import raw
from semiring.kernels.cpu.compile.raw import ROW_0, ROW_1, ROW_2

fetch: Any = raw.fetch  # a type checker would ask the callers for the typing context
put: Any = raw.put
load: Any = raw.load
store: Any = raw.store
select: Any = raw.select
NONE = -1
FAR = np.int32(np.iinfo(np.int32).max)  # the key of a vertex that was not reached
BLOCK = 4  # edges that are looked at together


@compiled
def component(of: np.ndarray, v: int) -> Any:
    """The vertex that stands for the component of another."""
    while of[v] != v:
        of[v] = of[of[v]]
        v = of[v]
    return v


@compiled
def merge(
    tails: np.ndarray, heads: np.ndarray, ranks: np.ndarray, of: np.ndarray, node: np.ndarray, across: np.ndarray,
    parent: np.ndarray, level: np.ndarray, left: np.ndarray, size: np.ndarray,
) -> Any:
    """Kruskal's algorithm: how many nodes the tree of components has, of which each joins two, the larger at the left.

    Ranks descend. `of` and `node` say of each vertex that it is a component by itself, and a leaf. `across` takes for
    each edge the nodes of its ends before any edge of its rank, where these differ.
    """
    count, first = len(of), 0
    while first < len(tails):
        last = first
        while last < len(tails) and ranks[last] == ranks[first]:
            a, b = component(of, tails[last]), component(of, heads[last])
            if a != b:
                across[0, last], across[1, last] = node[a], node[b]
            last += 1
        for e in range(first, last):
            a, b = component(of, tails[e]), component(of, heads[e])
            if a != b:
                if size[node[a]] < size[node[b]]:
                    a, b = b, a
                left[count] = node[a]
                parent[node[a]] = parent[node[b]] = count
                size[count] = size[node[a]] + size[node[b]]
                level[count] = ranks[e]
                of[b], node[a] = a, count
                count += 1
        first = last
    return count


@compiled
def lay_out(
    parent: np.ndarray, level: np.ndarray, left: np.ndarray, size: np.ndarray, top: np.ndarray, start: np.ndarray,
    above: np.ndarray, children: np.ndarray,
) -> None:
    """The beginning of each component in an order in which all are ranges; nested nodes of one rank become one.

    `above` takes the node above each that stays, and `children` how many it has; of others, NONE and 0.
    """
    placed = 0
    for x in range(len(parent) - 1, -1, -1):
        above[x], top[x], children[x] = NONE, x, 0
        p = parent[x]
        if p < 0:
            start[x] = placed
            placed += size[x]
        else:
            start[x] = start[p] if left[p] == x else start[p] + size[left[p]]
            if level[p] == level[x]:
                top[x] = top[p]
            else:
                above[x] = top[p]
                children[top[p]] += 1


@compiled
def count_places(above: np.ndarray, top: np.ndarray, children: np.ndarray, base: np.ndarray) -> None:
    """What a vertex of each node knows of components beside those above it: one place each, after the one for none."""
    for x in range(len(above) - 1, -1, -1):
        if top[x] == x:
            a = above[x]
            base[x] = 1 if a < 0 else base[a] + children[a] - 1


@compiled
def search(
    works: int, first: int, last: int, n: int, bits: int, above: int, level: int, start: int, size: int, names: int,
    seeds: int, tails: int, heads: int, blocks: int, targets: int, ranks: int, order: int, edges: int, places: int,
    found: int, workspace: int,
) -> None:
    """From components ``works[first:last]``, in ascending order of the nodes above, the trees of what is beside them.

    Every vertex is called by its place in the tree's order, and `names` says what the caller calls it, in so many
    `bits`. Seeds are the edges that lead out of a component with the rank of the node above; their tails and heads.
    `targets` and `ranks` are the edges in blocks, from ``blocks[u]`` on those of u, best first, filled up with n and
    −1; in `order` they descend. What is found, the tail before each vertex beside the component, goes in its order to
    ``places[c]`` in `found`. Workspace: a target for each edge in blocks, and n + 1 keys and n + 4 vertices.
    """
    active = workspace
    key = active + 4 * BLOCK * int64(fetch(np.int32, blocks, n))
    queue = key + 4 * (n + 1)
    step, mask = np.int32(1 << bits), np.int32((1 << bits) - 1)
    for e in range(BLOCK * int64(fetch(np.int32, blocks, n))):
        put(np.int32, active, e, np.int32(n))
    put(np.int32, key, n, np.int32(NONE))
    known = int64(0)  # edges of `order` that are active
    for i in range(first, last):
        c = int64(fetch(np.int32, works, i))
        whole = int64(fetch(np.int32, above, c))
        rank = fetch(np.int32, level, whole)
        while known < edges:
            e = int64(fetch(np.int32, order, known))
            if fetch(np.int32, ranks, e) < rank:
                break
            put(np.int32, active, e, fetch(np.int32, targets, e))
            known += 1
        begin, inside = int64(fetch(np.int32, start, whole)), int64(fetch(np.int32, start, c))
        end, outside = begin + fetch(np.int32, size, whole), inside + fetch(np.int32, size, c)
        for v in range(begin, end):
            put(np.int32, key, v, FAR)
        for v in range(inside, outside):
            put(np.int32, key, v, np.int32(NONE))
        count = int64(0)
        for s in range(fetch(np.int64, seeds, c), fetch(np.int64, seeds, c + 1)):
            v = int64(fetch(np.int32, heads, s))
            name, before = fetch(np.int32, names, int64(fetch(np.int32, tails, s))), fetch(np.int32, key, v)
            put(np.int32, queue, count, np.int32(v))
            count += select(before == FAR, 1, 0)
            put(np.int32, key, v, min(before, name))
        breadth_first(count, begin, end, step, mask, names, blocks, active, n, key, queue)
        place = found + 4 * (fetch(np.int64, places, c) - begin)
        for v in range(begin, inside):
            put(np.int32, place, v, np.int32(fetch(np.int32, key, v) & mask))
        place -= 4 * (outside - inside)
        for v in range(outside, end):
            put(np.int32, place, v, np.int32(fetch(np.int32, key, v) & mask))


@compiled
def breadth_first(
    count: int, begin: int, end: int, step: int, mask: int, names: int, blocks: int, active: int, n: int, key: int,
    queue: int,
) -> None:
    """The tails of all vertices that are reached from those in the queue, in the lower bits of their keys.

    A key is the round in which a vertex is reached, and then a tail, of which the least is to be found: so it is the
    least of all that are met. Vertices from which nothing is to be found have less, and there is one at n.
    """
    first: Any = int64(0)
    rounds: Any = int64(step)
    while first < count:
        last = count
        if rounds > FAR - 2 * step:  # what was reached before may as well all have been reached in the first
            for v in range(begin, end):
                before = fetch(np.int32, key, v)
                if 0 <= before < FAR:
                    put(np.int32, key, v, np.int32(before & mask))
            rounds = int64(step)
        for i in range(first, last):
            u = int64(fetch(np.int32, queue, i))
            mine = np.int32(rounds | fetch(np.int32, names, u))
            block, stop = int64(fetch(np.int32, blocks, u)), int64(fetch(np.int32, blocks, u + 1))
            while True:
                for j in range(BLOCK):
                    v = int64(fetch(np.int32, active, BLOCK * block + j))
                    before = fetch(np.int32, key, v)
                    put(np.int32, queue, count, np.int32(v))
                    count += select(before == FAR, 1, 0)
                    put(np.int32, key, v, min(before, mine))
                block += 1
                if block == stop or fetch(np.int32, active, BLOCK * block) == n:
                    break
        first, rounds = last, rounds + step


@compiled
def write_rows(
    first: int, last: int, n: int, above: int, start: int, size: int, children: int, child: int, base: int, names: int,
    places: int, found: int, offsets: int, columns: int, P: int, workspace: int,
) -> None:
    """Rows of the vertices at ``first:last`` in the tree's order: the vertex after each on the way to every other.

    All vertices of a component lie behind the same one, and the next row differs in which components these are as far
    as the least one that holds both vertices. ``child[children[x]:children[x + 1]]`` are the components of which x is
    made. With `offsets` and `columns` of all edges P takes their numbers, a byte each, in place of vertices. Workspace:
    n places, for each a vertex and where it is found, and n numbers.
    """
    known, hops, sources, numbers = workspace, workspace + 4 * n, workspace + 8 * n, workspace + 16 * n
    for v in range(n):
        put(np.int32, known, v, np.int32(0))
    put(np.int32, hops, 0, np.int32(NONE))
    shared = int64(NONE)  # the component in which what is known has to change
    for p in range(first, last):
        v = int64(fetch(np.int32, names, p))
        if p > first:
            below = int64(fetch(np.int32, names, p - 1))
            shared = int64(fetch(np.int32, above, below))
            while shared >= 0 and fetch(np.int32, start, shared) + fetch(np.int32, size, shared) <= p:
                below, shared = shared, int64(fetch(np.int32, above, shared))
            if shared < 0:  # what was known is not to be reached from here
                for q in range(fetch(np.int32, start, below), p):
                    put(np.int32, known, int64(fetch(np.int32, names, q)), np.int32(0))
        own, whole = v, int64(fetch(np.int32, above, v))
        count = int64(1)
        if whole >= 0:
            before, after = fetch(np.int64, children, whole), fetch(np.int64, children, whole + 1)
            count = fetch(np.int32, base, whole) + after - before - 1
        while whole >= 0:
            before, after = fetch(np.int64, children, whole), fetch(np.int64, children, whole + 1)
            begin, place = int64(fetch(np.int32, start, whole)), int64(fetch(np.int32, base, whole))
            for y in range(before, after):
                c = int64(fetch(np.int32, child, y))
                if c != own:
                    inside = int64(fetch(np.int32, start, c))
                    width = int64(fetch(np.int32, size, c))
                    moved = begin + select(inside < p, width, 0)
                    put(np.int64, sources, place, fetch(np.int64, places, c) - moved)
                    for q in range(inside, inside + width):
                        put(np.int32, known, int64(fetch(np.int32, names, q)), np.int32(place))
                    place += 1
            if whole == shared:
                break
            own, whole = whole, int64(fetch(np.int32, above, whole))
        put(np.int32, known, v, np.int32(0))
        for j in range(1, count):
            put(np.int32, hops, j, fetch(np.int32, found, fetch(np.int64, sources, j) + p))
        if offsets == 0:
            row = P + 4 * n * v
            for t in range(n):
                place = int64(load(np.int32, known, 0, t, ROW_1))
                store(np.int32, row, 0, t, ROW_0, load(np.int32, hops, 0, place, ROW_2))
            continue
        begin = fetch(np.int64, offsets, v)
        for e in range(begin, fetch(np.int64, offsets, v + 1)):
            put(np.int32, numbers, int64(fetch(np.int32, columns, e)), np.int32(e - begin))
        for j in range(1, count):
            put(np.int32, hops, j, fetch(np.int32, numbers, int64(fetch(np.int32, hops, j))))
        row = P + n * v
        for t in range(n):
            place = int64(load(np.int32, known, 0, t, ROW_1))
            store(np.int8, row, 0, t, ROW_0, np.int8(load(np.int32, hops, 0, place, ROW_2)))
