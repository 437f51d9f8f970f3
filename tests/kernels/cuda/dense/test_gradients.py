"""The kernels of derivatives go through NVRTC, which needs no GPU; tests/gpu/test_torch.py runs them."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.dense.gradients import SIDE, THREADS, source

ALGEBRAS = [sr.log, sr.min_plus, sr.max_plus, sr.viterbi, sr.max_min, sr.min_max]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", ["compute_80", "sm_90a"])
@pytest.mark.parametrize("S", ALGEBRAS, ids=lambda S: S.name)
def test_the_kernels_compile_and_broken_ones_are_noticed(S: sr.Semiring, architecture: str) -> None:
    for dtype in (np.dtype("f4"), np.dtype("f8")):
        text = source(general_on_device(S, dtype), -1.0)
        assert not nvrtc.complaint(text, *OPTIONS, f"--gpu-architecture={architecture}")
    broken = text.replace("DEVICE Value times(", "DEVICE Value other(")
    assert "dense/gradients.cu(" in nvrtc.complaint(broken, *OPTIONS)


def test_constants_are_those_of_the_source() -> None:
    text = source(general_on_device(sr.log, np.dtype("f4")), 1.0)
    assert f"SIDE = {SIDE};" in text and f"THREADS = {THREADS};" in text
