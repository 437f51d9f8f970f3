"""Every kernel of the catalogue, every dtype and every variant goes through NVRTC, which needs no GPU."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import oracle
import pytest
import strategies
from gpu import nvrtc

import semiring as sr
from semiring.algebra.operations import OPERATIONS
from semiring.kernels.cuda.choose import choose, ranked
from semiring.kernels.cuda.compile import rules
from semiring.kernels.cuda.compile.program import (
    OPTIONS,
    Program,
    boolean_words,
    exchange_source,
    packed_program,
    product_geometries,
    program,
    rank_source,
    stack_geometry,
    word_filler,
)
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.kernels.facts import DeviceFacts

pytestmark = pytest.mark.skipif(not nvrtc.is_installed(), reason="the wheel nvidia-cuda-nvrtc is not installed")

# One for each lowering: nothing is known; within [0, 1]; sums below 32,767, unsigned and signed; sums of 64 bits.
DATA = (
    DeviceFacts(largest=2**13, least=-(2**13)), DeviceFacts(largest=1, least=0), DeviceFacts(largest=2**10, least=0),
    DeviceFacts(largest=2**20, least=-(2**20)), DeviceFacts(largest=2**40, least=-(2**40)),
)
NAMES = [name for name, S in sr.catalogue.items() if S.traced]
# Unoptimised code is made in a third of the time, and is made of the same text; a few are optimised as well.
QUICK = ("--device-debug",)
ARCHITECTURES = ("compute_80", "compute_89", "compute_90a")
OPTIMISED = [
    ("min_plus", "f4"), ("min_plus", "u2"), ("min_plus", "i4"), ("min_plus", "f8"), ("max_min", "f4"), ("k_best", None),
]


def dtypes(S: sr.Semiring, name: str) -> list[np.dtype]:
    if not S.fields:
        return list(S.dtypes)
    (known,) = (A for A in oracle.ALGEBRAS.values() if A.base == name)
    return [S.resolve_dtype(d) for d in strategies.dtypes(known)]


def lowerings_of(S: sr.Semiring, dtype: np.dtype) -> Iterator[CudaLowering]:
    """All lowerings that data of a dtype may get."""
    for known in DATA:
        try:
            yield choose(S, dtype, known, 2, in_place=False)
        except sr.SemiringError as e:
            assert "cpu" in str(e).lower()


def programs(S: sr.Semiring, dtype: np.dtype) -> Iterator[Program]:
    """The programs of those lowerings."""
    for low in lowerings_of(S, dtype):
        yield program(low)
        packed = packed_program(low)
        if packed:
            yield packed


def sources(text: Program) -> Iterator[str]:
    """Every variant of every kernel of a program."""
    for geometry in product_geometries(text.size, text.light):
        yield text.product(geometry, whole_tiles=False)
        if geometry.has_whole_tiles(text.size):
            yield text.product(geometry, whole_tiles=True)
    if "star(" in text.prelude:  # packed words only multiply
        yield text.panels()
        yield from (text.stack(stack_geometry(text.size, n, text.light)) for n in (32, 64, 128))
        yield text.elements()


def compile_all(texts: list[str], *options: str) -> None:
    def attempt(text: str) -> str:
        accepted, log = nvrtc.compile(text, (*OPTIONS, *options))
        return "" if accepted and not log.strip("\0 \n") else log + "\n…\n" + text[text.index('"prelude"') :][:2000]

    with ThreadPoolExecutor(4) as pool:
        complaints = [c for c in pool.map(attempt, texts) if c]
    assert not complaints, f"{len(complaints)} of {len(texts)} kernels: {complaints[0]}"


@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_compiles(name: str) -> None:
    """No text depends on the architecture, so that they are dealt out among these; all of min-plus go to each."""
    S = sr.catalogue[name]
    texts = list(dict.fromkeys(t for d in dtypes(S, name) for p in programs(S, d) for t in sources(p)))
    assert texts and not any("CUDA_ARCH" in text for text in texts)
    for i, architecture in enumerate(ARCHITECTURES):
        some = texts if name == "min_plus" else texts[i :: len(ARCHITECTURES)]
        compile_all(some, f"--gpu-architecture={architecture}", *QUICK)


@pytest.mark.parametrize(("name", "dtype"), OPTIMISED)
def test_kernels_become_machine_code(name: str, dtype: str | None) -> None:
    """With registers assigned, which rejects what does not fit in a block."""
    S = sr.catalogue[name]
    first = next(programs(S, S.default_dtype if dtype is None else np.dtype(dtype)))
    compile_all(list(sources(first)), "--gpu-architecture=sm_90a")


def test_words_and_ranks_compile() -> None:
    texts = [word_filler(np.dtype(d)) for d in ("?", "i2", "u2", "f2")] + list(sources(boolean_words()))
    texts += [rank_source(np.dtype(d)) for d in ("i4", "u4", "i8", "u8", "f4", "f8")]
    pairs = packed_program(choose(sr.min_plus, np.dtype("f2"), DATA[0], 2, in_place=False))
    assert pairs
    texts += list(sources(pairs))
    for up in (True, False):
        text = program(ranked(sr.max_min, np.dtype("f4"), up))
        texts += list(sources(text))
    compile_all(texts, "--gpu-architecture=compute_80", *QUICK)


@pytest.mark.parametrize("name", NAMES)
def test_ways_in_and_out_compile(name: str) -> None:
    """For each code of elements in storage: the same, ordered, with another infinity, of another width."""
    S = sr.catalogue[name]
    lowerings = [low for d in dtypes(S, name) for low in lowerings_of(S, d)]
    texts = dict.fromkeys(exchange_source(low) for low in lowerings)
    assert texts
    compile_all(list(texts), "--gpu-architecture=compute_80", *QUICK)


def test_a_broken_kernel_is_noticed() -> None:
    """The check can fail: a prelude that does not fit its kernel is refused, and the message cites the file."""
    text = program(choose(sr.min_plus, np.dtype("f4"), DATA[0], 2, in_place=False))
    broken = text.panels().replace("DEVICE Value star(", "DEVICE Value other(")
    accepted, log = nvrtc.compile(broken, (*OPTIONS, "--gpu-architecture=compute_80"))
    assert not accepted and "close.cu(" in log


def test_every_operation_has_a_rule() -> None:
    assert set(rules.CUDA.table) == set(OPERATIONS)


@pytest.mark.parametrize("size", range(1, 65))
@pytest.mark.parametrize("light", [True, False])
def test_shared_memory_fits_the_smallest_device(size: int, light: bool) -> None:
    """Compute capability 8.9 gives a block 99 KB."""
    from semiring.kernels.cuda.compile.program import panel_geometry

    limit = 99 << 10
    assert all(g.shared_bytes(size) <= limit for g in product_geometries(size, light))
    panels = panel_geometry(size, light)
    assert panels.shared_bytes(size) + 8 * panels.ORDER * size <= limit


def test_lowerings_follow_the_data() -> None:
    def name(S: sr.Semiring, dtype: str, **known: float) -> str:
        return choose(S, np.dtype(dtype), DeviceFacts(**known), 2, in_place=False).name

    twin = sr.Semiring("another name", add=np.minimum, mul=np.add, zero=np.inf, one=0)
    for S in (sr.min_plus, twin):
        assert name(S, "f4", largest=9, least=0, high_limit=True) == "bits of non-negative floats"
        assert name(S, "f4", largest=9, least=-1) == "general"
        assert name(S, "f4", largest=9, least=0, low_limit=True) == "general"
        assert name(S, "u2", largest=100, least=0) == "uint16 sums"
        assert name(S, "i4", largest=100, least=-1) == "int16 sums"
        assert name(S, "i4", largest=10**6, least=-1) == "int32 sums"
        assert name(S, "i4", largest=10**9, least=-1) == "int64 sums"
    assert name(sr.max_plus, "f4", largest=9, least=0, low_limit=True) == "bits of non-negative floats"
    assert name(sr.max_plus, "f4", largest=9, least=0, high_limit=True) == "general"
    assert name(sr.viterbi, "f4", largest=1, least=0) == "bits of non-negative floats"
    assert name(sr.max_times, "f4", largest=2, least=0) == "general"
    assert name(sr.max_min, "f4", largest=2, least=-3) == "ordered integers"
    with pytest.raises(sr.SemiringError, match="cpu"):
        name(sr.why, "O")
