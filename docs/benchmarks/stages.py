"""Measure the cost of a second criterion: paths in two stages, and pairs by `lexicographic`.

    python docs/benchmarks/stages.py [--quick]

Best paths between all vertices, the widest and of these the shortest, beside the shortest alone; and closures over
``lexicographic(min_plus, max_min)`` beside those over `widest_shortest`, which is the same algebra written by hand.
Every line is a ratio of medians within this run, both sides in turn.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from report import once, seconds

TURNS = 3


def network(n: int, degree: int, directed: bool) -> Any:
    """Return random edges, no two of them parallel, with random widths and lengths."""
    import numpy as np

    import semiring as sr

    rng = np.random.default_rng(n)
    ends = np.stack(np.nonzero(~np.eye(n, dtype=bool)) if directed else np.triu_indices(n, 1))
    ends = ends[:, rng.permutation(ends.shape[1])[: n * degree // 2]]
    m = ends.shape[1]
    weights = np.empty(m, [("width", "f8"), ("length", "f8")])
    weights["width"], weights["length"] = rng.random(m), rng.random(m)
    return sr.Graph(*ends, n, weights, directed=directed)


def in_turn(ours: Any, theirs: Any) -> tuple[float, float]:
    """Return the medians of two alternating calls, after one of each that is not counted."""
    ours(), theirs()
    times = [(once(ours), once(theirs)) for _ in range(TURNS)]
    first, second = (sorted(column)[TURNS // 2] for column in zip(*times, strict=True))
    return first, second


def main() -> None:
    """Print the lines."""
    import numpy as np

    import semiring as sr

    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small graphs only")
    sizes = (100, 300) if parser.parse_args().quick else (100, 300, 1000)
    os.environ["SEMIRING_COMPILE"] = "always"  # ratios are of compiled code
    pair = (sr.max_min, sr.min_plus)
    for n in sizes:
        for degree, directed in ((8, False), (8, True), (n, False)) if n < 1000 else ((8, False), (8, True)):
            G = network(n, degree, directed)
            H = sr.Graph(G.sources, G.targets, n, np.ascontiguousarray(G.weights["length"]), directed=directed)
            ours, theirs = in_turn(lambda G=G: sr.paths(G, pair), lambda H=H: sr.paths(H, sr.min_plus))
            kind = "one way" if directed else "both ways"
            print(f"n = {n}, {len(G)} edges {kind}: widest, then shortest {seconds(ours)}, shortest {seconds(theirs)}, "
                  f"{ours / theirs:.1f}×")
    S = sr.lexicographic(sr.min_plus, sr.max_min, fields=["dist", "width"])
    for n in sizes:
        A = np.empty((n, n), S.default_dtype)
        rng = np.random.default_rng(n)
        A["dist"], A["width"] = rng.random((n, n)), rng.random((n, n))
        ours, theirs = in_turn(lambda A=A: sr.closure(A, S), lambda A=A: sr.closure(A, sr.widest_shortest))
        print(f"n = {n}: lexicographic(min_plus, max_min) {seconds(ours)}, widest_shortest {seconds(theirs)}, "
              f"{ours / theirs:.1f}×")


if __name__ == "__main__":
    main()
