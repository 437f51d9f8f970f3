"""The kernels of trees go through NVRTC for every selective algebra and dtype, which needs no GPU."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.sparse.trees import PER, ROUNDS, THREADS, WARP, lowering_for, source
from semiring.kernels.facts import DeviceFacts

SELECTIVE = [S for S in sr.catalogue.values() if S.traced and S.selective]


def sources() -> list[str]:
    known = DeviceFacts(largest=2**10, least=0)
    return [source(lowering_for(S, d, known, 10), i % 2 == 1) for S in SELECTIVE for i, d in enumerate(S.dtypes)
            if d.kind not in "Oc"]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", ["compute_80", "compute_90a"])
def test_every_kernel_compiles(architecture: str) -> None:
    texts = dict.fromkeys(sources())
    assert len(texts) > 25 and len({"BACKWARDS = true" in t for t in texts}) == 2
    assert nvrtc.complaints(texts, *OPTIONS, f"--gpu-architecture={architecture}", "--device-debug") == []


@pytest.mark.slow
@needs_compiler
def test_kernels_become_machine_code_and_broken_ones_are_noticed() -> None:
    for S, dtype in ((sr.min_plus, "f4"), (sr.shortest_hops, sr.shortest_hops.dtypes[0]), (sr.max_min, "f2")):
        text = source(lowering_for(S, np.dtype(dtype), DeviceFacts(largest=1, least=0), 10), True)
        assert not nvrtc.complaint(text, *OPTIONS, "--gpu-architecture=sm_90a")
    broken = text.replace("DEVICE Value plus(", "DEVICE Value other(")
    assert "sparse/trees.cu(" in nvrtc.complaint(broken, *OPTIONS)


def test_floats_stay_as_they_are_and_constants_are_those_of_the_source() -> None:
    for S in (sr.min_plus, sr.max_min):
        assert lowering_for(S, np.dtype("f4"), DeviceFacts(largest=1, least=0), 10).is_identity
    text = source(lowering_for(sr.min_plus, np.dtype("f4"), DeviceFacts(largest=1, least=0), 10), False)
    for name, value in (("THREADS", THREADS), ("WARP", WARP), ("PER", PER), ("ROUNDS", ROUNDS)):
        assert f"constexpr int {name} = {value};" in text
