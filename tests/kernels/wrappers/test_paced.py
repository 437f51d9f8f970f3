"""Long products and stacks in pieces: the same bits wherever they are cut, and an interrupt is heard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import semiring as sr
from semiring.kernels.cpu.compile import rounds
from semiring.kernels.cpu.compile.rounds import ROUND
from semiring.kernels.cpu.dense.engine import DenseKernel
from semiring.kernels.lowering.general import general
from semiring.kernels.wrappers import paced
from semiring.kernels.wrappers.paced import Paced

LOW = general(sr.log, np.dtype("f8"))  # whose ⊕ rounds


def drawn(random: np.random.Generator, *shape: int) -> np.ndarray:
    return random.normal(size=shape)


@settings(max_examples=40)
@given(
    st.integers(0, 3), st.tuples(*[st.integers(0, 40)] * 3), st.integers(0, 2**32 - 1), st.booleans(),
    st.integers(1, 2000),
)
def test_results_do_not_depend_on_where_a_product_is_cut(
    batch: int, shape: tuple[int, int, int], seed: int, accumulate: bool, most: int
) -> None:
    (m, k, n), random = shape, np.random.default_rng(seed)
    A, B, C = drawn(random, batch, m, k), drawn(random, batch, k, n), drawn(random, batch, m, n)
    whole, cut = C.copy(), C.copy()
    (DenseKernel.multiply_add_stack if accumulate else DenseKernel.multiply_stack)(DenseKernel(LOW), whole, A, B)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paced, "UNCUT_TERMS", 0)
        patch.setattr(paced, "STEP", 4)
        kernel, sizes = Paced(DenseKernel(LOW)), []
        patch.setattr(type(kernel._products), "most", property(lambda self: most))
        patch.setattr(kernel._products, "learn", lambda terms, seconds: sizes.append(terms))
        (kernel.multiply_add_stack if accumulate else kernel.multiply_stack)(cut, A, B)
    assert np.array_equal(whole, cut)
    assert sum(sizes) == batch * m * n * k
    assert all(size <= max(most, 4**3) for size in sizes)


class Slow:
    """An engine whose first call takes a second longer, as compiling does; a term takes a given time."""

    def __init__(self, rate: float) -> None:
        self.rate, self.clock, self.calls = rate, 0.0, list[int]()

    def multiply_stack(self, C: np.ndarray, A: np.ndarray, B: np.ndarray) -> None:
        self.clock += C.size * A.shape[2] / self.rate + (0 if self.calls else 1.0)
        self.calls.append(C.size * A.shape[2])

    multiply_add_stack = multiply_stack

    def close_stack(self, D: np.ndarray) -> np.ndarray:
        self.clock += D.size * D.shape[1] / self.rate + (0 if self.calls else 1.0)
        self.calls.append(D.size * D.shape[1])
        return np.full(len(D), -1)


@settings(max_examples=30)
@given(st.floats(1e6, 1e11), st.booleans())
def test_compiling_does_not_count_as_work(rate: float, closures: bool) -> None:
    """Work for some dozens of calls that are as long as they may be: more of them would tell nothing more."""
    engine = Slow(rate)
    batch = int(min(200_000, 1000 + 50 * rate * ROUND / 64**3))
    side = 2048 if rate < 1e9 else 4096
    with pytest.MonkeyPatch.context() as patch:
        for module in (paced, rounds):
            patch.setattr(module, "perf_counter", lambda: engine.clock)
        kernel: Any = Paced(engine)  # type: ignore[arg-type]
        if closures:
            D = np.broadcast_to(np.float64(0), (batch, 64, 64))
            kernel.close_stack(D)
        else:
            A = np.broadcast_to(np.float64(0), (1, side, side))
            kernel.multiply_stack(A, A, A)
    pace = kernel._closures if closures else kernel._products
    assert sum(engine.calls) == (batch * 64**3 if closures else side**3) and engine.calls[0] == 0
    assert pace.most == pytest.approx(rate * ROUND, rel=1e-3), engine.calls
    sizes = sorted(engine.calls)[len(engine.calls) // 2 :]  # more than half are as large as they may be
    assert sizes[0] >= min(rate * ROUND, side**3) / 20 or sizes[0] > paced.UNCUT_TERMS / 3


@settings(max_examples=30)
@given(st.integers(0, 9), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_stacks_are_closed_in_rounds(batch: int, n: int, seed: int) -> None:
    D = np.random.default_rng(seed).normal(size=(batch, n, n)) - 3
    D[::4, 0:1, 0:1] = 1.0  # no star
    whole, cut = D.copy(), D.copy()
    expected = DenseKernel(LOW).close_stack(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paced, "UNCUT_TERMS", 0)
        kernel = Paced(DenseKernel(LOW))
        patch.setattr(type(kernel._closures), "most", property(lambda self: 2 * n**3))
        assert np.array_equal(kernel.close_stack(cut), expected)
    assert np.array_equal(whole, cut, equal_nan=True)


PRODUCTS = {
    "dense": "A = random.random((6000, 6000)); run = lambda: sr.matmul(A, A, distances)",
    "stack": "A = random.random((1500, 200, 200)); run = lambda: sr.matmul(A, A, distances)",
    "log-sum-exp": "A = random.random((10_000, 10_000)); run = lambda: sr.matmul(A, A, sr.log)",
    "log-sum-exp of a stack": "A = random.random((200, 1200, 1200), 'f4'); run = lambda: sr.matmul(A, A, sr.log)",
    "log-sum-exp by terms": "A = random.random((6000, 6000)) * 1e9; run = lambda: sr.matmul(A, A, sr.log)",
    "sums": "A = random.random((10_000, 10_000)); run = lambda: sr.matmul(A, A, sr.plus_times)",
    "sparse": "A = sparse.random_array((100_000, 100_000), density=2e-3, random_state=random).tocsr(); "
              "run = lambda: sr.matmul(A, A, sr.min_plus)",
    "sparse by dense": "A = sparse.random_array((100_000, 100_000), density=1e-3, random_state=random).tocsr(); "
                       "B = random.random((100_000, 400)); run = lambda: sr.matmul(A, B, sr.log)",
    "bits": "A = sr.PackedMatrix(random.integers(0, 2**63, (60_032, 944), 'u8'), 60_032); "
            "run = lambda: sr.matmul(A, A, sr.boolean)",
    "objects": "A = random.integers(0, 9, (700, 700)).astype(object); run = lambda: sr.matmul(A, A, sr.min_plus)",
}


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
@pytest.mark.parametrize(
    "name", [name if name == "dense" else pytest.param(name, marks=pytest.mark.slow) for name in PRODUCTS]
)
def test_an_interrupt_ends_a_long_product(name: str) -> None:
    """It would take many seconds more. How soon it ends is for people to measure: it ends before it is done."""
    code = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs behind them ignore it
import numpy as np, semiring as sr, time
from scipy import sparse
distances = sr.Semiring("distances", add=np.add, mul=np.hypot, zero=0.0, product_only=True)
random = np.random.default_rng(0)
{PRODUCTS[name]}
print("begin", flush=True)
run()
print("done", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begin\n"
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate()
    assert (out, error.strip().splitlines()[-1:]) == ("", ["KeyboardInterrupt"])


def test_only_long_work_of_compiled_code_is_cut() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    kernel = DenseKernel(low)
    assert isinstance(paced.paced(kernel, low, 1e9), Paced)
    assert paced.paced(kernel, low, 1e6) is kernel
    for other in (low.interpreted, LOW, general(sr.plus_times, np.dtype("f8"))):  # the last two are cut by themselves
        assert paced.paced(kernel, other, 1e9) is kernel
