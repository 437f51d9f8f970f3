"""Processes with a GPU each, played by threads and NumPy's arrays: closures, what is refused, who has which GPU."""

from __future__ import annotations

import dataclasses
import json
import platform
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from gpu.host import Host
from gpu.played import Dense
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scale.faked import FakedHost, FakedStream
from scale.played import World, together
from solvers.beyond.test_gpus import KINDS, Exchange, chosen, matrix
from strategies import nearly_consistent

import semiring as sr
from semiring.kernels.cuda.compile import streams
from semiring.kernels.cuda.dense import carry, closure, engine, product, rows
from semiring.machine import memory
from semiring.scale import rank_gpus
from semiring.scale.connection import MPI
from semiring.scale.rank_gpus import gpu_of
from semiring.scale.ranks import Agreed
from semiring.solvers.beyond import brought, mpi

FREE = 1 << 30  # bytes of each GPU


class Machine:
    """Where each thread's process runs: the name of its host, the GPUs that it sees, and whether they answer."""

    def __init__(self) -> None:
        self.hosts: list[str] = ["node0"] * 8
        self.seen: list[list[str]] = [["0:1", "0:2"]] * 8  # their places on the bus
        self.answers = False
        self.own = threading.local()

    def enter(self, rank: int) -> None:
        self.own.rank, self.own.device, self.own.host = rank, 0, FakedHost(rank, 0.3, self.answers)

    @contextmanager
    def device(self, number: int) -> Iterator[Any]:
        assert number < len(self.seen[self.own.rank])
        before, self.own.device = self.own.device, number
        try:
            yield
        finally:
            self.own.device = before

    def closures(self, size: int, call: Callable[[MPI], Any]) -> list[Any]:
        """What each process gets, or the error that it raises."""
        def one(world: World) -> Any:
            self.enter(world.rank)
            try:
                return call(MPI(world))
            except sr.SemiringError as e:
                return e

        return together(one, size)


