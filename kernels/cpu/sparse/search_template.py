"""Best walks from many sources over compressed rows. A template: see search.py, and template.py.

Offsets are int64, columns int32, all arrays addresses. `better` is the strict order of a selective ⊕.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import (
    ANY,
    PANEL,
    ROW_0,
    as_element,
    fetch,
    first_component,
    load,
    put,
    stay_apart,
    store,
)
from semiring.kernels.cpu.dense.operations_template import ZERO, plus, times
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, SIZE, compiled, entry, inline

ONE = np.float32(0)


@inline
def differs(x: Any, y: Any) -> Any:
    return x != y


@inline
def better(t: Any, x: Any) -> Any:
    """Whether t improves x: x ⊕ t ≠ x."""
    return differs(as_element(ELEMENT, plus(x, t)), x)


@inline
def extend(x: Any, a: Any, unit: Any) -> Any:
    """x ⊗ a in the element's own types."""
    return as_element(ELEMENT, times(x, a, unit))


@inline
def bound_of(limit: int) -> Any:
    """The element at an address; without one zero, than which nothing is worse."""
    return fetch(ELEMENT, limit, 0) if limit else as_element(ELEMENT, ZERO)


# Template

ARITY = 4  # children of a node of the heap, as `sink` compares them
NONE = np.int32(-1)
SETTLED = np.int32(-2)  # in place of a position in the heap
WIDE = 4  # where a level has an edge for so many vertices of the graph, it is wide
BACKWARDS = 8  # where it has a part so large of the edges of those who wait, they look for it


@compiled
def begin(x: int, predecessor: int, n: int, source: int) -> None:
    """x ← 1 at the source, 0 elsewhere; no predecessors."""
    stay_apart()
    for v in range(n):
        put(ELEMENT, x, v, as_element(ELEMENT, ZERO))
        put(np.int32, predecessor, v, NONE)
    put(ELEMENT, x, source, as_element(ELEMENT, ONE))


@compiled
def rise(keys: int, heap: int, places: int, place: int, v: int, key: Any) -> None:
    """Put v with its key where it belongs, from a free place of the heap upwards."""
    while place > 0:
        parent = (place - 1) // ARITY
        other = fetch(ELEMENT, keys, parent)
        if not better(key, other):
            break
        u = fetch(np.int32, heap, parent)
        put(ELEMENT, keys, place, other)
        put(np.int32, heap, place, u)
        put(np.int32, places, int64(u), np.int32(place))
        place = parent
    put(ELEMENT, keys, place, key)
    put(np.int32, heap, place, np.int32(v))
    put(np.int32, places, v, np.int32(place))


@compiled
def sink(keys: int, heap: int, places: int, size: int, v: int, key: Any) -> None:
    """Put v with its key where it belongs, from the free top of the heap downwards."""
    place = int64(0)
    while True:
        child = ARITY * place + 1
        if child >= size:
            break
        best, least = child, fetch(ELEMENT, keys, child)
        if child + ARITY <= size:  # the better of two, twice, then the better of those: no branch has to be guessed
            x_1, x_2 = fetch(ELEMENT, keys, child + 1), fetch(ELEMENT, keys, child + 2)
            x_3 = fetch(ELEMENT, keys, child + 3)
            is_1, is_3 = better(x_1, least), better(x_3, x_2)
            best = child + 1 if is_1 else child
            least = x_1 if is_1 else least
            second = child + 3 if is_3 else child + 2
            x_2 = x_3 if is_3 else x_2
            is_second = better(x_2, least)
            best = second if is_second else best
            least = x_2 if is_second else least
        else:
            for c in range(child + 1, size):
                other = fetch(ELEMENT, keys, c)
                if better(other, least):
                    best, least = c, other
        if not better(least, key):
            break
        u = fetch(np.int32, heap, best)
        put(ELEMENT, keys, place, least)
        put(np.int32, heap, place, u)
        put(np.int32, places, int64(u), np.int32(place))
        place = best
    put(ELEMENT, keys, place, key)
    put(np.int32, heap, place, np.int32(v))
    put(np.int32, places, v, np.int32(place))


