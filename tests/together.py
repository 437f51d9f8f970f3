"""Programs that several processes run together, and what starts them: each case is a function that all of them call.

`python tests/together.py CASE …`, started by an MPI launcher, calls one; `run` starts that.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from strategies import nearly_consistent

import semiring as sr

CASES: list[tuple[str, sr.Semiring, Any]] = [
    ("lengths", sr.min_plus, "f4"), ("whole lengths", sr.min_plus, "i4"), ("inverses", sr.plus_times, "f8"),
    ("widths", sr.max_min, "f8"), ("truths", sr.boolean, "?"), ("parity", sr.gf2, "u1"),
    ("records", sr.shortest_count, None), ("logarithms", sr.log, "f8"),
]

AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}  # Open MPI asks twice


def launcher() -> str | None:
    """The program that starts processes, beside Python's own or where commands are."""
    return shutil.which("mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


needs_mpi = pytest.mark.skipif(
    launcher() is None or importlib.util.find_spec("mpi4py") is None,
    reason="mpi4py, or a launcher of MPI's, is missing",
)


def run(size: int, case: str, *arguments: Any, timeout: float = 240) -> subprocess.CompletedProcess[str]:
    """What a case writes, run by so many processes."""
    command = [str(launcher()), "-n", str(size), sys.executable, __file__, case, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **AS_ROOT})


def matrix(S: sr.Semiring, n: int, dtype: Any, seed: int = 0) -> np.ndarray:
    """Elements of an algebra whose closure exists."""
    dtype = S.default_dtype if dtype is None else np.dtype(dtype)
    random = np.random.default_rng(seed)
    A = np.full((n, n), S.zero_in(dtype), dtype)
    edges, weights = random.random((n, n)) < 0.2, random.integers(1, 50, (n, n))
    if dtype.names:
        A[dtype.names[0]][edges], A[dtype.names[1]][edges] = weights[edges], 1
    elif S is sr.plus_times:
        A[edges] = weights[edges] / (100 * max(n, 1))
    elif S is sr.log:
        A[edges] = np.log(weights[edges] / (100 * n))
    elif S is sr.gf2:
        A[np.triu(edges, 1)] = 1
    else:
        A[edges] = weights[edges] % 2 == 1 if dtype.kind == "b" else weights[edges]
    return A


def is_the_closure(found: np.ndarray, A: np.ndarray, S: sr.Semiring) -> bool:
    """Bits, where ⊕ selects and ⊗ is exact; else what rounding allows."""
    expected = sr.closure(A, S)
    if found.dtype != expected.dtype:
        return False
    return bool(np.allclose(found, expected, rtol=1e-11) if S in (sr.plus_times, sr.log) else (found == expected).all())


def closures(here: Any) -> None:
    """A matrix that rank 0 has, and the answer there."""
    for name, S, dtype in CASES:
        for n, tile in ((0, 16), (1, 16), (16, 16), (37, 16), (100, 32), (130, None)):
            A = matrix(S, n, dtype)
            before = A.copy()
            C = sr.closure(A if here.rank == 0 else None, S, on=here, tile=tile)
            if here.rank:
                assert C is None
            else:
                assert is_the_closure(C, A, S), (name, n, tile)
                assert (before == A).all()
    print("fine", flush=True)


def rows(here: Any) -> None:
    """Rows in, rows out; some processes may have none."""
    for _, S, dtype in CASES:
        n = 75
        A = matrix(S, n, dtype)
        for cuts in (np.linspace(0, n, here.size + 1).astype(int), np.array([0, *[n] * here.size])):
            mine = slice(*cuts[here.rank : here.rank + 2].tolist())
            found = sr.closure(here.rows(A[mine]), S, on=here, tile=16)
            assert found.shape == (mine.stop - mine.start, n)
            whole = here.world.gather(found)
            assert here.rank or is_the_closure(np.concatenate(whole), A, S)
    print("fine", flush=True)


