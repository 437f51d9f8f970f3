"""Place the vertices of an acyclic graph whose edges lead from lower to higher levels.

Edges over several levels get a place of their own on each level between, so that no edge runs through a vertex; and the
places of a level are sorted by the mean place of their neighbours, up and down in turn, so that few edges cross
(K. Sugiyama, S. Tagawa, M. Toda, Methods for visual understanding of hierarchical system structures, 1981).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

SWEEPS = 12  # times that all levels are sorted, in each direction

Edge = tuple[int, int]


def layers(levels: Sequence[int], edges: Sequence[Edge]) -> tuple[list[float], list[list[tuple[float, int]]]]:
    """Places across for vertices whose levels are known, and the ways of the edges.

    Parameters
    ----------
    levels : sequence of int
        Of each vertex, from 0 on.
    edges : sequence of (int, int)
        Vertices; the second has the higher level.

    Returns
    -------
    across : list of float
        Of each vertex: whole steps from its neighbours, levels centred at 0.
    routes : list of list of (float, int)
        For each edge the places on all levels from its first to its second vertex: across, and the level.

    Examples
    --------
    >>> layers([0, 1, 1, 2], [(0, 1), (0, 2), (1, 3), (2, 3)])[0]
    [0.0, -0.5, 0.5, 0.0]
    >>> layers([0, 1, 2], [(0, 1), (1, 2), (0, 2)])[1][2]
    [(0.0, 0), (0.5, 1), (0.0, 2)]
    """
    rows: list[list[int]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for vertex, level in enumerate(levels):
        rows[level].append(vertex)
    chains, count = [], len(levels)
    for low, high in edges:
        between = levels[high] - levels[low] - 1
        chains.append([low, *range(count, count + between), high])
        for step in range(between):
            rows[levels[low] + 1 + step].append(count + step)
        count += between
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for chain in chains:
        for low, high in pairwise(chain):
            above[low].append(high)
            below[high].append(low)
    rows = _sorted(rows, above, below)
    across = [0.0] * count
    for row in rows:
        for k, vertex in enumerate(row):
            across[vertex] = k - (len(row) - 1) / 2
    routes = [[(across[v], levels[chain[0]] + k) for k, v in enumerate(chain)] for chain in chains]
    return across[: len(levels)], routes


def _sorted(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> list[list[int]]:
    """The order with the fewest crossings that sorting by neighbours came by."""
    best, fewest = rows, crossings(rows, above)
    for sweep in range(2 * SWEEPS):
        if not fewest:
            break
        upward = sweep % 2 == 0
        rows = _swept(rows, below) if upward else _swept(rows[::-1], above)[::-1]
        if (count := crossings(rows, above)) < fewest:
            best, fewest = rows, count
    return best


def _swept(rows: list[list[int]], neighbours: list[list[int]]) -> list[list[int]]:
    """Each level sorted by the mean places of its neighbours on the level before; who has none stays."""
    result = rows[:1]
    for row in rows[1:]:
        offset = (len(result[-1]) - len(row)) / 2  # levels are centred
        place = {vertex: k for k, vertex in enumerate(result[-1])}
        mean = {}
        for k, vertex in enumerate(row):
            found = [place[v] for v in neighbours[vertex]]
            mean[vertex] = sum(found) / len(found) if found else k + offset
        result.append(sorted(row, key=mean.__getitem__))
    return result


def crossings(rows: Sequence[Sequence[int]], above: Sequence[Sequence[int]]) -> int:
    """How many pairs of edges cross.

    >>> crossings([[0, 1], [2, 3]], [[3], [2], [], []])
    1
    """
    total = 0
    for low, high in pairwise(rows):
        place = {vertex: k for k, vertex in enumerate(high)}
        ends = [sorted(place[v] for v in above[vertex]) for vertex in low]
        seen: list[int] = []
        for row in ends:
            total += sum(1 for end in row for other in seen if other > end)
            seen += row
    return total
