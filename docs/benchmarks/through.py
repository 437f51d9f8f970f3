"""Measure the steps of a closure of a host matrix through one GPU that holds a few of its tiles.

    python docs/benchmarks/through.py --n 65536 --memory 4G               print a table
    python docs/benchmarks/through.py --n 131072 --memory 16G --alone
    python docs/benchmarks/through.py --n 32768 --memory 1G --files /tmp --host 1G 4G

Distances in single precision, random edges of whole weights. "Closure" is the whole call, with what its steps took. The
resident closure has A and the answer on the GPU, and "host to host" is one call that sends the whole matrix there
and back; answers are compared bit for bit. With --alone both are left out, as where the GPU is too small, and some rows
of the answer are checked to be what one more step along the edges leaves as it is. With --files the closure goes from a
file in that folder to another as well, within so much of the GPU, and of the host.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np
from report import require_gpu

import semiring as sr
from semiring.algorithms.blocks import spans
from semiring.scale.executor import Executor
from semiring.scale.storing import bytes_of
from semiring.solvers.beyond import gpus, levels


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=65_536)
    parser.add_argument("--memory", nargs="+", default=["4G"], help="of the GPU, that tiles may take")
    parser.add_argument("--tiles", type=int, nargs="*", default=[], help="orders of tiles, besides the chosen one")
    parser.add_argument("--alone", action="store_true", help="nothing to compare with")
    parser.add_argument("--files", type=Path, help="a folder on the disk to be measured")
    parser.add_argument("--host", nargs="+", default=["1G"], help="of the host's memory, that tiles may take")
    asked = parser.parse_args()
    require_gpu()
    import cupy

    n = asked.n
    A = matrix(n)
    print(f"n = {n}, {A.nbytes / 2**30:.1f} GiB", flush=True)
    small = A[:8192, :8192].copy()
    sr.closure(small, sr.min_plus, device="gpu", memory="64M")  # compiles
    sr.closure(small, sr.min_plus, device="gpu")
    expected, resident = None, 0.0
    if not asked.alone:
        given = cupy.asarray(A)
        resident = line("resident", lambda: sr.closure(given, sr.min_plus))[0]
        del given
        cupy.get_default_memory_pool().free_all_blocks()
        expected = line("host to host", lambda: sr.closure(A, sr.min_plus, device="gpu"), resident)[1]
        cupy.get_default_memory_pool().free_all_blocks()
    steps = Steps()
    for memory in asked.memory:
        for tile in (None, *asked.tiles):
            options = {"memory": memory, "device": "gpu", "tile": tile}
            plan = sr.plan("closure", A, sr.min_plus, **options)
            found = line(f"closure, {memory}, tiles of {plan.tile}",
                         lambda options=options: sr.closure(A, sr.min_plus, **options), resident)[1]
            steps.told()
            if expected is not None:
                print("  same bits" if np.array_equal(found, expected) else "  OTHER BITS", flush=True)
            else:
                print("  some rows are settled" if settled(A, found) else "  SOME ROWS ARE NOT SETTLED", flush=True)
            del found
        if asked.files is not None:
            from_files(A, asked.files, bytes_of(memory), asked.host, expected, steps, resident)


def from_files(
    A: np.ndarray, folder: Path, there: int, hosts: list[str], expected: np.ndarray | None, steps: Steps, beside: float
) -> None:
    """Measure a closure from file to file with limits on GPU and host memory."""
    import cupy

    levels.available_on_device = lambda: int(there / levels.SHARE) + 1
    with tempfile.TemporaryDirectory(dir=folder) as place:
        np.save(f"{place}/w.npy", A)
        small: Any = {"out": f"{place}/small.npy", "device": "gpu", "memory": "64M"}
        sr.closure(A[:4096, :4096].copy(), sr.min_plus, **small)  # compiles
        steps.told()
        for host in hosts:
            for checkpoint in (None, 10.0):
                cupy.get_default_memory_pool().free_all_blocks()
                asked: Any = {"out": f"{place}/c.npy", "device": "gpu", "memory": host, "checkpoint": checkpoint}
                plan = sr.plan("closure", f"{place}/w.npy", sr.min_plus, **asked)
                print("\n".join(f"  {name:<10} {text}" for name, text in plan.rows().items()), flush=True)
                every = "no commits" if checkpoint is None else f"a commit every {checkpoint:g} s"
                found = line(f"files, {host} of the host, {every}",
                             lambda asked=asked: sr.closure(f"{place}/w.npy", sr.min_plus, **asked), beside)[1]
                steps.told()
                if expected is not None:
                    print("  same bits" if np.array_equal(found, expected) else "  OTHER BITS", flush=True)
                del found


def matrix(n: int) -> np.ndarray:
    """Return integer weights from 1 to 1,000, independent of the number of threads."""
    A = np.empty((n, n), np.float32)

    def fill(rows: slice) -> None:
        part = A[rows]
        np.random.default_rng(rows.start).random(dtype=np.float32, out=part)
        np.floor(np.multiply(part, 1000, out=part), out=part)
        part += 1

    with ThreadPoolExecutor() as pool:
        list(pool.map(fill, spans(n, 512)))
    return A


def settled(A: np.ndarray, D: np.ndarray, slab: int = 4096) -> bool:
    """Return whether some rows are a closure: 0 on the diagonal, else the least over all last edges."""
    import cupy

    n = len(A)
    sources = [0, n // 3, n - 1]
    rows = cupy.asarray(D[sources])
    least = cupy.full_like(rows, np.inf)
    for part in spans(n, slab):
        edges = cupy.asarray(A[part])
        for row, new in zip(rows, least, strict=True):
            cupy.minimum(new, (row[part, None] + edges).min(axis=0), out=new)
    least[list(range(len(sources))), sources] = 0
    return bool((rows == least).all())


class Steps:
    """Times of the steps of a closure, by name."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        for owner, name in ((gpus, "_facts"), (Executor, "run")):
            setattr(owner, name, self._timed(name.strip("_"), getattr(owner, name)))

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def timed(*given: Any, **options: Any) -> Any:
            begin = time.perf_counter()
            try:
                return function(*given, **options)
            finally:
                self.took[name] = self.took.get(name, 0.0) + time.perf_counter() - begin

        return timed

    def told(self) -> None:
        """Print the times, and reset them."""
        for name, seconds in self.took.items():
            print(f"  {name:<38} {seconds:8.3f} s", flush=True)
        self.took.clear()


def line(name: str, work: Callable[[], Any], beside: float = 0.0) -> tuple[float, Any]:
    """Print the time of one call, including the GPU; return its seconds and its answer."""
    import cupy

    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    answer = work()
    cupy.cuda.Device().synchronize()
    took = time.perf_counter() - begin
    print(f"{name:<40} {took:8.3f} s{f'  {beside / took:.2f} of resident' if beside else ''}", flush=True)
    return took, answer


if __name__ == "__main__":
    main()
