"""Every operation on every dtype goes through NVRTC, which needs no GPU; tests/gpu runs the same text."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.test_operations import DTYPES, cases, text_of

from semiring.algebra.operations import OPERATIONS
from semiring.kernels.cuda.compile import rules
from semiring.kernels.cuda.compile.program import OPTIONS

pytestmark = nvrtc.needs_compiler
OPTIONS_HERE = (*OPTIONS, "--gpu-architecture=compute_80", "--device-debug")


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_operation_compiles(dtype: np.dtype) -> None:
    accepted, log = nvrtc.compile(text_of(dtype, cases(dtype)), OPTIONS_HERE)
    assert accepted and not log.strip("\0 \n"), log


def test_every_operation_is_tried_in_some_dtype() -> None:
    assert {op for dtype in DTYPES for op in cases(dtype)} == set(OPERATIONS) == set(rules.CUDA.table)


def test_an_operation_that_is_missing_is_noticed() -> None:
    text = text_of(np.dtype("f4"), cases(np.dtype("f4"))).replace("ops::hypot(", "ops::hypotenuse(")
    accepted, log = nvrtc.compile(text, OPTIONS_HERE)
    assert not accepted and "hypotenuse" in log
