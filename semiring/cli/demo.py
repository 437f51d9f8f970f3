"""The demo: five questions about the roads of Minnesota, each answered by a closure and checked by SciPy."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from numpy.typing import NDArray

from semiring.algebra.catalogue import boolean, min_max, min_plus
from semiring.api import closure, path
from semiring.files.verbs import read_graph

from .plot import Route, draw_map, require_matplotlib, to_km

if TYPE_CHECKING:
    from semiring.graphs.graph import Graph

TOLERANCE = 1e-9  # km by which rounding may separate a sum of lengths from SciPy's


@dataclass(frozen=True)
class Answers:
    """What the closures say about a road network."""

    pieces: list[int]  # junctions in each, largest first
    stray: NDArray[np.int64]  # junctions outside the largest piece
    ends: tuple[int, int]  # the two junctions that are farthest apart
    distance: float  # between them, in km
    route: list[int]  # of that length
    mean: float  # distance over connected pairs, in km
    longest: float  # the shortest possible longest road between the ends, in km
    fewest: int  # roads of the route with the fewest roads
    direct: list[int]  # a route of that many roads
    seconds: dict[str, float]  # for each question's closure
    distances: NDArray[np.float64]  # of all pairs


def minnesota() -> tuple[Graph, NDArray[np.float64]]:
    """The roads, and the longitude and latitude of each junction.

    Examples
    --------
    >>> roads, degrees = minnesota()
    >>> roads.n, len(roads), degrees.shape
    (2642, 3303, (2642, 2))
    """
    with as_file(files("semiring.data")) as folder:
        roads = read_graph(folder / "minnesota_roads.csv", directed=False)
        places = np.loadtxt(folder / "minnesota_junctions.csv", delimiter=",", skiprows=1)
    return roads, places[:, 1:]


def ask(roads: Graph) -> Answers:
    """Answer the questions about undirected roads with lengths in km, each by a closure over its own algebra."""
    seconds = {}

    def close(question: str, graph: Graph, S: Any) -> np.ndarray:
        start = time.perf_counter()
        answer = np.asarray(closure(graph, S, progress=True))
        seconds[question] = time.perf_counter() - start
        return answer

    reachable = close("pieces", roads, boolean)
    piece = np.argmax(reachable, axis=1)  # the first junction of those that can be reached
    firsts, sizes = np.unique(piece, return_counts=True)

    distances = close("distances", roads, min_plus)
    finite = np.where(np.isfinite(distances), distances, -1.0)
    a, b = map(int, np.unravel_index(np.argmax(finite), finite.shape))
    pairs = np.isfinite(distances) & ~np.eye(roads.n, dtype=bool)

    longest = close("longest road", roads, min_max)
    each_one = replace(roads, weights=np.ones(len(roads)))
    fewest = close("fewest roads", each_one, min_plus)
    return Answers(
        pieces=sorted(sizes.tolist(), reverse=True),
        stray=np.flatnonzero(piece != firsts[np.argmax(sizes)]),
        ends=(a, b),
        distance=float(distances[a, b]),
        route=path(roads, min_plus, a, b)[1] or [],
        mean=float(distances[pairs].mean()),
        longest=float(longest[a, b]),
        fewest=int(fewest[a, b]),
        direct=path(each_one, min_plus, a, b)[1] or [],
        seconds=seconds,
        distances=distances,
    )


@dataclass(frozen=True)
class Check:
    """One answer, SciPy's answer, and their difference."""

    what: str
    ours: Any
    theirs: Any
    deviation: float


def check(roads: Graph, answers: Answers) -> list[Check]:
    """Answer the same questions with scipy.sparse.csgraph, which shares no code with the library."""
    from scipy.sparse import coo_array, csgraph

    ends = roads.sources.astype(np.int32), roads.targets.astype(np.int32)  # csgraph before SciPy 1.15 needs int32

    def sparse(weights: np.ndarray) -> Any:
        return coo_array((weights, ends), shape=(roads.n, roads.n)).tocsr()

    assert roads.weights is not None
    lengths = sparse(roads.weights)
    a, b = answers.ends
    _, labels = csgraph.connected_components(lengths, directed=False)
    pieces = sorted(np.bincount(labels).tolist(), reverse=True)
    distances = csgraph.dijkstra(lengths, directed=False)
    # If both are ∞ they agree; if one is, they differ by ∞.
    with np.errstate(invalid="ignore"):
        apart = np.where(answers.distances == distances, 0.0, np.abs(answers.distances - distances))
    farthest = float(distances[np.isfinite(distances)].max())
    fewest = float(csgraph.dijkstra(lengths, directed=False, unweighted=True, indices=a)[b])
    length = {}
    for u, v, km in zip(roads.sources.tolist(), roads.targets.tolist(), roads.weights.tolist(), strict=True):
        length[u, v] = length[v, u] = km

    def along(route: list[int], km: Callable[[float], float]) -> float:
        """The sum over the roads of a route; ∞ if a step is not a road."""
        return sum(km(length[step]) if step in length else np.inf for step in pairwise(route))

    walked, counted = along(answers.route, lambda km: km), along(answers.direct, lambda km: 1.0)
    # For every pair, the path in a minimum spanning tree has the shortest possible longest road. SciPy's tree drops
    # entries that are 0, so every road is one kilometre longer here.
    tree = csgraph.minimum_spanning_tree(sparse(roads.weights + 1.0))
    tree = (tree + tree.T).tocsr()
    _, before = csgraph.breadth_first_order(tree, a, directed=False)
    longest, v = 0.0, b
    while v != a:
        longest, v = max(longest, float(tree[v, before[v]]) - 1.0), int(before[v])
    return [
        Check("pieces", answers.pieces, pieces, 0.0 if answers.pieces == pieces else np.inf),
        Check("all distances", "", "", float(apart.max())),
        Check("farthest", answers.distance, farthest, abs(answers.distance - farthest)),
        Check("the shortest route", answers.distance, walked, abs(answers.distance - walked)),
        Check("the longest road", answers.longest, longest, abs(answers.longest - longest)),
        Check("the fewest roads", answers.fewest, fewest, abs(answers.fewest - fewest)),
        Check("the route of fewest roads", answers.fewest, counted, abs(answers.fewest - counted)),
    ]


