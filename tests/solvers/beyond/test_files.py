"""Closures from file to file: the closures of the other ways, within little memory, through power cuts."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import semiring as sr
from semiring.algebra.vectors import convert
from semiring.kernels.build import kernel
from semiring.kernels.cuda import choose as on_gpu
from semiring.kernels.cuda import lowering
from semiring.kernels.cuda.compile import launch
from semiring.kernels.cuda.dense import arena, carry, engine
from semiring.kernels.lowering.general import general
from semiring.machine import memory
from semiring.operands import devices
from semiring.operands.sparse import Sparse
from semiring.scale import scratch, stores
from semiring.scale.arena import HostArena
from semiring.scale.executor import Executor
from semiring.scale.scratch import Scratch, read_manifest
from semiring.scale.stores import Output
from semiring.solvers.beyond import files, levels

SMALL = 64 * 64 * 8 * 24  # bytes
ON_DEVICE = 1 << 20  # bytes of a GPU


def matrix(S: sr.Semiring, n: int, dtype: Any, seed: int = 0) -> np.ndarray:
    random = np.random.default_rng(seed)
    A = np.full((n, n), S.zero_in(dtype), dtype)
    edges = random.random((n, n)) < 0.1
    weights = random.integers(1, 50, (n, n))
    if dtype.names:
        A[dtype.names[0]][edges], A[dtype.names[1]][edges] = weights[edges], 1
    elif S is sr.plus_times:
        A[edges] = weights[edges] / (100 * n)
    else:
        A[edges] = weights[edges] % 2 == 1 if dtype.kind == "b" else weights[edges]
    return A


CASES = [(sr.min_plus, "f4"), (sr.min_plus, "i4"), (sr.plus_times, "f8"), (sr.max_min, "f8"), (sr.boolean, "?"),
         (sr.shortest_count, sr.shortest_count.default_dtype), (sr.min_max, "i2")]


@pytest.mark.parametrize(("S", "dtype"), CASES, ids=lambda x: getattr(x, "name", str(x))[:12])
@pytest.mark.parametrize("ending", [".npy", ".zarr"])
def test_it_is_the_closure(S: sr.Semiring, dtype: Any, ending: str, tmp_path: Path) -> None:
    if ending == ".zarr":
        pytest.importorskip("zarr")
    if ending == ".zarr" and np.dtype(dtype).names:
        pytest.skip("zarr has no records")
    A = matrix(S, 150, np.dtype(dtype))
    np.save(tmp_path / "w.npy", A)
    found = sr.closure(tmp_path / "w.npy", S, out=tmp_path / f"c{ending}", tile=32, memory=SMALL)
    expected = sr.closure(A, S)
    assert found.dtype == expected.dtype
    if A.dtype.kind == "f":
        np.testing.assert_allclose(found[:], expected, rtol=1e-6)
    else:
        assert (found[:] == expected).all()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["w.npy", f"c{ending}"])
    assert np.array_equal(np.load(tmp_path / "w.npy"), A)


@pytest.mark.parametrize("method", files.METHODS)
@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 100])
def test_every_size_by_every_method(method: str, n: int, tmp_path: Path) -> None:
    A = matrix(sr.plus_times, n, np.dtype("f8"))
    found = sr.closure(A, sr.plus_times, method=method, out=tmp_path / "c.npy", tile=32, memory=SMALL)
    np.testing.assert_allclose(found, sr.closure(A, sr.plus_times), rtol=1e-12)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is the host's memory, with lowerings for a GPU that are computed as the general ones of the host are."""
    def host(low: Any) -> Any:
        return general(low.algebra, low.dtype).interpreted

    for module, values in {
        levels: {"build_kernel": lambda low: kernel(host(low) if low.on_gpu else low),
                 "available_on_device": lambda: ON_DEVICE},
        memory: {"available_on_device": lambda: ON_DEVICE},
        lowering.CudaLowering: {"decode": lambda low, elements: host(low).decode(elements)},
        carry: {"Pinned": Unpinned, "carry": copied, "stage": copied,
                "taken_in": lambda low, A, out: np.copyto(out, host(low).encode(A, True)),
                "encoded": lambda low, values: host(low).encode(values, True)},
        arena: {"GpuArena": HostArena},
        engine: {"device_name": lambda: "faked"},
        launch: {"current_device": lambda: 0},
        on_gpu: {"choose": lambda S, dtype, *_, **__: on_gpu.general_on_device(S, dtype)},
        devices: {"gpu_name": lambda: "faked"},
    }.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)


class Unpinned(carry.Pinned):
    """CUDA is not asked."""

    def __init__(self) -> None:
        self._arrays, self._work, self._begun = [], [], threading.Event()

    def __exit__(self, *_: object) -> None:
        self.wait()

    def _pin(self, array: np.ndarray, fresh: bool) -> None:
        assert fresh and self._begun.is_set()


def copied(source: np.ndarray, target: np.ndarray) -> None:
    assert source.shape == target.shape and source.dtype == target.dtype
    target[...] = source


@pytest.mark.parametrize(("S", "dtype"), [case for case in CASES if case[0] is not sr.boolean],
                         ids=lambda x: getattr(x, "name", str(x))[:12])
