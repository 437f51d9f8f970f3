"""Approximate minimum degree: eliminate, again and again, a vertex that joins few others.

Eliminating a vertex joins its neighbours to each other. The graph that is left is never made: every eliminated vertex
stands as an *element*, a list of the vertices that it joined, and the neighbours of a vertex are those of its elements
and the edges that are left to it. An element whose vertices all lie in another is absorbed by that, vertices with the
same neighbours are merged and eliminated together, and the number of a vertex's neighbours is bounded from above, by
what each of its elements holds beyond the newest.

P. R. Amestoy, T. A. Davis, I. S. Duff, An approximate minimum degree ordering algorithm (1996).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from semiring.kernels.cpu.compile.plain import takes

from .pattern import Index

DENSE = 10.0  # vertices with more than this many times √n neighbours come last, unseen


def minimum_degree(start: Index, neighbours: Index) -> Index:
    """An order in which elimination joins few vertices.

    Parameters
    ----------
    start, neighbours : int64 array
        A symmetric pattern without diagonal.

    Returns
    -------
    order : int64 array
        The k-th entry is the vertex to eliminate as the k-th.

    Examples
    --------
    A star of four: its centre, vertex 0, waits until it has one leaf left.

    >>> start, neighbours = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0])
    >>> minimum_degree(start, neighbours).tolist()
    [1, 2, 0, 3]
    """
    n = len(start) - 1
    dense = max(16.0, DENSE * np.sqrt(n))
    heavy = np.flatnonzero(np.diff(start) > dense)
    found = _eliminate(start, neighbours, dense)
    return np.concatenate([found, heavy[np.argsort(np.diff(start)[heavy], kind="stable")]])


@takes(10)
def _eliminate(start: Any, neighbours: Any, dense: float) -> Any:
    n = len(start) - 1
    # The list of vertex i begins at lists[begin[i]]: elements[i] elements, then other vertices, length[i] in all. That
    # of an element holds vertices only. A vertex stands for weight[i] vertices; 0: merged or eliminated; negative while
    # it is in the newest element.
    begin, length, elements = np.empty(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    weight, degree = np.full(n, 1), np.zeros(n, np.int64)
    is_element, beyond = np.zeros(n, np.int64), np.zeros(n, np.int64)
    # Vertices by degree in lists that are linked both ways, and those with the same hash.
    head, after, before = np.full(n + 1, -1), np.full(n, -1), np.full(n, -1)
    same_hash, next_hash, hashes = np.full(n + 1, -1), np.full(n, -1), np.zeros(n, np.int64)
    # The vertices that each one stands for, linked.
    member, last = np.full(n, -1), np.empty(n, np.int64)
    order, done, seen = np.empty(n, np.int64), 0, np.full(n, -1)

    lists, free, total = np.empty(len(neighbours) + n + 1, np.int64), 0, 0
    for i in range(n):
        begin[i], last[i] = free, i
        if start[i + 1] - start[i] > dense:
            weight[i] = 0
            continue
        total += 1
        for q in range(start[i], start[i + 1]):
            j = neighbours[q]
            if start[j + 1] - start[j] <= dense:
                lists[free] = j
                free += 1
        length[i] = degree[i] = free - begin[i]
    for i in range(n - 1, -1, -1):
        if weight[i]:
            after[i] = head[degree[i]]
            if after[i] >= 0:
                before[after[i]] = i
            head[degree[i]] = i
    least, mark = 0, 1
    while done < total:
        while head[least] < 0:
            least += 1
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
            write, others, key = begin[i], 0, pivot
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
                hashes[i] = key % n
                next_hash[i] = same_hash[hashes[i]]
                same_hash[hashes[i]] = i

        # Vertices with the same neighbours become one.
        for q in range(first, free):
            h = hashes[lists[q]]
            if weight[lists[q]] == 0:
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
                most, known = total - done, degree[i] + size
                degree[i] = (known if known < most else most) - weight[i]
                if degree[i] < 0:
                    degree[i] = 0
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
            order[done - own] = pivot
            own -= 1
            pivot = member[pivot]
    return order[:total].copy()
