"""Measure questions to sparse factors: pairs, tables, diameter, files; also RoutingKit if it is installed.

    python docs/benchmarks/questions.py [--sizes 250000 1000000] [--social 14 17]

Planar graphs like road networks, min-plus in float32, the analysis kept; all is compiled before, times are the least
of three. RoutingKit's contraction hierarchy (`pip install routingkit-cch`) gets the same graph and the same order, with
weights rounded to integers, as it asks for; memory is the peak of the process above what it held before. Of social
networks (R-MAT, 16 edges a vertex, in both directions, lengths 1 … 100; the largest component), which are not
eliminated, the diameter and a mean are asked for, beside networkit's if installed; the numbers are exponents of 2.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
import scipy.sparse as sp
from graphs import planar, rmat, undirected
from report import seconds

import semiring as sr

PAIRS, TABLE = 2000, 1000
SEARCHED = 14  # exponent of 2 up to which networkit's diameter is asked for
LABELLED = 1_000_000  # vertices up to which labels of all are made


def main() -> None:
    """Print a line for every question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[250_000, 1_000_000])
    parser.add_argument("--social", type=int, nargs="*", default=[14, 17])
    asked = parser.parse_args()
    os.environ["SEMIRING_COMPILE"] = "always"  # ratios are of compiled code
    for scale in asked.social:
        of_a_social_network(scale)
    F = sr.factor(planar(5_000).astype(np.float32), sr.min_plus)
    with_all(F, lambda what, took, answer: None, 5_000)
    for n in asked.sizes:
        A = planar(n).astype(np.float32)
        begin = time.perf_counter()
        F = sr.factor(A, sr.min_plus)
        print(f"n = {n:,}: order, analysis and factors {seconds(time.perf_counter() - begin)}", flush=True)
        weights = A.data.copy()
        held = resident("VmRSS")
        reset_peak()
        took, again = least(lambda F=F, weights=weights: F.refactor(weights))
        print(f"factors, analysis kept: {seconds(took)}, {again.nbytes / 2**20:.0f} MiB, "
              f"peak {(resident('VmHWM') - held) / 2**20:.0f} MiB")
        with_all(F, lambda what, took, answer: print(f"{what}: {seconds(took)}", flush=True), n)
        with_files(F, n)
        if find_spec("routingkit_cch"):
            beside(A, F, n)


def of_a_social_network(scale: int) -> None:
    """Measure the exact diameter and the sampled mean distance of a graph that is searched."""
    A = rmat(scale, 16)
    A = sp.csr_array(A + A.T)
    _, component = sp.csgraph.connected_components(A, False)
    largest = np.flatnonzero(component == np.bincount(component).argmax())  # networkit answers of no others
    A = sp.triu(A[largest][:, largest], 1).tocoo()
    lengths = np.random.default_rng(1).integers(1, 101, A.nnz).astype(float)
    G = sr.prepare(undirected(A.shape[0], np.stack([A.row, A.col], 1), lengths), sr.min_plus)
    print(f"R-MAT, {len(largest):,} of 2^{scale} vertices, {2 * A.nnz:,} edges", flush=True)
    took, far = least(lambda: sr.diameter(G))
    print(f"the diameter: {seconds(took)}", flush=True)
    took, found = least(lambda: sr.mean_weight(G, rows=256))
    print(f"the mean distance, {found.mean:.2f} ± {found.error:.2f}: {seconds(took)}", flush=True)
    if find_spec("networkit"):
        import networkit as nk

        H = nk.Graph(A.shape[0], weighted=True)
        for u, v, w in zip(A.row.tolist(), A.col.tolist(), lengths.tolist(), strict=True):
            H.addEdge(u, v, w)
        if scale <= SEARCHED:  # it searches from every vertex of a weighted graph
            took, other = least(lambda: nk.distance.Diameter(H, algo=nk.distance.DiameterAlgo.EXACT).run(), 1)
            theirs = other.getDiameter()[0]
            print(f"networkit, the diameter: {seconds(took)}, {theirs} where ours is {far:g}", flush=True)


