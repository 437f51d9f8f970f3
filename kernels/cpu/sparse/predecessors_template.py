"""Trees of best walks from values that a search found. A template: see predecessors.py, and search_template.py.

Offsets are int64, vertices int32, all arrays addresses. `better` is the strict order of a selective ⊕. An edge is
*tight* where its product is the value of its head. The rule by which ties break stands in `semiring.algorithms.trees`.
"""

from __future__ import annotations

import numpy as np
from numba import int64

from semiring.kernels.cpu.compile.raw import as_element, fetch, first_component, put, stay_apart
from semiring.kernels.cpu.dense.operations_template import ZERO
from semiring.kernels.cpu.dense.template import ELEMENT, ITEM, compiled, entry, inline

from .search_template import ONE, better, differs, extend

# Template

NONE = np.int32(-1)
OPEN = np.int32(-2)  # in place of a predecessor that is still looked for


@inline
def hidden(u: int) -> int:
    """A vertex as a number below `OPEN`, and such a number as a vertex."""
    return -3 - u


@compiled
def open_all(x: int, p: int, sources: int, begin: int, end: int, n: int) -> int:
    """Vertices that are reached are open, but for the sources whose value is 1; how many are."""
    stay_apart()
    count = int64(0)
    for v in range(n):
        reached = differs(fetch(ELEMENT, x, v), as_element(ELEMENT, ZERO))
        put(np.int32, p, v, OPEN if reached else NONE)
        count += int64(reached)
    for i in range(begin, end):
        source = fetch(np.int64, sources, i)
        if fetch(np.int32, p, source) == OPEN and not differs(fetch(ELEMENT, x, source), as_element(ELEMENT, ONE)):
            put(np.int32, p, source, NONE)
            count -= 1
    return count


@compiled
def from_better(
    x: int, p: int, offsets: int, columns: int, values: int, n: int, bounded: int, cut: int, queue: int, left: int,
    one: int,
) -> int:
    """The least tail that is better than its head, of the tight edges to each vertex, where there is one.

    Vertices with other tight edges to open ones are queued; place n + 1 of the queue takes how many. Returns how many
    vertices are left open, or −1 where the values are not those of all best walks.
    """
    stay_apart()
    unit = first_component(ELEMENT, one)
    count = int64(0)
    for u in range(n):
        x_u = fetch(ELEMENT, x, u)
        if not differs(x_u, as_element(ELEMENT, ZERO)):
            continue
        waits = False
        for e in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
            v = int64(fetch(np.int32, columns, e))
            x_v, t = fetch(ELEMENT, x, v), extend(x_u, fetch(ELEMENT, values, e), unit)
            if v == u:
                continue
            if not differs(x_v, as_element(ELEMENT, ZERO)):
                if not cut:  # lost on the way, or not an edge
                    return int64(-1)
                continue
            if differs(t, x_v):
                if better(t, x_v):
                    return int64(-1)
                continue
            if fetch(np.int32, p, v) == OPEN:
                if bounded and better(x_u, x_v):
                    put(np.int32, p, v, np.int32(u))
                    left -= 1
                else:
                    waits = True
        if waits:
            put(np.int32, queue, count, np.int32(u))
            count += 1
    put(np.int32, queue, n, np.int32(count))
    return left


@compiled
def breadth_first(x: int, p: int, offsets: int, columns: int, values: int, n: int, queue: int, one: int) -> int:
    """Open vertices from those that are done, along tight edges, round by round; how many were reached."""
    stay_apart()
    unit = first_component(ELEMENT, one)
    last = int64(0)
    for i in range(int64(fetch(np.int32, queue, n))):
        u = fetch(np.int32, queue, i)
        if fetch(np.int32, p, int64(u)) != OPEN:
            put(np.int32, queue, last, u)
            last += 1
    first, start = int64(0), last
    while first < last:
        found = last
        for i in range(first, last):
            u = int64(fetch(np.int32, queue, i))
            x_u = fetch(ELEMENT, x, u)
            for e in range(fetch(np.int64, offsets, u), fetch(np.int64, offsets, u + 1)):
                v = int64(fetch(np.int32, columns, e))
                before = int64(fetch(np.int32, p, v))
                if before >= NONE or differs(extend(x_u, fetch(ELEMENT, values, e), unit), fetch(ELEMENT, x, v)):
                    continue
                if before == OPEN:
                    put(np.int32, queue, found, np.int32(v))
                    found += 1
                if before == OPEN or before < hidden(u):  # the least vertex of this round is the largest hidden
                    put(np.int32, p, v, np.int32(hidden(u)))
        for i in range(last, found):
            v = int64(fetch(np.int32, queue, i))
            put(np.int32, p, v, np.int32(hidden(int64(fetch(np.int32, p, v)))))
        first, last = last, found
    return last - start


@compiled
def to_origins(p: int, sources: int, begin: int, end: int, n: int) -> None:
    """The source at the end of the way back from each vertex, in place of the vertex before it."""
    stay_apart()
    for i in range(begin, end):
        source = fetch(np.int64, sources, i)
        if fetch(np.int32, p, source) == NONE:
            put(np.int32, p, source, np.int32(hidden(source)))
    for first in range(n):
        v = int64(first)
        while fetch(np.int32, p, v) >= 0:
            v = int64(fetch(np.int32, p, v))
        origin, v = fetch(np.int32, p, v), int64(first)
        while fetch(np.int32, p, v) >= 0:
            before = int64(fetch(np.int32, p, v))
            put(np.int32, p, v, origin)
            v = before
    for v in range(n):
        if fetch(np.int32, p, v) < OPEN:
            put(np.int32, p, v, np.int32(hidden(int64(fetch(np.int32, p, v)))))


@entry(*[int64] * 16)
def lead(
    X: int, P: int, origins: int, starts: int, sources: int, offsets: int, columns: int, values: int, n: int,
    bounded: int, cut: int, first: int, last: int, finished: int, workspace: int, one: int,
) -> None:
    """Rows ``first:last`` of the predecessors of best walks, or of their `origins`, whose values are X.

    Row s is that of the best of the sources ``starts[s]:starts[s + 1]``, of one where the walks are not `bounded`: an
    edge may be better than one. With `cut` walks beyond a limit are left out of X. `finished` says of each row whether
    it was written: it is not where X is not to the bit what its own edges give. Workspace: n + 1 vertices.
    """
    for s in range(first, last):
        x, p = X + s * n * ITEM, P + s * n * 4
        begin, end = fetch(np.int64, starts, s), fetch(np.int64, starts, s + 1)
        left = open_all(x, p, sources, begin, end, n)
        left = from_better(x, p, offsets, columns, values, n, bounded, cut, workspace, left, one)
        if left > 0:
            left -= breadth_first(x, p, offsets, columns, values, n, workspace, one)
        if left == 0:
            if origins:
                to_origins(p, sources, begin, end, n)
            put(np.uint8, finished, s, np.uint8(1))
