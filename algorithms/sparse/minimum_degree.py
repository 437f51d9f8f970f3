"""Approximate minimum degree: eliminate, again and again, a vertex that joins few others.

Eliminating a vertex joins its neighbours to each other. The graph that is left is never made: every eliminated vertex
stands as an *element*, a list of the vertices that it joined, and the neighbours of a vertex are those of its elements
and the edges that are left to it. An element whose vertices all lie in another is absorbed by that, vertices with the
same neighbours are merged and eliminated together, and the number of a vertex's neighbours is bounded from above, by
what each of its elements holds beyond the newest.

P. R. Amestoy, T. A. Davis, I. S. Duff, An approximate minimum degree ordering algorithm (1996).

A large graph is cut into connected pieces. Threads eliminate vertices of few neighbours that all lie in one piece,
which fits in a core's cache; what the pieces leave is one graph of elements and vertices, and the rest follows from
it. The pieces depend on the graph alone, and so does the order. Minimum degree would take these vertices first, too, so
that the fill hardly changes. Orders of domains first and a multisector last: C. Ashcraft, J. W. H. Liu, Robust ordering
of sparse matrices using multisection (1998).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from semiring.kernels.cpu.compile.plain import compiled, takes
from semiring.machine.pieces import share

from .pattern import Index

DENSE = 10.0  # vertices with more than this many times √n neighbours come last, unseen
PIECE = 1 << 12  # vertices of a piece, about
PIECES = 5  # from so many pieces on a graph is cut
FEW = 5  # neighbours of a vertex that is eliminated within its piece
INSIDE = 0.75  # share of edges that must not join two pieces
BEGIN, LENGTH, ELEMENTS, WEIGHT, DEGREE, IS_ELEMENT, OUTSIDE = range(7)  # rows of `State.about`


class State(NamedTuple):
    """A graph of elements and vertices, partly eliminated.

    Attributes
    ----------
    about : int64 array, shape (7, n)
        The list of vertex i begins at ``lists[begin[i]]``: ``elements[i]`` elements, then other vertices, ``length[i]``
        in all. That of an element holds vertices only. A vertex stands for ``weight[i]`` vertices; 0: merged or
        eliminated. ``degree[i]`` bounds its neighbours, ``is_element[i]`` says that it stands as an element, and
        ``outside[i]`` counts edges to other pieces: a vertex that has some is not eliminated.
    lists : int64 array
        The first `free` entries are in use.
    free : int
    """

    about: Any
    lists: Any
    free: int


def minimum_degree(start: Index, neighbours: Index, limit: int | None = None) -> Index:
    """An order in which elimination joins few vertices; the same for any number of threads.

    Parameters
    ----------
    start, neighbours : int64 array
        A symmetric pattern without diagonal.
    limit : int, optional
        The most neighbours of a vertex that is eliminated; the search ends when all vertices left have more.

    Returns
    -------
    order : int64 array
        The k-th entry is the vertex to eliminate as the k-th; shorter if the search ended before.

    Examples
    --------
    A star of four: its centre, vertex 0, waits until it has one leaf left.

    >>> start, neighbours = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0])
    >>> minimum_degree(start, neighbours).tolist()
    [1, 2, 0, 3]
    """
    n = len(start) - 1
    degrees = np.diff(start)
    light = degrees <= max(16.0, DENSE * np.sqrt(n))
    heavy = np.flatnonzero(~light)
    last = heavy[np.argsort(degrees[heavy], kind="stable")]
    if limit is None and n >= PIECES * PIECE and (found := _piece_by_piece(start, neighbours, light)):
        return np.concatenate([*found, last])
    members = np.flatnonzero(light)
    part = _part(start, neighbours, members, light - 1, np.cumsum(light) - 1, 0)
    order, *_ = _eliminate(*part, n if limit is None else min(limit, n))
    return np.concatenate([members[order], last]) if len(order) == len(members) else members[order]


def is_compiled(n: int, edges: int) -> bool:
    """Whether the order of a graph of n vertices will be found by compiled code; Numba is loaded then.

    `edges` are those of a symmetric pattern, or fewer.
    """
    return _eliminate.repays(8.0 * n + edges)  # rows of `State.about` and its lists


def _piece_by_piece(start: Index, neighbours: Index, light: np.ndarray) -> list[Index]:
    """Parts of the order: what each piece eliminates, and then the rest; nothing if many edges join two pieces."""
    n = len(light)
    count = n // PIECE
    piece, bounds, listed, local, inside = _pieces(start, neighbours, light - 1, count)
    if inside < INSIDE:
        return []
    orders: list[Any] = [None] * count
    left: list[Any] = [None] * count
    member = np.full(n, -1)  # the next of the vertices that a vertex stands for

    def eliminate(number: int) -> None:
        members = listed[bounds[number] : bounds[number + 1]]
        about, lists, free = _part(start, neighbours, members, piece, local, number)
        order, lists, chain = _eliminate(about, lists, free, min(FEW, len(members)))
        orders[number] = members[order]
        member[members] = np.where(chain < 0, -1, members[chain])
        left[number] = _left(about, lists, members, start, neighbours, piece, number)

    eliminate(0)  # compiles
    share(eliminate, [(number,) for number in range(1, count)], None)
    vertices, lists = (np.concatenate([some[i] for some in left]) for i in (1, 2))
    about = np.concatenate([some[0] for some in left], axis=1)
    about[BEGIN] = np.cumsum(about[LENGTH]) - about[LENGTH]
    number = np.empty(n, np.int64)
    number[vertices] = np.arange(len(vertices))
    room = np.empty(len(vertices) + 1, np.int64)
    weight = about[WEIGHT].copy()
    order, *_ = _eliminate(about, np.concatenate([number[lists], room]), len(lists), len(vertices))
    return [*orders, _spelled_out(vertices[order], weight[order], member)]


def _spelled_out(order: Index, weight: Index, member: Index) -> Index:
    """The vertices that each vertex of an order stands for, `weight` of them, linked by `member`."""
    places = np.cumsum(weight) - weight
    found = np.empty(int(weight.sum()), np.int64)
    while len(order):
        found[places] = order
        following = member[order]
        more = following >= 0
        order, places = following[more], places[more] + 1
    return found


@compiled
def _pieces(start: Any, neighbours: Any, piece: Any, count: int) -> Any:
    """Grow connected pieces from vertices all over the graph, all at the same pace; `piece` is −1 or 0, for light ones.

    Returns
    -------
    piece : int64 array
        The number of each vertex's piece, −1 for others.
    bounds, members : int64 array
        The vertices of each piece, those near its first vertex first.
    local : int64 array
        The place of each vertex in its piece.
    inside : float
        The share of some edges that join vertices of the same piece.
    """
    n = len(start) - 1
    queue, head, tail, grown = np.empty(n, np.int64), 0, 0, 0
    for v in range(n):
        piece[v] -= 1  # −1: not reached yet; −2: not wanted
    for p in range(count):
        v = p * n // count
        if piece[v] == -1:
            piece[v], queue[tail] = p, v
            tail += 1
    for v in range(n + 1):
        while head < tail:
            u = queue[head]
            head += 1
            for q in range(start[u], start[u + 1]):
                if piece[neighbours[q]] == -1:
                    piece[neighbours[q]], queue[tail] = piece[u], neighbours[q]
                    tail += 1
        if v < n and piece[v] == -1:  # nothing leads here
            piece[v], queue[tail] = grown % count, v
            tail += 1
            grown += 1
    bounds, members, local = np.zeros(count + 1, np.int64), np.empty(tail, np.int64), np.empty(n, np.int64)
    for k in range(tail):
        bounds[piece[queue[k]] + 1] += 1
    for p in range(count):
        bounds[p + 1] += bounds[p]
    free = bounds[:-1].copy()
    for k in range(tail):
        p = piece[queue[k]]
        members[free[p]], local[queue[k]] = queue[k], free[p] - bounds[p]
        free[p] += 1
    looked, same = 1, 1
    for k in range(0, tail, 16):
        v = queue[k]
        looked += start[v + 1] - start[v]
        for q in range(start[v], start[v + 1]):
            same += piece[neighbours[q]] == piece[v]
    return piece, bounds, members, local, same / looked


@compiled
def _part(start: Any, neighbours: Any, members: Any, piece: Any, local: Any, mine: int) -> Any:
    """The graph of some vertices, one piece, as a `State`; edges to vertices without a piece are left out."""
    n, size = len(members), len(members) + 1
    for k in range(n):
        size += start[members[k] + 1] - start[members[k]]
    about, lists, free = np.zeros((7, n), np.int64), np.empty(size, np.int64), 0
    for k in range(n):
        v = members[k]
        about[BEGIN, k], about[WEIGHT, k] = free, 1
        for q in range(start[v], start[v + 1]):
            w = neighbours[q]
            if piece[w] == mine:
                lists[free] = local[w]
                free += 1
            elif piece[w] >= 0:
                about[OUTSIDE, k] += 1
        about[LENGTH, k] = free - about[BEGIN, k]
        about[DEGREE, k] = about[LENGTH, k] + about[OUTSIDE, k]
    return about, lists, free


@compiled
def _left(about: Any, lists: Any, members: Any, start: Any, neighbours: Any, piece: Any, mine: int) -> Any:
    """What is left of a piece: a state's `about`, the vertices that its columns are, and lists, which name vertices."""
    n, count, size = len(members), 0, 0
    for i in range(n):
        if about[WEIGHT, i] or about[IS_ELEMENT, i]:
            count += 1
            size += about[LENGTH, i] + about[OUTSIDE, i]
    found, vertices = np.zeros((7, count), np.int64), np.empty(count, np.int64)
    names, k, free = np.empty(size, np.int64), 0, 0
    for i in range(n):
        if not (about[WEIGHT, i] or about[IS_ELEMENT, i]):
            continue
        first, vertices[k] = free, members[i]
        for row in (WEIGHT, DEGREE, IS_ELEMENT):
            found[row, k] = about[row, i]
        for q in range(about[BEGIN, i], about[BEGIN, i] + about[LENGTH, i]):
            j = lists[q]
            if about[WEIGHT, j] or about[IS_ELEMENT, j]:
                names[free] = members[j]
                free += 1
                found[ELEMENTS, k] += about[IS_ELEMENT, j]
        if about[OUTSIDE, i]:
            for q in range(start[members[i]], start[members[i] + 1]):
                w = neighbours[q]
                if piece[w] >= 0 and piece[w] != mine:
                    names[free] = w
                    free += 1
        found[LENGTH, k] = free - first
        k += 1
    return found, vertices, names[:free].copy()


