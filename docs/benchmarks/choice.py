"""Measure whether `closure` of sparse input chooses well: its time, that of each method, and the predictions.

    python docs/benchmarks/choice.py [--threads 2] [--sizes 64 120 …] [--large]

One line a graph: milliseconds of the choice, of the dense methods, of elimination on the sparse structure and of
searches, each with the share of it that was predicted, and how far the choice is off the best of them. With --large
graphs of 5,000 to 20,000 vertices follow, without methods that are predicted to take more than `PATIENCE`. Times of one
run on one machine without other work.

The rates of `algorithms/sparse/costs.py` come from these lines: those of elimination and of the dense closure from the
grids and the larger Erdős–Rényi graphs, those of searches from Erdős–Rényi, Barabási–Albert and R-MAT graphs. Where the
machine is shared, --processor-time takes the time of all threads over their number instead, which others disturb less.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from graphs import barabasi_albert, erdos_renyi, geometric, grid, rmat
from report import over

SIZES = (64, 100, 150, 200, 300, 400, 600, 1000, 2000)
ROUNDS = 20  # calls of each, the first not counted
GRAPHS = {
    "grid": lambda n: grid(round(n**0.5)),
    "random geometric, degree 8": lambda n: geometric(n, 8),
    "Erdős–Rényi, degree 4": lambda n: erdos_renyi(n, 4),
    "Erdős–Rényi, degree 12": lambda n: erdos_renyi(n, 12),
    "Erdős–Rényi, degree 40": lambda n: erdos_renyi(n, 40),
}
LARGE = {
    "grid, n = 10,000": lambda: grid(100),
    "random geometric, degree 8, n = 10,000": lambda: geometric(10_000, 8),
    "Erdős–Rényi, degree 4, n = 5,000": lambda: erdos_renyi(5_000, 4),
    "Erdős–Rényi, degree 16, n = 5,000": lambda: erdos_renyi(5_000, 16),
    "Erdős–Rényi, degree 8, n = 10,000": lambda: erdos_renyi(10_000, 8),
    "Barabási–Albert, m = 2, n = 5,000": lambda: barabasi_albert(5_000, 2),
    "Barabási–Albert, m = 4, n = 10,000": lambda: barabasi_albert(10_000, 4),
    "Barabási–Albert, m = 10, n = 10,000": lambda: barabasi_albert(10_000, 10),
    "R-MAT, degree 16, n = 16,384": lambda: rmat(14, 16),
    "Barabási–Albert, m = 4, n = 20,000": lambda: barabasi_albert(20_000, 4),
    "Erdős–Rényi, degree 4, n = 20,000": lambda: erdos_renyi(20_000, 4),
    "Erdős–Rényi, degree 8, n = 20,000": lambda: erdos_renyi(20_000, 8),
}
PATIENCE = 5.0  # seconds


def compare(name: str, A: Any, rounds: int, clock: Callable[[], float], threads: int) -> float:
    """Print a line, and return the ratio of the choice to the best."""
    import semiring as sr

    n = A.shape[0]
    dense = "floyd-warshall" if n <= 128 else "r-kleene"
    sparse, searches = (sr.plan("closure", A, sr.min_plus, method=method).seconds for method in ("sparse", "search"))
    analysis = sr.plan("closure", A, sr.min_plus, method="sparse").prepared  # once, for it is kept
    predicted = {"sparse": sparse["elimination"] - analysis, "search": searches["search"], dense: sparse["dense"]}
    least = min(predicted.values())
    methods = ["auto", *(method for method, t in predicted.items() if t <= max(PATIENCE, least))]
    times: dict[str, list[float]] = {method: [] for method in methods}
    for _ in range(rounds):  # in turn, so that what disturbs the machine disturbs all
        for method in methods:
            start = clock()
            sr.closure(A, sr.min_plus, method=method)
            times[method].append((clock() - start) / threads)
    taken = {method: statistics.median(found[1:]) for method, found in times.items()}
    chosen = taken.pop("auto")
    off = over(chosen, min(taken.values()))
    shown = ", ".join(f"{m} {1e3 * t:.2f} (predicted {over(predicted[m], t):.2f})" for m, t in taken.items())
    print(f"{name}: {1e3 * chosen:.2f}, {shown} ms, off {off:.2f}×", flush=True)
    return off


def main() -> None:
    """Print the lines, and the worst one at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ["SEMIRING_NUM_THREADS"] = str(options.threads)
    os.environ["SEMIRING_COMPILE"] = "always"
    clock, share = (time.process_time, options.threads) if options.processor_time else (time.perf_counter, 1)
    found = []
    for name, make in GRAPHS.items():
        for size in options.sizes:
            A = make(size).astype("f4")
            title = f"{name}, n = {A.shape[0]}"
            found.append((compare(title, A, ROUNDS, clock, share), title))
    for name, make in LARGE.items() if options.large else ():
        found.append((compare(name, make(), 3, clock, share), name))
    off, name = max(found)
    print(f"the worst choice: {off:.2f}× off, {name}")


if __name__ == "__main__":
    main()