class Device:
    """A GPU by its number: a context, and a place on the bus."""

    def __init__(self, machine: Machine, number: int):
        self.pci_bus_id = machine.seen[machine.own.rank][number]
        self._context = machine.device(number)

    def __enter__(self) -> None:
        self._context.__enter__()

    def __exit__(self, *_: object) -> None:
        self._context.__exit__(None, None, None)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Processes on one host with two GPUs."""
    made = Machine()
    cuda = SimpleNamespace(
        Device=lambda number: Device(made, number),
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
    )
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(empty=np.empty, cuda=cuda))
    for module, values in {
        streams: {"GpuStream": lambda device, urgent: FakedStream(made.own.host)},
        rows: {"download": lambda array, out: np.copyto(out, array)},
        carry: {"begin_carry": lambda source, target: np.copyto(target, source),
                "upload": np.array, "exchange": Exchange},
        brought: {"on_gpu": chosen, "ALIGNED_ON_GPU": 4, "gpu_count": lambda: len(made.seen[made.own.rank])},
        rank_gpus: {"pinned_memory": lambda: nullcontext(np.empty)},
        memory: {"available_on_device": lambda: FREE},
        platform: {"node": lambda: made.hosts[made.own.rank]},
    }.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    return made


def first(here: MPI, A: Any) -> Any:
    return A if here.rank == 0 else None


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("reflexive", [True, False])
@given(n=st.integers(0, 20), size=st.sampled_from([1, 2, 3, 4, 6]), seed=st.integers(0, 99), by_rows=st.booleans())
@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_answer_is_that_of_one_processor(
    name: str, reflexive: bool, machine: Machine, n: int, size: int, seed: int, by_rows: bool
) -> None:
    S = sr.catalogue[name]
    A = matrix(name, n, seed) if name != "boolean" else matrix(name, n, seed).astype(bool)
    kept, cuts = A.copy(), np.linspace(0, n, size + 1).astype(int)

    def call(here: MPI) -> Any:
        mine = here.rows(A[cuts[here.rank] : cuts[here.rank + 1]]) if by_rows else first(here, A)
        return sr.closure(mine, S, on=here, device="gpu", tile=4, reflexive=reflexive)

    found = machine.closures(size, call)
    assert by_rows or found[1:] == [None] * (size - 1)
    whole = np.concatenate(found) if by_rows else found[0]
    assert np.array_equal(A, kept) and whole.dtype == A.dtype
    expected = sr.closure(A, S, device="cpu", reflexive=reflexive)
    same = np.array_equal(whole, expected) if name not in ("plus_times", "log", "viterbi") else (
        np.allclose(whole, expected, rtol=1e-9))
    assert same, f"A = np.array({A.tolist()}, {A.dtype!s}); {size} processes"


@given(n=st.integers(2, 16), size=st.sampled_from([1, 2, 4]), seed=st.integers(0, 99), by_rows=st.booleans())
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_tolerance_is_that_of_one_processor(machine: Machine, n: int, size: int, seed: int, by_rows: bool) -> None:
    A, cuts = nearly_consistent(n, seed), np.linspace(0, n, size + 1).astype(int)

    def call(here: MPI) -> Any:
        mine = here.rows(A[cuts[here.rank] : cuts[here.rank + 1]]) if by_rows else first(here, A)
        return sr.closure(mine, sr.min_plus, on=here, device="gpu", tile=4, tol=0.002)

    found = machine.closures(size, call)
    whole = np.concatenate(found) if by_rows else found[0]
    np.testing.assert_allclose(whole, sr.closure(A, sr.min_plus, device="cpu", tol=0.002), rtol=0, atol=1e-12)
    A[0, 1] -= 1
    refused = machine.closures(size, call)
    assert {type(e) for e in refused} == {sr.NoClosureError}
    if not by_rows:  # the cycle weighs what it does on the edges as they were given
        with pytest.raises(sr.NoClosureError) as alone:
            sr.closure(A, sr.min_plus, device="cpu", tol=0.002)
        assert {e.weight for e in refused} == {alone.value.weight}


def test_errors_are_the_same_on_every_process(machine: Machine) -> None:
    machine.answers = True
    M = sr.adjacency([("a", "b", 1.0), ("b", "c", -3.0), ("c", "a", 1.0)], sr.min_plus)
    hole = np.zeros((9, 9))
    hole[6, 2] = np.nan
    for A, S, said in ((M, sr.min_plus, "improving"),
                       (np.diag([0.0, 0, 0, 0, 0, 1]), sr.plus_times, "I − A is singular: .* cycle 5 → 5 of weight 1"),
                       (np.array([[0.7, 0.3], [0.9, 0.1]]), sr.plus_times, "singular"),  # seen when the answer is whole
                       (hole, sr.min_plus, r"A\[6, 2\] is NaN"), (np.array([[1, 2]], object), sr.why, "objects")):
        found = machine.closures(
            4, lambda here, A=A, S=S: sr.closure(first(here, A), S, on=here, device="gpu", tile=4))
        assert len({(type(e), str(e)) for e in found}) == 1
        with pytest.raises(sr.SemiringError, match=said):
            raise found[0]


def test_from_file_to_file_with_commits(machine: Machine, tmp_path: Path) -> None:
    """A process that is lost after some of them; others go on there, and not with another device."""
    A = matrix("min_plus", 23, 0)
    np.save(tmp_path / "a.npy", A)

    class Lost(Exception):
        pass

    def closed(here: MPI, device: str | None = "gpu", lost: bool = False, **options: Any) -> Any:
        def report(part: float) -> None:
            if lost and part > 0.6:
                raise Lost

        return sr.closure(tmp_path / "a.npy", sr.min_plus, on=here, device=device, tile=4, out=tmp_path / "c.npy",
                          checkpoint=1e-9, resume=True, progress=report, **options)

    with pytest.raises(Lost):
        machine.closures(2, lambda here: closed(here, lost=here.rank == 0))
    assert (tmp_path / "c.npy.partial").exists()
    refused = machine.closures(2, lambda here: closed(here, reflexive=False))
    assert ["was begun with reflexive True, but now it is False" in str(e) for e in refused] == [True, True]
    refused = machine.closures(2, lambda here: closed(here, None))
    assert ["was begun with device 'gpu', but now it is 'cpu'" in str(e) for e in refused] == [True, True]
    for found in machine.closures(2, closed):
        np.testing.assert_array_equal(found, sr.closure(A, sr.min_plus))
    assert not (tmp_path / "c.npy.partial").exists()


def test_a_commit_says_that_edges_are_worse(machine: Machine, tmp_path: Path) -> None:
    """Lost after the matrix itself was known to have no closure: others go on with edges that are worse."""
    A, passes = nearly_consistent(23, 0), list[float]()
    np.save(tmp_path / "a.npy", A)

    def closed(here: MPI, report: Any, tol: float | None = 0.002) -> Any:
        return sr.closure(tmp_path / "a.npy", sr.min_plus, on=here, device="gpu", tile=4, out=tmp_path / "c.npy",
                          checkpoint=1e-9, resume=True, progress=report, tol=tol)

    def report(part: float) -> None:
        passes.append(part)
        if passes.count(1.0) and 0.6 < part < 1:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        machine.closures(2, lambda here: closed(here, here.rank == 0 and report))
    saved = json.loads((tmp_path / "c.npy.partial" / "manifest.json").read_text())
    assert saved["loosened"] and 0 < saved["step"] < 6
    refused = machine.closures(2, lambda here: closed(here, False, None))
    assert ["was begun with" in str(e) for e in refused] == [True, True]
    passes.clear()
    for found in machine.closures(2, lambda here: closed(here, here.rank == 0 and passes.append)):
        np.testing.assert_allclose(found, sr.closure(A, sr.min_plus, tol=0.002), rtol=0, atol=1e-12)
    assert len(passes) == 6 - saved["step"]


def test_processes_of_a_machine_take_its_gpus_in_turn(machine: Machine) -> None:
    found = machine.closures(5, lambda here: gpu_of(here.world, brought.gpu_count))
    assert [gpu.number for gpu in found] == [0, 1, 0, 1, 0]
    assert [gpu.sharing for gpu in found] == [3, 2, 3, 2, 3] and found[0].total == 2
    machine.hosts = ["a", "b", "a", "b"]
    found = machine.closures(4, lambda here: gpu_of(here.world, brought.gpu_count))
    assert [(gpu.number, gpu.sharing, gpu.total) for gpu in found] == [(0, 1, 4), (0, 1, 4), (1, 1, 4), (1, 1, 4)]
    machine.hosts, machine.seen = ["a"] * 3, [["0:1"], ["0:2"], ["0:1"]]  # the launcher shows each process one
    found = machine.closures(3, lambda here: gpu_of(here.world, brought.gpu_count))
    assert [(gpu.number, gpu.sharing, gpu.total) for gpu in found] == [(0, 2, 2), (0, 1, 2), (0, 2, 2)]


def test_a_process_without_a_gpu_is_named(machine: Machine) -> None:
    machine.hosts, machine.seen = ["a", "b", "b"], [["0:1"], [], []]
    found = machine.closures(3, lambda here: sr.closure(first(here, np.eye(3)), "min-plus", on=here, device="gpu"))
    assert len(set(map(str, found))) == 1
    assert "no GPU was found by rank 1 on b, rank 2 on b;" in str(found[0])
    machine.seen = [[]] * 8
    machine.hosts = ["a"] * 8

    def refused(here: MPI) -> str:
        with pytest.raises(Agreed) as e:
            gpu_of(here.world, brought.gpu_count)
        return str(e.value.args[0])

    assert "rank 3 on a and 2 more; every process" in machine.closures(6, refused)[0]


def test_what_a_gpu_has_no_room_for_is_refused(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a GPU that two processes share each may have half."""
    A = np.ones((40, 40))
    asked = {"device": "gpu", "tile": 4}
    plan = machine.closures(4, lambda here: sr.plan("closure", first(here, A), "min-plus", on=here, **asked))[0]

    def call(here: MPI) -> Any:
        return sr.closure(first(here, A), "min-plus", on=here, device="gpu", tile=4)

    monkeypatch.setattr(memory, "available_on_device", lambda: 2 * plan.memory)
    assert isinstance(machine.closures(4, call)[0], np.ndarray)
    monkeypatch.setattr(memory, "available_on_device", lambda: 2 * plan.memory - 1)
    found = machine.closures(4, call)
    assert len(set(map(str, found))) == 1 and "of the GPU's memory" in str(found[0])


