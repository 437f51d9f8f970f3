"""Sources of convolutions: their numbers, and that a compiler accepts them for every algebra and dtype."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.compile.convolution import convolution_geometry, convolution_source
from semiring.kernels.cuda.compile.geometry import LIGHT
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.facts import DeviceFacts

from .test_program import NAMES, QUICK, compile_all, dtypes, lowerings_of, needs_compiler


@pytest.mark.parametrize("size", [1, 2, 3, 4, 8, 12, 16, 24, 32, 40, 64, 128, 256])
@pytest.mark.parametrize("weight", [1, LIGHT, LIGHT + 1, 100])
def test_geometries_fit_in_shared_memory(size: int, weight: float) -> None:
    g = convolution_geometry(size, weight)
    assert g.VECTOR * size <= max(16, size) and g.RUN % g.VECTOR == g.DEPTH % g.RUN == 0
    assert g.shared_bytes(size) <= 48 << 10 and g.shared_bytes(size) * g.RESIDENT <= 227 << 10
    assert g.THREADS % 32 == 0 and g.THREADS * g.RESIDENT <= 2048


def test_a_source_says_whether_operands_are_exchanged() -> None:
    low = choose(sr.min_plus, np.dtype("f4"), DeviceFacts(), 3, in_place=False)
    for exchanged, text in ((True, "true"), (False, "false")):
        assert f"constexpr bool EXCHANGED = {text};\n" in convolution_source(low, exchanged)


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_convolutions_compile(name: str) -> None:
    """In every form of every algebra, of which forms of equal text are compiled once."""
    S = sr.catalogue[name]
    texts = {convolution_source(low, False): None for d in dtypes(S, name) for low in lowerings_of(S, d)}
    assert texts
    compile_all(list(texts), "--gpu-architecture=compute_80", *QUICK)


@needs_compiler
@pytest.mark.parametrize("dtype", ["f4", "f8", "u2", "i4"])
def test_short_operations_need_no_memory_for_registers(dtype: str) -> None:
    low = choose(sr.min_plus, np.dtype(dtype), DeviceFacts(largest=99, least=0), 3, in_place=False)
    options = (*OPTIONS, "--gpu-architecture=sm_90a", "--ptxas-options=-v")
    accepted, log = nvrtc.compile(convolution_source(low, True), options)
    assert accepted and log.count(" 0 bytes spill stores, 0 bytes spill loads") == 2
