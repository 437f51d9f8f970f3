"""Tools of all benchmarks: medians, rows and tables, pinned cores, required packages, and the page of the tables."""

from __future__ import annotations

import argparse
import math
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGES = {"graphblas": "python-graphblas", "tropical_gemm": "tropical-gemm"}  # where modules have other names
PAGE = Path(__file__).parents[1] / "site" / "benchmarks.md"


@dataclass(frozen=True)
class Row:
    """One line of the table: the work, both times in seconds, and the goal of the ratio."""

    work: str
    ours: float
    peer: str
    theirs: float | None
    at_least: str

    def cells(self) -> list[str]:
        ratio = f"{self.theirs / self.ours:.1f}×" if self.theirs else "–"
        theirs = seconds(self.theirs) if self.theirs else "–"
        return [self.work, seconds(self.ours) if self.ours else "", self.peer, theirs, ratio, self.at_least]


def seconds(t: float) -> str:
    """Return a time as people write it."""
    return f"{t:.2f} s" if t >= 1 else f"{t * 1e3:.3g} ms" if t >= 1e-3 else f"{t * 1e6:.3g} µs"


def over(used: float, other: float) -> float:
    """Return a ratio of processor times; NaN where no time was counted, for some systems count in ticks of 10 ms."""
    return used / other if other else math.nan


def median(run: Callable[[], object], repeat: int = 5) -> float:
    """Return the median time of some calls, after one that is not counted."""
    run()
    return once(run, repeat)


def once(run: Callable[[], object], repeat: int = 1) -> float:
    """Return the median time of some calls, including the first: for slow peers that compile nothing."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2]


def grid_of(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, with bars in cells escaped."""
    lines = (head, ["---"] * len(head), *rows)
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |" for cells in lines)


def table(rows: list[Row], threads: int) -> str:
    """Return the table of the rows, with the machine and the date."""
    import numba
    import numpy
    import scipy

    cells = grid_of(["work", "semiring", "peer", "peer's time", "ratio", "goal"], [row.cells() for row in rows])
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    cpu = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())
    return (f"{cells}\n\nMedians of one run of `make bench` on {date.today()}: {cpu}, {threads} cores, Python "
            f"{platform.python_version()}, NumPy {numpy.__version__}, Numba {numba.__version__}, "
            f"SciPy {scipy.__version__}.")


def require(*modules: str) -> None:
    """End the program if modules of other packages are not installed, and say how to install them."""
    missing = [PACKAGES.get(name, name) for name in modules if not find_spec(name)]
    if missing:
        program = Path(sys.argv[0]).name
        raise SystemExit(f"{program} needs packages that are not installed: pip install {' '.join(missing)}")


def imported(name: str) -> Any:
    """Return a module of another package, or end the program as `require` does."""
    require(name)
    return import_module(name)


def require_gpu() -> None:
    """End the program if there is no GPU that CuPy can use."""
    from semiring.operands.devices import gpu_name

    if gpu_name() is None:
        raise SystemExit(f"{Path(sys.argv[0]).name} needs a GPU and CuPy: pip install 'semiring[cu13]', or cu12")


def main(what: str | None, name: str, rows: Callable[[bool], list[Row]], peers: Sequence[str] = ()) -> None:
    """Pin the process to some cores, run all rows, print them, and with --write store them in the page.

    Parameters
    ----------
    what : str
        For --help.
    name : str
        Of the table's markers in the page.
    rows : callable
        Receives whether to use small sizes.
    peers : sequence of str, optional
        Modules of other packages that the rows need.
    """
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--write", action="store_true", help="write the table of docs/site/benchmarks.md")
    options = parser.parse_args()
    require(*peers)
    os.environ["SEMIRING_COMPILE"] = "always"  # ratios are of compiled code; first calls say otherwise
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    names = ("SEMIRING_NUM_THREADS", "OMP_NUM_THREADS", "RAYON_NUM_THREADS")
    os.environ.update(dict.fromkeys(names, str(options.threads)))
    text = table(rows(options.quick), options.threads)
    print(text)
    if options.write:
        insert(name, text)


def insert(name: str, text: str, page: Path = PAGE) -> None:
    """Replace the text between the markers of this name."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    whole = page.read_text(encoding="utf-8")
    if begin not in whole or end not in whole:
        raise SystemExit(f"{page} has no place for the table: {begin} … {end}")
    before, _, rest = whole.partition(begin)
    page.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}", encoding="utf-8")
