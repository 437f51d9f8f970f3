"""Where the time goes of a closure of the host's matrix through one GPU that holds a few tiles of it.

    python docs/benchmarks/through.py --n 65536 --memory 4G       print a table

Distances in single precision, random edges. "Parts" are measured alone: looking at all elements, pinning memory that
nobody has touched, the same after threads have touched it, letting it go. "Closure" is the call as a whole, with what
its steps took. The resident closure has A and the answer on the GPU, and "host to host" is one call that sends the
whole matrix there and back; both are left out where the GPU is too small. Answers are compared bit for bit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

import semiring as sr
from semiring.kernels.cuda.compile.staging import touch
from semiring.kernels.cuda.dense import carry
from semiring.operands.convert import as_dense
from semiring.operands.read import operand
from semiring.scale.executor import Executor
from semiring.solvers import through_gpu


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=65_536)
    parser.add_argument("--memory", nargs="+", default=["4G"], help="of the GPU, that tiles may take")
    parser.add_argument("--tiles", type=int, nargs="*", default=[], help="orders of tiles, besides the chosen one")
    parser.add_argument("--alone", action="store_true", help="nothing to compare with, and no parts")
    asked = parser.parse_args()
    import cupy

    n = asked.n
    A = cupy.random.RandomState(n).random_sample((n, n), dtype=np.float32).get()
    cupy.get_default_memory_pool().free_all_blocks()
    print(f"n = {n}, {A.nbytes / 2**30:.1f} GiB", flush=True)
    small = A[:8192, :8192].copy()
    sr.closure(small, sr.min_plus, device="gpu", memory="64M")  # compiles
    sr.closure(small, sr.min_plus, device="gpu")
    expected, resident = None, 0.0
    if not asked.alone:
        parts(A)
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
            plan = sr.plan(A, sr.min_plus, **options)
            found = line(f"closure, {memory}, tiles of {plan.tile}",
                         lambda options=options: sr.closure(A, sr.min_plus, **options), resident)[1]
            steps.told()
            if expected is not None:
                print("  same bits" if np.array_equal(found, expected) else "  OTHER BITS", flush=True)


def parts(A: np.ndarray) -> None:
    """What is done before and after the tiles travel, each alone."""
    from cupy.cuda import runtime

    given = as_dense(operand(A, sr.min_plus, "A"))
    line("looking at all elements", lambda: through_gpu._facts(given))
    for threads in (0, 1, 8, 16):
        fresh = np.empty_like(A)
        if threads:
            line(f"touching, {threads} threads", lambda fresh=fresh, threads=threads: touch(fresh, threads))
        line("  pinning what was touched" if threads else "pinning what was not touched",
             lambda fresh=fresh: runtime.hostRegister(fresh.ctypes.data, fresh.nbytes, 0))
        line("  letting it go", lambda fresh=fresh: runtime.hostUnregister(fresh.ctypes.data))


class Steps:
    """What the steps of a closure take, by their names."""

    def __init__(self) -> None:
        self.took: dict[str, float] = {}
        for owner, name in ((through_gpu, "_facts"), (carry.Pinned, "wait"), (carry.Pinned, "__exit__"),
                            (Executor, "run"), (through_gpu, "_settle")):
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
        """Print them, and begin anew."""
        for name, seconds in self.took.items():
            print(f"  {name:<38} {seconds:8.3f} s", flush=True)
        self.took.clear()


def line(name: str, work: Callable[[], Any], beside: float = 0.0) -> tuple[float, Any]:
    """Print what one call takes, once it is done on the GPU as well; its seconds and its answer."""
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