@entry(*[int64] * 12)
def settle(
    X: int, sources: int, offsets: int, columns: int, values: int, n: int, first: int, last: int, limit: int,
    order: int, workspace: int, one: int,
) -> None:
    """Rows ``first:last`` of X, where no edge is better than 1: vertices settle best first.

    Dijkstra's algorithm with a heap. Walks that are worse than the element `limit`, where it is not 0, are left out.
    `order`, where it is not 0, takes the vertices that the last source reaches, as they settled, and −1 after them.
    Workspace: n vertices in the heap, n places in it, n keys.
    """
    unit, bound = first_component(ELEMENT, one), bound_of(limit)
    heap = workspace
    places = heap + 4 * n
    keys = places + 4 * n
    for s in range(first, last):
        x, source = X + s * n * ITEM, fetch(np.int64, sources, s)
        for v in range(n):
            put(ELEMENT, x, v, as_element(ELEMENT, ZERO))
            put(np.int32, places, v, NONE)
        put(ELEMENT, x, source, as_element(ELEMENT, ONE))
        rise(keys, heap, places, int64(0), source, as_element(ELEMENT, ONE))
        size, settled = int64(1), int64(0)
        while size > 0:
            u, x_u = int64(fetch(np.int32, heap, 0)), fetch(ELEMENT, keys, 0)
            put(np.int32, places, u, SETTLED)
            if order:
                put(np.int32, order, settled, np.int32(u))
                settled += 1
            size -= 1
            if size > 0:
                moved, key = int64(fetch(np.int32, heap, size)), fetch(ELEMENT, keys, size)
                sink(keys, heap, places, size, moved, key)
            for p in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
                v = int64(fetch(np.int32, columns, p))
                place = int64(fetch(np.int32, places, v))
                if place == SETTLED:
                    continue
                t = extend(x_u, fetch(ELEMENT, values, p), unit)
                if better(t, fetch(ELEMENT, x, v)) and not better(bound, t):
                    put(ELEMENT, x, v, t)
                    if place < 0:
                        place = size
                        size += 1
                    rise(keys, heap, places, place, v, t)
        if order:
            for i in range(settled, n):
                put(np.int32, order, i, NONE)


@compiled
def mark_level(queue: int, head: int, level: int, offsets: int, columns: int, reached: int) -> None:
    """Mark whom the vertices ``head:level`` of the queue reach by an edge."""
    stay_apart()
    for i in range(head, level):
        u = int64(fetch(np.int32, queue, i))
        for p in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
            v = int64(fetch(np.int32, columns, p))
            word, bit = fetch(np.uint64, reached, v >> 6), np.uint64(1) << np.uint64(v & 63)
            if (word & bit) == 0:
                put(np.uint64, reached, v >> 6, word | bit)