def names(here: Any) -> None:
    """A matrix with names, a graph, and an algebra that only rank 0 declares."""
    edges = [("a", "b", 0.5), ("b", "c", 0.25)]
    S = None
    if here.rank == 0:
        S = sr.Semiring("chances", add=np.maximum, mul=np.multiply, zero=0.0, one=1.0,
                        carrier=lambda a: (a >= 0) & (a <= 1))
    C = sr.closure(sr.adjacency(edges, S) if here.rank == 0 else None, S, on=here)
    G = sr.closure(sr.as_graph(edges) if here.rank == 0 else None, "max-times", on=here)
    assert here.rank or C["a", "c"] == G["a", "c"] == 0.125
    print("fine", flush=True)


def files(here: Any, folder: str, ending: str) -> None:
    """From a file that all read to one that all write, and to rank 0."""
    for _, S, dtype in [*CASES, ("turned bytes", sr.max_min, ">f8")]:
        A = matrix(S, 85, dtype)
        if ending == ".zarr" and (A.dtype.names or not A.dtype.isnative):
            continue  # it has no records, and its arrays give numbers in the machine's order of bytes
        path, out = Path(folder) / f"{S.name}.npy", Path(folder) / f"{S.name}-closed{ending}"
        if here.rank == 0:
            np.save(path, A)
        here.world.Barrier()
        found = sr.closure(path, S, on=here, out=out, tile=16)
        assert is_the_closure(found[:], A, S)
        found = sr.closure(str(path), S, on=here, tile=32)
        assert found is None if here.rank else is_the_closure(found, A, S)
        found = sr.closure(A if here.rank == 0 else None, S, on=here, tile=16, out=out)
        assert is_the_closure(found[:], A, S)
        here.world.Barrier()
    assert not list(Path(folder).glob("*.partial"))
    print("fine", flush=True)


def walks(here: Any, folder: str) -> None:
    """A⁺, of a matrix that rank 0 has, of rows, and from file to file with commits."""
    for _, S, dtype in CASES:
        for n, tile in ((1, 16), (37, 16), (75, 16), (130, None)):
            A = matrix(S, n, dtype)
            expected, cuts = sr.closure(A, S, reflexive=False), np.linspace(0, n, here.size + 1).astype(int)
            mine = slice(*cuts[here.rank : here.rank + 2].tolist())
            path, out = Path(folder) / f"{S.name}{n}.npy", Path(folder) / f"{S.name}{n}-closed.npy"
            if here.rank == 0:
                np.save(path, A)
            here.world.Barrier()
            alike = np.testing.assert_array_equal
            if S in (sr.plus_times, sr.log):
                def alike(x: Any, y: Any) -> None:
                    np.testing.assert_allclose(x, y, rtol=1e-11)
            whole = sr.closure(A if here.rank == 0 else None, S, on=here, tile=tile, reflexive=False)
            assert whole is None if here.rank else alike(whole, expected) is None
            alike(sr.closure(here.rows(A[mine]), S, on=here, tile=tile, reflexive=False), expected[mine])
            alike(sr.closure(path, S, on=here, tile=tile, reflexive=False, out=out, checkpoint=1e-6), expected)
    print("fine", flush=True)


def tolerant(here: Any, folder: str) -> None:
    """Cycles that improve by less than a tolerance, of a matrix that rank 0 has, of rows, and from file to file."""
    n = 75
    A = nearly_consistent(n, 0)
    path, cuts = Path(folder) / "a.npy", np.linspace(0, n, here.size + 1).astype(int)
    mine = slice(*cuts[here.rank : here.rank + 2].tolist())

    def asked(given: Any, **options: Any) -> Any:
        return sr.closure(given, sr.min_plus, on=here, tile=16, tol=0.002, **options)

    for worst in (0.0, 1.0):
        A[3, 5] -= worst
        if here.rank == 0:
            np.save(path, A)
        here.world.Barrier()
        calls = [lambda: asked(A if here.rank == 0 else None), lambda: asked(here.rows(A[mine])),
                 lambda: asked(path, out=Path(folder) / "c.npy", checkpoint=1e-6, resume=True),
                 lambda: asked(path, out=Path(folder) / "d.npy", reflexive=False)]
        if worst:
            texts = [text_of(call) for call in calls]
            assert all("improving" in text for text in texts), texts
            assert not list(Path(folder).glob("*.partial"))
            continue
        expected = sr.closure(A, sr.min_plus, tol=0.002)
        for call, part in zip(calls[:3], (slice(0 if here.rank else n), mine, slice(n)), strict=True):
            found = call()
            np.testing.assert_allclose(np.empty((0, n)) if found is None else found, expected[part], atol=1e-12)
        np.testing.assert_allclose(calls[3](), sr.closure(A, sr.min_plus, tol=0.002, reflexive=False), atol=1e-12)
    assert "tol is for rounded weights" in text_of(
        lambda: sr.closure(np.ones((2, 2), int) if here.rank == 0 else None, sr.min_plus, on=here, tol=1))
    print("fine", flush=True)


