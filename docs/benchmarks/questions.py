"""Questions to sparse factors: pairs, tables, diameter; factors and labels in files; beside RoutingKit if installed.

    python docs/benchmarks/questions.py [--sizes 250000 1000000]

Planar graphs like road networks, min-plus in float32, the analysis kept; all is compiled before, times are the least
of three. RoutingKit's contraction hierarchy (`pip install routingkit-cch`) gets the same graph and the same order, with
weights rounded to integers, as it asks for; memory is the peak of the process above what it held before.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from graphs import planar
from report import seconds

import semiring as sr

PAIRS, TABLE = 2000, 1000
LABELLED = 1_000_000  # vertices up to which labels of all are made


def main() -> None:
    """Print a line for every question."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[250_000, 1_000_000])
    F = sr.factor(planar(5_000).astype(np.float32), sr.min_plus)
    with_all(F, lambda what, took, answer: None, 5_000)
    for n in parser.parse_args().sizes:
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


def with_all(F: Any, tell: Callable[[str, float, Any], None], n: int) -> None:
    """Ask everything."""
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
    took, _ = least(F.diameter, 1)
    tell("the diameter", took, None)
    took, _ = least(F.radius, 1)
    tell("the radius", took, None)


def with_files(F: Any, n: int) -> None:
    """Save and open, and ask what was opened; the files are in the system's cache, as they are after writing."""
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
    """The same questions to RoutingKit."""
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
    """The least of a few times, and the answer."""
    shortest, answer = np.inf, None
    for _ in range(times):
        begin = time.perf_counter()
        answer = work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest, answer


def resident(line: str) -> int:
    """Bytes of this process, as Linux tells them."""
    with open("/proc/self/status") as file:
        return int(next(row for row in file if row.startswith(line)).split()[1]) * 1024


def reset_peak() -> None:
    """Let the peak begin anew from what is held now."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


if __name__ == "__main__":
    main()
