"""Compare several GPUs of one host with one GPU: closures and sparse factors.

    python docs/benchmarks/gpus.py --sizes 16384 32768      print a table

Distances in single precision, random edges, no absent one. "Resident" has A and the answer on the first GPU, so that
the rows travel from there and back; "host" has both in the host's memory, and so has the one GPU it is compared with.
The answers are compared with those of one GPU bit for bit. Each number is the best of three.
What one GPU does not hold:

    python docs/benchmarks/gpus.py --sizes --bits 524288 --alone 131072

All pairs of sparse matrices, nothing of n × n held, and closures of some left in the host's memory:

    python docs/benchmarks/gpus.py --sizes --bits --planar 264346 --into-host 60000

Those "alone" are on the host, once on all GPUs, and some distances d(i, j) are compared with the least
d(i, k) + d(k, j).
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import numpy as np
from graphs import planar
from report import require_gpu

import semiring as sr
from semiring.kernels.cuda.compile.launch import wait_for_threads

HELD_BY_ONE = 1 << 18  # order of packed matrices up to which one GPU holds some


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="*", default=[16_384, 32_768])
    parser.add_argument("--bits", type=int, nargs="*", default=[131_072], help="orders of packed matrices")
    parser.add_argument("--tiles", type=int, nargs="*", default=[], help="rows of a block row, besides the chosen ones")
    parser.add_argument("--alone", type=int, nargs="*", default=[], help="orders for all GPUs, and not for one")
    parser.add_argument("--planar", type=int, nargs="*", default=[264_346], help="vertices of planar graphs")
    parser.add_argument("--into-host", type=int, nargs="*", default=[], help="the same, closed into the host's memory")
    asked = parser.parse_args()
    require_gpu()
    import cupy

    count = cupy.cuda.runtime.getDeviceCount()
    some = [g for g in (1, 2, 4, 8) if g <= count]
    for n in asked.sizes:
        A = cupy.random.RandomState(n).random_sample((n, n), dtype=np.float32)
        for where, given in (("resident", A), ("host", A.get())):
            device = None if where == "resident" else "gpu"
            one, expected = best(lambda given=given, device=device: sr.closure(given, sr.min_plus, device=device))
            print(f"{n:>8} {where:<9} one GPU {one:8.3f} s  {n**3 / one / 1e12:6.1f} T", flush=True)
            for g in some:
                for tile in (None, *asked.tiles):
                    took, found = best(
                        lambda given=given, g=g, tile=tile: sr.closure(given, sr.min_plus, devices=g, tile=tile)
                    )
                    same = "same bits" if bool((found == expected).all()) else "OTHER BITS"
                    print(f"{n:>8} {where:<9} {g} GPUs   {took:8.3f} s  {n**3 / took / 1e12:6.1f} T  {one / took:5.2f}×"
                          f"  {f'tile {tile}' if tile else ''} {same}", flush=True)
            del expected
    for n in asked.planar:
        sparse_factors(n, some)
    for n in asked.into_host:
        sparse_closures(n, some)
    for n in asked.alone:
        A = np.random.default_rng(n).random((n, n), np.float32)
        sr.closure(A[:8192, :8192].copy(), sr.min_plus, devices=count)  # compiles
        begin = time.perf_counter()
        found = sr.closure(A, sr.min_plus, devices=count)
        took = time.perf_counter() - begin
        print(f"{n:>8} alone     {count} GPUs   {took:8.3f} s  {n**3 / took / 1e12:6.1f} T  "
              f"{'consistent' if is_consistent(A, found) else 'NOT A CLOSURE'}", flush=True)
        del A, found
    for n in asked.bits:
        A = sparse_bits(n)
        for where in ("host", "there") if n <= HELD_BY_ONE else ("host",):
            bits = A if where == "host" else A.to_device("gpu")
            one, closed = best(lambda bits=bits: sr.closure(bits, sr.boolean, device="gpu"), 2)
            print(f"{n:>8} bits {where:5} one GPU {one:8.3f} s", flush=True)
            for g in some:
                took, found = best(lambda bits=bits, g=g: sr.closure(bits, sr.boolean, devices=g), 2)
                print(f"{n:>8} bits {where:5} {g} GPUs   {took:8.3f} s  {one / took:5.2f}×  "
                      f"{'same bits' if found == closed else 'OTHER BITS'}", flush=True)


def sparse_factors(n: int, some: list[int]) -> None:
    """Measure eccentricities, means and 4,096 rows of a planar graph on some of the GPUs; the analysis is kept."""
    A = planar(n).astype(np.float32)
    one = sr.factor(A, sr.min_plus, device="gpu")
    rows = np.random.default_rng(0).permutation(n)[:4096]
    asked: dict[str, Callable[[Any], Any]] = {
        "ecc.": lambda F: F.reduce("eccentricities"), "mean": lambda F: F.reduce("mean"),
        "rows": lambda F: F.rows(rows), "refactor": lambda F: F.refactor(A.data),
    }
    for what, work in asked.items():
        took, expected = best(lambda work=work: work(one))
        print(f"{n:>8} {what:<9} one GPU {took * 1e3:8.1f} ms", flush=True)
        for g in some:
            F = sr.factor(A, sr.min_plus, devices=g)
            again, found = best(lambda work=work, F=F: work(F))
            same = what == "refactor" or bool(np.allclose(found, expected, rtol=0 if what == "ecc." else 1e-12)
                                              if what in ("ecc.", "mean") else (found == expected).all())
            print(f"{n:>8} {what:<9} {g} GPUs   {again * 1e3:8.1f} ms  {took / again:5.2f}×  "
                  f"{'same' if same else 'OTHER'}", flush=True)


def sparse_closures(n: int, some: list[int]) -> None:
    """Measure the closure of a planar graph in host memory."""
    A = planar(n).astype(np.float32)
    one, expected = best(lambda: sr.factor(A, sr.min_plus, device="gpu").closure().get(), 1)
    print(f"{n:>8} to host   one GPU {one:8.3f} s", flush=True)
    for g in some:
        took, found = best(lambda g=g: sr.closure(A, sr.min_plus, devices=g, method="sparse"), 1)
        print(f"{n:>8} to host   {g} GPUs   {took:8.3f} s  {one / took:5.2f}×  "
              f"{'same bits' if (found == expected).all() else 'OTHER BITS'}", flush=True)


def is_consistent(A: np.ndarray, C: np.ndarray) -> bool:
    """Return whether some elements are a closure: at most A, 0 on the diagonal, and least over a third vertex."""
    pairs = np.random.default_rng(0).integers(0, len(A), (64, 2)).tolist()
    return all(
        C[i, j] <= A[i, j] and C[i, i] == 0 and np.isclose(C[i, j], (C[i] + C[:, j]).min(), rtol=1e-5)
        for i, j in pairs
    )


def sparse_bits(n: int) -> Any:
    """Return a random packed digraph of out-degree 1."""
    heads = np.random.default_rng(n).integers(0, n, n)
    return sr.PackedMatrix.from_edges(np.arange(n), heads, (n, n))


def best(work: Callable[[], Any], times: int = 3) -> tuple[float, Any]:
    """Return the least of a few times after a first call, and the answer; each waits for the GPU."""
    import cupy

    answer, least = work(), np.inf
    wait_for_threads()
    for _ in range(times):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        answer = work()
        cupy.cuda.Device().synchronize()
        least = min(least, time.perf_counter() - begin)
    return least, answer


if __name__ == "__main__":
    main()
