"""Random graphs as used in the literature: from a seed, the same on every machine.

Numbers are made from the raw words of a PCG64, whose stream NumPy guarantees, by multiplications and comparisons of
doubles, which every processor rounds alike. Logarithms differ between libraries, and are not used.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt, pi, sqrt
from typing import Any

import numpy as np

from semiring.algebra.arguments import whole_number
from semiring.errors import SemiringError

from .graph import Graph
from .texts import clip_repr

MOST_VERTICES = 1 << 31  # products of two positions are exact in 64 bits
SPARSE = 500.0  # expected edges of a vertex up to which their number is drawn first, and then their ends
QUARTERS = (0.57, 0.76, 0.95)  # of R-MAT: cumulative probabilities of the quarters 0.57, 0.19, 0.19 and 0.05
PLANAR_DEGREE = 2.57  # edges per vertex in both directions together, as in road networks
TREE = 2.0  # edges per vertex of a spanning tree


class Stream:
    """Numbers from a seed.

    Parameters
    ----------
    seed : int
    """

    def __init__(self, seed: int):
        self._words = np.random.PCG64(seed)

    def unit(self, *shape: int) -> np.ndarray:
        """Numbers from 0 to 1, excluding 1, with 53 bits."""
        count = int(np.prod(shape))
        return ((self._words.random_raw(count) >> np.uint64(11)) * 2.0**-53).reshape(shape)

    def whole(self, bounds: Any, *shape: int) -> np.ndarray:
        """Whole numbers from 0, below bounds of at most 2³¹."""
        return (self.unit(*shape) * bounds).astype(np.int64)


def random_graph(
    n: int, kind: str = "uniform", *, degree: Any = None, p: float | None = None, weights: Any = None, seed: int = 0
) -> Graph:
    """Make a random graph, from a seed the same on every machine.

    Parameters
    ----------
    n : int
        The number of vertices, which are called 0 to n − 1.
    kind : str, optional
        - "uniform": directed edges to vertices that are drawn uniformly. With ``degree=(low, high)`` each vertex has
          between ``low`` and ``high`` edges, each number equally likely; with ``p`` each of the n (n − 1) edges exists
          with that probability;
        - "rmat": directed edges, placed by repeatedly choosing a quarter of the matrix with the probabilities 0.57,
          0.19, 0.19 and 0.05, so that a few vertices have many; `degree` times n are drawn (default: 16), and
          duplicates and loops dropped;
        - "grid": vertices in rows of ⌊√n⌋, the last one perhaps shorter, connected to those to the right and below;
        - "geometric": points in the unit square, connected if they are near, with `degree` edges per vertex on average
          (default: 6);
        - "planar": like roads: a minimum spanning tree of the Delaunay triangulation of random points, with enough of
          its shorter edges for `degree` edges per vertex on average (default: 2.57, at least 2).

        The last three are undirected. There are neither loops nor parallel edges.
    degree : int or pair of int, or float, optional
        For "uniform" the least and the most, or one number for both; for the others an average.
    p : float, optional
        A probability, from 0 to 1.
    weights : pair of numbers, optional
        The least and the most. If both are whole numbers, each whole number between them, ends included, is equally
        likely; otherwise numbers are uniform between them. Default: lengths if vertices are points, and else none.
    seed : int, optional
        A whole number ≥ 0.

    Returns
    -------
    Graph

    Raises
    ------
    SemiringError
        For an unknown kind, an argument that it does not have or lacks, or one outside its limits.

    Notes
    -----
    Uniform degrees are those of the graphs in J. M. Kemp's thesis, All-pairs shortest path algorithms using CUDA
    (2012). R-MAT is from D. Chakrabarti, Y. Zhan, C. Faloutsos, R-MAT: a recursive model for graph mining (2004).

    Examples
    --------
    >>> import semiring as sr
    >>> G = sr.random_graph(1000, degree=(2, 6), weights=(1, 10), seed=7)
    >>> G.n, G.weights.min(), G.weights.max()
    (1000, np.int64(1), np.int64(10))
    >>> sr.random_graph(100, "grid")
    Graph(100 vertices, 180 edges, undirected, no weights)
    >>> sr.closure(sr.random_graph(50, "planar"), sr.min_plus).shape
    (50, 50)
    """
    n = whole_number(n, "n", 0, MOST_VERTICES)
    stream = Stream(whole_number(seed, "seed", 0))
    if not isinstance(kind, str) or kind not in KINDS:
        raise SemiringError(f"unknown kind of graph {clip_repr(kind)}: it is one of {', '.join(KINDS)}")
    if p is not None and kind != "uniform":
        raise SemiringError(f"a graph of kind {kind!r} does not take p; only kind='uniform' does")
    bounds = None if weights is None else _pair(weights, "weights")
    if kind == "uniform":
        ends, lengths = _uniform(n, degree, p, stream), None
    else:
        if degree is not None and kind == "grid":
            raise SemiringError("a grid does not take degree: its vertices have four neighbours, at its border fewer")
        ends, lengths = OTHERS[kind](n, degree, stream)
    if bounds is not None:
        lengths = _weights(*bounds, len(ends), stream)
    return Graph(ends[:, 0], ends[:, 1], n, lengths, directed=kind in ("uniform", "rmat"))


def _uniform(n: int, degree: Any, p: Any, stream: Stream) -> np.ndarray:
    if (degree is None) == (p is None):
        raise SemiringError("a uniform graph needs one of degree=(low, high) and p")
    if p is not None:
        p = _number(p, "p", 0, 1)
        if p > 0.5 or (n - 1) * p > SPARSE:  # otherwise (1 − p)ⁿ is not too small for a double
            return _each(n, p, stream)
        counts = _binomial(n - 1, p, stream.unit(n)) if n else np.zeros(0, np.int64)
        return _to_others(counts, n, stream)
    low, high = degree if isinstance(degree, (tuple, list)) and len(degree) == 2 else (degree, degree)
    low = whole_number(low, "the least degree", 0)
    high = whole_number(high, "the greatest degree", low)
    if n and high > n - 1:
        raise SemiringError(f"a vertex can have edges to at most {n - 1} others, but the greatest degree is {high}")
    return _to_others(low + stream.whole(high - low + 1, n), n, stream)


def _each(n: int, p: float, stream: Stream) -> np.ndarray:
    """A number for every pair, row by row, in memory for the edges only."""
    rows = []
    for v in range(n):
        there = np.flatnonzero(stream.unit(n - 1) < p)
        rows.append(np.stack([np.full(len(there), v), there + (there >= v)], axis=1))
    return np.concatenate(rows) if rows else np.zeros((0, 2), np.int64)


def _binomial(trials: int, p: float, unit: np.ndarray) -> np.ndarray:
    """The number of successes in some trials, by looking numbers from 0 to 1 up in the distribution."""
    each, factor, power = 1.0, 1 - p, trials
    while power:  # by squaring: the power function of a library would differ in the last bit
        each = each * factor if power & 1 else each
        factor, power = factor * factor, power >> 1
    sums, total = [], 0.0
    for k in range(trials):
        total += each
        sums.append(total)
        each = each * (trials - k) / (k + 1) * (p / (1 - p))
        if 1 - total < 2.0**-53 or (each < 2.0**-60 and total > 0.5):
            break
    return np.searchsorted(np.array(sums), unit, side="right")


def _to_others(counts: np.ndarray, n: int, stream: Stream) -> np.ndarray:
    """A given number of edges from each vertex to different other vertices.

    Ends are drawn among the n − 1 others, and duplicates drawn again. If a vertex needs more than half of the others,
    those without an edge are drawn.
    """
    others = n - 1
    many = 2 * counts > others
    drawn = np.where(many, others - counts, counts)
    sources = np.repeat(np.arange(n), drawn)
    keys = np.zeros(0, np.int64)
    while len(sources):
        fresh = np.concatenate([keys, sources * max(others, 1) + stream.whole(others, len(sources))])
        keys = np.unique(fresh)
        missing = drawn - np.bincount(keys // max(others, 1), minlength=n)
        sources = np.repeat(np.arange(n), missing)
    tails, heads = keys // max(others, 1), keys % max(others, 1)
    few = ~many[tails]
    pieces = [np.stack([tails[few], heads[few]], axis=1)]
    first = np.searchsorted(tails, np.arange(n + 1))
    for v in np.flatnonzero(many):
        there = np.ones(others, bool)
        there[heads[first[v] : first[v + 1]]] = False
        there = np.flatnonzero(there)
        pieces.append(np.stack([np.full(len(there), v), there], axis=1))
    ends = np.concatenate(pieces)
    ends[:, 1] += ends[:, 1] >= ends[:, 0]  # skip the vertex itself
    return ends[np.lexsort(ends.T[::-1])]


def _rmat(n: int, degree: Any, stream: Stream) -> tuple[np.ndarray, None]:
    count = round(n * _number(16 if degree is None else degree, "degree", 0, MOST_VERTICES)) if n > 1 else 0
    rows, columns = np.zeros((2, count), np.int64)
    for _ in range((n - 1).bit_length() if count else 0):
        quarter = stream.unit(count)
        rows = 2 * rows + (quarter >= QUARTERS[1])
        columns = 2 * columns + (((quarter >= QUARTERS[0]) & (quarter < QUARTERS[1])) | (quarter >= QUARTERS[2]))
    keep = (rows != columns) & (rows < n) & (columns < n)
    keys = np.unique(rows[keep] * n + columns[keep])
    return np.stack([keys // max(n, 1), keys % max(n, 1)], axis=1), None


def _grid(n: int, degree: Any, stream: Stream) -> tuple[np.ndarray, None]:
    side, number = max(isqrt(n), 1), np.arange(n)
    across = number[(number + 1 < n) & ((number + 1) % side != 0)]
    down = number[number + side < n]
    return np.concatenate([np.stack([across, across + 1], axis=1), np.stack([down, down + side], axis=1)]), None


def _geometric(n: int, degree: Any, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    from scipy.spatial import cKDTree

    mean = _number(6 if degree is None else degree, "degree", 0, MOST_VERTICES)
    points = stream.unit(n, 2)
    if n < 2:
        return np.zeros((0, 2), np.int64), np.zeros(0)
    pairs = cKDTree(points).query_pairs(sqrt(mean / (pi * n)), output_type="ndarray")
    ends = np.sort(pairs.astype(np.int64), axis=1).reshape(-1, 2)
    ends = ends[np.lexsort(ends.T[::-1])]
    return ends, _lengths(points, ends)


def _planar(n: int, degree: Any, stream: Stream) -> tuple[np.ndarray, np.ndarray]:
    mean = _number(PLANAR_DEGREE if degree is None else degree, "degree", TREE, 6)
    points = stream.unit(n, 2)
    ends = _triangulation(points)
    lengths = _lengths(points, ends)
    tree = _spanning_tree(n, ends, lengths)
    rest = np.flatnonzero(~tree)
    wanted = min(max(round(n * mean / 2) - int(tree.sum()), 0), len(rest))
    near = rest[np.argsort(lengths[rest], kind="stable")][: max(wanted, len(rest) * 4 // 5)]
    chosen = near[np.argsort(stream.unit(len(near)), kind="stable")][:wanted]
    kept = np.sort(np.concatenate([np.flatnonzero(tree), chosen]))
    return ends[kept], lengths[kept]


def _triangulation(points: np.ndarray) -> np.ndarray:
    """The edges of the Delaunay triangulation, in order; all edges if there are fewer than four points."""
    from scipy.spatial import Delaunay

    n = len(points)
    if n < 4:
        return np.array([(i, j) for i in range(n) for j in range(i + 1, n)], np.int64).reshape(-1, 2)
    corners = Delaunay(points).simplices
    pairs = np.concatenate([corners[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]).astype(np.int64)
    keys = np.unique(np.sort(pairs, axis=1) @ np.array([n, 1]))
    return np.stack([keys // n, keys % n], axis=1)


def _spanning_tree(n: int, ends: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The edges of a minimum spanning tree; random points have different distances."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    rows, columns = ends.T.astype(np.int32)  # older versions of SciPy need int32
    tree = minimum_spanning_tree(csr_array((lengths, (rows, columns)), (n, n))).tocoo()
    keys = np.sort(np.stack([tree.row, tree.col], axis=1).astype(np.int64), axis=1) @ np.array([n, 1])
    return np.isin(ends @ np.array([n, 1]), keys)


def _lengths(points: np.ndarray, ends: np.ndarray) -> np.ndarray:
    across = points[ends[:, 0]] - points[ends[:, 1]]
    return np.sqrt(across[:, 0] * across[:, 0] + across[:, 1] * across[:, 1])


def _weights(low: Any, high: Any, count: int, stream: Stream) -> np.ndarray:
    if all(isinstance(x, (int, np.integer)) for x in (low, high)):
        if int(high) - int(low) >= MOST_VERTICES:
            raise SemiringError(f"whole weights can take at most 2³¹ values, but {low} to {high} are more; pass floats")
        return int(low) + stream.whole(int(high) - int(low) + 1, count)
    return float(low) + (float(high) - float(low)) * stream.unit(count)


def _pair(given: Any, what: str) -> tuple[Any, Any]:
    """Two finite numbers in order."""
    if not (isinstance(given, (tuple, list)) and len(given) == 2):
        raise SemiringError(f"{what} must be a pair of numbers, (low, high), and is {clip_repr(given)}")
    low, high = (_number(x, what, -np.inf, np.inf) for x in given)
    if low > high:
        raise SemiringError(f"{what} must be (low, high), but {given[0]} is more than {given[1]}")
    if any(isinstance(x, (int, np.integer)) and abs(int(x)) >= 1 << 62 for x in given):
        raise SemiringError(f"whole {what} must be within ±2⁶², and are {clip_repr(given)}")
    return given[0], given[1]


def _number(given: Any, what: str, least: float, most: float) -> float:
    """A finite number within limits."""
    number = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
    try:
        if number and least <= float(given) <= most and abs(float(given)) < np.inf:
            return float(given)
    except OverflowError:
        pass
    limits = "finite" if most == np.inf else f"from {least:g} to {most:g}"
    raise SemiringError(f"{what} must be a number, {limits}, and is {clip_repr(given)}")


Kind = Callable[[int, Any, Stream], tuple[np.ndarray, np.ndarray | None]]
OTHERS: dict[str, Kind] = {"rmat": _rmat, "grid": _grid, "geometric": _geometric, "planar": _planar}
KINDS = ("uniform", *OTHERS)