def test_tiles_go_to_a_gpu(S: sr.Semiring, dtype: Any, gpu: None, tmp_path: Path) -> None:
    A = matrix(S, 150, np.dtype(dtype))
    np.save(tmp_path / "w.npy", A)
    asked: dict[str, Any] = {"out": tmp_path / "c.npy", "tile": 32, "memory": SMALL, "device": "gpu"}
    plan = sr.plan("closure", tmp_path / "w.npy", S, **asked)
    assert plan.lowering.on_gpu and "host's memory to the GPU" in str(plan)
    assert {"bus", "predicted"} <= set(plan.rows())
    found = sr.closure(tmp_path / "w.npy", S, **asked, checkpoint=1e-9)
    expected = sr.closure(A, S)
    if A.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    else:
        assert (found == expected).all()
    assert np.array_equal(np.load(tmp_path / "w.npy"), A)


@pytest.mark.parametrize("n", [0, 1, 2, 127, 128, 129])
def test_a_gpu_takes_every_size(n: int, gpu: None, tmp_path: Path) -> None:
    A = matrix(sr.min_plus, n, np.dtype("f4"))
    found = sr.closure(A, sr.min_plus, out=tmp_path / "c.npy", device="gpu", checkpoint=60)
    assert np.array_equal(found, sr.closure(A, sr.min_plus)) and [p.name for p in tmp_path.iterdir()] == ["c.npy"]


