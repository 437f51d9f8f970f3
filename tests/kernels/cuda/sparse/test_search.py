"""The frontier's kernels go through NVRTC for every selective algebra and dtype, which needs no GPU."""

from __future__ import annotations

import numpy as np
import pytest
from gpu import nvrtc
from gpu.nvrtc import needs_compiler

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.sparse.search import CHUNK, THREADS, group_of, lowering_for, source
from semiring.kernels.facts import DeviceFacts, Facts

# Nothing is known; within [0, 1]; small sums; sums of 64 bits.
DATA = (
    DeviceFacts(largest=2**13, least=-(2**13)), DeviceFacts(largest=1, least=0), DeviceFacts(largest=2**10, least=0),
    DeviceFacts(largest=2**40, least=-(2**40)),
)
SELECTIVE = [name for name, S in sr.catalogue.items() if S.traced and S.selective and not S.fields]


def sources(S: sr.Semiring, dtype: np.dtype, groups: tuple[int, ...] = (1, 8, 32)) -> list[str]:
    lows = []
    for known in DATA:
        try:
            lows.append(choose(S, dtype, known, 2, in_place=False))
        except sr.SemiringError as e:
            assert "cpu" in str(e).lower()
    return [source(low, groups[i % len(groups)]) for i, low in enumerate(dict.fromkeys(lows))]


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("architecture", ["compute_80", "compute_89", "compute_90a"])
def test_every_kernel_compiles(architecture: str) -> None:
    texts = dict.fromkeys(t for name in SELECTIVE for d in sr.catalogue[name].dtypes
                          for t in sources(sr.catalogue[name], d))
    assert len(texts) > 40
    assert nvrtc.complaints(texts, *OPTIONS, f"--gpu-architecture={architecture}", "--device-debug") == []


@pytest.mark.slow
@needs_compiler
@pytest.mark.parametrize("group", [1, 2, 4, 8, 16, 32])
def test_kernels_become_machine_code(group: int) -> None:
    for dtype in ("f4", "f8", "u1"):
        text = source(choose(sr.max_min if dtype == "u1" else sr.min_plus, np.dtype(dtype), DATA[0], 2,
                             in_place=False), group)
        assert not nvrtc.complaint(text, *OPTIONS, "--gpu-architecture=sm_90a")


@needs_compiler
def test_a_broken_kernel_is_noticed() -> None:
    text = sources(sr.min_plus, np.dtype("f4"))[0]
    assert "sparse/search.cu(" in nvrtc.complaint(text.replace("DEVICE Value plus(", "DEVICE Value other("), *OPTIONS)
    assert "no such element or group" in nvrtc.complaint(text.replace("GROUP = 1;", "GROUP = 3;"), *OPTIONS)


def test_groups() -> None:
    assert [group_of(k) for k in (1, 2, 3, 8, 9, 31, 32, 33, 500)] == [1, 2, 4, 8, 16, 32, 32, 32, 32]
    text = sources(sr.min_plus, np.dtype("f4"))[0]
    assert f"CHUNK = {CHUNK};" in text and f"THREADS = {THREADS};" in text


def test_forms_follow_the_edges() -> None:
    def name(dtype: str, values: list, bounded: bool, n: int = 10) -> str:
        array = np.array(values, dtype)
        facts = Facts(largest=max(abs(x) for x in array.tolist()))
        return lowering_for(sr.min_plus, array, facts, n, bounded).name

    assert name("f4", [0, 3], True) == "bits of non-negative floats"
    assert name("f4", [-0.0, 3], True) == name("f4", [0, -3], False) == "general"
    assert name("i4", [1, 1000], True) == "uint16 sums"
    assert name("i4", [1, 1000], True, 10**5) == "int32 sums"
    assert name("i4", [-1, 1000], False) == "int32 sums"
    assert name("i4", [-1, 1000], False, 10**4) == "int64 sums"
    assert not lowering_for(sr.min_plus, np.array([-1, 1000], "i4"), Facts(largest=1000), 10, False).is_identity
    with pytest.raises(sr.SemiringError, match="device='cpu'"):
        name("i4", [-1, 2**30], False, 10**6)
