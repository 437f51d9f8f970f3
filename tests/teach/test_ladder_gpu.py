"""The rungs on a GPU: what they say of themselves and refuse, without one; and the first of them run on the host."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from gpu import compiled
from gpu.elements import assert_equal, closable, closure_reference, dtype_of

import semiring as sr
from semiring.kernels.cuda.dense.engine import CudaKernel
from semiring.kernels.cuda.lowering import CudaLowering
from semiring.operands.dense import Dense
from semiring.operands.device import Device
from semiring.solvers import cycles
from semiring.teach import ladder_gpu
from semiring.teach.ladder_gpu import GPU_RUNGS, diameter, with_next_hops
from semiring.teach.rung import Rung

BY_NAME = {rung.name: rung for rung in GPU_RUNGS}
OURS = [rung for rung in GPU_RUNGS if rung.year == 2026]
HISTORICAL = [rung for rung in GPU_RUNGS if rung.year < 2026 and not rung.name.startswith("buluc")
              and rung.name != "zuccato-lena-4"]  # whose graph needs a device


def test_listing_them_loads_no_cupy() -> None:
    code = "import sys, semiring.teach.ladder_gpu; raise SystemExit('cupy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_names_differ_and_years_rise() -> None:
    assert len(BY_NAME) == len(GPU_RUNGS)
    assert [rung.year for rung in GPU_RUNGS] == sorted(rung.year for rung in GPU_RUNGS)


@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
def test_each_has_a_page_of_code_and_says_what_limits_it(rung: Rung) -> None:
    assert rung.device == "gpu" and (import_module(rung.module).__doc__ or "").strip()
    for text in (rung.title, rung.source, rung.idea, rung.limit):
        assert text and "  " not in text
    if rung.year < 2026:
        assert rung.filled_in.endswith(".")


@pytest.mark.parametrize("rung", GPU_RUNGS, ids=lambda rung: rung.name)
def test_python_objects_and_complex_numbers_are_refused(rung: Rung) -> None:
    for S, dtype in ((sr.regex, "O"), (sr.plus_times, "c16")):
        assert rung.refuses(S, np.dtype(dtype), 10)


@pytest.mark.parametrize("name, S, dtype, why", [
    ("harish-narayanan", sr.plus_times, "f8", "selective"), ("kemp", sr.shortest_hops, None, "8 bytes"),
    ("tran-relaxation", sr.plus_times, "f4", "better of two walks"), ("deng", sr.plus_times, "f4", "idempotent"),
    ("look-ahead", sr.plus_times, "f4", "D D = D"), ("tensor-cores", sr.plus_times, "f4", "bits"),
    ("ordered-integers", sr.min_plus, "f4", "compare"), ("sixteen-bits", sr.min_plus, "f4", "16 bits"),
    ("three-operands", sr.min_plus, "f8", "three operands"), ("three-operands", sr.plus_times, "f4", "three operands"),
])
def test_laws_and_elements_that_a_rung_lacks_are_named(
    name: str, S: sr.Semiring, dtype: str | None, why: str
) -> None:
    reason = BY_NAME[name].refuses(S, dtype_of(S, dtype), 100)
    assert reason is not None and why in reason


@pytest.mark.parametrize("name, S, dtype", [
    ("harish-narayanan", sr.min_plus, "f4"), ("kemp", sr.max_min, "i8"), ("tran-relaxation", sr.shortest_hops, None),
    ("deng", sr.boolean, None), ("katz-kider", sr.plus_times, "f8"), ("zuccato-lena-4", sr.gf2, "u1"),
    ("look-ahead", sr.min_plus, "f8"), ("tensor-cores", sr.boolean, None), ("ordered-integers", sr.max_min, "f8"),
    ("sixteen-bits", sr.min_plus, "i4"), ("three-operands", sr.min_plus, "f4"), ("closure-gpu", sr.log, "f8"),
])
def test_what_a_rung_can_close(name: str, S: sr.Semiring, dtype: str | None) -> None:
    assert BY_NAME[name].refuses(S, dtype_of(S, dtype), 100) is None


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> compiled.Compiled:
    """Kernels run on the host; facts are gathered, and diagonals looked at, as those of the host's arrays are."""
    if not compiled.is_available():
        pytest.skip("there is no C++ compiler for the host")
    monkeypatch.setattr(Device, "facts", property(lambda self: Dense(np.array(self.array), self.S, "A").facts))
    monkeypatch.setattr(cycles, "improves_on_gpu", lambda low, work: True)
    monkeypatch.setattr(cycles, "to_host", np.array)
    monkeypatch.setattr(ladder_gpu, "to_host", np.array)
    monkeypatch.setattr(ladder_gpu, "array_kernel", CudaKernel)
    played = compiled.stand_in(monkeypatch, Path(tmp_path_factory.getbasetemp()))
    monkeypatch.setattr(CudaLowering, "encode", lambda self, array, copy: played.host.array(np.array(array)))
    return played


@pytest.mark.parametrize("rung", [
    pytest.param(rung, marks=() if i % 3 == 0 else pytest.mark.slow) for i, rung in enumerate(HISTORICAL)
], ids=lambda rung: rung.name)
def test_closures(host: compiled.Compiled, rung: Rung) -> None:
    for S, dtype, n in ((sr.min_plus, "f4", 45), (sr.plus_times, "f8", 33), (sr.boolean, None, 0)):
        A = closable(S, dtype_of(S, dtype), n, np.random.default_rng(n))
        if rung.refuses(S, A.dtype, n) is None:
            given = host.host.array(A)
            assert_equal(S, np.array(rung.close(given, S)), closure_reference(S, A))
            assert_equal(S, np.array(given), A)


@pytest.mark.parametrize("rung", HISTORICAL, ids=lambda rung: rung.name)
def test_a_cycle_that_improves_is_named(host: compiled.Compiled, rung: Rung) -> None:
    A = np.full((6, 6), np.inf, "f4")
    A[0, 1], A[1, 2], A[2, 1] = 1, 2, -3
    with pytest.raises(sr.NoClosureError) as raised:
        rung.close(host.host.array(A), sr.min_plus)
    assert raised.value.cycle is not None and set(raised.value.cycle) == {1, 2}


def test_next_hops_and_the_diameter(host: compiled.Compiled) -> None:
    A = np.full((40, 40), np.inf)
    A[np.arange(40), (np.arange(40) + 1) % 40] = 1
    values, hops = with_next_hops(host.host.array(A), sr.min_plus)
    assert values[3, 2] == 39 and hops[3, 2] == 4 and (np.array(hops).diagonal() == np.arange(40)).all()
    assert diameter(host.host.array(A), sr.min_plus) == 39
    assert with_next_hops(host.host.array(np.empty((0, 0))), sr.min_plus)[1].shape == (0, 0)
    A[5, 4], A[4, 5] = 0, 0
    with pytest.raises(sr.SemiringError, match="lead back"):
        with_next_hops(host.host.array(A), sr.min_plus)
    for verb in (with_next_hops, diameter):
        with pytest.raises(sr.LawError):
            verb(host.host.array(np.eye(3)), sr.plus_times)