def in_pieces(here: Any) -> None:
    """Messages of a few bytes each: none is lost, and none mistaken for another."""
    from semiring.scale import ranks

    ranks.PIECE_BYTES = 1000
    closures(here)


def text_of(call: Any) -> str:
    """The error of a call."""
    try:
        call()
    except ValueError as e:
        return f"{type(e).__name__}: {e}"
    return "nothing"


def errors(here: Any, folder: str) -> None:
    """Every process has the same error, of the same text; one that has the matrix names what one process names."""
    def whole(A: Any, S: Any, **options: Any) -> str:
        return text_of(lambda: sr.closure(A if here.rank == 0 else None, S, on=here, tile=16, **options))

    negative = np.full((70, 70), np.inf)
    negative[40, 50], negative[50, 40] = 1.0, -2.0
    loops = np.zeros((50, 50))
    loops[30, 30] = 1.0
    rounded = np.full((40, 40), np.inf)
    rounded[0, 1], rounded[1, 2], rounded[2, 0], rounded[5, 6], rounded[6, 5] = 0.1, 0.2, -0.1 - 0.2, 0.7, -0.7
    hole = negative.copy()
    hole[3, 4] = np.nan
    large = np.full((20, 20), 127, "i1")
    large[np.arange(19), np.arange(1, 20)] = 100
    alone = [text_of(lambda A=A, S=S: sr.closure(A, S)) for A, S in
             ((negative, sr.min_plus), (loops, sr.plus_times), (rounded, sr.min_plus), (hole, sr.min_plus),
              (large, sr.min_plus))]
    found = [whole(negative, sr.min_plus), whole(loops, sr.plus_times), whole(rounded, sr.min_plus),
             whole(hole, sr.min_plus), whole(large, sr.min_plus)]
    assert found == alone, (found, alone)
    assert whole(negative, "max-mix").startswith("SemiringError: unknown algebra")
    assert "a square matrix" in whole(np.zeros((2, 3)), sr.min_plus)
    assert "Python objects" in whole(np.zeros((2, 2)), sr.why)
    for options, why in (({"on_divergence": "mask"}, "with on= has no option"),
                         ({"method": "squaring"}, "must be blocked"), ({"devices": 2}, "has no option 'devices'"),
                         ({"memory": "1G", "out": Path(folder) / "c.npy"}, "holds its part")):
        assert why in whole(np.zeros((2, 2)), sr.min_plus, **options), why
    if here.size > 1:
        part = np.zeros((2, 2 * here.size)) if here.rank else np.zeros((1, 2 * here.size))
        mixed = [
            text_of(lambda: sr.closure(np.zeros((2, 2)), sr.min_plus, on=here)),
            text_of(lambda: sr.closure(None, sr.min_plus, on=here)),
            text_of(lambda: sr.closure(here.rows(part), sr.min_plus, on=here)),
            text_of(lambda: sr.closure(None if here.rank else loops, sr.max_plus if here.rank else sr.min_plus,
                                       on=here)),
            text_of(lambda: sr.closure(None if here.rank else loops, sr.min_plus, on=here, tile=16 + 16 * here.rank)),
            text_of(lambda: sr.closure(here.rows(np.zeros((1, here.size), f"f{4 + 4 * (here.rank == 0)}")),
                                       sr.min_plus, on=here)),
        ]
        for text, why in zip(mixed, ("pass the matrix on rank 0 and None on others", "rank 0 None", "is square",
                                     "and rank 0 over min-plus", "and rank 0 for 16", "of float32, and rank 0"),
                             strict=True):
            assert why in text, (why, text)
        found += mixed
    path = Path(folder) / "negative.npy"
    if here.rank == 0:
        np.save(path, negative)
    here.world.Barrier()
    found += [text_of(lambda: sr.closure(path, sr.min_plus, on=here, tile=16)),
              text_of(lambda: sr.closure(path, sr.min_plus, on=here, tile=16, out=Path(folder) / "c.npy")),
              text_of(lambda: sr.closure(Path(folder) / "nowhere.npy", sr.min_plus, on=here))]
    assert "an improving cycle goes through vertex" in found[-3] and found[-3] == found[-2]
    assert "there is no such file" in found[-1]
    assert not (Path(folder) / "c.npy.partial").exists()
    assert len(set(here.world.allgather(tuple(found)))) == 1, found
    print("fine", flush=True)


