"""Products, closures and stacks on one GPU, with the share of what the instructions used allow.

    python docs/benchmarks/gpu.py --sizes 4096 16384            print the table
    python docs/benchmarks/gpu.py --readme README.md            and write it between the README's markers

T is 10¹² multiply-adds (one ⊗ and one ⊕) a second. The limit is the inner loop alone, its operands already in shared
memory, as it was measured on an H200; on other GPUs only the rates are meaningful. Data are on the device unless the
row says otherwise; every number is a median.
"""

from __future__ import annotations

import argparse
import datetime
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import semiring as sr
from semiring.algorithms.blocked import blocked
from semiring.algorithms.r_kleene import r_kleene
from semiring.kernels.cuda.engine import CudaKernel, kernel
from semiring.kernels.cuda.exchange import look_at
from semiring.kernels.cuda.lowering import choose, without_facts

MARKERS = ("<!-- gpu-benchmark -->", "<!-- /gpu-benchmark -->")

most_reliable = sr.Semiring(
    "declared here", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0, carrier=lambda a: (a >= 0) & (a <= 1)
)


@dataclass(frozen=True)
class Case:
    """A product to measure, and the rate of its instructions alone."""

    label: str
    algebra: sr.Semiring
    dtype: str
    low: float  # least finite number of the data
    high: float  # greatest
    limit: float  # T


PRODUCTS = (
    Case("f32 min-plus, no value below 0", sr.min_plus, "f4", 0, 1, 17.0),
    Case("f32 min-plus, any sign", sr.min_plus, "f4", -1, 1, 14.0),
    Case("s32 min-plus", sr.min_plus, "i4", -100_000, 100_000, 16.5),
    Case("u16 min-plus", sr.min_plus, "u2", 0, 8_000, 32.9),
    Case("f64 min-plus", sr.min_plus, "f8", 0, 1, 5.4),
    Case("f32 max-min", sr.max_min, "f4", -1, 1, 11.0),
    Case("f32 (max, ×) on [0, 1], declared by a user", most_reliable, "f4", 0, 1, 17.0),
)


def data(case: Case, shape: tuple[int, ...], seed: int) -> Any:
    """Random elements, one in sixteen absent."""
    import cupy

    rng = cupy.random.RandomState(seed)
    dtype = np.dtype(case.dtype)
    out = cupy.empty(shape, dtype)
    rows = out.reshape(-1, shape[-1])
    step = max((1 << 26) // shape[-1], 1)
    for i in range(0, len(rows), step):
        part = rows[i : i + step]
        values = rng.random_sample(part.shape, dtype=np.float32) * (case.high - case.low) + case.low
        part[...] = values.astype(dtype)
        part[rng.random_sample(part.shape, dtype=np.float32) < 1 / 16] = case.algebra.zero_in(dtype)
    return out


def milliseconds(work: Callable[[], Any], repeat: int, before: Callable[[], Any] = lambda: None) -> float:
    """Median time of the device between two events, after one run to warm up."""
    import cupy

    times = []
    for _ in range(repeat + 1):
        before()
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        work()
        stop.record()
        stop.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, stop))
    return statistics.median(times[1:])


def repeats(n: int) -> int:
    return 11 if n <= 4096 else 5 if n <= 16384 else 3


def products(sizes: list[int]) -> list[tuple[str, ...]]:
    """C = A ⊗ B for square matrices."""
    import cupy

    rows = []
    for case in PRODUCTS:
        rates = []
        for n in sizes:
            A, B = data(case, (n, n), 1), data(case, (n, n), 2)
            k, (a, b) = prepared(case.algebra, [A, B], 3)
            del A, B
            C = cupy.empty_like(b)
            ms = milliseconds(lambda k=k, C=C, a=a, b=b: k.multiply(C, a, b), repeats(n))
            rates.append(n**3 / ms * 1e-9)
            del C, a, b
        rows.append((f"{case.label}, product", *(f"{r:.2f} T ({r / case.limit:.0%})" for r in rates)))
    return rows


