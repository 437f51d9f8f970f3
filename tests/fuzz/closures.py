"""Closures of generated algebras against the algebras that know the answers: `make fuzz`.

Goes through all generated algebras, or some by name; prints every difference as code to paste, and what was tried.
Ends with status 1 if anything differed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from checking import Effort, Tally, examine
from families import families

EACH = 170  # closures that a matrix of a stack takes part in, in one dtype: orders times methods and their options
PRINTED = 3  # differences of an algebra that are printed


def one(name: str, seed: int, effort: Effort) -> Tally:
    """Examine one algebra, in a process of its own."""
    import semiring

    warnings.simplefilter("ignore")
    return examine(families()[name], semiring, seed, effort)


def examined(
    names: list[str], seed: int, effort: Effort, jobs: int, until: float
) -> Iterator[tuple[str, Tally | None]]:
    """Each algebra's tally as it comes, None where the process died; stops when the time is over."""
    waiting = names[::-1]
    while waiting:
        # New processes now and then, since compiled code stays in memory.
        with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), max_tasks_per_child=16) as pool:
            running: dict[Future, str] = {}
            while (waiting and time.monotonic() < until) or running:
                while waiting and len(running) < jobs and time.monotonic() < until:
                    name = waiting.pop()
                    running[pool.submit(one, name, seed, effort)] = name
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                broken = False
                for future in done:
                    name = running.pop(future)
                    try:
                        yield name, future.result()
                    except BrokenProcessPool:
                        yield name, None
                        broken = True
                if broken:
                    waiting += running.values()
                    break
            else:
                return


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1_000_000, help="closures to try, about (1,000,000)")
    parser.add_argument("--seed", type=int, default=0, help="of the random matrices (0)")
    parser.add_argument("--minutes", type=float, help="go on for as long, with seed after seed")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    parser.add_argument("--dtypes", type=int, default=2, help="dtypes of each algebra (2)")
    parser.add_argument("--algebras", default="", help="only those whose name matches this regular expression")
    parser.add_argument("--no-sparse", action="store_true", help="leave out sparse matrices, which take most compiling")
    arguments = parser.parse_args()
    names = [n for n in families() if re.search(arguments.algebras, n)]
    if not names:
        parser.error(f"no algebra's name matches {arguments.algebras!r}")
    stack = max(6, arguments.count // (len(names) * EACH * arguments.dtypes))
    effort = Effort(stack=stack, dtypes=arguments.dtypes, sparse=not arguments.no_sparse)
    start = time.monotonic()
    until = start + 60 * arguments.minutes if arguments.minutes else float("inf")
    total, dead, seed = Tally(), 0, arguments.seed
    kinds: Counter = Counter()
    while True:
        order = Random(seed).sample(names, len(names))
        for number, (name, tally) in enumerate(examined(order, seed, effort, arguments.jobs, until), 1):
            if tally is None:
                dead += 1
                print(f"{name}: the process died (seed {seed})", flush=True)
                continue
            total.add(tally)
            for difference in tally.differences[:PRINTED]:
                print(difference, flush=True)
            more = tally.counts["differences"] - min(len(tally.differences), PRINTED)
            if more > 0:
                print(f"    … and {more} more of {name}", flush=True)
            kinds.update({(name, d.kind) for d in tally.differences})
            minutes = (time.monotonic() - start) / 60
            if sys.stderr.isatty() or number % 20 == 0:
                print(f"{number}/{len(names)} algebras, {total.counts['closures']:,} closures, {minutes:.0f} min",
                      end="\r" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
        if not arguments.minutes or time.monotonic() >= until:
            break
        seed += 1
    for name, reason in total.refused.items():
        print(f"refused: {name}: {reason}")
    c = total.counts
    print(
        f"{c['algebras']:,} algebras ({len(total.refused)} declarations refused), {c['dtypes']:,} dtypes, "
        f"{c['matrices']:,} matrices, {c['closures']:,} closures, {c['answers']:,} products; "
        f"{c['no closure']:,} without a closure, {c['too narrow']:,} refused as too narrow, "
        f"{c['unsure']:,} not judged; seeds {arguments.seed} … {seed}, {(time.monotonic() - start) / 60:.0f} min"
    )
    for (name, kind), _ in sorted(kinds.items()):
        print(f"    {kind:14} {name}")
    print(f"{c['differences']:,} differences in {len({n for n, _ in kinds})} algebras; {dead} processes died")
    return int(bool(c["differences"] or dead))


if __name__ == "__main__":
    sys.exit(main())
