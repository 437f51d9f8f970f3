"""Log-sum-exp on the GPU: products of powers by cuBLAS."""

from __future__ import annotations

from typing import Any

from semiring.kernels.lowering.logsum import LogSum
from semiring.kernels.numpy.logsum import SIDE_ON_GPU, Library, LogSumProduct, in_turn

LEAST_TERMS = 100_000_000  # terms from which the thirty launches and the one wait of a product by powers repay


def log_sum_product(form: LogSum) -> LogSumProduct:
    """Products of stacks in device memory; see `semiring.kernels.numpy.logsum`. Each waits for the device once."""
    import cupy

    def multiply(c: Any, a: Any, b: Any) -> None:
        cupy.matmul(a, b, out=c)

    # There is no cache for strips to stay in.
    return LogSumProduct(form, Library(cupy, multiply, SIDE_ON_GPU, 1 << 62, 4, LEAST_TERMS, in_turn))