def with_all(F: Any, tell: Callable[[str, float, Any], None], n: int) -> None:
    """Ask all questions."""
    rng = np.random.default_rng(1)
    sources, targets = rng.integers(0, n, (2, PAIRS))
    several = [(int(s), int(t)) for s, t in zip(sources, targets, strict=True)]
    F.weight(sources, targets)
    took, _ = least(lambda: [F.weight(s, t) for s, t in several])
    tell("a pair, F.weight(s, t)", took / PAIRS, None)
    took, found = least(lambda: F.weight(sources, targets))
    tell(f"a pair of {PAIRS:,} in one call", took / PAIRS, None)
    rows = F.rows(sources[:4])
    assert np.allclose(found[:4], rows[np.arange(4), targets[:4]], rtol=1e-5), "pairs and rows differ"
    took, _ = least(lambda: F.path(*several[0]))
    tell("a path, F.path(s, t)", took, None)
    some, others = sources[:TABLE], targets[:TABLE]
    took, _ = least(lambda: F.rows(some, targets=others))
    tell(f"a table of {TABLE:,} × {TABLE:,}", took, None)
    took, _ = least(lambda: F.row(0))
    tell("a row", took, None)
    took, _ = least(lambda: sr.diameter(F), 1)
    tell("the diameter", took, None)
    took, _ = least(lambda: sr.radius(F), 1)
    tell("the radius", took, None)


def with_files(F: Any, n: int) -> None:
    """Save, open and query files, which are in the system's cache."""
    pair, rng = (1, n - 2), np.random.default_rng(2)
    expected = F.weight(*pair)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "roads"
        kept: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
            ("factors", lambda: F.save_factors(path), lambda: sr.open_factors(path)),
            ("the analysis", lambda: F.save_analysis(path), lambda: sr.open_analysis(path)),
        ]
        if n <= LABELLED:
            L = F.labels()
            kept.append(("labels", lambda: L.save(path), lambda: sr.open_labels(path)))
        for what, save, read in kept:
            took, _ = least(save)
            print(f"{what} saved: {seconds(took)}, {path.stat().st_size / 2**20:.0f} MiB")
            took, found = least(read)
            print(f"{what} opened: {seconds(took)}")
            if what == "the analysis":
                continue
            begin = time.perf_counter()
            first = found.weight(*pair)
            print(f"the first pair of opened {what}: {seconds(time.perf_counter() - begin)}", flush=True)
            others = rng.integers(0, n, (2, PAIRS))
            assert first == expected or what == "labels", "opened factors answer otherwise"
            assert np.allclose(found.weight(*others), F.weight(*others), rtol=1e-5), f"opened {what} answer otherwise"


def beside(A: Any, F: Any, n: int) -> None:
    """Ask RoutingKit the same questions."""
    import routingkit_cch as rk

    C, rng = A.tocoo(), np.random.default_rng(1)
    weights = np.round(C.data / C.data.max() * 100_000).astype(int).tolist()
    hierarchy = rk.CCH(F.analysis.order.tolist(), C.row.tolist(), C.col.tolist(), False)
    metric = rk.CCHMetric(hierarchy, weights)
    took, _ = least(lambda: metric.reset(weights))
    print(f"RoutingKit, weights taken in: {seconds(took)}")
    sources, targets = (x.tolist() for x in rng.integers(0, n, (2, PAIRS)))
    query = rk.CCHQuery(metric)
    took, _ = least(lambda: [query.run(s, t).distance for s, t in zip(sources, targets, strict=True)])
    print(f"RoutingKit, a pair: {seconds(took / PAIRS)}")
    many = rk.CCHOneToMany(metric, targets[:TABLE])
    took, _ = least(lambda: [many.distances_from(s) for s in sources[:TABLE]])
    print(f"RoutingKit, a table of {TABLE:,} × {TABLE:,}: {seconds(took)}", flush=True)


def least(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the least of a few times, and the answer."""
    shortest, answer = np.inf, None
    for _ in range(times):
        begin = time.perf_counter()
        answer = work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest, answer


def resident(line: str) -> int:
    """Return the bytes that Linux reports for this process."""
    with open("/proc/self/status") as file:
        return int(next(row for row in file if row.startswith(line)).split()[1]) * 1024


def reset_peak() -> None:
    """Reset the peak memory of this process."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


if __name__ == "__main__":
    main()
