"""The sparse product's kernel goes through NVRTC for every algebra and dtype, which needs no GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.sparse.product import lanes_of, lowering_for, source, with_zero
from semiring.kernels.facts import DeviceFacts

DATA = (DeviceFacts(largest=2**10, least=0), DeviceFacts(largest=2**40, least=-(2**40)))
TRACED = [name for name, S in sr.catalogue.items() if S.traced]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", ["compute_80", "compute_89", "compute_90a"])
def test_every_kernel_compiles(architecture: str) -> None:
    texts: dict[str, None] = {}
    for name in TRACED:
        for dtype in sr.catalogue[name].dtypes:
            for known in DATA:
                try:
                    texts[source(lowering_for(sr.catalogue[name], dtype, known), *lanes_of(64))] = None
                except sr.SemiringError as e:
                    assert "cpu" in str(e).lower()
    assert len(texts) > 60
    assert nvrtc.complaints(texts, *OPTIONS, f"--gpu-architecture={architecture}", "--device-debug") == []


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("width", [1, 3, 32, 64, 1000])
def test_the_kernel_becomes_machine_code(width: int) -> None:
    text = source(lowering_for(sr.min_plus, np.dtype("f4"), DATA[0]), *lanes_of(width))
    accepted, log = nvrtc.compile(text, (*OPTIONS, "--gpu-architecture=sm_90a"))
    assert accepted, log
    assert not nvrtc.compile(text.replace("Value relax(", "Value other("), OPTIONS)[0]


def test_lanes() -> None:
    assert [lanes_of(w) for w in (1, 2, 3, 20, 32, 33, 64, 65, 1000)] == [
        (1, 1), (2, 1), (4, 1), (32, 1), (32, 1), (32, 2), (32, 2), (32, 4), (32, 4),
    ]


def test_floats_stay_as_they_are() -> None:
    """An encoding would be one more pass over the dense operand."""
    assert choose(sr.max_min, np.dtype("f4"), DATA[0], 3, in_place=False).name == "ordered integers"
    assert lowering_for(sr.max_min, np.dtype("f4"), DATA[0]).is_identity
    assert not lowering_for(sr.min_plus, np.dtype("i4"), DATA[0]).is_identity


def test_zeros_between_the_entries_are_reckoned_with() -> None:
    """What no entry reaches is the infinity of the storage, which must not be handed out as it is."""
    known = DeviceFacts(largest=10**6, least=-5)
    assert choose(sr.min_plus, np.dtype("i4"), known, 3, in_place=False).is_identity
    assert not lowering_for(sr.min_plus, np.dtype("i4"), known).is_identity
    assert with_zero(sr.min_plus, np.dtype("f4"), known) == replace(known, high_limit=True)
    assert with_zero(sr.max_plus, np.dtype("i4"), known) == replace(known, low_limit=True)
    assert with_zero(sr.plus_times, np.dtype("f8"), known) == known