def planned(here: Any) -> None:
    """The plan is the same on every process, and says what each is sent; its run is the closure."""
    from semiring.scale import spread

    sent = []
    begin = spread.broadcast

    def counted(array: np.ndarray, root: int, among: Any) -> Any:
        if array.shape != (2,) and among.rank != root:  # everything but the status of each step
            sent.append(array.nbytes)
        return begin(array, root, among)

    spread.broadcast = counted
    for n, tile in ((1, 16), (50, 16), (150, 32), (160, 32)):
        A = matrix(sr.min_plus, n, "f4") if here.rank == 0 else None
        plan = sr.plan("closure", A, sr.min_plus, on=here, tile=tile)
        rows = plan.rows()
        assert len(set(here.world.allgather(tuple(rows.values())))) == 1, rows
        assert plan.tile == tile and "bound by" in rows["predicted"], rows
        sent.clear()
        found = plan.run()
        assert max(here.world.allgather(sum(sent))) == plan.received, (sent, plan.received)
        assert (plan.received > 0) == (here.size > 1)
        if here.rank == 0:
            assert np.array_equal(found, sr.closure(A, sr.min_plus))
    assert "has no option 'on'" in text_of(lambda: sr.plan("power", np.zeros((2, 2)), sr.min_plus, k=2, on=here))
    print("fine", flush=True)


def lost(here: Any, way: str, note: str) -> None:
    """One process is killed, or raises an unforeseen error, while all compute; who is left would wait for ever.

    The time goes to a file: a launcher that ends a job may drop what its processes printed last.
    """
    n = 1024
    A = np.random.default_rng(0).random((n, n))

    def report(part: float) -> None:
        if part > 0.3:
            Path(note).write_text(str(time.time()))
            if way == "killed":
                os.kill(os.getpid(), 9)
            raise RuntimeError("out of luck")

    while True:
        sr.closure(A if here.rank == 0 else None, sr.min_plus, on=here, tile=16, progress=report)


def resumed(here: Any, path: str, out: str, kill: str) -> None:
    """A closure with commits, killed after some of them or not at all."""
    def report(part: float) -> None:
        if kill == "killed" and part > 0.6:
            os.kill(os.getpid(), 9)

    S = next(S for name, S, _ in CASES if name == Path(path).stem)
    sr.closure(path, S, on=here, out=out, tile=16, checkpoint=1e-6, resume=True, progress=report)
    print("fine", flush=True)


def threads(here: Any) -> None:
    """Processes of one machine share its processors; the engine has its own number again afterwards."""
    from semiring.machine.threads import thread_count
    from semiring.scale.ranks import threads_of

    share = threads_of(here.world)
    assert share == max(1, thread_count() // here.size)
    os.environ["SEMIRING_NUM_THREADS"] = "3"
    assert threads_of(here.world) == 3
    print("fine", flush=True)


if __name__ == "__main__":
    globals()[sys.argv[1]](sr.connect("mpi"), *sys.argv[2:])
