"""A fill-reducing order: vertices that join few others first, or separators last.

Approximate minimum degree (minimum_degree.py) is the best of those here for roads, social networks and random graphs.
For meshes nested dissection is: no path leads from one side of a separator to the other except through it, so
eliminating a side joins nothing of the other. The separators here are thin levels of breadth-first searches, and what
is left is ordered by minimum degree. METIS looks longer for them; it is used, through `pymetis`, where it is asked for.

A. George, Nested dissection of a regular finite element mesh (1973); G. Karypis, V. Kumar, METIS (1998).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled, takes
from semiring.machine.threads import thread_count

from .minimum_degree import minimum_degree
from .pattern import Index, inverse, renumbered
from .symbolic import column_counts, elimination_tree

FEW_VERTICES = 1000  # vertices for which one order is as good as another
NARROW = 0.25  # the share of all vertices up to which a level of a search is called narrow
APART = 20_000  # vertices from which on two orders are looked for by a thread each
SMALL = 64  # vertices that are ordered by minimum degree: their neighbours fit one word


class Order(NamedTuple):
    """An order of elimination: the k-th entry of `order` is the vertex to eliminate as the k-th.

    `method` found it. Where two orders were compared, `tree` and `counts` are its `elimination_tree` and
    `column_counts`.
    """

    order: Index
    method: str
    tree: Index | None = None
    counts: Index | None = None


def order(start: Index, neighbours: Index, method: str = "auto") -> Order:
    """An order in which to eliminate the vertices, and what found it.

    Parameters
    ----------
    start, neighbours : int64 array
        A symmetric pattern without diagonal.
    method : {"auto", "amd", "levels", "metis", "natural"}
        ``"auto"`` is approximate minimum degree or dissection by level sets, whichever makes elimination cheaper; the
        first alone where the graph is small, or has a level that no separator could be thinner than.

    Examples
    --------
    A star of four: its centre, vertex 0, waits until one leaf is left.

    >>> start, neighbours = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0])
    >>> order(start, neighbours, "levels").order.tolist()
    [1, 2, 0, 3]
    """
    if method == "natural":
        return Order(np.arange(len(start) - 1), method)
    # Vertices without neighbours come first; METIS cannot do without edges.
    degree = np.diff(start)
    alone, joined = np.flatnonzero(degree == 0), np.flatnonzero(degree)
    if not len(joined):
        return Order(alone, "natural" if method == "auto" else method)
    if len(alone):
        place = np.full(len(degree), -1)
        place[joined] = np.arange(len(joined))
        start, neighbours = renumbered(start, neighbours, joined, place)
    found = _better_one(start, neighbours) if method == "auto" else Order(WAYS[method](start, neighbours), method)
    whole = np.concatenate([alone, joined[found.order]])
    if found.tree is None:
        return Order(whole, found.method)
    tree = np.where(found.tree < 0, -1, found.tree + len(alone))
    return Order(whole, found.method, np.concatenate([np.full(len(alone), -1), tree]),
                 np.concatenate([np.zeros_like(alone), found.counts]))


def _better_one(start: Index, neighbours: Index) -> Order:
    """The order that makes elimination cheaper; of large graphs both are looked for at the same time.

    Dissection is given up as soon as its separators alone take more terms than minimum degree, or where it has no
    chance. So the order does not depend on which of the two is faster.
    """
    limit = np.array([np.inf])

    def by_degree() -> tuple[float, Order]:
        found = _compared("amd", start, neighbours, minimum_degree(start, neighbours))
        limit[0] = found[0]
        return found

    def by_levels() -> tuple[float, Order]:
        order = _dissection(start, neighbours, limit)
        return _compared("levels", start, neighbours, order) if len(order) else (np.inf, Order(order, "levels"))

    def is_wide() -> bool:
        return spread(start, neighbours).widest > NARROW * (len(start) - 1)

    if len(start) < APART or thread_count() < 2:
        if len(start) <= FEW_VERTICES or is_wide():
            return Order(minimum_degree(start, neighbours), "amd")
        degree, levels = by_degree(), by_levels()
    else:
        with ThreadPoolExecutor(2) as threads:
            ways = [threads.submit(way) for way in (by_degree, by_levels)]
            wide = is_wide()
            if wide:
                limit[0] = -np.inf
            degree, levels = (way.result() for way in ways)
        if wide:
            return degree[1]
    return levels[1] if levels[0] < degree[0] else degree[1]


def _compared(method: str, start: Index, neighbours: Index, order: Index) -> tuple[float, Order]:
    """Terms that eliminating one vertex after the other takes, and the order with what they follow from."""
    ordered = renumbered(start, neighbours, order, inverse(order))
    tree = elimination_tree(*ordered)
    count = column_counts(*ordered, tree)
    return float(np.square(count, dtype=float).sum()), Order(order, method, tree, count)


def may_need(start: Index, neighbours: Index, terms: float) -> bool:
    """Whether elimination in the order of minimum degree takes no more than so many terms.

    Where d neighbours are joined, d³ / 3 terms are still to come. So the order of a graph that fills in is never found.

    Examples
    --------
    A triangle: the first two vertices have 2 and 1 neighbours left, which takes 4 and 1 terms.

    >>> start, neighbours = np.array([0, 2, 4, 6]), np.array([1, 2, 0, 2, 0, 1])
    >>> may_need(start, neighbours, 20), may_need(start, neighbours, 2)
    (True, False)
    """
    found = minimum_degree(start, neighbours, int(np.cbrt(3 * terms)) + 1)
    return len(found) == len(start) - 1 and _compared("amd", start, neighbours, found)[0] <= terms


def _metis(start: Index, neighbours: Index) -> Index:
    import pymetis

    return np.array(pymetis.nested_dissection(pymetis.CSRAdjacency(start, neighbours))[0], np.int64)


def _dissection(start: Index, neighbours: Index, limit: np.ndarray | None = None) -> Index:
    """The order, or nothing if its separators alone take `limit` terms, which another thread may lower."""
    # What small parts need is made here once, of two dtypes: Numba takes as long to compile an array that is made as
    # it takes for a loop.
    limit = np.array([np.inf]) if limit is None else limit
    place = _levels(start, neighbours, np.empty(SMALL, np.uint64), np.empty(SMALL, np.int64), limit)
    return inverse(place) if len(place) == len(start) - 1 else place


WAYS: dict[str, Callable[..., Index]] = {"amd": minimum_degree, "levels": _dissection, "metis": _metis}


@takes(25)
def _levels(start: Any, neighbours: Any, rows: Any, done: Any, limit: Any) -> Any:
    """The place of every vertex: parts [low, high) of the list are split until they are small.

    Nothing if the separators take more than `limit` terms. The side below a separator is connected, and touches all of
    it, so that eliminating this side makes the separator a clique.
    """
    n = len(start) - 1
    vertices, part, place = np.empty(n, np.int64), np.zeros(n, np.int64), np.full(n, -1)
    queue, level, scratch = np.empty(n, np.int64), np.full(n, -1), np.empty(n, np.int64)
    lows, highs, depth, parts = np.empty(2 * n + 2, np.int64), np.empty(2 * n + 2, np.int64), 1, 1
    lows[0], highs[0], spent = 0, n, 0.0
    for v in range(n):
        vertices[v] = v
    while depth:
        if spent >= limit[0]:
            return np.empty(0, np.int64)
        depth -= 1
        low, high = lows[depth], highs[depth]
        if high - low <= SMALL:
            _minimum_degree(start, neighbours, vertices, low, high, part, place, scratch, rows, done)
            continue
        mine = part[vertices[low]]
        reached, far = _search(start, neighbours, vertices[low], part, mine, queue, level)
        for _ in range(2):  # from an end of the part: its levels are many and thin
            for q in range(reached):
                level[queue[q]] = -1
            reached, far = _search(start, neighbours, queue[reached - 1], part, mine, queue, level)
        cut = far + 1 if reached < high - low else _thinnest(queue, level, reached, far)
        # Levels below the cut, then those above (or what was not reached), then the separator, whose places are last.
        near, behind = 0, 0
        for q in range(low, high):
            v = vertices[q]
            if 0 <= level[v] < cut:
                near += 1
            elif level[v] == cut:
                scratch[behind] = v
                behind += 1
        spent += (behind - 1.0) * behind * (2 * behind - 1) / 6
        a, b, c = low, low + near, high - behind
        for q in range(reached):
            v = queue[q]
            if level[v] < cut:
                scratch[behind + a - low] = v
                a += 1
        for q in range(low, high):
            v = vertices[q]
            if level[v] > cut or level[v] < 0:
                scratch[behind + b - low] = v
                b += 1
        for q in range(low, c):
            vertices[q] = scratch[behind + q - low]
        for q in range(behind):
            vertices[c + q] = scratch[q]
            place[scratch[q]] = c + q
            part[scratch[q]] = -1
        for q in range(reached):
            level[queue[q]] = -1
        begin, end = low, low + near
        for _ in range(2):
            if begin < end:
                for q in range(begin, end):
                    part[vertices[q]] = parts
                parts += 1
                lows[depth], highs[depth] = begin, end
                depth += 1
            begin, end = end, c
    return place


@compiled
def _search(start: Any, neighbours: Any, source: int, part: Any, mine: int, queue: Any, level: Any) -> Any:
    """Breadth first within a part: how many vertices were reached, and the last level."""
    queue[0], level[source], head, tail = source, 0, 0, 1
    while head < tail:
        v = queue[head]
        head += 1
        for q in range(start[v], start[v + 1]):
            w = neighbours[q]
            if part[w] == mine and level[w] < 0:
                level[w] = level[v] + 1
                queue[tail] = w
                tail += 1
    return tail, level[queue[tail - 1]]


class Spread(NamedTuple):
    """How breadth-first searches of a graph go; see `spread`."""

    widest: int  # the most vertices of a level
    levels: int  # how many levels there are
    edges: int  # out of the vertices that are reached


def spread(start: Index, neighbours: Index) -> Spread:
    """The larger of two breadth-first searches: from the vertex with most edges, and from an end that it finds.

    The widest level is of the order of a separator where there are small ones, and a large share of all vertices where
    there are none.

    Examples
    --------
    >>> spread(np.array([0, 1, 3, 5, 6]), np.array([1, 0, 2, 1, 3, 2]))
    Spread(widest=1, levels=4, edges=6)
    """
    return Spread(*map(int, _spread(start, neighbours))) if len(neighbours) else Spread(0, 0, 0)


@compiled
def _spread(start: Any, neighbours: Any) -> Any:
    n = len(start) - 1
    queue, level, part = np.empty(n, np.int64), np.full(n, -1), np.zeros(n, np.int64)
    counts = np.zeros(n, np.int64)
    source, widest, levels, edges = 0, 0, 0, 0
    for v in range(n):
        if start[v + 1] - start[v] > start[source + 1] - start[source]:
            source = v
    for _ in range(2):
        reached, far = _search(start, neighbours, source, part, 0, queue, level)
        for i in range(far + 1):
            counts[i] = 0
        most, out = 0, 0
        for q in range(reached):
            v = queue[q]
            counts[level[v]] += 1
            if counts[level[v]] > most:
                most = counts[level[v]]
            out += start[v + 1] - start[v]
        for q in range(reached):
            level[queue[q]] = -1
        source = queue[reached - 1]
        if out >= edges:
            widest, levels, edges = most, far + 1, out
    return widest, levels, edges


@compiled
def _thinnest(queue: Any, level: Any, reached: int, far: int) -> int:
    """The smallest level with between a third and two thirds of the vertices before it; else the middle one."""
    best, least = level[queue[reached // 2]], reached + 1
    q = 0
    for number in range(far + 1):
        begin = q
        while q < reached and level[queue[q]] == number:
            q += 1
        if 3 * begin >= reached and 3 * q <= 2 * reached and q - begin < least:
            best, least = number, q - begin
    return best


@compiled
def _minimum_degree(
    start: Any, neighbours: Any, vertices: Any, low: int, high: int, part: Any, place: Any, local: Any, rows: Any,
    done: Any,
) -> None:
    """Places for a small part: again and again the vertex with fewest neighbours left, which are then joined."""
    count = high - low
    one = np.uint64(1)
    mine = part[vertices[low]] if count else 0
    for i in range(count):
        local[vertices[low + i]] = i
    for i in range(count):
        rows[i], done[i] = 0, 0
        v = vertices[low + i]
        for q in range(start[v], start[v + 1]):
            w = neighbours[q]
            if part[w] == mine:
                rows[i] |= one << np.uint64(local[w])
    for position in range(low, high):
        best, least = -1, SMALL + 1
        for i in range(count):
            if not done[i]:
                bits, degree = rows[i], 0
                while bits:
                    bits &= bits - one
                    degree += 1
                if degree < least:
                    best, least = i, degree
        done[best] = 1
        place[vertices[low + best]] = position
        for i in range(count):
            if not done[i] and rows[best] >> np.uint64(i) & one:
                rows[i] = (rows[i] | rows[best]) & ~(one << np.uint64(best)) & ~(one << np.uint64(i))
