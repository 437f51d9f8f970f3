"""Compare a closure from file to file with one in memory: time, bytes moved, memory, commits.

    python docs/benchmarks/scale.py [--n 8192] [--parts 4 16] [--turns 2] [--folder …]

Shortest paths in random dense matrices of float32, which lie in a .npy file. Both sides in turn, and every line a ratio
within this run: of the time on the clock, and of the processor's, which says more where others use the machine too. The
answers are compared to the bit. Memory is the largest of a process of its own, beyond that of one that has closed a
small matrix; pages of files that the system can take back at any time count as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from report import over

CHILD = """
import resource, sys
from pathlib import Path

def largest():
    # In bytes. What a process inherits when it is started does not count, where the system tells.
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * next(int(line.split()[1]) for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

import numpy as np
import semiring as sr
folder, memory = Path(sys.argv[1]), int(sys.argv[2])
small = np.random.default_rng(0).random((600, 600), dtype=np.float32)
sr.closure(small, sr.min_plus, out=folder / "small.npy", memory=1 << 20)
before = largest()
if memory:
    sr.closure(folder / "w.npy", sr.min_plus, out=folder / "child.npy", memory=memory)
print(before, largest())
"""


def timed(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds of the clock and of the processor, and the answer."""
    clock, processor = time.perf_counter(), time.process_time()
    answer = run()
    return time.perf_counter() - clock, time.process_time() - processor, answer


def median(values: list[float]) -> float:
    """Return the median, or the lower of the two middle ones."""
    return sorted(values)[(len(values) - 1) // 2]


def measured(n: int, parts: list[int], turns: int, folder: Path) -> None:
    """Print a line for each amount of memory."""
    import numpy as np

    import semiring as sr

    A = np.random.default_rng(n).random((n, n), dtype=np.float32)
    np.save(folder / "w.npy", A)
    sr.closure(A[:1000, :1000], sr.min_plus)  # compiles, or loads
    files = {"A": folder / "w.npy", "S": sr.min_plus, "out": folder / "c.npy"}
    for part in parts:
        memory, columns = A.nbytes // part, [list[float]() for _ in range(6)]
        for _ in range(turns):
            inside = timed(lambda: sr.closure(A, sr.min_plus))
            outside = timed(lambda memory=memory: sr.closure(**files, memory=memory))
            commits = timed(lambda memory=memory: sr.closure(**files, memory=memory, checkpoint=10))
            assert np.array_equal(inside[2], outside[2])
            assert np.array_equal(inside[2], commits[2])
            for column, value in zip(columns, (*inside[:2], *outside[:2], *commits[:2]), strict=True):
                column.append(value)
        clock, processor, clock_out, processor_out, clock_commits, processor_commits = map(median, columns)
        plan = sr.plan("closure", **files, memory=memory)
        # Any order of n³ multiply-adds moves so many bytes: H. Jia-Wei, H. T. Kung, I/O complexity: the red-blue pebble
        # game (1981); D. Irony, S. Toledo, A. Tiskin, Communication lower bounds for matrix multiplication (2004).
        bound = 2 * n**3 / (plan.memory / A.itemsize) ** 0.5 * A.itemsize
        print(f"n = {n}, memory 1/{part}, tiles of {plan.tile}: {clock / clock_out:.2f} of the speed in memory "
              f"({clock_out:.1f} s for {clock:.1f} s), {over(processor, processor_out):.2f} by the processor's time; "
              f"moves {(plan.read + plan.written) / bound:.2f} times 2 n³ / √M; a commit every 10 s costs "
              f"{100 * (clock_commits / clock_out - 1):.1f} % "
              f"({100 * (over(processor_commits, processor_out) - 1):.1f} % of the processor's time); "
              f"{peak(folder, memory)}", flush=True)


def peak(folder: Path, memory: int) -> str:
    """Return the peak memory of a process that closes the file, relative to its budget."""
    done = subprocess.run([sys.executable, "-c", CHILD, str(folder), str(memory)], capture_output=True, text=True,
                          check=True)
    before, after = map(int, done.stdout.split())
    return (f"{after / 2**20:.0f} MiB at most, {before / 2**20:.0f} of them before anything large, of a budget of "
            f"{memory / 2**20:.0f} MiB: {(after - memory) / 2**20:.0f} MiB more")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--n", type=int, nargs="+", default=[8192])
    parser.add_argument("--parts", type=int, nargs="+", default=[4, 16], help="of the matrix that memory holds: 1/4 …")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--folder", type=Path, help="on the disk to be measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        for n in given.n:
            measured(n, given.parts, given.turns, Path(folder))


if __name__ == "__main__":
    main()
