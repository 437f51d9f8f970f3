"""Measure products, closures and stacks on one GPU, as rates and as shares of the instructions' limit.

    python docs/benchmarks/gpu.py --sizes 4096 16384     print the tables
    python docs/benchmarks/gpu.py --write                  and write them into docs/site/benchmarks.md

T is 10¹² multiply-adds (one ⊗ and one ⊕) a second. The limit is the inner loop alone, its operands already in shared
memory, as it was measured on an H200; on other GPUs only the rates are meaningful. Data are on the device unless the
row says otherwise; every number is a median.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from semiring.kernels.cuda.compile.launch import wait_for_threads

sys.path.insert(0, str(Path(__file__).parent))
from report import grid_of, insert, require_gpu

KINDS = ["products", "winners", "closures", "stacks", "thin", "overhead"]
HUGE = 65_536  # vertices of the one closure that takes a quarter of a minute

most_reliable = sr.Semiring(
    "declared here", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: (a >= 0) & (a <= 1)
)
twin = sr.Semiring("another name", add=np.minimum, mul=np.add, zero=np.inf, one=0)


@dataclass(frozen=True)
class Case:
    """A product to measure, and the limit of its instructions."""

    label: str
    algebra: sr.Semiring
    dtype: str
    low: float  # least finite number of the data
    high: float  # greatest
    limit: float  # T, operands in shared memory already
    whole: bool = False  # whole numbers only
    absent: bool = True  # one in sixteen entries is the algebra's zero


PRODUCTS = (
    Case("f32 min-plus, no value below 0", sr.min_plus, "f4", 0, 1, 17.0),
    Case("the same algebra, declared by a user", twin, "f4", 0, 1, 17.0),
    Case("f32 min-plus, any sign", sr.min_plus, "f4", -1, 1, 14.0),
    Case("s32 min-plus", sr.min_plus, "i4", -100_000, 100_000, 16.5, absent=False),
    Case("s32 min-plus, one entry in sixteen absent", sr.min_plus, "i4", -100_000, 100_000, 16.5),
    Case("u16 min-plus", sr.min_plus, "u2", 0, 8_000, 32.9),
    Case("f16 min-plus", sr.min_plus, "f2", 0, 1, 32.6),
    Case("f64 min-plus", sr.min_plus, "f8", 0, 1, 5.4),
    Case("f32 max-min", sr.max_min, "f4", -1, 1, 11.0),
    Case("f32 max-min, 1,000 values", sr.max_min, "f4", 0, 1000, 21.9, whole=True),
    Case("f32 log-sum-exp, by cuBLAS on powers", sr.log, "f4", -1, 1, 33.5),
    Case("f32 (max, ×) on [0, 1], declared by a user", most_reliable, "f4", 0, 1, 17.0),
)
SHORT = Case("", sr.min_plus, "i4", 0, 30_000, 32.9)
WIDE = Case("f64 max-min", sr.max_min, "f8", -1, 1, 5.4)


def declared(name: str, mul: Callable[[Any, Any], Any], **rest: Any) -> sr.Semiring:
    """Return algebras whose ⊗ does not distribute, for products only."""
    return sr.Semiring(name, add=np.add, mul=mul, zero=0.0, product_only=True, **rest)


USERS = (
    Case("f32 Σ |a − b|", declared("|a − b|", lambda a, b: np.abs(a - b)), "f4", -1, 1, 16.9, absent=False),
    Case("f32 Σ (a − b)²", declared("(a − b)²", lambda a, b: (a - b) ** 2), "f4", -1, 1, 16.9, absent=False),
    Case("f32 Σ min(a, b)", declared("min(a, b)", np.minimum, carrier=lambda a: a >= 0), "f4", 0, 1, 14.0),
    Case("f32 noisy-or: a + b − ab of a · b", sr.Semiring("noisy-or", add=lambda a, b: a + b - a * b, mul=np.multiply,
         zero=0.0, product_only=True), "f4", 0, 1, 16.9),
    Case("f32 max |a − b|", sr.Semiring("max |a − b|", add=np.maximum, mul=lambda a, b: np.abs(a - b), zero=0.0,
         product_only=True), "f4", -1, 1, 16.9, absent=False),
    Case("f32 min of a + b + ab/8", sr.Semiring("a + b + ab/8", add=np.minimum, mul=lambda a, b: a + b + a * b / 8,
         zero=np.inf, one=0.0, carrier=lambda a: a >= 0), "f4", 0, 1, 12.8, absent=False),
    Case("the same, one entry in sixteen absent", sr.Semiring("a + b + ab/8", add=np.minimum,
         mul=lambda a, b: a + b + a * b / 8, zero=np.inf, one=0.0, carrier=lambda a: a >= 0), "f4", 0, 1, 10.7),
)
THIN = (((16_384, 16_384), (16_384,)), ((16_384,), (16_384, 16_384)), ((128, 131_072), (131_072, 128)))
TINY = ((1_000_000, 4), (400_000, 8), (100_000, 16), (30_000, 32), (10_000, 64))
STACKS = ((1000, 200), (200, 256), (100, 500), (40, 1000))


def data(case: Case, shape: tuple[int, ...], seed: int) -> Any:
    """Return random elements on the device."""
    import cupy

    rng = cupy.random.RandomState(seed)
    dtype = np.dtype(case.dtype)
    out = cupy.empty(shape, dtype)
    rows = out.reshape(-1, shape[-1])
    step = max((1 << 26) // shape[-1], 1)
    for i in range(0, len(rows), step):
        part = rows[i : i + step]
        values = rng.random_sample(part.shape, dtype=np.float32) * (case.high - case.low) + case.low
        part[...] = (cupy.floor(values) if case.whole else values).astype(dtype)
        if case.absent:
            part[rng.random_sample(part.shape, dtype=np.float32) < 1 / 16] = case.algebra.zero_in(dtype)
    return out


def milliseconds(work: Callable[[], Any], repeat: int) -> float:
    """Return the median time of a call until the device has finished, after a warm-up."""
    import cupy

    device, times = cupy.cuda.Device(), []
    warm = 3 if repeat > 3 else min(repeat - 1, 1)
    for turn in range(repeat + warm):
        if turn == warm:
            wait_for_threads()
        device.synchronize()
        start = time.perf_counter()
        work()
        device.synchronize()
        times.append(time.perf_counter() - start)
    return 1e3 * statistics.median(times[warm:])


def repeats(n: int) -> int:
    return 11 if n <= 4096 else 5 if n <= 16384 else 3 if n < HUGE else 1


def products(sizes: list[int]) -> list[tuple[str, ...]]:
    """Measure `sr.matmul` of square matrices on the device."""
    rows = []
    for case in (*PRODUCTS, *USERS):
        rates = []
        for n in sizes:
            A, B = data(case, (n, n), 1), data(case, (n, n), 2)
            ms = milliseconds(lambda A=A, B=B, S=case.algebra: sr.matmul(A, B, S), repeats(n))
            rate = n**3 / ms * 1e-9
            rates.append(f"{rate:.2f} T ({rate / case.limit:.0%})")
        rows.append((f"{case.label}, product", *rates))
    return [*rows, log_sums_by_terms(sizes)]


def log_sums_by_terms(sizes: list[int]) -> tuple[str, ...]:
    """Measure the kernel that takes ⊕ of each term, to compare with products by powers."""
    import cupy

    from semiring.kernels.cuda.choose import array_kernel, general_on_device

    kernel = array_kernel(replace(general_on_device(sr.log, np.dtype("f4")), log_sum=None))
    rates = []
    for n in sizes:
        A, B = (cupy.random.RandomState(seed).standard_normal((n, n), dtype=np.float32) for seed in (1, 2))
        C = cupy.empty_like(A)
        ms = milliseconds(lambda A=A, B=B, C=C: kernel.multiply(C, A, B), min(repeats(n), 3))
        rates.append(f"{n**3 / ms * 1e-9:.2f} T")
    return ("f32 log-sum-exp by ⊕ of each term, product", *rates)


def winners(sizes: list[int]) -> list[tuple[str, ...]]:
    """Compare `sr.matmul` with and without `argmax`: rates and ratios of times."""
    rows = []
    for case in PRODUCTS:
        if not case.algebra.selective:
            continue
        rates = []
        for n in sizes:
            A, B = data(case, (n, n), 1), data(case, (n, n), 2)
            plain = milliseconds(lambda A=A, B=B, S=case.algebra: sr.matmul(A, B, S), repeats(n))
            ms = milliseconds(lambda A=A, B=B, S=case.algebra: sr.matmul(A, B, S, argmax=True), repeats(n))
            rates.append(f"{n**3 / ms * 1e-9:.2f} T ({ms / plain:.2f}×)")
        rows.append((f"{case.label}, product with argmax", *rates))
    return rows


def closures(sizes: list[int]) -> list[tuple[str, ...]]:
    """Measure `sr.closure` of distances: alone, with next hops, from host to host, and of short integers."""
    device, hops, host, short, wide = [], [], [], [], []
    for n in sizes:
        A = data(PRODUCTS[0], (n, n), 3)
        ms = milliseconds(lambda A=A: sr.closure(A, sr.min_plus), repeats(n))
        rate = n**3 / ms * 1e-9
        device.append(f"{ms:.3f} ms ({rate:.1f} T, {rate / PRODUCTS[0].limit:.0%})")
        both = milliseconds(lambda A=A: sr.paths(A, sr.min_plus), min(repeats(n), 3))
        hops.append(f"{both:.3f} ms ({both / ms:.2f} × the distances alone)")
        H = A.get()
        del A
        ms = milliseconds(lambda H=H: sr.closure(H, sr.min_plus, device="gpu"), min(repeats(n), 3))
        host.append(f"{ms:.1f} ms")
        del H
        for found, case, most in ((short, SHORT, 32768), (wide, WIDE, 16384)):
            if n > most:
                found.append("")
                continue
            B = data(case, (n, n), 5)
            ms = milliseconds(lambda B=B, S=case.algebra: sr.closure(B, S), repeats(n))
            found.append(f"{ms:.3f} ms ({n**3 / ms * 1e-9:.1f} T)")
            del B
    return [
        ("f32 all-pairs shortest paths, no edge below 0", *device),
        ("the same with next hops, `sr.paths`", *hops),
        ("the distances from a host array to a host array", *host),
        ("s32 all-pairs shortest paths, distances below 32,767", *short),
        ("f64 max-min closure, by the ranks of the values", *wide),
    ]


def stacks(count: int = 10_000) -> list[tuple[str, ...]]:
    """Measure many small closures in one call."""
    rows = []
    for n in (16, 32, 64, 128):
        A = data(PRODUCTS[0], (count, n, n), 4)
        rows.append((f"{count:,} closures of {n} × {n} f32, one call",
                     f"{milliseconds(lambda A=A: sr.closure(A, sr.min_plus), 11):.3f} ms"))
    for members, n in STACKS:
        A = data(PRODUCTS[0], (members, n, n), 4)
        ms = milliseconds(lambda A=A: sr.closure(A, sr.min_plus), 11)
        rows.append((f"{members:,} closures of {n:,} × {n:,} f32, one call",
                     f"{ms:.3f} ms ({members * n**3 / ms * 1e-9:.2f} T)"))
    return rows


def thin() -> list[tuple[str, ...]]:
    """Measure products that take as long as reading their operands: of vectors, of few rows and columns, of stacks."""
    rows = []
    for case in (PRODUCTS[0], next(case for case in PRODUCTS if case.algebra is sr.log)):
        for shapes in (*THIN, *(((count, n, n), (count, n, n)) for count, n in TINY)):
            A, B = (data(case, shape, seed) for seed, shape in enumerate(shapes))
            ms = milliseconds(lambda A=A, B=B, S=case.algebra: sr.matmul(A, B, S), 31)
            what = " times ".join(" × ".join(f"{n:,}" for n in shape) for shape in shapes)
            rate = (A.nbytes + B.nbytes) / ms * 1e-6
            rows.append((f"{case.algebra.name}, {what}", f"{ms:.3f} ms ({rate:,.0f} GB/s)"))
    return rows


def overhead() -> list[tuple[str, ...]]:
    """Measure warm calls on tiny matrices, where Python and waiting take nearly all the time."""
    A = data(PRODUCTS[0], (16, 16), 1)
    works = {
        "closure of 16 × 16, until the answer is there": lambda: sr.closure(A, sr.min_plus),
        "the same, check=False": lambda: sr.closure(A, sr.min_plus, check=False),
        "product of 16 × 16": lambda: sr.matmul(A, A, sr.min_plus),
        "the same over + and ×, by CuPy": lambda: A @ A,
    }
    return [(label, f"{1e3 * milliseconds(work, 301):.0f} µs") for label, work in works.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 4096, 16384, 32768, HUGE])
    parser.add_argument("--only", nargs="+", choices=KINDS)
    parser.add_argument("--write", action="store_true", help="write the table of docs/site/benchmarks.md")
    options = parser.parse_args()
    wanted = options.only or KINDS
    require_gpu()
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    text = [f"{device}, CuPy {cupy.__version__}, Python {platform.python_version()}, {datetime.date.today()}; data on "
            "the device unless it says otherwise, random, medians; in brackets the share of what the instructions used "
            "reach on operands that lie in shared memory already."]
    print(text[0], flush=True)
    measures = {"products": products, "winners": winners, "closures": closures}
    for name in wanted:
        sizes = [n for n in options.sizes if name not in ("products", "winners") or n <= 16384]
        if name in measures:
            rows, head = measures[name](sizes), ("work", *(f"n = {n:,}" for n in sizes))
        else:
            rows, head = {"stacks": stacks, "thin": thin, "overhead": overhead}[name](), ("work", "time")
        text.append(grid_of(head, rows))
        print("\n" + text[-1], flush=True)
    if options.write:
        insert("gpu-benchmark", "\n\n".join(text))


if __name__ == "__main__":
    main()