def prepared(S: sr.Semiring, arrays: list[Any], length: int) -> tuple[CudaKernel, list[Any]]:
    """The kernel that the data's facts allow, and the data in its storage."""
    dtype = arrays[0].dtype
    low = choose(S, dtype, look_at(without_facts(S, dtype), arrays).facts(dtype), length, in_place=False)
    return kernel(low), [low.encode(a, True) for a in arrays]


CLOSURES = {
    "one call": lambda A, k: k.close(A),
    "r-kleene": lambda A, k: r_kleene(A, k, k.tile),
    "blocked": lambda A, k: blocked(A, k, 256 if len(A) < 8192 else 1024),
}


def closures(sizes: list[int]) -> list[tuple[str, ...]]:
    """All pairs' shortest paths, f32, in place."""
    cells: dict[str, list[str]] = {name: [] for name in CLOSURES}
    for n in sizes:
        k, (work,) = prepared(sr.min_plus, [data(PRODUCTS[0], (n, n), 3)], n)
        original = work.copy()
        for name, close in CLOSURES.items():
            ms = milliseconds(
                lambda close=close, work=work, k=k: close(work, k), min(repeats(n), 5),
                lambda work=work, original=original: work.__setitem__(..., original),
            )  # fmt: skip
            cells[name].append(f"{ms:.3f} ms ({n**3 / ms * 1e-9:.1f} T)")
    return [(f"f32 all-pairs shortest paths, {name}", *row) for name, row in cells.items()]


def stacks(count: int = 10_000) -> list[tuple[str, ...]]:
    """Many small closures in one call."""
    rows = []
    for n in (16, 32, 64, 128):
        k, (work,) = prepared(sr.min_plus, [data(PRODUCTS[0], (count, n, n), 4)], n)
        ms = milliseconds(lambda k=k, work=work: k.close_stack(work), 11)
        rows.append((f"{count:,} closures of {n} × {n} f32, one call", f"{ms:.3f} ms"))
    return rows


def overhead() -> list[tuple[str, ...]]:
    """What Python takes for a warm product that the device does in no time."""
    import time

    import cupy

    k, (a, b) = prepared(sr.min_plus, [data(PRODUCTS[0], (64, 64), s) for s in (1, 2)], 3)
    C = cupy.empty_like(a)
    for _ in range(100):
        k.multiply(C, a, b)
    cupy.cuda.Device().synchronize()
    start = time.perf_counter()
    for _ in range(1000):
        k.multiply(C, a, b)
    return [("Python's share of a product, warm", f"{(time.perf_counter() - start) * 1e3:.1f} µs")]


def table(rows: list[tuple[str, ...]], head: tuple[str, ...]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8192, 16384])
    parser.add_argument("--only", nargs="+", choices=["products", "closures", "stacks", "overhead"])
    parser.add_argument("--readme", type=Path, help="file to write the table into, between its markers")
    options = parser.parse_args()
    wanted = options.only or ["products", "closures", "stacks", "overhead"]
    import cupy

    device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    text = [f"{device}, CuPy {cupy.__version__}, Python {platform.python_version()}, {datetime.date.today()}."]
    print(text[0], flush=True)
    head = ("work", *(f"n = {n}" for n in options.sizes))
    for name in wanted:
        sized = name in ("products", "closures")
        rows = {"products": products, "closures": closures}[name](options.sizes) if sized else globals()[name]()
        text.append(table(rows, head if sized else ("work", "time")))
        print("\n" + text[-1], flush=True)
    if options.readme:
        start, end = MARKERS
        page = options.readme.read_text(encoding="utf-8")
        if start not in page or end not in page:
            raise SystemExit(f"{options.readme} has no place for the table: {start} … {end}")
        before, _, rest = page.partition(start)
        after = rest.partition(end)[2]
        options.readme.write_text("\n\n".join([before + start, *text, end + after]), encoding="utf-8")


if __name__ == "__main__":
    main()
