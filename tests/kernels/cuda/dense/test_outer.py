"""Products by element on the device: the kernel runs on the host, and compiles for GPUs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gpu import nvrtc
from gpu.compiled import Compiled, is_available
from gpu.host import Host

import semiring as sr
from semiring.kernels.cuda.choose import general_on_device
from semiring.kernels.cuda.compile.program import OPTIONS
from semiring.kernels.cuda.dense import outer


@pytest.mark.skipif(not is_available(), reason="there is no compiler for the host")
@pytest.mark.parametrize("S", [sr.min_plus, sr.plus_times], ids=lambda S: S.name)
def test_arrays_broadcast(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, S: sr.Semiring) -> None:
    host = Host(None)
    host.stand_in(monkeypatch)
    monkeypatch.setattr(outer, "Module", Compiled(host, tmp_path).module)
    monkeypatch.setattr(outer, "multiprocessors", lambda: 1)
    outer._function.cache_clear()
    low, rng = general_on_device(S, np.dtype("f8")), np.random.default_rng(0)
    shapes = ((), ()), ((7,), (1,)), ((4, 1, 6), (1, 5, 6)), ((3, 4, 1), (1, 1, 9)), ((70, 90),) * 2, ((0, 3), (1, 3))
    for a, b in shapes:
        A, B = (rng.integers(0, 9, shape).astype("f8") for shape in (a, b))
        A[rng.random(a) < 0.3] = S.zero
        x, y = host.array(np.asfortranarray(A).T).T, host.array(B)
        found = outer.outer(low, x if A.ndim else host.array(A), y)
        np.testing.assert_array_equal(np.array(found), S.over("f8").mul(A, B))
    outer._function.cache_clear()


@nvrtc.needs_compiler
@pytest.mark.parametrize("name", [name for name, S in sr.catalogue.items() if S.traced])
def test_the_kernel_compiles(name: str) -> None:
    S = sr.catalogue[name]
    text = outer.source(general_on_device(S, S.default_dtype))
    assert not nvrtc.complaint(text, *OPTIONS, "--gpu-architecture=compute_80", "--device-debug")