def test_the_plan_says_where_it_computes(machine: Machine) -> None:
    found = machine.closures(4, lambda here: sr.plan("closure", first(here, np.ones((5000, 5000), "f4")),
                                                     "min-plus", on=here, device="gpu"))
    assert len({str(plan) for plan in found}) == 1
    plan = found[0]
    assert plan.device == "4 processes on 2 GPUs" and plan.gpus == 2 and plan.tile == 256
    assert plan.memory == 4 * (2560 * 2560 + 2 * 256 * (2 * 2560 + 256))
    assert dataclasses.replace(plan, gpus=4).predicted()[0]["products"] == plan.predicted()[0]["products"] / 2


def test_errors_grown_by_rounding_are_not_the_answer(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elimination lets them double at each pivot; the first process computes anew in a way that does not."""
    n = 60
    p = np.random.default_rng(0).normal(size=n)
    A = p[:, None] - p
    A[np.arange(n), np.arange(n)] = np.inf
    asked, again = list[int](), mpi.stable_closure
    monkeypatch.setattr(mpi, "stable_closure", lambda *a: asked.append(n) or again(*a))
    found = machine.closures(2, lambda here: sr.closure(first(here, A), sr.min_plus, on=here, device="gpu", tile=8))
    assert asked == [n]
    np.testing.assert_allclose(found[0], sr.closure(A, sr.min_plus), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("n", "size", "tile"), [(150, 1, 64), (150, 4, 32), (200, 3, 64), (90, 6, 32)])
@pytest.mark.parametrize("reflexive", [True, False])
def test_the_engine_of_gpus_on_tiles_where_they_lie(
    n: int, size: int, tile: int, reflexive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its launches and the copies of panels, by their addresses in the memory of one GPU that all processes share."""
    host = Host()
    cuda = host.stand_in(monkeypatch).cuda
    cuda.Device = lambda number: nullcontext(SimpleNamespace(pci_bus_id="0:1"))
    dense = Dense(host, "f8", np.minimum, np.add, np.inf, 0, lambda a: 0 if a >= 0 else None)

    @contextmanager
    def pinned() -> Iterator[Any]:
        yield lambda count, dtype: host.empty(count, dtype).view(np.ndarray)

    for module, values in {
        engine: {"Module": dense.module},
        closure: {"Module": dense.module, "memory": host.memory, "current_device": lambda: 0,
                  "_urgent": lambda *_: host.stream()},
        product: {"Module": dense.module, "memory": host.memory, "multiprocessors": lambda: 3},
        carry: {"taken_in": lambda low, elements, out: np.copyto(out, elements)},
        brought: {"ALIGNED_ON_GPU": 1, "gpu_count": lambda: 1},
        rank_gpus: {"pinned_memory": pinned, "build_kernel": engine.CudaKernel,
                    "_address": lambda number: "0:1"},
        memory: {"available_on_device": lambda: FREE},
    }.items():
        for name, value in values.items():
            monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(closure.Closure, "has_graph", lambda *_: False)
    A = np.where(np.random.default_rng(n).random((n, n)) < 5 / n, 7.0, np.inf)

    def one(world: World) -> Any:
        here = MPI(world)
        return sr.closure(first(here, A), sr.min_plus, on=here, device="gpu", tile=tile, reflexive=reflexive)

    found = together(one, size, threading.Lock())[0]
    np.testing.assert_array_equal(found, sr.closure(A, sr.min_plus, device="cpu", reflexive=reflexive))
    assert "product" in dense.launched or "product_edge" in dense.launched