def draw(roads: Graph, degrees: NDArray[np.float64], answers: Answers, file: Path) -> None:
    """A map of the roads with the answers on it."""
    draw_map(
        file,
        to_km(*degrees.T),
        roads.sources,
        roads.targets,
        title=f"The farthest junctions of Minnesota: {answers.distance:.1f} km apart",
        subtitle=f"mean distance {answers.mean:.1f} km; every way between the two has a road of "
        f"{answers.longest:.1f} km or more",
        edges=f"{len(roads):,} roads between {roads.n:,} junctions",
        routes=[
            Route(answers.route, f"shortest route: {answers.distance:.1f} km, {len(answers.route) - 1} roads", 2.6),
            Route(answers.direct, f"route of fewest roads: {answers.fewest}", 1.5),
        ],
        circled=answers.stray.tolist(),
        circle=f"{len(answers.stray)} junctions that no road joins to the other {answers.pieces[0]:,}",
        names=[f"junction {v}" for v in range(roads.n)],
        unit="km",
    )


def run(picture: Path | None = None, out: TextIO | None = None) -> bool:
    """Ask, print the answers, check them, draw the map.

    Parameters
    ----------
    picture : path, optional
        Where the map goes. Default: no map.
    out : text stream, optional
        Where the answers go. Default: stdout.

    Returns
    -------
    bool
        Whether SciPy agrees.
    """
    out = out or sys.stdout
    if picture is not None:
        require_matplotlib()

    def say(label: str, *lines: str, seconds: float | None = None) -> None:
        for i, line in enumerate(lines):
            time_taken = f"{seconds:6.2f} s" if seconds is not None and i == 1 else ""
            print(f"{label if i == 0 else '':<10}{line:<68}{time_taken}".rstrip(), file=out, flush=True)

    roads, degrees = minnesota()
    assert roads.weights is not None
    short = int(np.sum(roads.weights == 0))
    print(f"Roads of Minnesota: {roads.n:,} junctions, {len(roads):,} roads, {short} of length 0.", file=out)
    print("Each answer is read from closure(roads, algebra).\n", file=out, flush=True)
    answers = ask(roads)
    a, b = answers.ends
    times = answers.seconds
    say("boolean", "How many pieces is the network in?",
        f"→ {len(answers.pieces)}, of {' and '.join(f'{size:,}' for size in answers.pieces)} junctions.",
        seconds=times["pieces"])
    say("min-plus", "Which junctions are farthest apart?",
        f"→ {a} and {b}: {answers.distance:.1f} km by a route of {len(answers.route) - 1} roads.",
        f"→ The mean over all connected pairs is {answers.mean:.1f} km.",
        seconds=times["distances"])
    say("min-max", "How short can the longest road on the way between them be?",
        f"→ {answers.longest:.1f} km: every way has a road at least that long.",
        seconds=times["longest road"])
    say("min-plus", "And if every road counts 1?",
        f"→ {answers.fewest} roads lead from one to the other.",
        seconds=times["fewest roads"])

    start = time.perf_counter()
    checks = check(roads, answers)
    seconds = time.perf_counter() - start
    wrong = [c for c in checks if not c.deviation <= TOLERANCE]
    if wrong:
        say("SciPy", *(f"disagrees on {c.what}: {c.ours} here, {c.theirs} there, {c.deviation:g} apart" for c in wrong))
    else:
        worst = max(c.deviation for c in checks)
        say("SciPy", f"agrees on every answer and on all {roads.n**2:,} distances;",
            f"the largest deviation is {worst:.1e} km.", seconds=seconds)
    if picture is not None:
        draw(roads, degrees, answers, picture)
        say("map", str(picture))
    return not wrong