@takes(10)
def _eliminate(about: Any, lists: Any, free: int, limit: int) -> Any:
    """Eliminate vertices with at most `limit` neighbours, none of them outside; see `State`, which changes.

    Returns the order, the lists, and the next of the vertices that each one stands for, or −1.
    """
    n = about.shape[1]
    begin, length, elements, weight = about[BEGIN], about[LENGTH], about[ELEMENTS], about[WEIGHT]
    degree, is_element, outside = about[DEGREE], about[IS_ELEMENT], about[OUTSIDE]
    beyond = np.zeros(n, np.int64)  # weights are negative while a vertex is in the newest element
    # Vertices by degree in lists that are linked both ways, and those with the same hash.
    head, after, before = np.full(n + 1, -1), np.full(n, -1), np.full(n, -1)
    same_hash, next_hash, hashes = np.full(n + 1, -1), np.full(n, -1), np.zeros(n, np.int64)
    # The vertices that each one stands for, linked.
    member, last = np.full(n, -1), np.empty(n, np.int64)
    order, seen, done, total, listed = np.empty(n, np.int64), np.full(n, -1), 0, 0, 0
    for i in range(n):
        last[i] = i
        total += weight[i]
    for i in range(n - 1, -1, -1):
        if weight[i] and not outside[i]:
            after[i] = head[degree[i]]
            if after[i] >= 0:
                before[after[i]] = i
            head[degree[i]] = i
    least, mark = 0, 1
    while done < total:
        while least <= limit and head[least] < 0:
            least += 1
        if least > limit:
            break
        pivot = head[least]
        head[least] = after[pivot]
        if after[pivot] >= 0:
            before[after[pivot]] = -1

        # Room for the pivot's element; if there is none, the lists in use move together into a larger array.
        room = length[pivot]
        for q in range(begin[pivot], begin[pivot] + elements[pivot]):
            room += length[lists[q]]
        if free + room > len(lists):
            used = 0
            for i in range(n):
                used += length[i]
            larger, top = np.empty(2 * used + room + n, np.int64), 0
            for i in range(n):
                first = begin[i]
                begin[i] = top
                for q in range(first, first + length[i]):
                    larger[top] = lists[q]
                    top += 1
            lists, free = larger, top

        # The element: neighbours of the pivot, through its elements, which it absorbs, or by edges.
        own = weight[pivot]
        weight[pivot] = -own
        first, size = free, 0
        for q in range(begin[pivot], begin[pivot] + elements[pivot] + 1):
            is_last = q == begin[pivot] + elements[pivot]
            source = pivot if is_last else lists[q]
            low = begin[source] + (elements[pivot] if is_last else 0)
            for r in range(low, begin[source] + length[source]):
                i = lists[r]
                if weight[i] > 0:
                    size += weight[i]
                    weight[i] = -weight[i]
                    lists[free] = i
                    free += 1
                    if not outside[i]:
                        if before[i] >= 0:
                            after[before[i]] = after[i]
                        else:
                            head[degree[i]] = after[i]
                        if after[i] >= 0:
                            before[after[i]] = before[i]
            if not is_last:
                is_element[source] = 0
                length[source] = 0
        begin[pivot], length[pivot], elements[pivot] = first, free - first, 0
        is_element[pivot] = 1

        # How many vertices each element has beyond the newest: beyond[e] − mark.
        for q in range(first, free):
            i = lists[q]
            for r in range(begin[i], begin[i] + elements[i]):
                e = lists[r]
                if is_element[e]:
                    beyond[e] = (beyond[e] if beyond[e] >= mark else degree[e] + mark) + weight[i]

        # The lists of its vertices anew: elements that hold something else, the newest, and edges to others.
        for q in range(first, free):
            i = lists[q]
            write, others, key = begin[i], outside[i], pivot
            stop, end = begin[i] + elements[i], begin[i] + length[i]
            for r in range(begin[i], stop):
                e = lists[r]
                if is_element[e]:
                    if beyond[e] > mark:
                        lists[write] = e
                        write += 1
                        others += beyond[e] - mark
                        key += e
                    else:
                        is_element[e] = 0  # all that it holds is in the newest
                        length[e] = 0
            coming = lists[stop] if stop < end else -1
            lists[write] = pivot  # at least one entry went: the pivot, or an element that it absorbed
            write += 1
            elements[i] = write - begin[i]
            for r in range(stop, end):
                j = coming
                if r + 1 < end:
                    coming = lists[r + 1]
                if weight[j] > 0:
                    lists[write] = j
                    write += 1
                    others += weight[j]
                    key += j
            length[i] = write - begin[i]
            if others == 0:  # it touches nothing but the newest element: it goes with the pivot
                size += weight[i]
                own -= weight[i]
                weight[i] = 0
                length[i] = 0
                member[last[pivot]] = i
                last[pivot] = last[i]
            else:
                if others < degree[i]:
                    degree[i] = others
                if not outside[i]:
                    hashes[i] = key % n
                    next_hash[i] = same_hash[hashes[i]]
                    same_hash[hashes[i]] = i

        # Vertices with the same neighbours become one.
        for q in range(first, free):
            h = hashes[lists[q]]
            if weight[lists[q]] == 0 or outside[lists[q]]:
                continue
            i = same_hash[h]
            same_hash[h] = -1
            while i >= 0:
                for r in range(begin[i], begin[i] + length[i]):
                    seen[lists[r]] = i
                previous, j = i, next_hash[i]
                while j >= 0:
                    equal = length[i] == length[j] and elements[i] == elements[j]
                    if equal:
                        for r in range(begin[j], begin[j] + length[j]):
                            if seen[lists[r]] != i:
                                equal = False
                                break
                    if equal:
                        weight[i] += weight[j]
                        weight[j] = 0
                        length[j] = 0
                        member[last[i]] = j
                        last[i] = last[j]
                        next_hash[previous] = next_hash[j]
                    else:
                        previous = j
                    j = next_hash[j]
                for r in range(begin[i], begin[i] + length[i]):
                    seen[lists[r]] = -1
                i = next_hash[i]

        # What is left of the element, and degrees: no more than all that is left, and what is known of each part.
        write = first
        done += own
        for q in range(first, free):
            i = lists[q]
            if weight[i]:
                lists[write] = i
                write += 1
                weight[i] = -weight[i]
                most, known = total - done + outside[i], degree[i] + size
                degree[i] = (known if known < most else most) - weight[i]
                if degree[i] < 0:
                    degree[i] = 0
                if not outside[i]:
                    before[i], after[i] = -1, head[degree[i]]
                    if after[i] >= 0:
                        before[after[i]] = i
                    head[degree[i]] = i
                    if degree[i] < least:
                        least = degree[i]
        free = write
        length[pivot], degree[pivot] = write - first, size
        weight[pivot] = 0
        if length[pivot] == 0:
            is_element[pivot] = 0
        mark += n + 1
        while pivot >= 0:
            order[listed] = pivot
            listed += 1
            pivot = member[pivot]
    return order[:listed].copy(), lists, member
