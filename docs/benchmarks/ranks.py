"""Compare several processes with one: closures by MPI and Ray, and one process with as many threads.

    python docs/benchmarks/ranks.py [-n 4096] [--ranks 2] [--ray] [--rounds 3] [--device gpu]

Shortest distances of random single-precision weights, multiples of 1/4096, whose sums do not round. Both sides in turn
within this run, medians; while one computes the other's processes sleep. A ratio above 1 means that the processes are
faster. MPI's line has the ratio of processor times beside that of the clock, which a machine that is busy otherwise
does not disturb as much. With ``--device gpu`` each process has a GPU, and the one process too. Needs mpi4py and a
launcher, or ray.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

from report import over, require, require_gpu

SLEEP = 0.005  # seconds between looks whether it is one's turn: what waits in MPI itself takes a processor


def sleep_until_told(world: Any) -> None:
    """Wait for a message from rank 0."""
    while not world.Iprobe(source=0, tag=7):
        time.sleep(SLEEP)
    world.recv(source=0, tag=7)


def by_mpi(n: int, rounds: int, device: str) -> None:
    """Run in every process that the launcher starts."""
    import numpy as np

    import semiring as sr

    here = sr.connect("mpi")
    world, threads = here.world, len(os.sched_getaffinity(0))
    first, last = n * here.rank // here.size, n * (here.rank + 1) // here.size
    mine = np.random.default_rng(here.rank).integers(1, 4096, (last - first, n)).astype(np.float32) / 4096
    parts = world.gather(mine)
    A = np.concatenate(parts) if here.rank == 0 else None
    clock: dict[str, list[float]] = {"mpi": [], "one": []}
    used: dict[str, list[float]] = {"mpi": [], "one": []}
    same = True
    for turn in range(rounds + 1):  # the first, in which code is loaded, is not counted
        world.Barrier()
        start, before = time.perf_counter(), time.process_time()
        found = sr.closure(here.rows(mine), sr.min_plus, on=here, device=device)
        world.Barrier()
        wall, spent = time.perf_counter() - start, sum(world.allgather(time.process_time() - before))
        if here.rank:
            sleep_until_told(world)
        else:
            start, before = time.perf_counter(), time.process_time()
            expected = sr.closure(A, sr.min_plus, device=device)
            if turn:
                clock["mpi"].append(wall)
                used["mpi"].append(spent)
                clock["one"].append(time.perf_counter() - start)
                used["one"].append(time.process_time() - before)
            for other in range(1, here.size):
                world.send(None, dest=other, tag=7)
        whole = world.gather(found)
        if here.rank == 0:
            same &= bool((np.concatenate(whole) == expected).all())
    if here.rank == 0:
        place = f"{threads} threads" if device == "cpu" else "one GPU"
        ratio, effort = (over(median(side["one"]), median(side["mpi"])) for side in (clock, used))
        print(f"MPI, {here.size} processes, n = {n}: {median(clock['mpi']):.2f} s; one process, {place}: "
              f"{median(clock['one']):.2f} s; ratio {ratio:.2f}, of processor time {effort:.2f}; same bits: {same}")


def by_ray(n: int, rounds: int) -> None:
    """Measure Ray tasks on tiles of 1,024, on the processors of this machine."""
    import numpy as np
    import ray

    import semiring as sr

    threads = len(os.sched_getaffinity(0))
    ray.init(num_cpus=threads, include_dashboard=False, log_to_driver=False)
    here = sr.connect("ray")
    A = np.random.default_rng(0).random((n, n), np.float32)
    clock: dict[str, list[float]] = {"ray": [], "one": []}
    same = True
    for turn in range(rounds + 1):
        start = time.perf_counter()
        found = sr.closure(A, sr.min_plus, on=here, tile=1024)
        between = time.perf_counter()
        expected = sr.closure(A, sr.min_plus)
        if turn:
            clock["ray"].append(between - start)
            clock["one"].append(time.perf_counter() - between)
        same &= bool((found == expected).all())
    print(f"Ray, {threads} workers, n = {n}: {median(clock['ray']):.2f} s; one process, {threads} threads: "
          f"{median(clock['one']):.2f} s; ratio {median(clock['one']) / median(clock['ray']):.2f}; same bits: {same}")
    ray.shutdown()


def main() -> None:
    """Start the requested program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-n", type=int, default=4096, help="order of the matrix")
    parser.add_argument("--ranks", type=int, default=2, help="processes that MPI starts, one thread or one GPU each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--device", choices=("cpu", "gpu"), default="cpu", help="of MPI's processes")
    parser.add_argument("--ray", action="store_true", help="Ray in place of MPI")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)  # what MPI starts
    asked = parser.parse_args()
    require("ray" if asked.ray else "mpi4py")
    if asked.device == "gpu":
        require_gpu()
    if asked.ray:
        by_ray(asked.n, asked.rounds)
    elif asked.inside:
        by_mpi(asked.n, asked.rounds, asked.device)
    else:
        places = str(Path(sys.executable).parent), os.environ.get("PATH", "")  # an environment may have its own
        launcher = shutil.which("mpiexec", path=os.pathsep.join(places))
        if launcher is None:
            raise SystemExit("mpiexec was not found: install MPI, or pip install mpich")
        command = [launcher, "-n", str(asked.ranks), sys.executable, __file__, "--inside", "-n", str(asked.n),
                   "--rounds", str(asked.rounds), "--device", asked.device]
        raise SystemExit(subprocess.run(command).returncode)


if __name__ == "__main__":
    main()
