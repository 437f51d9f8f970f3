"""Measure transitive closure on one GPU: products, closures, and copies from a host array and back.

    python docs/benchmarks/boolean_gpu.py             print the tables
    python docs/benchmarks/boolean_gpu.py --write     and write them into docs/site/benchmarks.md

T is 10¹² multiply-adds (one "and", one "or") a second. The limit is what 1-bit matrix instructions reach on an H200
with their operands in shared memory. Operands are packed and on the device unless the row says otherwise, the right
one of a product transposed beforehand unless the row says otherwise; every number is a median.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from report import grid_of, insert, require_gpu

import semiring as sr
from semiring.kernels.cpu.bits.matrix import PackedMatrix
from semiring.kernels.cuda.bits import product as bits
from semiring.kernels.cuda.bits.engine import BooleanKernel
from semiring.kernels.cuda.bits.matrix import DevicePackedMatrix

LIMIT = 7700.0  # T
REST = 0.2  # seconds before a long run: hot tensor cores lower the clock, as an idle device does for short ones


def random_bits(rows: int, columns: int, halvings: int, seed: int) -> DevicePackedMatrix:
    """Return entries that are 1 with probability 2^−halvings; columns are a multiple of 64."""
    import cupy

    rng = cupy.random.RandomState(seed)
    matrix = DevicePackedMatrix.zeros(rows, columns)
    step = max((1 << 25) // (columns // 64), 1)
    for top in range(0, rows, step):
        part = matrix.words[top : top + step, : columns // 64]
        drawn = None
        for _ in range(halvings):
            word = rng.randint(0, 2**32, size=(len(part), columns // 32), dtype=np.uint32).view(np.uint64)
            drawn = word if drawn is None else drawn & word
        part[...] = drawn
    return matrix


def shuffled_path(n: int) -> tuple[DevicePackedMatrix, np.ndarray]:
    """Return a path through all vertices in random order, and each vertex's position on it."""
    import cupy

    order = np.random.default_rng(n).permutation(n)
    tail, head = cupy.asarray(order[:-1]), cupy.asarray(order[1:])
    matrix = DevicePackedMatrix.zeros(n, n)
    matrix.words[tail, head // 64] = cupy.left_shift(cupy.uint64(1), (head % 64).astype(np.uint64))
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    return matrix, place


def once(work: Callable[[], Any]) -> float:
    """Return milliseconds on the device."""
    import cupy

    start, stop = cupy.cuda.Event(), cupy.cuda.Event()
    start.record()
    work()
    stop.record()
    stop.synchronize()
    return float(cupy.cuda.get_elapsed_time(start, stop))


def milliseconds(work: Callable[[], Any], repeat: int, inner: int = 1) -> float:
    """Return the median time of one of `inner` runs in a row, after a warm-up; of a single run, after a pause."""
    import cupy

    def run() -> None:
        for _ in range(inner):
            work()

    times = []
    for _ in range(repeat + 1):
        if inner == 1:
            cupy.cuda.Device().synchronize()
            time.sleep(REST)
        else:
            run()
        times.append(once(run) / inner)
    return statistics.median(times[1:])


def rate(work: float, ms: float) -> str:
    t = work / ms * 1e-9
    return f"{t:,.0f} T ({t / LIMIT:.0%}), {ms:.3g} ms"


def in_a_row(n: int) -> int:
    """Return how many products take some milliseconds together; large ones are timed alone."""
    return 40 if n <= 8192 else 8 if n <= 16384 else 1


def products(sizes: list[int]) -> list[tuple[str, ...]]:
    """Measure C = A ⊗ B, sparse and half dense."""
    rows = []
    for halvings, name in ((10, "0.1 % dense"), (1, "half dense")):
        cells = []
        for n in sizes:
            A, T, C = random_bits(n, n, halvings, 1), random_bits(n, n, halvings, 2), DevicePackedMatrix.zeros(n, n)
            inner = in_a_row(n)
            ms = milliseconds(lambda A=A, T=T, C=C: bits.multiply(C.bits, A.bits, T.bits, False), 5, inner)
            cells.append(rate(n**3, ms))
            if halvings == 10 and n == sizes[-1]:
                check_product(C, A, T)
            del A, T, C
        rows.append((f"product, {name}", *cells))
    cells = []
    for n in sizes:
        A, B, C = random_bits(n, n, 10, 1), random_bits(n, n, 10, 2), DevicePackedMatrix.zeros(n, n)
        kernel = BooleanKernel()
        cells.append(rate(n**3, milliseconds(lambda A=A, B=B, C=C, k=kernel: k.multiply(C, A, B), 5, in_a_row(n))))
        del A, B, C
    rows.append(("product, 0.1 % dense, transposition of B included", *cells))
    return rows


def check_product(C: DevicePackedMatrix, A: DevicePackedMatrix, T: DevicePackedMatrix) -> None:
    """Compare a few rows with the kernel of plain logic instructions."""
    rows = slice(64, 192)
    again = DevicePackedMatrix.zeros(128, C.shape[1])
    bits.multiply(again.bits, A[rows, :].bits, T.bits, False, kernel="lop")
    if again != C[rows, :]:
        raise SystemExit("the product is wrong")


def closure_time(A: DevicePackedMatrix, work: DevicePackedMatrix) -> float:
    """Return the milliseconds to close A, which is first copied to `work`."""
    import cupy

    kernel, times = BooleanKernel(), []
    for _ in range(6 if A.shape[0] <= 65536 else 2):
        kernel.assign(work, A)
        cupy.cuda.Device().synchronize()
        if A.shape[0] > 16384:
            time.sleep(REST)
        times.append(once(lambda: kernel.close_plus(work)))
    return statistics.median(times[1:])


def closures(sizes: list[int]) -> list[tuple[str, ...]]:
    """Measure closures in place of a path in random order, whose tiles are neither empty nor full."""
    cells = []
    for n in sizes:
        A, place = shuffled_path(n)
        work = A.copy()
        ms = closure_time(A, work)
        some = np.random.default_rng(0).integers(0, n, 16)
        found = np.unpackbits(work.words[some].get().view(np.uint8), axis=1, bitorder="little")[:, :n].astype(bool)
        if not np.array_equal(found, place[some][:, None] < place):
            raise SystemExit(f"the closure of order {n} is wrong")
        cells.append(f"{ms:.3g} ms ({n**3 / ms * 1e-9:,.0f} T)")
        del A, work
    return [("closure in place", *cells)]


def random_closures(sizes: list[int]) -> list[tuple[str, ...]]:
    """Measure closures of random digraphs, which have a full block."""
    rows = []
    for degree in (0.95, 3):
        cells = []
        for n in sizes:
            tail, head = np.random.default_rng(n).integers(0, n, (2, int(n * degree)))
            A = DevicePackedMatrix.from_dense(PackedMatrix.from_edges(tail, head, n))
            cells.append(f"{closure_time(A, A.copy()):.3g} ms")
            del A
        rows.append((f"closure of a random digraph, {degree} edges a vertex", *cells))
    return rows


def elapsed(work: Callable[[], object]) -> float:
    """Measure seconds until the answer is there."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def from_the_host(n: int) -> list[tuple[str, ...]]:
    """Measure a host bool array to a host packed array, and its steps."""
    import cupy

    matrix, place = shuffled_path(n)
    array = matrix.to_dense().get()
    del matrix
    cupy.get_default_memory_pool().free_all_blocks()
    times = []
    for _ in range(4):
        start = time.perf_counter()
        answer = sr.closure(array, sr.boolean, packed=True, reflexive=False, device="gpu")
        times.append(time.perf_counter() - start)
    i, j = np.random.default_rng(0).integers(0, n, (2, 64))
    if not all(answer[int(a), int(b)] == (place[a] < place[b]) for a, b in zip(i, j, strict=True)):
        raise SystemExit("the closure from the host is wrong")
    sent = []
    for _ in range(4):
        start = time.perf_counter()
        DevicePackedMatrix.from_dense(array)
        sent.append(time.perf_counter() - start)
    packing = milliseconds(partial(sr.pack, cupy.asarray(array)), 4)
    packs = sr.pack(array)
    closing = statistics.median(elapsed(lambda: sr.closure(packs, sr.boolean, device="gpu")) for _ in range(4)) * 1e3
    pinned = cupy.cuda.alloc_pinned_memory(1 << 30)
    target = cupy.empty(1 << 30, np.uint8)
    source = np.frombuffer(pinned, np.uint8, 1 << 30)
    copy = milliseconds(lambda: target.set(source), 3) * array.nbytes / (1 << 30)
    whole, send = (statistics.median(t[1:]) * 1e3 for t in (times, sent))
    return [
        (f"host bool to host packed, n = {n:,}", f"{whole:.0f} ms"),
        ("of that, packing and sending", f"{send:.0f} ms"),
        ("copying the bool array alone, from pinned memory", f"{copy:.0f} ms"),
        ("packing the bool array on the device", f"{packing:.2f} ms"),
        ("closure of a packed matrix, from host to host", f"{closing:.0f} ms"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--products", type=int, nargs="*", default=[8192, 16384, 32768, 65536])
    parser.add_argument("--closures", type=int, nargs="*", default=[8192, 16384, 32768, 65536, 262144])
    parser.add_argument("--host", type=int, default=65536, help="order of the closure from and to the host; 0 for none")
    parser.add_argument("--write", action="store_true", help="write the table of docs/site/benchmarks.md")
    options = parser.parse_args()
    require_gpu()
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    text = [f"{device}, CuPy {cupy.__version__}, Python {platform.python_version()}, {datetime.date.today()}."]
    print(text[0], flush=True)
    random_sizes = [n for n in options.closures if n <= 65536]
    parts = [
        (products, options.products), (closures, options.closures), (random_closures, random_sizes),
    ]
    for measure, sizes in parts:
        if sizes:
            text.append(grid_of(["work", *(f"n = {n:,}" for n in sizes)], measure(sizes)))
            print("\n" + text[-1], flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
    if options.host:
        text.append(grid_of(["work", "time"], from_the_host(options.host)))
        print("\n" + text[-1], flush=True)
    if options.write:
        insert("boolean-gpu-benchmark", "\n\n".join(text))


if __name__ == "__main__":
    main()
