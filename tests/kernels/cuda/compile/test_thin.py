"""Sources of small and thin products: their numbers, what a part of them says, and that a compiler accepts them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from gpu import nvrtc

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.program import OPTIONS, program
from semiring.kernels.cuda.compile.thin import thin_geometries, thin_source
from semiring.kernels.facts import DeviceFacts


@pytest.mark.parametrize("size", [1, 2, 4, 8, 12, 16])
def test_geometries_load_at_most_16_bytes_at_once_and_fit_in_shared_memory(size: int) -> None:
    for weight, powers in product((1.5, 40.0), (False, True)):
        for g in thin_geometries(size, weight, powers):
            assert g.VECTOR * size <= max(16, size)
            assert g.SHARED * g.RESIDENT <= 227 << 10 and g.THREADS * g.RESIDENT <= 2048


def test_a_source_says_what_it_is_for() -> None:
    low = general_on_device(sr.min_plus, np.dtype("i4"))
    g = thin_geometries(4, 2.0, False)[0]
    stack, vectors = thin_source(low, g, "STACK", looks=True), thin_source(low, g, "VECTORS", looks=False, left=False)
    assert "#define STACK\n" in stack and "#define FACTS\n" in stack and "constexpr bool LOOKS = true;\n" in stack
    assert "#define VECTORS\n" in vectors and "#define FLAGS_ONLY\n" in vectors
    assert "constexpr bool LOOKS = false;\n" in vectors and "constexpr bool MATRIX_LEFT = false;\n" in vectors
    assert g.constants() in stack and g.constants() in vectors


@nvrtc.needs_compiler
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_sums_of_powers_compile(dtype: str) -> None:
    low = choose(sr.log, np.dtype(dtype), DeviceFacts(), 2, in_place=False)
    text = program(low)
    for g in thin_geometries(text.size, text.weight, powers=True)[1:]:
        source = thin_source(low, g, "VECTORS", looks=True)
        assert "#define POWERS\n" in source
        assert not nvrtc.complaint(source, *OPTIONS, "--gpu-architecture=compute_90a", "--device-debug")
