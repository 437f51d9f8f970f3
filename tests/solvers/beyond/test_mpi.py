"""Closures by several processes of this machine: bits, errors, files, lost processes, going on from commits."""

from __future__ import annotations

import sys
import time
import types
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from together import CASES, is_the_closure, matrix, needs_mpi, run

import semiring as sr
from semiring.kernels.build import kernel
from semiring.kernels.facts import Facts
from semiring.kernels.lowering.general import general
from semiring.scale.ranks import BLAS_THREADS, using
from semiring.solvers.beyond.brought import SIDES, _side
from semiring.solvers.beyond.mpi import CLOSURE_ROWS
from semiring.solvers.cycles import judge

SIZES = [1, 2, 3, 4]


def fine(done: object, size: int) -> bool:
    """Whether all processes came to the end."""
    assert getattr(done, "returncode", 1) == 0, f"{done.stdout}\n{done.stderr}"  # type: ignore[attr-defined]
    return str(done.stdout).count("fine") == size  # type: ignore[attr-defined]


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", SIZES)
def test_any_algebra_by_any_number_of_processes(size: int) -> None:
    assert fine(run(size, "closures"), size)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", [3, 4])
def test_rows_in_and_rows_out(size: int) -> None:
    assert fine(run(size, "rows"), size)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", [1, 3, 4])
def test_walks_that_have_edges(size: int, tmp_path: Path) -> None:
    assert fine(run(size, "walks", tmp_path), size)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_tolerance(size: int, tmp_path: Path) -> None:
    assert fine(run(size, "tolerant", tmp_path), size)


@needs_mpi
def test_names_go_along_and_algebras_of_one_process() -> None:
    assert fine(run(2, "names"), 2)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", SIZES)
def test_the_plan_says_what_each_process_is_sent(size: int) -> None:
    assert fine(run(size, "planned"), size)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("ending", [".npy", ".zarr"])
def test_from_file_to_file(ending: str, tmp_path: Path) -> None:
    if ending == ".zarr":
        pytest.importorskip("zarr")
    assert fine(run(3, "files", tmp_path, ending), 3)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("size", [1, 3])
def test_the_same_error_on_every_process(size: int, tmp_path: Path) -> None:
    assert fine(run(size, "errors", tmp_path), size)


@pytest.mark.slow
@needs_mpi
def test_processes_share_a_machine() -> None:
    assert fine(run(2, "threads"), 2)


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("way", ["killed", "raised"])
def test_a_lost_process_ends_the_job(way: str, tmp_path: Path) -> None:
    done = run(3, "lost", way, tmp_path / "lost at")
    ended = time.time()
    assert done.returncode != 0, done.stderr
    assert ended - float((tmp_path / "lost at").read_text()) < 5
    assert way == "killed" or "rank 0 of 3 failed, which ends the job" in done.stderr


@pytest.mark.slow
@needs_mpi
@pytest.mark.parametrize("name", ["lengths", "inverses", "widths", "truths", "records"])
def test_what_a_lost_process_leaves_is_gone_on_with(name: str, tmp_path: Path) -> None:
    S, dtype = next((S, dtype) for other, S, dtype in CASES if other == name)
    A, path, out = matrix(S, 130, dtype), tmp_path / f"{name}.npy", tmp_path / "c.npy"
    np.save(path, A)
    assert run(2, "resumed", path, out, "killed").returncode != 0
    partial = tmp_path / "c.npy.partial"
    assert (partial / "manifest.json").exists() and not out.exists()
    refused = run(3, "resumed", path, out, "not")
    assert refused.returncode != 0 and "was begun with ranks 2, but now it is 3" in refused.stderr
    with pytest.raises(sr.SemiringError, match="was begun with method 'blocked, spread'"):
        sr.closure(path, S, out=out, resume=True, memory="8M")
    assert fine(run(2, "resumed", path, out, "not"), 2)
    assert is_the_closure(np.load(out), A, S) and not partial.exists()


def test_what_is_not_a_connection_is_refused() -> None:
    for on in ("mpi", 3, object()):
        with pytest.raises(sr.SemiringError, match=r"on must be what sr\.connect"):
            sr.closure(np.eye(2), sr.min_plus, on=on)  # type: ignore[call-overload]


def test_tiles_are_as_large_as_leaves_all_with_work() -> None:
    assert _side(8192, 2, None) == 512 and _side(8192, 4, None) == 512 and _side(10**6, 4, None) == SIDES[0]
    assert _side(5, 64, None) == SIDES[-1] and _side(100, 2, 17) == 32


def test_rounding_is_told_from_cycles_where_nobody_has_the_matrix() -> None:
    low = general(sr.min_plus, np.dtype("f8"))
    facts = Facts(largest=1.0)
    found = judge(low, np.array([0.0, -1e-16, 0.0]), None, facts, None, doubt=CLOSURE_ROWS)
    assert found.rounded == [(1, 1)] and found.error is None and not found.unstable
    error = judge(low, np.array([0.0, -1e-16, -0.5]), None, facts, None, doubt=CLOSURE_ROWS).error
    assert "through vertex 2" in str(error) and CLOSURE_ROWS in str(error)


def test_an_engine_has_its_own_number_of_threads_again() -> None:
    low = general(sr.plus_times, np.dtype("f8"))
    engine = kernel(low)
    before = engine.threads  # type: ignore[attr-defined]
    with using(engine, low, 7):
        assert engine.threads == 7  # type: ignore[attr-defined]
    assert engine.threads == before  # type: ignore[attr-defined]


def test_a_library_has_no_more_threads_than_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, str]] = []
    bounded = types.SimpleNamespace(threadpool_limits=lambda limits, user_api: nullcontext(asked(limits, user_api)))

    def asked(count: int, library: str) -> None:
        limits.append((count, library))

    blas, others = (general(S, np.dtype("f8")) for S in (sr.plus_times, sr.min_plus))
    monkeypatch.setitem(sys.modules, "threadpoolctl", bounded)
    for low in (blas, others):
        with using(kernel(low), low, 1):
            pass
    assert limits == [(1, "blas")]
    monkeypatch.setitem(sys.modules, "threadpoolctl", None)
    monkeypatch.setenv("SEMIRING_NUM_THREADS", "4")
    for name in BLAS_THREADS:
        monkeypatch.delenv(name, raising=False)
    wanted = "with 4 threads, and 2 would be its share: pip install threadpoolctl"
    with pytest.warns(sr.SemiringWarning, match=wanted), using(kernel(blas), blas, 2):
        pass
    monkeypatch.setenv(BLAS_THREADS[0], "2")
    with using(kernel(blas), blas, 2):
        pass