def test_too_little_memory_of_the_host_is_told(gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(sr.SemiringError, match=r"needs \S+ [KM]iB of memory and 1000 bytes is available"):
        sr.closure(np.zeros((200, 200), "f4"), sr.min_plus, out=tmp_path / "c.npy", device="gpu", memory="4M")
    assert list(tmp_path.iterdir()) == []


def test_walks_with_an_edge_by_a_gpu(gpu: None, tmp_path: Path) -> None:
    A = matrix(sr.min_plus, 150, np.dtype("f4"))
    found = sr.closure(A, sr.min_plus, out=tmp_path / "c.npy", tile=32, memory=SMALL, device="gpu", reflexive=False)
    assert np.array_equal(found, sr.closure(A, sr.min_plus, reflexive=False))


def test_next_hops_follow_from_what_a_gpu_computed(gpu: None, tmp_path: Path) -> None:
    A = matrix(sr.min_plus, 70, np.dtype("f4"))
    found = sr.paths(A, sr.min_plus, out=tmp_path / "d.npy", next_hops=tmp_path / "p.npy", device="gpu")
    expected = sr.paths(A, sr.min_plus, out=tmp_path / "e.npy", next_hops=tmp_path / "q.npy")
    assert np.array_equal(found.weights, expected.weights) and np.array_equal(found.next_hop, expected.next_hop)


def test_what_has_no_closure_on_a_gpu(gpu: None, tmp_path: Path) -> None:
    A = np.full((100, 100), np.inf)
    A[70, 80], A[80, 70] = 1.0, -2.0
    asked: dict[str, Any] = {"out": tmp_path / "c.npy", "tile": 32, "memory": SMALL, "device": "gpu"}
    with pytest.raises(sr.NoClosureError, match="of weight -1 is"):
        sr.closure(A, sr.min_plus, **asked)
    with pytest.raises(sr.NoClosureError, match="star of an element that has none"):
        sr.closure(np.eye(100), sr.plus_times, **asked)
    assert list(tmp_path.iterdir()) == []


# Tiles that fit on the GPU and on the host: many numbers with one algebra and one method, one pair with the others.
SLOW = pytest.mark.slow
MOVED = [
    pytest.param(S, dtype, there, beside, method, id=f"{S.name}-{there}-{beside}-{method}",
                 marks=() if (S is sr.min_plus and method == "blocked") or (there, beside) == (30, 8) else SLOW)
    for S, dtype in ((sr.min_plus, "f4"), (sr.plus_times, "f8"), (sr.shortest_count, None))
    for there in (12, 30, 200) for beside in (0, 1, 8, 400) for method in files.METHODS
]


@pytest.mark.parametrize(("S", "dtype", "there", "beside", "method"), MOVED)
def test_what_moves_over_the_disk_and_the_bus_is_what_was_planned(
    S: sr.Semiring, dtype: Any, there: int, beside: int, method: str, gpu: None, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever fits where; and the closure is that of the host."""
    A = matrix(S, 150, np.dtype(dtype or S.default_dtype))
    tile = 16 * 16 * A.dtype.itemsize
    monkeypatch.setattr(levels, "available_on_device", lambda: int(there * tile / levels.SHARE) + 1)
    asked: dict[str, Any] = {"out": tmp_path / "c.npy", "tile": 16, "method": method}
    runs: list[Executor] = []
    real = Executor.run
    monkeypatch.setattr(Executor, "run", lambda run: (runs.append(run), real(run)))
    plan = sr.plan("closure", A, S, **asked, device="gpu", memory=tile * (beside + 2 * levels.MOVERS))
    found = plan.run()
    (run,) = runs
    assert run.moved == run.plan.moved
    assert run.plan.held <= beside and plan.host <= tile * (beside + 2 * levels.MOVERS)
    assert (run.plan.held > 0) == (beside > 0 and there < 200), "with room for all on the GPU nothing is held"
    assert plan.bus == tile * sum(run.moved.values())
    assert plan.read + plan.written == tile * sum(k for (_, place), k in run.moved.items() if place != "host")
    if beside == 400:
        assert run.plan.slots == 0, "the disk holds nothing"
    np.testing.assert_allclose(*(x if dtype else x["cost" if "cost" in x.dtype.names else x.dtype.names[0]]
                                 for x in (found, sr.closure(A, S))), rtol=1e-6)


def test_tiles_are_as_large_as_both_memories_let_them(
    gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    A = np.zeros((2100, 2100), np.float32)

    def tile(host: str, there: int) -> Any:
        monkeypatch.setattr(levels, "available_on_device", lambda: there << 20)
        return sr.plan("closure", A, sr.min_plus, out=tmp_path / "c.npy", memory=host, device="gpu").tile

    assert [tile("400M", there) for there in (8, 16)] == [128, 256]
    assert [tile(host, 1000) for host in ("2M", "6M")] == [128, 256]
    with pytest.raises(sr.SemiringError, match=r"GPU's memory hold 0 tiles of 128 × 128: at least 576.0 KiB are"):
        tile("400M", 0)
    with pytest.raises(sr.SemiringError, match="of the host does not hold 8 tiles of 128 × 128 on their way"):
        tile("100K", 1000)


@pytest.mark.usefixtures("quick_commits")
@pytest.mark.parametrize("S", [sr.plus_times, sr.min_plus], ids=lambda S: S.name)
@pytest.mark.parametrize("beside", [8, *(pytest.param(n, marks=SLOW) for n in (0, 60))])
@pytest.mark.parametrize("often", [1e-9, 0.02])
def test_a_gpu_goes_on_from_the_last_commit(
    S: sr.Semiring, beside: int, often: float, gpu: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it stops, also with tiles that are nowhere but in the host's memory."""
    A = matrix(S, 100, np.dtype("f8"))
    tile = 16 * 16 * 8
    monkeypatch.setattr(levels, "available_on_device", lambda: int(14 * tile / levels.SHARE) + 1)
    options = {"A": A, "S": S, "out": tmp_path / "c.npy", "tile": 16, "device": "gpu",
               "memory": tile * (beside + 2 * levels.MOVERS)}
    expected = np.array(sr.closure(**options))
    (tmp_path / "c.npy").unlink()
    for at in (0.1, 0.25, 0.3, 0.5, 0.7, 0.71, 0.95):
        interrupted(at, **options, checkpoint=often, resume=True)
    assert np.array_equal(sr.closure(**options, resume=True), expected)
    assert [p.name for p in tmp_path.iterdir()] == ["c.npy"]


def test_what_a_gpu_began_is_not_gone_on_with_by_the_cpu(gpu: None, tmp_path: Path) -> None:
    A = matrix(sr.min_plus, 100, np.dtype("f4"))
    asked: dict[str, Any] = {"out": tmp_path / "c.npy", "tile": 32, "memory": SMALL, "checkpoint": 1e-9}

    class Stop(Exception):
        pass

    def stop(part: float) -> None:
        if part > 0.5:
            raise Stop

    with pytest.raises(Stop):
        sr.closure(A, sr.min_plus, **asked, device="gpu", progress=stop)
    with pytest.raises(sr.SemiringError, match="was begun with form"):
        sr.closure(A, sr.min_plus, **asked, resume=True)
    found = sr.closure(A, sr.min_plus, **asked, device="gpu", resume=True)
    np.testing.assert_array_equal(found, sr.closure(A, sr.min_plus))


def test_whatever_stands_for_a_matrix(tmp_path: Path) -> None:
    edges = [("a", "b", 3.0), ("b", "c", 4.0)]
    A = sr.adjacency(edges, sr.min_plus)
    np.save(tmp_path / "w.npy", np.asarray(A))
    given: list[Any] = [A, sr.as_graph(edges), np.asarray(A), str(tmp_path / "w.npy"), tmp_path / "w.npy"]
    zarr, h5py = pytest.importorskip("zarr"), pytest.importorskip("h5py")
    given.append(zarr.array(np.asarray(A)))
    with h5py.File(tmp_path / "w.h5", "w") as file:
        file["w"] = np.asarray(A)
        for one in [*given, file["w"]]:
            found = sr.closure(one, sr.min_plus, out=tmp_path / "c.npy")
            assert found[0, 2] == 7
    assert sr.closure(tmp_path / "w.npy", sr.min_plus)[0, 2] == 7  # into memory


LAYOUTS: list[tuple[sr.Semiring, Any]] = [
    (sr.min_plus, ">f8"), (sr.min_plus, ">f4"), (sr.max_min, ">i4"),
    (sr.shortest_count, [("dist", "f8"), ("count", "f8")]), (sr.shortest_count, [("count", ">f4"), ("dist", ">f4")])]


@pytest.mark.parametrize("reflexive", [True, False])
@pytest.mark.parametrize("given", ["path", "array"])
@pytest.mark.parametrize(("S", "layout"), LAYOUTS, ids=str)
def test_the_order_of_bytes_and_the_layout_of_records_stay(
    S: sr.Semiring, layout: Any, given: str, reflexive: bool, tmp_path: Path
) -> None:
    plain = matrix(S, 70, S.resolve_dtype(layout))
    A = convert(plain, np.dtype(layout))
    np.save(tmp_path / "w.npy", A)
    source = A if given == "array" else tmp_path / "w.npy"
    expected = sr.closure(plain, S, reflexive=reflexive)
    kept = {"out": tmp_path / "c.npy", "tile": 32, "memory": SMALL, "checkpoint": 1e-9}
    found = sr.closure(source, S, reflexive=reflexive, **kept)
    assert found.dtype == A.dtype == np.load(tmp_path / "c.npy").dtype
    assert np.array_equal(convert(np.array(found), plain.dtype), expected)
    assert sr.closure(source, S, reflexive=reflexive).dtype == A.dtype, "into memory"


def test_another_order_of_bytes_goes_on_from_the_last_commit(tmp_path: Path) -> None:
    A = matrix(sr.min_plus, 100, np.dtype("f8")).astype(">f8")
    options = {"A": A, "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32, "memory": SMALL}
    interrupted(0.5, **options, checkpoint=1e-9, resume=True)
    found = sr.closure(**options, resume=True)
    assert found.dtype == A.dtype
    assert np.array_equal(found, sr.closure(A, sr.min_plus))


def test_refusals(tmp_path: Path) -> None:
    A = np.zeros((4, 4))
    out = tmp_path / "c.npy"
    for options, why in (
        ({"overwrite": True}, "leave out"), ({"on_divergence": "mask"}, "has no option 'on_divergence'"),
        ({"max_edges": 2}, "leave out"), ({"method": "squaring"}, "must be r-kleene"), ({"memory": 100}, "are needed"),
    ):
        with pytest.raises(sr.SemiringError, match=why):
            sr.closure(A, sr.min_plus, out=out, **options)
    with pytest.raises(sr.SemiringError, match="Python objects"):
        sr.closure(sr.adjacency([("a", "b", frozenset({(1, 2)}))], sr.pareto), out=out)
    with pytest.raises(sr.SemiringError, match="no such file"):
        sr.closure("nowhere.npy", sr.min_plus, out=out)
    A[3, 2] = np.nan
    with pytest.raises(sr.SemiringError, match="NaN"):
        sr.closure(A, sr.min_plus, out=out)
    assert list(tmp_path.iterdir()) == []


def test_no_closure_leaves_nothing(tmp_path: Path) -> None:
    A = np.full((100, 100), np.inf)
    A[70, 80], A[80, 70] = 1.0, -2.0
    with pytest.raises(sr.NoClosureError, match=r"the cycle (70 → 80 → 70|80 → 70 → 80) of weight -1 is"):
        sr.closure(A, sr.min_plus, out=tmp_path / "c.npy", tile=32, memory=SMALL)
    with pytest.raises(sr.NoClosureError, match=r"I − A is singular: .* cycle (\d+) → \1 of weight 1 has"):
        sr.closure(np.eye(100), sr.plus_times, out=tmp_path / "c.npy", tile=32, memory=SMALL)
    assert list(tmp_path.iterdir()) == []


def test_a_cycle_that_only_rounding_improves_is_none(tmp_path: Path) -> None:
    A = np.full((40, 40), np.inf)
    A[0, 1], A[1, 2], A[2, 0] = 0.1, 0.2, -0.30000000000000004
    A[5, 6], A[6, 5] = 0.7, -0.7
    found = sr.closure(A, sr.min_plus, out=tmp_path / "c.npy", tile=16, memory=SMALL)
    assert (found.diagonal() == 0).all()


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_walks_over_log_whose_sum_rounding_hides_are_endless(dtype: str, tmp_path: Path) -> None:
    """As in memory: all walks within the first part, and from it on; others have a sum."""
    with np.errstate(divide="ignore"):
        A = np.log(np.array([[0.7, 0.3, 0.5, 0], [0.9, 0.1, 0, 0], [0, 0, 0.25, 0], [0, 0, 0, 0.5]])).astype(dtype)
    for reflexive in (True, False):
        found = np.array(sr.closure(A, sr.log, out=tmp_path / "c.npy", reflexive=reflexive))
        np.testing.assert_allclose(found, sr.closure(A, sr.log, reflexive=reflexive), rtol=1e-5)
        assert np.isinf(found[:2, :3]).all() and np.isfinite(found.diagonal()[2:]).all()


def test_input_and_output_are_two(tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.zeros((4, 4)))
    (tmp_path / "link.npy").symlink_to(tmp_path / "w.npy")
    for out in ("w.npy", "link.npy"):
        with pytest.raises(sr.SemiringError, match="is the file of A, which would be overwritten"):
            sr.closure(tmp_path / "w.npy", sr.min_plus, out=tmp_path / out)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.npy", "w.npy"]


def test_the_place_of_what_is_no_element_is_that_in_the_matrix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stores, "SLAB_BYTES", 8 * 40 * 7)  # seven rows at once
    A = np.zeros((40, 40))
    A[30, 2] = np.nan
    np.save(tmp_path / "w.npy", A)
    with pytest.raises(sr.SemiringError, match=r"^A\[30, 2\] is NaN"):
        sr.closure(tmp_path / "w.npy", sr.min_plus, out=tmp_path / "c.npy")
    A[30, 2] = -1
    np.save(tmp_path / "w.npy", A)
    with pytest.raises(sr.SemiringError, match=r"^A\[30, 2\] is -1"):
        sr.closure(tmp_path / "w.npy", sr.viterbi, out=tmp_path / "c.npy")


def test_a_result_without_a_value_is_told_by_its_place(tmp_path: Path) -> None:
    A = np.zeros((70, 70))
    A[50, 51] = A[50, 52] = A[53, 60] = 1e200
    A[51, 53], A[52, 53] = 1e200, -1e200
    with pytest.raises(sr.SemiringError, match=r"no value at \[50, 53\]"):
        sr.closure(A, sr.plus_times, out=tmp_path / "c.npy", tile=16, memory=SMALL)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("given", ["graph", "csr"])
def test_a_sparse_matrix_is_never_dense(given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    A = matrix(sr.min_plus, 150, np.dtype("f8"))
    tails, heads = np.nonzero(np.isfinite(A))
    made = sr.Graph(tails, heads, 150, A[tails, heads]) if given == "graph" else sparse.csr_array(
        (A[tails, heads], (tails, heads)), shape=A.shape)

    def whole(self: Any) -> None:
        raise AssertionError("the whole matrix was made")

    with monkeypatch.context() as patched:
        patched.setattr(Sparse, "array", whole)
        found = sr.closure(made, sr.min_plus, out=tmp_path / "c.npy", tile=32, memory=SMALL)
    assert np.array_equal(found, sr.closure(A, sr.min_plus))


@pytest.mark.skipif(not Path("/dev/shm").is_dir() or os.name == "nt", reason="needs a limit on the size of files")
def test_a_limit_on_files_is_told(tmp_path: Path) -> None:
    """What writes meet in earnest: not a bus error, which is what a map of the file would end in."""
    code = f"""
import resource, signal, numpy as np, semiring as sr
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    sr.closure(np.zeros((200, 200)), sr.min_plus, out={str(tmp_path / "c.npy")!r}, tile=32, memory={SMALL})
except sr.SemiringError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "nothing is kept" in done.stdout, done.stderr[-1000:]
    assert list(tmp_path.iterdir()) == []


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    options = {"A": matrix(sr.min_plus, 100, np.dtype("f8")), "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32}
    refused = []

    def second(part: float) -> None:
        if not refused:
            try:
                sr.closure(**options, resume=True)
            except sr.SemiringError as error:
                refused.append(str(error))

    sr.closure(**options, progress=second)
    assert "another process is working" in refused[0]


# Power cuts

@pytest.fixture
def quick_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commits at every operation need not wait for a disk if no power cut is feared."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(os, "fdatasync", lambda _: None, raising=False)
    monkeypatch.setattr(Output, "sync", lambda _: None)


def interrupted(at: float, **options: Any) -> None:
    """A closure that stops at a share of the work, as if somebody had pressed Ctrl-C."""
    def tell(part: float) -> None:
        if part >= at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sr.closure(progress=tell, **options)


@pytest.mark.usefixtures("quick_commits")
def test_it_goes_on_from_the_last_commit(tmp_path: Path) -> None:
    A = matrix(sr.plus_times, 200, np.dtype("f8"))
    np.save(tmp_path / "w.npy", A)
    options = {"A": tmp_path / "w.npy", "S": sr.plus_times, "out": tmp_path / "c.npy", "tile": 32, "memory": SMALL}
    expected = np.array(sr.closure(**options))
    (tmp_path / "c.npy").unlink()
    done = []
    for at in (0.2, 0.5, 0.9):
        interrupted(at, **options, checkpoint=1e-9, resume=True)
        saved = read_manifest(tmp_path / "c.npy.partial")
        assert saved is not None
        done.append(saved["operation"])
        assert not (tmp_path / "c.npy").exists()
    assert done == sorted(set(done))
    with pytest.raises(sr.SemiringError, match="holds an unfinished closure"):
        sr.closure(**options)
    parts: list[float] = []
    found = sr.closure(**options, checkpoint=10, resume=True, progress=parts.append)
    assert parts[0] > 0.85
    assert np.array_equal(found, expected)


@pytest.mark.usefixtures("quick_commits")
@pytest.mark.parametrize(("change", "named"), [
    ({"A": "other.npy"}, "input"), ({"S": sr.max_min}, "algebra"), ({"method": "blocked"}, "method"),
    ({"tile": 16}, "tile"), ({"memory": SMALL // 4}, "tiles that take"), ({"A": np.zeros((100, 100))}, "input"),
])
def test_another_input_or_algebra_is_not_gone_on_with(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    A = matrix(sr.min_plus, 100, np.dtype("f8"))
    for name in ("w.npy", "other.npy"):
        np.save(tmp_path / name, A)
    options = {"A": tmp_path / "w.npy", "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32, "memory": SMALL}
    interrupted(0.5, **options, checkpoint=1e-9)
    change = {name: tmp_path / x if isinstance(x, str) and name == "A" else x for name, x in change.items()}
    with pytest.raises(sr.SemiringError, match=f"was begun with {named}"):
        sr.closure(**{**options, **change}, resume=True)
    assert sr.closure(**options, resume=True).shape == (100, 100)


@pytest.mark.usefixtures("quick_commits")
def test_an_array_with_other_elements_is_not_gone_on_with(tmp_path: Path) -> None:
    A = matrix(sr.min_plus, 100, np.dtype("f8"))
    options = {"S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32, "memory": SMALL}
    interrupted(0.5, A=A, **options, checkpoint=1e-9)
    with pytest.raises(sr.SemiringError, match="was begun with input"):
        sr.closure(2 * A, **options, resume=True)
    assert np.array_equal(sr.closure(A.copy(), **options, resume=True), sr.closure(A, sr.min_plus))


WALKS = [(sr.min_plus, "f4"), (sr.plus_times, "f8"), (sr.max_min, "f8"), (sr.boolean, "?"), (sr.min_max, "i2"),
         (sr.shortest_count, sr.shortest_count.default_dtype)]


def with_edges_only(S: sr.Semiring, A: np.ndarray, closed: np.ndarray) -> np.ndarray:
    """A A*, one term after the other."""
    T, n = S.over(A.dtype), len(A)
    X = np.full((n, n), S.zero_in(A.dtype), A.dtype)
    for k in range(n):
        X = T.add(X, T.mul(A[:, k, None], closed[None, k]))
    return X


@pytest.mark.parametrize(("S", "dtype"), WALKS, ids=lambda x: getattr(x, "name", str(x))[:12])
@pytest.mark.parametrize("given", ["file", "array", "graph"])
def test_walks_with_an_edge(S: sr.Semiring, dtype: Any, given: str, tmp_path: Path) -> None:
    A = matrix(S, 150, np.dtype(dtype))
    A[:, 0] = S.zero_in(A.dtype)  # no walk leads back to the first vertex
    np.save(tmp_path / "w.npy", A)
    absent = np.full((), S.zero_in(A.dtype), A.dtype)
    tails, heads = np.nonzero(absent != A)
    source = {"file": tmp_path / "w.npy", "array": A, "graph": sr.Graph(tails, heads, 150, A[tails, heads])}[given]
    found = sr.closure(source, S, out=tmp_path / "c.npy", tile=32, memory=SMALL, reflexive=False)
    expected = with_edges_only(S, A, sr.closure(A, S))
    assert found.dtype == expected.dtype
    if A.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-5)
    else:
        assert (found == expected).all()
    assert found[0, 0] == absent


@pytest.mark.usefixtures("quick_commits")
@pytest.mark.parametrize("S", [sr.plus_times, sr.min_plus, sr.max_min], ids=lambda S: S.name)
def test_walks_with_an_edge_go_on_from_the_last_commit(
    S: sr.Semiring, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed on the way, when half of the new diagonal is in its place, and when all is."""
    A = matrix(S, 100, np.dtype("f8"))
    options = {"A": A, "S": S, "out": tmp_path / "c.npy", "tile": 32, "memory": SMALL, "reflexive": False}
    expected = np.array(sr.closure(**options))
    (tmp_path / "c.npy").unlink()
    for at in (0.3, 0.8):
        interrupted(at, **options, checkpoint=1e-9, resume=True)
    with pytest.raises(sr.SemiringError, match="was begun with reflexive False"):
        sr.closure(**{**options, "reflexive": True}, resume=True)

    def half(output: Output, places: Any, values: np.ndarray) -> None:
        for v in range(0, 100, 2):
            output.write_block(slice(v, v + 1), slice(v, v + 1), values[v : v + 1, None])
        raise KeyboardInterrupt

    for again in ({}, {"checkpoint": 1e-9}):  # also where the second run makes no commits of its own
        with monkeypatch.context() as killed:
            killed.setattr(Output, "write_diagonal", half)
            with pytest.raises(KeyboardInterrupt):
                sr.closure(**options, **again, resume=True)
    assert np.array_equal(sr.closure(**options, resume=True), expected)
    assert [p.name for p in tmp_path.iterdir()] == ["c.npy"]


def prices(n: int) -> np.ndarray:
    """Differences of heights, each rounded: cycles improve by roundings."""
    height = np.random.default_rng(1).normal(size=n)
    return np.round(height[:, None] - height, 4)


def by_definition(A: np.ndarray) -> np.ndarray:
    D = np.minimum(A, np.where(np.eye(len(A), dtype=bool), 0, np.inf))
    for k in range(len(A)):
        D = np.minimum(D, D[:, k, None] + D[None, k])
    return D


@pytest.mark.parametrize("given", ["file", "array", "graph", "zarr"])
def test_a_tolerance(given: str, tmp_path: Path) -> None:
    if given == "zarr":
        pytest.importorskip("zarr")
    A = prices(70)
    np.save(tmp_path / "w.npy", A)
    tails, heads = np.nonzero(np.isfinite(A))
    source = {"array": A, "graph": sr.Graph(tails, heads, 70, A[tails, heads])}.get(given, tmp_path / "w.npy")
    options: dict[str, Any] = {"out": tmp_path / f"c.{'zarr' if given == 'zarr' else 'npy'}", "tile": 32,
                               "memory": SMALL}
    with pytest.raises(sr.NoClosureError):
        sr.closure(source, sr.min_plus, **options)
    with pytest.raises(sr.NoClosureError):
        sr.closure(source, sr.min_plus, **options, tol=1e-7)
    assert [p.name for p in tmp_path.iterdir()] == ["w.npy"]
    found = sr.closure(source, sr.min_plus, **options, tol=1e-3)
    np.testing.assert_allclose(found[:], by_definition(A + 1e-3), rtol=1e-12, atol=1e-12)
    walks = sr.closure(source, sr.min_plus, **options, tol=1e-3, reflexive=False)
    assert np.allclose(walks[:], sr.closure(A + 1e-3, sr.min_plus, reflexive=False), rtol=1e-12, atol=1e-12)
    B = matrix(sr.min_plus, 70, np.dtype("f8"))  # which has a closure, and is not touched
    assert np.array_equal(sr.closure(B, sr.min_plus, **options, tol=1.0)[:], sr.closure(B, sr.min_plus))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["w.npy", options["out"].name])


@pytest.mark.usefixtures("quick_commits")
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_a_tolerance_goes_on_from_the_last_commit(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in the first attempt, between both, and in the second one, which does not begin with the first again."""
    if ending == "zarr":
        pytest.importorskip("zarr")
    A = prices(100)
    options = {"A": A, "S": sr.min_plus, "out": tmp_path / f"c.{ending}", "tile": 32, "memory": SMALL, "tol": 1e-3}
    interrupted(0.5, **options, checkpoint=1e-9)
    for change, named in (({"tol": 1e-2}, "tol 0.001"), ({"tol": None}, "tol 0.001")):
        with pytest.raises(sr.SemiringError, match=f"was begun with {named}"):
            sr.closure(**{**options, **change}, resume=True)
    with monkeypatch.context() as killed:
        killed.setattr(files, "clear_files", lambda folder: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sr.closure(**options, checkpoint=1e-9, resume=True)
    saved = read_manifest(tmp_path / f"c.{ending}.partial")
    assert saved is not None and saved["loosened"] and saved["fresh"]
    interrupted(0.5, **options, checkpoint=1e-9, resume=True)
    saved = read_manifest(tmp_path / f"c.{ending}.partial")
    assert saved is not None and saved["loosened"] and saved["operation"] > 0 and "fresh" not in saved
    parts: list[float] = []
    found = sr.closure(**options, resume=True, progress=parts.append)
    assert parts[0] >= 0.4 and parts == sorted(parts)
    np.testing.assert_allclose(found[:], by_definition(A + 1e-3), rtol=1e-12, atol=1e-12)
    assert [p.name for p in tmp_path.iterdir()] == [f"c.{ending}"]


def test_what_has_no_tolerance(tmp_path: Path) -> None:
    for S, dtype, why in ((sr.plus_times, "f8", "needs a selective ⊕"), (sr.min_plus, "i4", "are exact")):
        with pytest.raises(sr.SemiringError, match=why):
            sr.closure(matrix(S, 10, np.dtype(dtype)), S, out=tmp_path / "c.npy", tol=0.1)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_without_commits_leaves_nothing(tmp_path: Path) -> None:
    interrupted(0.5, A=matrix(sr.min_plus, 100, np.dtype("f8")), S=sr.min_plus, out=tmp_path / "c.npy", tile=32)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("quick_commits")
def test_another_version_is_not_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"A": matrix(sr.min_plus, 100, np.dtype("f8")), "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32}
    interrupted(0.5, **options, checkpoint=1e-9)
    monkeypatch.setattr(scratch, "__version__", "9.9")
    with pytest.raises(sr.SemiringError, match="was begun with library"):
        sr.closure(**options, resume=True)


@pytest.mark.usefixtures("quick_commits")
def test_a_full_disk_keeps_the_last_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"A": matrix(sr.min_plus, 200, np.dtype("f8")), "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32,
               "memory": SMALL}
    expected = np.array(sr.closure(**options))
    (tmp_path / "c.npy").unlink()
    writes, real = iter(range(10_000)), Scratch.write

    def full(self: Scratch, cell: int, elements: np.ndarray) -> None:
        if next(writes) > 60:
            raise OSError(errno.ENOSPC, "no space")
        real(self, cell, elements)

    with monkeypatch.context() as patched:
        patched.setattr(Scratch, "write", full)
        with pytest.raises(sr.SemiringError, match=r"the disk is full; \d+ of \d+ operations are kept"):
            sr.closure(**options, checkpoint=1e-9)
    assert np.array_equal(sr.closure(**options, resume=True), expected)


@pytest.mark.parametrize("when", ["before there is an output", "when the output is in its place"])
def test_killed_at_the_first_or_the_last_moment(when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"A": matrix(sr.min_plus, 100, np.dtype("f8")), "S": sr.min_plus, "out": tmp_path / "c.npy", "tile": 32,
               "checkpoint": 10.0}
    expected = sr.closure(options["A"], sr.min_plus)
    patched = {"before": "Output", "when t": "clear"}[when[:6]]
    with monkeypatch.context() as killed:
        if patched == "Output":
            killed.setattr(files, "Output", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        else:
            real = files.clear
            killed.setattr(files, "clear", lambda folder, **how: real(folder, **how)
                           if not (tmp_path / "c.npy").exists() else (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            sr.closure(**options)
    np.testing.assert_allclose(sr.closure(**options, resume=True), expected)
    assert [p.name for p in tmp_path.iterdir()] == ["c.npy"]


KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
import numpy as np
import semiring as sr

name, folder, kills, more, other = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), *map(json.loads, sys.argv[4:6])
S, walks = sr.catalogue[name], sys.argv[6] == "paths"
item = S.default_dtype.itemsize
options = dict(memory=128 * 128 * item * 48, **more) if walks else dict(tile=128, memory=128 * 128 * item * 30, **more)


def call(A, out, **options):
    if walks:
        return sr.paths(A, S, out=out, next_hops=out.with_suffix(".hops.npy"), **options)
    return sr.closure(A, S, out=out, **options)


call(np.load(folder / "w.npy")[:200, :200], folder / "warm.npy", **options)  # compiles, or loads


def child(out, **more):
    pid = os.fork()
    if pid == 0:
        call(folder / "w.npy", out, **options, **more)
        os._exit(0)
    return pid


start = time.monotonic()
os.waitpid(child(folder / "alone.npy"), 0)
whole = time.monotonic() - start
random.seed(name)
done, rounds, refused, loosened = 0, 0, set(), 0
folder_of_killed = folder / "killed.npy.partial"
manifest = folder_of_killed / "manifest.json"
ends = ["", ".hops"] if walks else [""]


def until_done():
    global done, loosened, whole
    last, before = (False, 0, 0), done
    while True:
        pid = child(folder / "killed.npy", checkpoint=whole / 8, resume=True)
        if done < kills:
            time.sleep(random.uniform(0, 0.5) * whole)
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        if status == 0:
            if before == done < kills:
                whole /= 2  # it was as a whole faster than the first: kills came too late
            return
        assert os.WIFSIGNALED(status), status
        done += 1
        if not manifest.exists() and (folder / "killed.npy").exists():
            return  # it was killed when all was done
        if not manifest.exists() or done - before > 6:
            whole *= 1.5  # kills come too early: nothing was saved, or little each time
        if manifest.exists():
            saved = json.loads(manifest.read_text())
            now = saved["loosened"], saved["operation"], saved.get("columns", 0)
            assert now >= last, (now, last)
            last, loosened = now, loosened + saved["loosened"]
            refuse_others(saved)


def refuse_others(saved):
    for key, value in other.items():
        try:
            call(folder / "w.npy", folder / "killed.npy", **{**options, key: value}, resume=True)
        except sr.SemiringError as error:
            assert f"was begun with {key} {more.get(key)!r}, but now it is {value!r}" in str(error), error
            refused.add(key)
        else:
            raise AssertionError(key)
        assert json.loads(manifest.read_text()) == saved


while done < kills:
    until_done()
    rounds += 1
    for end in ends:
        assert (folder / f"alone{end}.npy").read_bytes() == (folder / f"killed{end}.npy").read_bytes(), end
        (folder / f"killed{end}.npy").unlink()
    for left in folder_of_killed.iterdir() if folder_of_killed.exists() else ():
        assert left.name == "lock", left
print(done, rounds, len(refused) == len(other), loosened)
"""


def killed(name: str, folder: Path, more: dict[str, Any], other: dict[str, Any], verb: str = "closure") -> int:
    """Twenty times SIGKILL, and answers have the same bits as one that was left alone; how often edges were worse."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, name, str(folder), "20", json.dumps(more), json.dumps(other), verb],
        capture_output=True, text=True, env={**os.environ, "SEMIRING_NUM_THREADS": "1"}, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    kills, rounds, refused, loosened = done.stdout.split()
    assert kills == "20" and int(rounds) > 0 and refused == "True"
    return int(loosened)


FIVE = ["min_plus", "plus_times", "max_min", "shortest_count", "counting"]


@pytest.mark.slow
@pytest.mark.parametrize("name", FIVE)
@pytest.mark.parametrize(("more", "other"), [({}, {}), ({"reflexive": False}, {"reflexive": True})],
                         ids=["whole", "with edges"])
def test_kills_at_random_moments(name: str, more: dict[str, Any], other: dict[str, Any], tmp_path: Path) -> None:
    S = sr.catalogue[name]
    A = matrix(S, 1024, S.default_dtype)
    if name == "counting":
        A = np.triu(A, 1) % 2
    np.save(tmp_path / "w.npy", A)
    assert killed(name, tmp_path, more, other) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["min_plus", "max_plus", "max_times", "min_times", "viterbi"])
@pytest.mark.parametrize("verb", ["closure", "paths"])
def test_kills_with_a_tolerance(name: str, verb: str, tmp_path: Path) -> None:
    """In both attempts, where cycles improve by roundings: in the carriers of the last two algebras none can."""
    random, n = np.random.default_rng(0), 1024 if verb == "closure" else 500
    height = random.normal(size=n)
    A = np.round(height[:, None] - height, 4)
    if name.endswith("times"):
        A = np.exp(A if name == "max_times" else np.abs(A))
    elif name == "viterbi":
        A = np.exp(-np.abs(A))
    A[random.random((n, n)) < 0.5] = sr.catalogue[name].zero
    np.save(tmp_path / "w.npy", A)
    asked: dict[str, Any] = {"tol": 0.01}
    other: dict[str, Any] = {"tol": 0.02}
    if verb == "closure":
        asked["reflexive"], other["reflexive"] = True, False
    loosened = killed(name, tmp_path, asked, other, verb)
    assert (loosened > 0) == (name in ("min_plus", "max_plus", "max_times"))
