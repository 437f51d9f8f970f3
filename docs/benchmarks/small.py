"""Compare small, thin and long products with the NumPy that people write instead, on the CPU.

    python docs/benchmarks/small.py [--quick]

Every row is a ratio of the least times of several rounds in this run, in which both take turns. Answers are compared.
On a busy machine set SEMIRING_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1, since threads of BLAS wait for each other.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    os.environ.setdefault("SEMIRING_COMPILE", "always")

import numpy as np

import semiring as sr

sys.path.insert(0, str(Path(__file__).parent))
from report import grid_of, seconds

Rows = Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]
random = np.random.default_rng(0)


def calls(dtype: str) -> Rows:
    """Yield one call on small arrays, and NumPy's four lines."""
    A, B = (random.random((16, 16)).astype(dtype) for _ in range(2))
    x = A[0].copy()
    for n in (4, 16, 32):
        P, Q = (random.random((n, n)).astype(dtype) for _ in range(2))
        yield (f"min-plus product, {n} × {n}", lambda P=P, Q=Q: sr.matmul(P, Q, sr.min_plus),
               lambda P=P, Q=Q: least(P, Q))
    yield "plus-times product, 16 × 16", lambda: sr.matmul(A, B, sr.plus_times), lambda: checked(A @ B)
    yield "log product, 16 × 16", lambda: sr.matmul(A, B, sr.log), lambda: by_powers(A, B)
    yield "min-plus, vector × 16 × 16", lambda: sr.matmul(x, B, sr.min_plus), lambda: (x[:, None] + B).min(0)
    yield "min-plus closure, 16 × 16", lambda: sr.closure(A, sr.min_plus), lambda: closed(A)


def stacks(share: int) -> Rows:
    """Yield products of stacks of small matrices, and the same in NumPy."""
    for n, count in ((2, 400_000), (4, 200_000), (8, 50_000), (16, 20_000), (32, 4_000)):
        for dtype in ("f4", "f8"):
            P, Q = (random.random((count // share, n, n)).astype(dtype) for _ in range(2))
            work = f"{len(P):,} of {n} × {n}, {dtype}"
            yield (f"min-plus products, {work}", lambda P=P, Q=Q: sr.matmul(P, Q, sr.min_plus),
                   lambda P=P, Q=Q: least(P, Q))
            yield f"log products, {work}", lambda P=P, Q=Q: sr.matmul(P, Q, sr.log), lambda P=P, Q=Q: by_powers(P, Q)
            yield f"min-plus closures, {work}", lambda P=P: sr.closure(P, sr.min_plus), lambda P=P: closed(P)


def thin(share: int) -> Rows:
    """Yield a matrix times a vector, and few rows times a long axis; the last ones against a square product."""
    n, k, side = 8192 // share, 65_536 // share, 1024 // share
    M, x = random.random((n, n), "f4"), random.random(n, "f4")
    A, B = random.random((64, k), "f4"), random.random((k, 64), "f4")
    P, Q = (random.random((side, side), "f4") for _ in range(2))
    rounds = round(64 * 64 * k / side**3 * 4)  # square products of as many terms, times four
    yield f"min-plus A x, {n}², against B.min(1)", lambda: sr.matmul(M, x, sr.min_plus), lambda: M.min(1)
    yield f"min-plus x A, {n}², against B.min(0)", lambda: sr.matmul(x, M, sr.min_plus), lambda: M.min(0)
    yield f"plus-times A x, {n}², against A @ x", lambda: sr.matmul(M, x, sr.plus_times), lambda: M @ x
    yield f"log A x, {n}², against A @ x", lambda: sr.matmul(M, x, sr.log), lambda: M @ x
    for S in (sr.min_plus, sr.log):
        yield (f"{S.name} 64 × {k} × 64, 4 times, against square products of as many terms",
               lambda S=S: [sr.matmul(A, B, S) for _ in range(4)],
               lambda S=S: [sr.matmul(P, Q, S) for _ in range(rounds)])


def least(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return the min-plus products of one pair or of stacks."""
    if P.ndim == 2:
        return (P[:, :, None] + Q).min(1)
    found = P[:, :, :1] + Q[:, :1]
    for k in range(1, P.shape[2]):
        np.minimum(found, P[:, :, k, None] + Q[:, k, None], out=found)
    return found


def by_powers(P: np.ndarray, Q: np.ndarray) -> np.ndarray:
    """Return products over log-sum-exp, by products of powers."""
    r, c = P.max(-1, keepdims=True), Q.max(-2, keepdims=True)
    return r + c + np.log(np.exp(P - r) @ np.exp(Q - c))


def checked(C: np.ndarray) -> np.ndarray:
    """Return an array whose numbers are finite."""
    if not np.isfinite(C).all():
        raise ValueError("overflow")
    return C


def closed(A: np.ndarray) -> np.ndarray:
    """Return the shortest distances by Floyd and Warshall's loop."""
    C = A.copy()
    C[..., range(A.shape[-1]), range(A.shape[-1])] = 0
    for k in range(A.shape[-1]):
        np.minimum(C, C[..., k, None] + C[..., k, None, :], out=C)
    return C


def compare(rows: Rows, rounds: int, count: int = 1) -> list[list[str]]:
    """Return lines of the table: the least of some rounds of `count` calls each."""
    lines = []
    for work, ours, other in rows:
        if "against" not in work:
            assert np.allclose(ours(), other(), rtol=1e-4), work
        best = [np.inf, np.inf]
        for _ in range(rounds):
            for i, call in enumerate((ours, other)):
                call()
                begin = time.perf_counter()
                for _ in range(count):
                    call()
                best[i] = min(best[i], (time.perf_counter() - begin) / count)
        lines.append([work, seconds(best[0]), seconds(best[1]), f"{best[1] / best[0]:.2g} ×"])
    return lines


def show(lines: list[list[str]]) -> None:
    """Print a table."""
    print(grid_of(["", "semiring", "the other way", "ratio"], lines), flush=True)


def main() -> None:
    """Print the tables: of calls before anything is compiled, in a process of its own, and of compiled code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--before", action="store_true", help="only calls before anything is compiled")
    options = parser.parse_args()
    share, count, rounds = (16, 20, 2) if options.quick else (1, 500, 15)
    if options.before:
        show(compare(calls("f8"), rounds, count))
        return
    print("Before anything is compiled:\n", flush=True)
    again = [sys.executable, __file__, "--before", *(["--quick"] if options.quick else [])]
    subprocess.run(again, check=True, env=os.environ | {"SEMIRING_COMPILE": "never"})
    print("\nCompiled:\n")
    show([*compare(calls("f8"), rounds, count), *compare(stacks(share), rounds), *compare(thin(share), rounds)])
    print(f"\nLoad of the machine while this ran: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores.")


if __name__ == "__main__":
    main()