@compiled
def find_level(n: int, offsets: int, columns: int, before: int, reached: int) -> None:
    """Mark who was not reached before and has an edge to one who was, where each edge goes both ways."""
    stay_apart()
    for i in range((n + 63) // 64):
        waiting, found = ~fetch(np.uint64, before, i), np.uint64(0)
        if waiting == 0:
            continue
        for v in range(64 * i, min(64 * i + 64, n)):
            bit = np.uint64(1) << np.uint64(v & 63)
            if (waiting & bit) == 0:
                continue
            for p in range(fetch(np.int64, offsets, v), fetch(np.int64, offsets, v + 1)):
                u = int64(fetch(np.int32, columns, p))
                if (fetch(np.uint64, before, u >> 6) >> np.uint64(u & 63)) & np.uint64(1):
                    found |= bit
                    break
        put(np.uint64, reached, i, fetch(np.uint64, reached, i) | found)


@compiled
def collect_level(x: int, label: Any, reached: int, before: int, n: int, queue: int, tail: int) -> int:
    """Give the label to all who were reached since before, and put them at the end of the queue, which is returned."""
    stay_apart()
    for i in range((n + 63) // 64):
        fresh = fetch(np.uint64, reached, i) & ~fetch(np.uint64, before, i)
        if fresh == 0:
            continue
        for v in range(64 * i, min(64 * i + 64, n)):
            put(np.int32, queue, tail, np.int32(v))
            if fresh & np.uint64(1):
                put(ELEMENT, x, v, label)
            tail += int64(fresh & np.uint64(1))
            fresh >>= np.uint64(1)
    return tail


@entry(*[int64] * 12)
def pass_levels(
    X: int, sources: int, offsets: int, columns: int, values: int, n: int, first: int, last: int, limit: int,
    both_ways: int, workspace: int, one: int,
) -> None:
    """What `settle` does where all edges have the first one's value: vertices settle level by level, breadth first.

    Who has been reached is a bit each, which stay in the cache. A vertex is put at the end of the queue before it is
    known whether it belongs there, so that nothing has to be guessed. Where a level has many edges, whom it reaches is
    collected in the order of the vertices: the rows of the next level are read as they lie in memory. Where each edge
    goes `both_ways` and the level has many of those that are left, the vertices that wait look for one that does not:
    the first that they find ends it. Workspace: n + 1 vertices, and n bits up to a multiple of 64, twice.
    """
    unit, bound = first_component(ELEMENT, one), bound_of(limit)
    words = (n + 63) // 64
    queue, reached = workspace, workspace + (n + 2) // 2 * 8
    before = reached + 8 * words
    for s in range(first, last):
        x, source = X + s * n * ITEM, fetch(np.int64, sources, s)
        for v in range(n):
            put(ELEMENT, x, v, as_element(ELEMENT, ZERO))
        for i in range(words):
            put(np.uint64, reached, i, np.uint64(0))
        label = as_element(ELEMENT, ONE)
        put(ELEMENT, x, source, label)
        put(np.int32, queue, 0, np.int32(source))
        put(np.uint64, reached, source >> 6, np.uint64(1) << np.uint64(source & 63))
        head, tail, left = int64(0), int64(1), fetch(np.int64, offsets, n)
        while head < tail:
            level = tail
            if fetch(np.int64, offsets, n) > 0:
                label = extend(label, fetch(ELEMENT, values, 0), unit)
            if not better(label, as_element(ELEMENT, ZERO)) or better(bound, label):
                break
            edges = int64(0)
            for i in range(head, level):
                u = int64(fetch(np.int32, queue, i))
                edges += fetch(np.int64, offsets, u + 1) - fetch(np.int64, offsets, u)
            left -= edges
            if WIDE * edges >= n:
                for i in range(words):
                    put(np.uint64, before, i, fetch(np.uint64, reached, i))
                if both_ways and BACKWARDS * edges > left:
                    find_level(n, offsets, columns, before, reached)
                else:
                    mark_level(queue, head, level, offsets, columns, reached)
                head = level
                tail = collect_level(x, label, reached, before, n, queue, tail)
                continue
            while head < level:
                u = int64(fetch(np.int32, queue, head))
                head += 1
                for p in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
                    v = int64(fetch(np.int32, columns, p))
                    word, bit = fetch(np.uint64, reached, v >> 6), np.uint64(1) << np.uint64(v & 63)
                    put(np.int32, queue, tail, np.int32(v))
                    put(np.uint64, reached, v >> 6, word | bit)
                    tail += int64((word & bit) == 0)
            for i in range(level, tail):
                put(ELEMENT, x, int64(fetch(np.int32, queue, i)), label)


@compiled
def relax(u: int, lanes: int, offsets: int, columns: int, values: int, x: int, plane: int, waiting: int,
          unit: Any) -> None:
    """Relax all edges of u in every lane; enqueue each head that improved in some lane."""
    stay_apart()
    for p in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
        v, a = int64(fetch(np.int32, columns, p)), fetch(ELEMENT, values, p)
        if v == u:  # no edge is better than 1
            continue
        improved = int64(0)
        for j in range(lanes):
            x_v = load(ELEMENT, x, plane, v * lanes + j, ROW_0)
            y = as_element(ELEMENT, plus(x_v, extend(load(ELEMENT, x, plane, u * lanes + j, PANEL), a, unit)))
            store(ELEMENT, x, plane, v * lanes + j, ROW_0, y)
            improved |= int64(differs(y, x_v))
        put(np.uint8, waiting, v, fetch(np.uint8, waiting, v) | np.uint8(improved))


@entry(*[int64] * 15)
def sweep(
    X: int, places: int, targets: int, sources: int, offsets: int, columns: int, values: int, n: int, first: int,
    last: int, width: int, most: int, finished: int, workspace: int, one: int,
) -> None:
    """Rows `targets` of X for the sources ``first:last``, `width` at a time, where no edge is better than 1.

    Labels of as many sources stand side by side, a lane each. All vertices are passed again and again, and those whose
    label improved in any lane relax their edges. The edges are those of vertices that were renumbered; `places` says
    where each has gone. Where more than `most` edges are relaxed for some sources, they and all after them are given
    up: `finished` says of each source whether its row was written. `taken` takes the number of edges that were
    relaxed. Workspace: n labels of every lane, in planes, and n marks of one byte, up to a multiple of 8.
    """
    unit = first_component(ELEMENT, one)
    for begin in range(first, last, width):
        lanes = min(width, last - begin)
        x, plane, waiting = workspace, n * lanes, workspace + n * width * SIZE
        for i in range(n * lanes):
            store(ELEMENT, x, plane, i, ANY, as_element(ELEMENT, ZERO))
        words = (n + 7) // 8
        for i in range(words):
            put(np.uint64, waiting, i, np.uint64(0))
        for j in range(lanes):
            source = fetch(np.int64, sources, begin + j)
            store(ELEMENT, x, plane, source * lanes + j, ANY, as_element(ELEMENT, ONE))
            put(np.uint8, waiting, source, np.uint8(1))
        relaxed, some = int64(0), True
        while some and relaxed <= most:
            some = False
            for i in range(words):
                if fetch(np.uint64, waiting, i) == 0:
                    continue
                for u in range(8 * i, min(8 * i + 8, n)):
                    if fetch(np.uint8, waiting, u):
                        put(np.uint8, waiting, u, np.uint8(0))
                        some = True
                        relaxed += fetch(np.int64, offsets, u + 1) - fetch(np.int64, offsets, u)
                        relax(u, lanes, offsets, columns, values, x, plane, waiting, unit)
        if some:
            return
        for block in range(0, n, 8):  # of a cache line of every row
            for j in range(lanes):
                row = X + fetch(np.int64, targets, begin + j) * n * ITEM
                for v in range(block, min(block + 8, n)):
                    place = int64(fetch(np.int32, places, v))
                    put(ELEMENT, row, v, load(ELEMENT, x, plane, place * lanes + j, ANY))
        for j in range(lanes):
            put(np.uint8, finished, begin + j, np.uint8(1))


@compiled
def vertex_on_cycle(predecessor: int, seen: int, n: int) -> int:
    """A vertex on a cycle of predecessors, or −1."""
    stay_apart()
    for v in range(n):
        put(np.int32, seen, v, NONE)
    for root in range(n):
        v = int64(root)
        while v >= 0 and fetch(np.int32, seen, v) < 0:
            put(np.int32, seen, v, np.int32(root))
            v = int64(fetch(np.int32, predecessor, v))
        if v >= 0 and fetch(np.int32, seen, v) == root:
            return v
    return int64(-1)


@entry(*[int64] * 13)
def correct(
    X: int, P: int, P_row: int, sources: int, offsets: int, columns: int, values: int, n: int, failed: int,
    first: int, last: int, workspace: int, one: int,
) -> None:
    """Rows ``first:last`` of X and of predecessors, whatever the edges are: labels are corrected in rounds.

    In a round the edges of the frontier, vertices that improved in the last round, are relaxed. After every n
    improvements predecessors are tested for a cycle, which is then improving; `failed` takes a vertex
    on it, or −1. Workspace: n vertices of each of two frontiers, n numbers, n marks of one byte.
    """
    unit = first_component(ELEMENT, one)
    now = workspace
    later = now + 4 * n
    seen = later + 4 * n
    waiting = seen + 4 * n
    for s in range(first, last):
        x, predecessor = X + s * n * ITEM, P + s * P_row
        source = fetch(np.int64, sources, s)
        begin(x, predecessor, n, source)
        for v in range(n):
            put(np.uint8, waiting, v, np.uint8(0))
        put(np.int32, now, 0, np.int32(source))
        put(np.uint8, waiting, source, np.uint8(1))
        count, improved, cycle = int64(1), int64(0), int64(-1)
        while count > 0 and cycle < 0:
            found = int64(0)
            for i in range(count):
                u = int64(fetch(np.int32, now, i))
                put(np.uint8, waiting, u, np.uint8(0))
                x_u = fetch(ELEMENT, x, u)
                for p in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
                    v = int64(fetch(np.int32, columns, p))
                    t = extend(x_u, fetch(ELEMENT, values, p), unit)
                    if better(t, fetch(ELEMENT, x, v)):
                        put(ELEMENT, x, v, t)
                        put(np.int32, predecessor, v, np.int32(u))
                        improved += 1
                        if fetch(np.uint8, waiting, v) == 0:
                            put(np.uint8, waiting, v, np.uint8(1))
                            put(np.int32, later, found, np.int32(v))
                            found += 1
                if improved > n:
                    improved = int64(0)
                    cycle = vertex_on_cycle(predecessor, seen, n)
                    if cycle >= 0:
                        break
            count = found
            now, later = later, now
        if cycle < 0:  # one over an infinitely good edge may stop improving before it is noticed
            cycle = vertex_on_cycle(predecessor, seen, n)
        put(np.int64, failed, s, cycle)
