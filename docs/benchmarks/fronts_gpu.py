"""Compare sparse elimination on a GPU with the CPU and SciPy's Dijkstra: factors, all pairs, reductions.

    python docs/benchmarks/fronts_gpu.py [--only planar] [--order amd]      print a table

Single precision, weights and answers on the device, the analysis kept; the least of three. The CPU's time is that of
512 rows, and SciPy's that of 8 sources, both multiplied up to all of them. Rows are compared with the CPU's. "From
edges" has everything: a matrix on the host whose structure was never seen, its order, all pairs left on the device.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from graphs import grid, planar
from report import require_gpu
from scipy.sparse.csgraph import dijkstra

import semiring as sr

GRAPHS: dict[str, Callable[[], Any]] = {
    "grid 22,500": lambda: grid(150), "planar 126,146": lambda: planar(126_146), "grid 99,856": lambda: grid(316),
    "planar 264,346": lambda: planar(264_346),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="graphs whose names begin so")
    parser.add_argument("--order", default="auto")
    asked = parser.parse_args()
    require_gpu()
    import cupy

    heads = "graph", "analysis", "factors", "all pairs", "from edges", "eccentricities", "CPU, all pairs", "SciPy's"
    print(f"| {' | '.join(heads)} Dijkstra |")
    print("|---" * 8 + "|")
    for name, make in GRAPHS.items():
        if not name.startswith(asked.only):
            continue
        A = make().astype(np.float32)
        n = A.shape[0]
        begin = time.perf_counter()
        F = sr.factor(A, sr.min_plus, device="gpu", order=asked.order)
        analysis = time.perf_counter() - begin
        weights = F._by.engine.put(F.lowering, F._A.values)
        factors, _ = least(lambda F=F, weights=weights: F._by.fronts.factor(weights, close))
        far, eccentricities = least(lambda F=F: F.reduce("eccentricities"))
        whole, anew = f"{4 * n * n / 2**30:.0f} GiB do not fit", "–"
        G = sr.factor(A, sr.min_plus, device="cpu", order=asked.order)
        some = np.random.default_rng(0).permutation(n)[:512]
        rows, expected = least(lambda G=G, some=some: G.rows(some))
        assert np.allclose(eccentricities[some[:8]], [np.max(r[np.isfinite(r)]) for r in expected[:8]])
        if 4 * n * n + (12 << 30) < cupy.cuda.Device().mem_info[0]:
            out = cupy.empty((n, n), np.float32)
            everything, _ = least(lambda F=F, n=n, out=out: F._by.fronts.rows(np.arange(n), out, settled=True))
            found = out[cupy.asarray(some)].get()
            assert np.allclose(found, expected, rtol=1e-6), "rows differ"
            whole = f"{everything * 1e3:.1f} ms"
            del out, found
            F = None
            cupy.get_default_memory_pool().free_all_blocks()
            anew = f"{from_edges(A, asked.order) * 1e3:.0f} ms"
        begin = time.perf_counter()
        dijkstra(A, indices=some[:8])
        searched = (time.perf_counter() - begin) * n / 8
        print(f"| {name} | {analysis * 1e3:.0f} ms with the first factors | {factors * 1e3:.1f} ms | {whole} | "
              f"{anew} | {far * 1e3:.1f} ms | {rows * n / 512:.1f} s | {searched:.0f} s |", flush=True)


def from_edges(A: Any, order: str) -> float:
    """Return the seconds for all pairs of the graph with renumbered vertices, the least of three."""
    import cupy

    shortest = np.inf
    for seed in range(3):
        places = np.random.default_rng(seed).permutation(A.shape[0])
        B = A[places][:, places].tocsr()
        begin = time.perf_counter()
        found = sr.factor(B, sr.min_plus, device="gpu", order=order).closure()
        cupy.cuda.Device().synchronize()
        shortest = min(shortest, time.perf_counter() - begin)
        del found
        cupy.get_default_memory_pool().free_all_blocks()
    return shortest


def close(*front: Any) -> None:
    """Eliminate a large front."""
    from semiring.algorithms.sparse.elimination import close_front

    close_front(*front)


def least(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the least of a few times, and the answer; each waits for the GPU."""
    import cupy

    shortest, answer = np.inf, work()
    for _ in range(times):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        answer = work()
        cupy.cuda.Device().synchronize()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest, answer


if __name__ == "__main__":
    main()
