"""Sources of products of sequences, and of chains of rows: their numbers, and that a compiler accepts them."""

from __future__ import annotations

from itertools import product

import numpy as np
import oracle
import pytest
import strategies
from gpu import nvrtc

import semiring as sr
from semiring.kernels.cuda.choose import choose, general_on_device
from semiring.kernels.cuda.compile.chains import SHARED, STATIC_SHARED, chain_geometry, chain_source
from semiring.kernels.cuda.compile.program import OPTIONS, program
from semiring.kernels.cuda.compile.steps import step_geometry, step_source
from semiring.kernels.facts import DeviceFacts

NAMES = [name for name, S in sr.catalogue.items() if S.traced]


@pytest.mark.parametrize("size", [1, 2, 4, 8, 12, 16, 32])
def test_geometries_fit_in_shared_memory(size: int) -> None:
    for weight, n, lines, alone in product((1.5, 40.0), range(1, 65), (1, 16, 64), (False, True)):
        g = chain_geometry(size, weight, n, lines, alone)
        if g is None:
            assert max(n, lines) * n * size > 8 << 10
            continue
        assert g.VECTOR * size <= max(16, size) and g.WIDTH % g.VECTOR == 0
        assert g.THREADS % g.GROUP == 0 and g.THREADS % 32 == 0 and g.GROUP & (g.GROUP - 1) == 0
        assert g.shared_bytes(size) <= STATIC_SHARED and g.RESIDENT * g.shared_bytes(size) <= max(SHARED, STATIC_SHARED)
        assert g.GROUP <= 32 or g.groups == 1, "several groups of a block do not meet at one barrier"


def test_what_fits() -> None:
    """Up to which orders, in single and in double precision."""
    most = {size: max(n for n in range(1, 65) if chain_geometry(size, 1.5, n, n, False)) for size in (4, 8)}
    assert most == {4: 60, 8: 42}


def test_a_source_says_what_it_is_for() -> None:
    low = general_on_device(sr.min_plus, np.dtype("f4"))
    g = chain_geometry(4, 2.0, 5, 5, False)
    assert g
    data, stored = chain_source(low, g, looks=True, reverse=False), chain_source(low, g, looks=False, reverse=True)
    assert "constexpr bool LOOKS = true;\n" in data and "constexpr bool REVERSE = false;\n" in data
    assert "constexpr bool LOOKS = false;\n" in stored and "constexpr bool REVERSE = true;\n" in stored
    assert g.constants() in data and "#define POWERS" not in data
    assert "#define POWERS" in chain_source(general_on_device(sr.log, np.dtype("f4")), g, True, False)


@pytest.mark.slow
@nvrtc.needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_every_kernel_compiles(name: str) -> None:
    """For data and for storage, from both ends, by runs and not."""
    S = sr.catalogue[name]
    if S.fields:
        (known,) = (A for A in oracle.ALGEBRAS.values() if A.base == name)
        dtypes = [S.resolve_dtype(d) for d in strategies.dtypes(known)]
    else:
        dtypes = [d for d in S.dtypes if d.kind != "c"]
    texts: dict[str, None] = {}
    for i, dtype in enumerate(dtypes):
        low = choose(S, dtype, DeviceFacts(largest=2**10, least=0), 9, in_place=False)
        text = program(low)
        for j, (looks, reverse) in enumerate(product((False, True), (False, True))):
            n = (5, 16, 8, 3)[(i + j) % 4]
            if g := chain_geometry(text.size, text.weight, n, n, alone=not looks):
                texts[chain_source(low, g, looks, reverse)] = None
        if step := step_geometry(text.size, text.weight, (5, 16, 8, 3)[i % 4]):
            texts[step_source(low, step)] = None
    assert texts
    assert nvrtc.complaints(texts, *OPTIONS, "--gpu-architecture=compute_80", "--device-debug") == []
