"""Compare NetworkX's functions with and without `backend="semiring"`, including the conversion.

    python docs/benchmarks/networkx_backend.py            # four tasks of some seconds or minutes; --quick: a tenth
    python docs/benchmarks/networkx_backend.py --sizes    # from which size on the backend is faster, by function

The second table is where the limits in `semiring/networkx_backend/worth.py` come from: the least work from which on
the backend took at most half of NetworkX's time.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from report import imported

nx = imported("networkx")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", action="store_true", help="the least size for each function")
    options.add_argument("--quick", action="store_true", help="a tenth of the vertices, to see that it runs")
    asked = options.parse_args()
    if asked.sizes:
        sizes(64 if asked.quick else 16384)
    else:
        tasks(10 if asked.quick else 1)


def tasks(share: int) -> None:
    n, junctions = 1000 // share, 3000 // share
    print(f"{'task':60}{'NetworkX':>10}{'semiring':>10}{'ratio':>8}")
    dense = weighted(nx.gnp_random_graph(n, 0.5, seed=1, directed=True))
    compare(f"floyd_warshall_numpy, n = {n:,}, {n**2 // 2:,} edges", "floyd_warshall_numpy", dense, np.allclose)
    sparse = weighted(nx.gnm_random_graph(n, 5 * n, seed=1, directed=True))
    compare(f"floyd_warshall_numpy, n = {n:,}, {5 * n:,} edges", "floyd_warshall_numpy", sparse, np.allclose)
    links = nx.gnm_random_graph(2 * n, 4 * n, seed=1, directed=True)
    compare(f"transitive_closure, n = {2 * n:,}, average degree 2", "transitive_closure", links,
            lambda a, b: a._adj == b._adj and a._pred == b._pred)
    compare(f"all_pairs_dijkstra_path_length, {junctions:,} road junctions", "all_pairs_dijkstra_path_length",
            roads(junctions), lambda a, b: a == b)


def compare(what: str, name: str, G: Any, agree: Callable[[Any, Any], Any]) -> None:
    """Measure one row: NetworkX once, the backend's best of three; the answers must agree."""
    peer, expected = seconds(lambda: called(name, G, "networkx"))
    own = []
    for _ in range(4):  # the first one compiles, or reads what was compiled
        G.__networkx_cache__.clear()
        taken, found = seconds(lambda: called(name, G, "semiring"))
        own.append(taken)
        assert agree(found, expected), what
        del found
    best = min(own[1:])
    print(f"{what:60}{peer:9.3f}s{best:9.3f}s{peer / best:7.1f}×   (first call {own[0]:.2f} s)", flush=True)


def called(name: str, G: Any, backend: str, **options: Any) -> Any:
    found = getattr(nx, name)(G, backend=backend, **options)
    return dict(found) if isinstance(found, Iterator) else found


def seconds(compute: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.perf_counter()
    found = compute()
    return time.perf_counter() - begun, found


def weighted(G: Any, seed: int = 0) -> Any:
    rng = random.Random(seed)
    nx.set_edge_attributes(G, {edge: rng.uniform(1, 2) for edge in G.edges}, "weight")
    return G


def roads(n: int) -> Any:
    """Return random junctions in a square with roads to the nearest ones, 2.6 roads at each on average."""
    places = np.random.default_rng(0).random((n, 2))
    G = nx.Graph()
    G.add_nodes_from(range(n))
    for v in range(n):
        far = np.hypot(*(places - places[v]).T)
        G.add_weighted_edges_from((v, int(u), float(far[u])) for u in np.argsort(far)[1:3])
    parts = [sorted(part) for part in nx.connected_components(G)]
    for one, other in pairwise(parts):
        G.add_edge(one[0], other[0], weight=float(np.hypot(*(places[one[0]] - places[other[0]]))))
    return G


def sizes(most: int) -> None:
    from semiring.networkx_backend import worth
    from semiring.networkx_backend.info import FUNCTIONS

    nx.config.warnings_to_ignore.add("cache")  # two functions are meant for a conversion that is there
    print(f"{'function':42}{'work: NetworkX / semiring, for growing graphs'}")
    for name in FUNCTIONS:
        cells = []
        for n in filter(lambda n: n <= most, (8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384)):
            G = graph_for(name, n)
            options: dict[str, Any] = {"source": 0} if name in ("ancestors", "descendants") else {}
            peer = min(time_of(name, G, "networkx", options) for _ in range(2))
            own = []
            for _ in range(4):
                if not options:  # those two are only worth it for a graph that was converted before
                    G.__networkx_cache__.clear()
                try:
                    own.append(time_of(name, G, "semiring", options))
                except NotImplementedError:
                    own.append(float("nan"))
            cells.append(f"{worth.work(name, G):.0e}: {peer / min(own[1:]):.1f}")
            if peer > 0.7:
                break
        print(f"{name:42}{'  '.join(cells)}", flush=True)


def time_of(name: str, G: Any, backend: str, options: dict[str, Any]) -> float:
    return seconds(lambda: called(name, G, backend, **options))[0]


def graph_for(name: str, n: int) -> Any:
    """Return a connected graph for a function, with three edges for each vertex."""
    if "dag" in name or name == "transitive_reduction":
        G = nx.DiGraph()
        G.add_nodes_from(range(n))
        rng = random.Random(n)
        G.add_edges_from(tuple(sorted(rng.sample(range(n), 2))) for _ in range(3 * n))
    else:
        G = nx.gnm_random_graph(n, 3 * n, seed=n, directed=name == "transitive_closure")
        nx.add_path(G, range(n))
    return weighted(G, n)


if __name__ == "__main__":
    main()
