"""Compare `semiring.csgraph` with `scipy.sparse.csgraph`, including reading the graph.

    python docs/benchmarks/csgraph.py [--quick]

Both get the same array or matrix and are called in turn, after a call of ours that compiles and is not counted. Each
line has the medians of the wall clock and, in brackets, of the time of all processors; then SciPy's divided by ours.
Answers are compared first: distances, and those predecessors that `floyd_warshall` gives.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import over, seconds

TURNS = 3


def graph(side: int) -> Any:
    """Return a square grid of two-way streets with lengths from 1 to 99, in compressed rows of float64."""
    import numpy as np
    import scipy.sparse as sp

    i, rng = np.arange(side * side).reshape(side, side), np.random.default_rng(side)
    u, v = np.concatenate([i[:, :-1].ravel(), i[:-1].ravel()]), np.concatenate([i[:, 1:].ravel(), i[1:].ravel()])
    lengths = rng.integers(1, 100, len(u)).astype(float)
    ends = np.concatenate([u, v]), np.concatenate([v, u])
    return sp.csr_array((np.concatenate([lengths, lengths]), ends), (side * side, side * side))


def measured(what: str, ours: Callable[[], Any], theirs: Callable[[], Any], agree: Callable[[Any, Any], bool]) -> None:
    """Print the medians of some alternating calls, and their ratios."""
    found = ours()
    times: dict[int, list[tuple[float, float]]] = {0: [], 1: []}
    for turn in range(TURNS):
        for which, call in enumerate((ours, theirs)):
            wall, work = time.perf_counter(), time.process_time()
            answer = call()
            times[which].append((time.perf_counter() - wall, time.process_time() - work))
            if which and not turn and not agree(found, answer):
                raise SystemExit(f"{what}: the answers differ")
            del answer
    (wall, work), (peer, peers_work) = (
        [sorted(column)[TURNS // 2] for column in zip(*times[which], strict=True)] for which in (0, 1))
    print(f"{what}: {seconds(wall)} ({seconds(work)}), SciPy {seconds(peer)} ({seconds(peers_work)}), "
          f"{peer / wall:.1f}× ({over(peers_work, work):.1f}×)", flush=True)


def main() -> None:
    """Print the lines."""
    import numpy as np
    from scipy.sparse import csgraph as theirs

    from semiring import csgraph as ours

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small graphs only")
    quick = parser.parse_args().quick
    os.environ["SEMIRING_COMPILE"] = "always"  # ratios are of compiled code

    n = 512 if quick else 2048
    A = np.random.default_rng(n).random((n, n))
    np.fill_diagonal(A, 0)

    def are_paths(found: Any, answer: Any) -> bool:
        distances, before = found
        i, v = np.nonzero(before >= 0)
        u = before[i, v]
        return bool(len(i) == n * (n - 1) and np.allclose(distances, answer[0], rtol=1e-13, atol=0)
                    and np.allclose(distances[i, u] + A[u, v], distances[i, v], rtol=1e-13, atol=0))

    measured(f"floyd_warshall with predecessors, dense, n = {n}",
             lambda: ours.floyd_warshall(A, return_predecessors=True),
             lambda: theirs.floyd_warshall(A, return_predecessors=True), are_paths)
    measured(f"floyd_warshall, dense, n = {n}", lambda: ours.floyd_warshall(A), lambda: theirs.floyd_warshall(A),
             lambda found, answer: np.allclose(found, answer, rtol=1e-13, atol=0))
    side = 40 if quick else 100
    G = graph(side)
    measured(f"shortest_path, grid of {side**2}", lambda: ours.shortest_path(G), lambda: theirs.shortest_path(G),
             np.array_equal)
    side = 200 if quick else 1000
    H = graph(side)
    measured(f"dijkstra from one vertex, grid of {side**2}", lambda: ours.dijkstra(H, indices=0),
             lambda: theirs.dijkstra(H, indices=0), np.array_equal)
    measured(f"dijkstra from one vertex with predecessors, grid of {side**2}",
             lambda: ours.dijkstra(H, indices=0, return_predecessors=True),
             lambda: theirs.dijkstra(H, indices=0, return_predecessors=True),
             lambda found, answer: np.array_equal(found[0], answer[0]))


if __name__ == "__main__":
    main()
