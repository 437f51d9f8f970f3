"""Whether `closure` of sparse input chooses well: its time beside that of the dense methods and of elimination.

    python docs/benchmarks/choice.py [--threads 2] [--sizes 64 120 …]

One line a graph: milliseconds of the choice, of the dense methods, of elimination on the sparse structure, and how far
the choice is off the better of the two. Times of one run on one machine, shared with nobody.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from report import once
from sparse import erdos_renyi, geometric, grid

SIZES = (64, 100, 150, 200, 300, 400, 600, 1000, 2000)
ROUNDS = 20  # calls of each, the first not counted
GRAPHS = {
    "grid": lambda n: grid(round(n**0.5)),
    "random geometric, degree 8": lambda n: geometric(n, 8),
    "Erdős–Rényi, degree 4": lambda n: erdos_renyi(n, 4),
    "Erdős–Rényi, degree 12": lambda n: erdos_renyi(n, 12),
    "Erdős–Rényi, degree 40": lambda n: erdos_renyi(n, 40),
}


def main() -> None:
    """Print the lines, and the worst at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    os.environ["SEMIRING_NUM_THREADS"] = str(options.threads)
    import semiring as sr

    worst = (0.0, "")
    for name, make in GRAPHS.items():
        for size in options.sizes:
            A = make(size).astype("f4")
            n = A.shape[0]
            dense = "floyd-warshall" if n <= 128 else "r-kleene"
            times: list[list[float]] = [[], [], []]
            for _ in range(ROUNDS):  # in turn, so that what disturbs the machine disturbs all three
                for method, found in zip(("auto", dense, "sparse"), times, strict=True):
                    found.append(once(lambda A=A, method=method: sr.closure(A, sr.min_plus, method=method)))
            chosen, by_dense, by_structure = (1e3 * statistics.median(found[1:]) for found in times)
            off = chosen / min(by_dense, by_structure)
            worst = max(worst, (off, f"{name}, n = {n}"))
            print(f"{name}, n = {n}: {chosen:.2f}, dense {by_dense:.2f}, sparse {by_structure:.2f} ms, off {off:.2f}×")
    print(f"the worst choice: {worst[0]:.2f}× off, {worst[1]}")


if __name__ == "__main__":
    main()
