"""Kernels of fronts go through NVRTC for every algebra; what is compiled ahead."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.sparse import front_code
from semiring.kernels.cuda.sparse.front_code import source


def sources() -> list[str]:
    # Bits and objects have other ways.
    return [source(general_on_device(S, d), i % 2 == 1) for S in sr.catalogue.values() if S.traced
            for i, d in enumerate(S.dtypes) if d.kind not in "Oc"]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", ["compute_80", "compute_90a"])
def test_every_kernel_compiles(architecture: str) -> None:
    texts = dict.fromkeys(sources())
    assert len(texts) > 30 and len({"BY_COLUMNS = true" in t for t in texts}) == 2
    assert nvrtc.complaints(texts, *OPTIONS, f"--gpu-architecture={architecture}", "--device-debug") == []


@pytest.mark.slow
@needs_compiler
def test_kernels_become_machine_code_and_broken_ones_are_noticed() -> None:
    for S, dtype in ((sr.min_plus, "f4"), (sr.shortest_hops, sr.shortest_hops.dtypes[0]), (sr.log, "f8")):
        text = source(general_on_device(S, np.dtype(dtype)), True)
        assert not nvrtc.complaint(text, *OPTIONS, "--gpu-architecture=sm_90a")
    broken = text.replace("DEVICE Value plus(", "DEVICE Value other(")
    assert "sparse/fronts.cu(" in nvrtc.complaint(broken, *OPTIONS)


def test_the_numbers_are_those_of_the_source() -> None:
    text = source(general_on_device(sr.min_plus, np.dtype("f4")), False)
    for name in ("LONGEST", "SQUARE", "MOST", "TOGETHER"):
        assert f"{name} = {getattr(front_code, name)};" in text
    assert f"__launch_bounds__({front_code.ASSEMBLERS}) assemble" in text


def test_what_is_compiled_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    """A context is made meanwhile; kernels of large fronts are compiled where such are likely."""
    begun: list[Any] = []
    contexts: list[int] = []
    monkeypatch.setattr(front_code, "compile_ahead", lambda some: begun.extend(some))
    monkeypatch.setattr(front_code, "begin_context", lambda: contexts.append(0))
    monkeypatch.setattr(front_code, "function", lambda low, name, threads: name)
    monkeypatch.setattr(front_code, "array_kernel", lambda low: SimpleNamespace(
        picks="pick", for_front=lambda s, u: [f"front {s} {u}", "product"]))
    front_code.begin_large.cache_clear()
    small = ["up", "down", "eliminate", "spread", "begin", "collect"]
    low = general_on_device(sr.min_plus, np.dtype("f4"))
    front_code.begin_kernels(low, 100)
    assert begun == small and contexts == [0]
    begun.clear()
    front_code.begin_kernels(low, 1 << 20)
    assert begun == [*small, "assemble", "pick", "front 128 128", "product", "front 48 192"]
