"""Compare a part of an answer with the whole: limits, tables of some columns, one pair, one path.

    python docs/benchmarks/parts.py [--quick] [--pairs | --hops]

On a grid whose edges have random lengths, prepared. Every line is a ratio of medians within this run, both sides in
turn. With --hops next hops of all pairs beside the closure, of roads, grids and planar graphs: by the clock, and by
processor time, with that in which the system hands out new memory, which varies, and without.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import graphs
from report import over, seconds
from stages import in_turn

CALLS = 9


def grid(side: int) -> Any:
    """Return two-way streets between neighbours, with random lengths from 1 to 10."""
    import numpy as np

    import semiring as sr

    i, rng = np.arange(side * side), np.random.default_rng(side)
    right, down = i[i % side < side - 1], i[: -side]
    tails = np.concatenate([right, right + 1, down, down + side])
    heads = np.concatenate([right + 1, right, down + side, down])
    return sr.prepare(sr.Graph(tails, heads, side * side, rng.uniform(1, 10, len(tails))), sr.min_plus)


def measured(side: int) -> None:
    """Print the lines of one grid."""
    import numpy as np

    import semiring as sr

    G, n, middle = grid(side), side * side, side * side // 2 + side // 2
    F = sr.factor(G)
    many, few = np.arange(0, n, n // 500), np.arange(0, n, n // 5)
    whole = sr.closure_rows(G, sources=middle)
    lines: list[tuple[str, Any, str, Any]] = [
        (f"paths within {limit:.0f}, {np.count_nonzero(whole <= limit)} of {n} vertices",
         lambda limit=limit: sr.paths(G, sources=[middle], limit=limit), "all of them",
         lambda: sr.paths(G, sources=[middle]))
        for limit in np.quantile(whole, [0.001, 0.01, 0.1])
    ]
    lines += [
        (f"{len(many)} × {len(few)} table", lambda: sr.closure_rows(G, sources=many, targets=few), "whole rows",
         lambda: sr.closure_rows(G, sources=many)[:, few]),
        (f"{len(many)} × {len(few)} table of factors", lambda: F.rows(many, targets=few), "whole rows",
         lambda: F.rows(many)[:, few]),
    ]
    show(n, lines)


def pairs(side: int) -> None:
    """Print the lines of two pairs of vertices in one grid: opposite corners, and neighbours."""
    import numpy as np

    import semiring as sr

    G, n, middle = grid(side), side * side, side * side // 2 + side // 2
    F = sr.factor(G)
    for a, b, where in ((0, n - 1, "corners"), (middle, middle + 3, "near")):
        assert np.asarray(F.rows([a], targets=[b]))[0, 0] == F.row(a)[b]
        assert F.path(a, b) == sr.path(G, source=a, target=b)
        show(n, [
            (f"one pair from factors, {where},", lambda a=a, b=b: F.rows([a], targets=[b]), "its row",
             lambda a=a: F.row(a)),
            (f"its path from factors, {where},", lambda a=a, b=b: F.path(a, b), "the row alone", lambda a=a: F.row(a)),
            (f"its path from factors, {where},", lambda a=a, b=b: F.path(a, b), "by a search",
             lambda a=a, b=b: sr.path(G, source=a, target=b)),
        ])


def hops(small: bool) -> None:
    """Compare all-pairs paths with the closure: symmetric, asymmetric, few and equal weights."""
    import numpy as np

    import semiring as sr

    rng, side, calls = np.random.default_rng(0), *((20, 2) if small else (100, CALLS))
    street = graphs.grid(side)
    cases = {
        "roads": graphs.minnesota(), f"grid of {side**2}": street, "the same, each way its own weight": street.copy(),
        "the same, of 5 weights": street.copy(), "the same, of 1 weight": street.copy(),
        "planar": graphs.planar(side * 50), "geometric": graphs.geometric(side * 50, 6),
    }
    if small:
        del cases["roads"]
    dtypes = ["f4"] if small else ["f4", "f8", "i8"]
    cases["the same, each way its own weight"].data = rng.uniform(0.01, 1.01, street.nnz)
    cases["the same, of 5 weights"].data = np.ceil(street.data * 5)
    cases["the same, of 1 weight"].data = np.ones(street.nnz)
    sr.warmup(sr.max_min, sr.min_max, sr.min_plus, dtypes=dtypes, sparse=True)
    for what, matrix in cases.items():
        for dtype in dtypes:  # i8: in whole thousandths
            A = matrix.astype(dtype) if dtype != "i8" else (matrix * 1000).ceil().astype(dtype)
            for S in (sr.max_min, sr.min_max, sr.min_plus):
                times = []
                for _ in range(calls):  # the first is not counted
                    marks = [measured_now()]
                    for verb in (sr.closure, sr.paths):
                        verb(A, S)
                        marks.append(measured_now())
                    times.append([[b - a for a, b in zip(*pair, strict=True)] for pair in pairwise(marks)])
                alone, both = (statistics.median(row[k][0] for row in times[1:]) for k in range(2))
                used, own = (statistics.median(over(row[1][k], row[0][k]) for row in times[1:]) for k in (1, 2))
                print(f"{what}, {A.dtype}, {S.name}: paths {seconds(both)}, closure {seconds(alone)}, "
                      f"{both / alone:.2f}×; processor time {used:.2f}×, without the system's {own:.2f}×", flush=True)


def measured_now() -> tuple[float, float, float]:
    """Return the clock, the processor time, and the processor time without the system's part."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return perf_counter(), used.ru_utime + used.ru_stime, used.ru_utime


def show(n: int, lines: list[tuple[str, Any, str, Any]]) -> None:
    """Print the medians of two calls each, and their ratio."""
    for what, ours, other, theirs in lines:
        first, second = in_turn(ours, theirs)
        print(f"n = {n}: {what} {seconds(first)}, {other} {seconds(second)}, {first / second:.3f}×")


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small grid only")
    parser.add_argument("--pairs", action="store_true", help="one pair and one path from factors only")
    parser.add_argument("--hops", action="store_true", help="next hops beside values only")
    chosen = parser.parse_args()
    os.environ["SEMIRING_COMPILE"] = "always"  # ratios are of compiled code
    if chosen.hops:
        hops(chosen.quick)
        return
    for side in () if chosen.pairs else (60,) if chosen.quick else (60, 300):
        measured(side)
    for side in (100,) if chosen.quick else (100, 300, 500):
        pairs(side)


if __name__ == "__main__":
    main()
