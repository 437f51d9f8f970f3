"""Next hops of all bottleneck paths of an undirected graph, from its edges alone.

Where ⊗ takes the worse of two elements and ⊕ the better, the vertices that are reached from a vertex at a level w or
better are a component of the edges of w or better. Components lie within each other: they are the nodes of the tree
that Kruskal's algorithm makes, and the value of a pair is the level of the least component that holds both.

    next hop from v to t  =  that from v to any other vertex of c,
        c the largest component that holds t and not v, M the least that holds both, of level w

For all vertices of c everything in M \\ c has the value w, and what is best there does not depend on which of them is
the target. So one breadth-first search of M \\ c, from the edges of w that lead out of c and along edges of w or
better, says the next hops from all of M \\ c to all of c, with the ties of `semiring.algorithms.trees`. Instead of n²
vertices Σ |M \\ c| are searched: 0.02 to 0.1 n² for random weights on grids, planar graphs and roads.

J. B. Kruskal, On the shortest spanning subtree of a graph and the traveling salesman problem (1956); T. C. Hu, The
maximum capacity route problem (1961).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from semiring.kernels.blocks.rows import Rows
from semiring.kernels.cpu.compile.price import Code
from semiring.kernels.cpu.compile.rounds import Pace
from semiring.machine.pieces import parts_worth, ranges, share
from semiring.machine.threads import scratch, thread_count

from .edge_numbers import MOST, NUMBER, EdgeNumbers
from .structure import pieces_of

VERTEX = np.dtype(np.int32)
LOOPS = "merge", "lay_out", "count_places", "search", "write_rows"
SHARE = 2  # of all pairs, one in so many may be searched: beyond that lines are searched together in less time
COMPILE = 0.35  # seconds to compile one of the loops, with what it calls
SEARCHES, ROWS = Pace(), Pace()
BEGIN = 16  # vertices whose search takes as long as to begin one
NONE = -1
LEAF = int(np.iinfo(VERTEX).max)  # the level of a vertex by itself

CODE = Code.of_loops(Path(__file__).with_name("bottleneck_loops.py"), LOOPS, each=COMPILE)


class Components(NamedTuple):
    """The components of the edges of each level or better; the first n nodes are the vertices.

    Attributes
    ----------
    above : ndarray of int32, shape (k,)
        The least component that holds each; −1 where there is none, or for one that is another's.
    level : ndarray of int32, shape (k,)
        The rank of the worst edges.
    start, size : ndarray of int32, shape (k,)
        Where its vertices begin in the order in which all components are ranges, and how many they are.
    children : ndarray of int64, shape (k + 1,)
    child : ndarray of int32
        ``child[children[x]:children[x + 1]]`` are the components of which x is made, as they lie.
    base : ndarray of int32, shape (k,)
        One, and how many components there are beside those above, which hold it.
    across : ndarray of int32, shape (2, m)
        The components of both ends of each edge before those of its rank; −1 where they are the same.
    """

    above: np.ndarray
    level: np.ndarray
    start: np.ndarray
    size: np.ndarray
    children: np.ndarray
    child: np.ndarray
    base: np.ndarray
    across: np.ndarray

    @property
    def searched(self) -> np.ndarray:
        """For each component how many vertices are in the one above it, but not in it."""
        return np.where(self.above >= 0, self.size[self.above] - self.size, 0).astype(np.int64)


def components(n: int, tails: np.ndarray, heads: np.ndarray, ranks: np.ndarray) -> Components:
    """The tree of components of an undirected graph, whose edges are given once each, in descending order of ranks.

    Examples
    --------
    >>> tree = components(3, np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([5, 3], np.int32))
    >>> tree.above.tolist(), tree.start.tolist(), tree.searched.tolist()
    ([3, 3, 4, 4, -1], [0, 1, 2, 0, 0], [1, 1, 2, 1, 0])
    """
    from .bottleneck_loops import count_places, lay_out, merge  # they load Numba

    parent, left = np.full((2, 2 * n), NONE, VERTEX)
    level, size = np.full(2 * n, LEAF, VERTEX), np.ones(2 * n, VERTEX)
    across = np.full((2, len(tails)), NONE, VERTEX)
    of, node = np.arange(n, dtype=VERTEX), np.arange(n, dtype=VERTEX)
    count = merge(tails, heads, ranks, of, node, across, parent, level, left, size)
    parent, level, left, size = (a[:count] for a in (parent, level, left, size))
    top, start, above, number, base = np.zeros((5, count), VERTEX)
    lay_out(parent, level, left, size, top, start, above, number)
    count_places(above, top, number, base)
    some = np.flatnonzero(above >= 0)
    child = some[np.lexsort((start[some], above[some]))].astype(VERTEX)
    children = np.concatenate([[0], np.cumsum(number, dtype=np.int64)])
    return Components(above, level, start, size, children, child, base, across)


def next_hops(
    n: int, tails: np.ndarray, heads: np.ndarray, ranks: np.ndarray, rows: Rows | None = None,
    threads: int | None = None,
) -> EdgeNumbers | np.ndarray | None:
    """The vertex after each on a best walk to every other, where ⊗ takes the worse edge of two.

    Parameters
    ----------
    n : int
    tails, heads : ndarray of int32, shape (m,)
        The edges of an undirected graph, each given once.
    ranks : ndarray of int32, shape (m,)
        Descending, of which the greater is better; from 0 on.
    rows : Rows, optional
        All edges, and maybe others, both ways. Then their numbers are found where a byte can tell them apart.
    threads : int, optional
        Results do not depend on it.

    Returns
    -------
    EdgeNumbers, ndarray of int32, or None
        Of shape (n, n): −1 on the diagonal, and where no walk leads. None where so many pairs would be searched that
        another way is faster.

    Examples
    --------
    >>> path = np.array([0, 1], np.int32), np.array([1, 2], np.int32), np.array([5, 3], np.int32)
    >>> next_hops(3, *path) is None  # of 9 pairs 6 are searched
    True
    """
    tree = components(n, tails, heads, ranks)
    searched = tree.searched
    if SHARE * int(searched.sum()) > n * n:
        return None
    names = np.empty(n, VERTEX)
    names[tree.start[:n]] = np.arange(n)
    both = _Edges.of(n, tree.start[:n], tails, heads, ranks)
    places = np.concatenate([[0], np.cumsum(searched)])
    found = np.empty(int(places[-1]), VERTEX)
    _search(tree, both, names, places, found, threads)
    numbered = rows is not None and int(np.diff(rows.offsets).max(initial=0)) <= MOST
    return _rows(tree, names, places, found, rows if numbered else None, threads)


def bits_of(n: int) -> int:
    """Bits that tell so many vertices apart.

    Examples
    --------
    >>> bits_of(1), bits_of(8), bits_of(9)
    (1, 3, 4)
    """
    return max(n - 1, 1).bit_length()


def _sorted_by(keys: np.ndarray, count: int) -> np.ndarray:
    """A stable order of keys below `count`, by their digits where these are few."""
    return np.argsort(keys.astype(np.uint16) if count <= 1 << 16 else keys, kind="stable")


class _Edges(NamedTuple):
    """Edges in both directions, and in blocks of vertices as they lie in the order of the tree.

    Attributes
    ----------
    tails, heads : ndarray of int32, shape (2 m,)
        Edge e and the same turned around are 2 e and 2 e + 1, in descending order of their ranks.
    blocks : ndarray of int32, shape (n + 1,)
        Before which block those from each vertex begin.
    targets, ranks : ndarray of int32
        Best first for each vertex; n and −1 where a block is filled up.
    order : ndarray of int32, shape (2 m,)
        Where they stand there.
    """

    tails: np.ndarray
    heads: np.ndarray
    blocks: np.ndarray
    targets: np.ndarray
    ranks: np.ndarray
    order: np.ndarray

    @classmethod
    def of(cls, n: int, place: np.ndarray, tails: np.ndarray, heads: np.ndarray, ranks: np.ndarray) -> _Edges:
        """From edges in descending order of their ranks, and where each vertex lies."""
        from .bottleneck_loops import BLOCK  # it loads Numba

        ends = place[np.stack([tails, heads], axis=1)]
        both, twice = (ends.ravel(), ends[:, ::-1].ravel()), np.repeat(ranks, 2)
        by_tail, counts = _sorted_by(both[0], n), np.bincount(both[0], minlength=n)
        blocks = np.concatenate([[0], np.cumsum(-(-counts // BLOCK))])
        first = np.cumsum(counts) - counts
        order = np.empty(len(twice), VERTEX)
        order[by_tail] = np.arange(len(twice)) + np.repeat(BLOCK * blocks[:-1] - first, counts)
        targets, levels = np.full((2, BLOCK * int(blocks[-1])), NONE, VERTEX)
        targets[:] = n
        targets[order], levels[order] = both[1], twice
        return cls(*both, blocks.astype(VERTEX), targets, levels, order)


def _search(
    tree: Components, edges: _Edges, names: np.ndarray, places: np.ndarray, found: np.ndarray, threads: int | None
) -> None:
    """The searches beside all components, into `found`."""
    from .bottleneck_loops import search  # it loads Numba

    n, works = len(names), tree.child
    of = tree.across.T.ravel()
    leaving = np.flatnonzero(of >= 0)
    leaving = leaving[_sorted_by(of[leaving], len(tree.above))]
    tails, heads = edges.tails[leaving], edges.heads[leaving]
    seeds = np.concatenate([[0], np.cumsum(np.bincount(of[leaving], minlength=len(tree.above)))])
    shared = [a.ctypes.data for a in (tree.above, tree.level, tree.start, tree.size, names, seeds, tails, heads,
                                      edges.blocks, edges.targets, edges.ranks, edges.order)]
    room, bits = 4 * (len(edges.targets) + 2 * n + 8), bits_of(n)

    def part(first: int, last: int) -> None:
        _memory, place = scratch(room)
        search(works.ctypes.data, first, last, n, bits, *shared, len(edges.order),
               places.ctypes.data, found.ctypes.data, place)

    part(0, 0)  # compiles before anything is timed
    # Works ascend: the last are as long as the graph is large, and most have a few vertices.
    before = np.concatenate([[0], np.cumsum(tree.searched[works] + BEGIN)])
    for first, last in SEARCHES.rounds(before):
        share(part, pieces_of(before, threads, first, last), threads)


def _rows(
    tree: Components, names: np.ndarray, places: np.ndarray, found: np.ndarray, edges: Rows | None, threads: int | None
) -> EdgeNumbers | np.ndarray:
    """Next hops of all pairs from those of vertices to components."""
    from .bottleneck_loops import write_rows  # it loads Numba

    n = len(names)
    P = np.empty((n, n), VERTEX if edges is None else NUMBER)
    rows = (0, 0) if edges is None else (edges.offsets.ctypes.data, edges.columns.ctypes.data)
    shared = [a.ctypes.data for a in (tree.above, tree.start, tree.size, tree.children, tree.child, tree.base,
                                      names, places, found)]
    shared += [*rows, P.ctypes.data]

    def part(first: int, last: int) -> None:
        _memory, place = scratch(20 * n + 8)
        write_rows(first, last, n, *shared, place)

    part(0, 0)
    for first, last in ROWS.rounds(np.arange(n + 1), n):
        parts = ranges(last - first, parts_worth((last - first) * n, thread_count(threads)))
        share(part, [(first + top, first + bottom) for top, bottom in parts], threads)
    return P if edges is None else EdgeNumbers(P, edges.offsets, edges.columns, 0)
