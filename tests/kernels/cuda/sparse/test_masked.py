"""The wanted entries of products on the device: the kernels run on the host, and compile for GPUs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gpu import nvrtc
from gpu.compiled import Compiled, is_available
from gpu.host import Host
from scipy.sparse import csr_array

import semiring as sr
from semiring.kernels.cuda.choose import choose
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.sparse import masked
from semiring.kernels.cuda.sparse.product import DeviceRows, lowering_for
from semiring.kernels.facts import DeviceFacts

played = pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Host:
    host = Host(None)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(masked, "Module", Compiled(host, tmp_path).module)
    monkeypatch.setattr(masked, "multiprocessors", lambda: 1)
    for cached in (masked._module, masked._function):
        cached.cache_clear()
    return host


def rows_of(rng: np.random.Generator, m: int, n: int, density: float) -> csr_array:
    return csr_array(rng.integers(1, 9, (m, n)) * (rng.random((m, n)) < density), dtype="f8")


@played
@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
def test_dot_products_of_arrays(host: Host, S: sr.Semiring) -> None:
    rng, low = np.random.default_rng(0), choose(S, np.dtype("f8"), DeviceFacts(), 3, in_place=False)
    for m, k, n in ((3, 5, 4), (1, 200, 1), (90, 33, 70), (4, 0, 4)):
        A, B = (rng.integers(0, 9, shape).astype("f8") for shape in ((m, k), (k, n)))
        at = np.nonzero(rng.random((m, n)) < 0.5)
        found = masked.dots(low, host.array(A), host.array(B.T).T, tuple(host.array(x.astype("i4")) for x in at))
        np.testing.assert_array_equal(np.array(found), sr.matmul(A, B, S)[at])


@played
@pytest.mark.parametrize("S", [sr.min_plus, sr.max_min], ids=lambda S: S.name)
def test_rows_meet_columns(host: Host, S: sr.Semiring) -> None:
    rng, low = np.random.default_rng(0), lowering_for(S, np.dtype("f8"), DeviceFacts())
    for m, k, n, a, b in ((3, 5, 4, 0.5, 0.5), (60, 300, 50, 0.02, 0.4), (60, 300, 50, 0.4, 0.02), (9, 9, 9, 0, 0.5)):
        A, B = rows_of(rng, m, k, a), rows_of(rng, k, n, b)
        at = np.nonzero(rng.random((m, n)) < 0.7)
        left, right = (
            DeviceRows(host.array(X.indptr.astype("i8")), host.array(X.indices.astype("i4")), host.array(X.data), k)
            for X in (A, csr_array(B.T))
        )
        found = masked.pairs(low, left, right, tuple(host.array(x.astype("i4")) for x in at))
        dense = [np.where(X.toarray() == 0, S.zero, X.toarray()) for X in (A, B)]
        np.testing.assert_array_equal(np.array(found), sr.matmul(*dense, S)[at])


@nvrtc.needs_compiler
@pytest.mark.parametrize("name", [name for name, S in sr.catalogue.items() if S.traced])
def test_the_kernels_compile(name: str) -> None:
    S = sr.catalogue[name]
    for known in (DeviceFacts(largest=2**10, least=0), DeviceFacts(largest=2**40, least=-(2**40))):
        try:
            text = masked.source(lowering_for(S, S.default_dtype, known))
        except sr.SemiringError as e:
            assert "cpu" in str(e).lower()
            continue
        assert not nvrtc.complaint(text, *OPTIONS, "--gpu-architecture=compute_80", "--device-debug")
