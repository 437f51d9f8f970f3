"""Measure sums, prefixes, scans, einsums, convolutions and masks on one GPU, beside CuPy or `matmul`.

    python docs/benchmarks/shapes_gpu.py     print a table

Data are on the device, and every time is the least of seven calls, until the answer is there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

from report import require_gpu

import semiring as sr

Row = tuple[str, Callable[[], Any], str, Callable[[], Any] | None]  # work, ours, the peer, theirs


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0]).parse_args()
    require_gpu()
    for work, ours, peer, theirs in rows():
        mine, other = timed(ours), timed(theirs) if theirs else None
        beside = "" if other is None else f"   {peer:20} {other:8.3f} ms {other / mine:6.2f}×"
        print(f"{work:52} {mine:8.3f} ms{beside}", flush=True)


def timed(work: Callable[[], Any]) -> float:
    """Return the milliseconds of a call, after two that compile."""
    import cupy

    work(), work()
    least = float("inf")
    for _ in range(7):
        cupy.cuda.Device().synchronize()
        begin = time.perf_counter()
        work()
        cupy.cuda.Device().synchronize()
        least = min(least, time.perf_counter() - begin)
    return least * 1e3


def rows() -> Iterator[Row]:
    """What is measured."""
    import cupy

    random = cupy.random.default_rng(0)

    def numbers(*shape: int, dtype: str = "f4") -> Any:
        return random.random(shape, dtype=dtype)

    x = numbers(10**8)
    yield "S.sum of 10⁸ float32, min-plus", lambda: sr.min_plus.sum(x), "cupy.min", x.min
    yield "S.sum of 10⁸ float32, plus-times", lambda: sr.plus_times.sum(x), "cupy.sum", x.sum
    yield "S.sum of 10⁸ float32, log", lambda: sr.log.sum(x), "max, exp, sum, log", lambda: (
        x.max() + cupy.log(cupy.exp(x - x.max()).sum()))
    yield "S.cumsum of 10⁸ float32, plus-times", lambda: sr.plus_times.cumsum(x), "cupy.cumsum", x.cumsum
    for dtype, n in (("f4", 2048), ("f8", 1024)):
        A, B, v = numbers(n, n, dtype=dtype), numbers(n, n, dtype=dtype), numbers(n, dtype=dtype)
        C, D = numbers(64, n // 4, n // 4, dtype=dtype), numbers(64, n // 4, n // 4, dtype=dtype)
        for text, left, right, second in (
            ("ij,jk->ik", A, B, B), ("ij,kj->ik", A, B, B.T), ("bij,bjk->bik", C, D, D), ("ij,j->i", A, v, v),
            ("i,ij->j", v, A, A),
        ):
            yield (
                f"einsum {text}, {n}, {dtype}, min-plus",
                lambda text=text, left=left, right=right: sr.einsum(text, left, right, S=sr.min_plus),
                "matmul", lambda left=left, second=second: sr.matmul(left, second, sr.min_plus),
            )
    A, B = numbers(4096, 4096), numbers(4096, 4096)
    wanted = random.random((4096, 4096)) < 0.5
    yield "matmul of 4,096 with a dense mask", lambda: sr.matmul(A, B, sr.min_plus, mask=wanted), "without", lambda: (
        sr.matmul(A, B, sr.min_plus))
    for S in (sr.min_plus, sr.log):
        stack = numbers(10**6, 16, 16) * (1 if S is sr.min_plus else -6)
        yield f"scan of 10⁶ matrices 16 × 16, {S.name}", lambda S=S, stack=stack: sr.scan(stack, S), "chain", (
            lambda S=S, stack=stack: sr.chain(stack, S))
    for S, n, steps in ((sr.min_plus, 16, 10**6), (sr.log, 16, 10**6), (sr.min_plus, 128, 10**4)):
        start, A, seen = numbers(n) * -1, numbers(n, n) * -1, numbers(steps, n) * -1
        yield (
            f"forward of {steps:,} rows of {n}, {S.name}, in chunks",
            lambda S=S, start=start, A=A, seen=seen: sr.forward(start, A, S, emissions=seen),
            "a hundredth of them, one row after the other",
            lambda start=start, A=A, seen=seen[: steps // 100]: sr.forward(
                start, A, sr.min_plus, emissions=seen, argmax=True),
        )
    for name, n in (("min_plus", 10**5), ("max_min", 10**5), ("log", 3 * 10**4)):
        a, b, S = numbers(n), numbers(n), sr.catalogue[name]
        yield f"convolve of {n:,} by {n:,}, {S.name}", lambda a=a, b=b, S=S: sr.convolve(a, b, S), "", None


if __name__ == "__main__":
    main()
