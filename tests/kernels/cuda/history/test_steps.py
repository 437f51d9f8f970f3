"""The engine without look-ahead is the engine, but for the order of a closure."""

from __future__ import annotations

import numpy as np

import semiring as sr
from semiring.kernels.cuda.choose import array_kernel, general_on_device
from semiring.kernels.cuda.history.steps import in_turn


def test_only_the_order_of_closures_changes() -> None:
    kernel = array_kernel(general_on_device(sr.min_plus, np.dtype("f4")))
    twin = in_turn(kernel)
    assert twin is not kernel and twin is in_turn(kernel)
    assert kernel.closure.idempotent and not twin.closure.idempotent
    assert twin.closure.product is kernel.closure.product and twin.program is kernel.program
